"""Which backend is used: the one that is set, or the strongest that works. There is no unsandboxed one."""

from __future__ import annotations

import logging
import os

from resources.sandbox import bubblewrap, docker_engine, environments
from resources.sandbox.environments import Environment, EnvironmentMissing
from resources.sandbox.limits import Limits
from resources.sandbox.pool import Backend, Sandbox, SandboxUnavailable
from resources.settings import Settings

# Docker first: memory and processes are also held by the kernel's control groups, under two seccomp filters.
STRONGEST_FIRST = (docker_engine.NAME, bubblewrap.NAME)

log = logging.getLogger(__name__)


def open_sandbox(
    environment: str, settings: Settings, ceiling: Limits | None = None, workers: int | None = None
) -> Sandbox:
    """A sandbox with a warm worker, or two, for scripts in `environment` ("cme" or "mattools").

    `ceiling` are the default limits and the highest that a run may ask for; `workers` how many scripts may run at a
    time (by default one a processor). Close it, or use it as a context manager. Raises SandboxUnavailable with one
    line.
    """
    wanted = environments.environment(environment)
    limits = ceiling or Limits()
    backend, why = choose(wanted, settings, limits)
    log.info("sandbox %s: %s", environment, why)
    sweep(backend.name)
    sandbox = Sandbox(backend, limits, workers or os.cpu_count() or 1)
    try:
        sandbox.warm()
    except SandboxUnavailable:
        sandbox.close()
        raise
    return sandbox


def choose(environment: Environment, settings: Settings, ceiling: Limits) -> tuple[Backend, str]:
    """The backend for `settings.sandbox` and a line that says which and why. Raises SandboxUnavailable."""
    names = STRONGEST_FIRST if settings.sandbox == "auto" else (settings.sandbox,)
    problems: list[str] = []
    for name in names:
        problem = problem_with(name, environment, settings)
        if problem is None:
            backend: Backend
            if name == docker_engine.NAME:
                backend = docker_engine.Docker(environment, ceiling)
            else:
                backend = bubblewrap.Bubblewrap(environment, settings.data, ceiling)
            return backend, f"{name} is used" + (f" ({'; '.join(problems)})" if problems else "")
        problems.append(f"{name}: {problem}")
    raise SandboxUnavailable(f"model-written code is not run without a sandbox. {'; '.join(problems)}")


def problem_with(name: str, environment: Environment, settings: Settings) -> str | None:
    """Why the backend cannot run the environment, in one line; None when it can."""
    if name == docker_engine.NAME:
        missing = f"the image {docker_engine.image_name(environment)} is not built: run `make sandbox`"
        return docker_engine.problem() or (None if docker_engine.is_built(environment) else missing)
    problem = bubblewrap.problem()
    if problem is not None:
        return problem
    try:
        environments.installed(environment, settings.data)
    except EnvironmentMissing as error:
        return str(error)
    return None


def sweep(name: str) -> int:
    """Ends workers that an earlier, killed process may have left; returns how many there were."""
    found = docker_engine.sweep() if name == docker_engine.NAME else bubblewrap.sweep()
    if found:
        log.warning("ended %d sandbox workers that an earlier process had left", found)
    return found
