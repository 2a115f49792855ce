"""Builds the environments that model-written code runs in: `python -m resources.sandbox.build`.

Quick when they are there. On a machine with a Docker engine it builds one image an environment, on Linux with
bubblewrap one virtual environment each; CONDMAT_SANDBOX limits it to one of the two.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

import docker.errors

from resources.sandbox import bubblewrap, docker_engine, environments
from resources.sandbox.environments import ENVIRONMENTS, Environment
from resources.settings import Settings, read_settings


def main(arguments: list[str] | None = None) -> int:
    """Builds what this machine can use. Exit code 1 with a line for each reason when that is nothing."""
    parser = argparse.ArgumentParser(prog="python -m resources.sandbox.build", description=__doc__)
    parser.add_argument("--base", default=docker_engine.DEFAULT_BASE, help="base image with Python 3.11 (%(default)s)")
    parser.add_argument("environment", nargs="*", choices=[*ENVIRONMENTS, []], help="by default all")
    options = parser.parse_args(arguments)
    settings = read_settings()
    problems = {docker_engine.NAME: docker_engine.problem(), bubblewrap.NAME: bubblewrap.problem()}
    usable = [name for name, problem in problems.items() if problem is None and settings.sandbox in ("auto", name)]
    for name, problem in problems.items():
        if problem is not None and settings.sandbox in ("auto", name):
            print(f"{name}: not used: {problem}")
    if not usable:
        print("no sandbox can be built: install Docker, or on Linux bubblewrap", file=sys.stderr)
        return 1
    failures = [
        f"{backend} {name}"
        for name in options.environment or ENVIRONMENTS
        for backend in usable
        if not _built(backend, ENVIRONMENTS[name], settings, options.base)
    ]
    return 1 if failures else 0


def _built(backend: str, environment: Environment, settings: Settings, base: str) -> bool:
    start = time.monotonic()
    print(f"{backend} {environment.name}: ", end="", flush=True)
    try:
        if backend == docker_engine.NAME:
            place = docker_engine.build(environment, base)
        else:
            place = str(environments.install(environment, settings.data))
    except docker.errors.BuildError as error:
        lines = [str(line.get("stream") or line.get("error") or "").strip() for line in error.build_log]
        print(f"failed: {' | '.join(line for line in lines[-6:] if line)}")
        return False
    except (docker.errors.DockerException, subprocess.CalledProcessError, OSError) as error:
        print(f"failed: {error}")
        return False
    print(f"{place} ({time.monotonic() - start:.0f} s)")
    return True


if __name__ == "__main__":
    sys.exit(main())
