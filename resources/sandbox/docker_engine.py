"""The backend for machines with a Docker engine: one container a worker, one execution in it at a time.

The supervisor is the container's root with three capabilities and no others: CAP_SETUID and CAP_SETGID, to run scripts
as another user, and CAP_KILL, to end what they leave. A script has none, and a user number that no other container
uses. The root file system is read-only, there is no network, and the engine's own seccomp profile lies under ours.
"""

from __future__ import annotations

import contextlib
import hashlib
import random
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import docker
import docker.errors
import requests

from resources.sandbox import launch, owner
from resources.sandbox.environments import Environment, EnvironmentMissing
from resources.sandbox.limits import MEBIBYTE, Limits
from resources.sandbox.user_namespace import FIRST_UNUSED
from resources.sandbox.worker import Worker

NAME = "docker"
DEFAULT_BASE = "python:3.11-slim"
LABEL = "condmat-evals.sandbox.owner"
PRELOADED_MEMORY = 1024 * MEBIBYTE
TRUSTED_PROCESSES = 4
ENGINE_TIMEOUT = 120

Options = dict[str, Any]


def client() -> docker.DockerClient:
    """A client of the engine that the environment names (DOCKER_HOST). Raises docker.errors.DockerException."""
    return docker.from_env(timeout=ENGINE_TIMEOUT)


def image_name(environment: Environment) -> str:
    """Name of the environment's image, which changes with its packages and with the programs inside."""
    parts = [
        launch.SOURCE / "Dockerfile",
        launch.SOURCE / "encoding.py",
        *sorted((launch.SOURCE / "inside").glob("*.py")),
    ]
    inside = hashlib.sha256(b"".join(part.read_bytes() for part in parts)).hexdigest()[:12]
    return f"condmat-evals-{environment.name}:{environment.fingerprint}-{inside}"


def is_built(environment: Environment) -> bool:
    """Whether the environment's image is there. Raises docker.errors.DockerException."""
    with contextlib.closing(client()) as engine:
        return bool(engine.images.list(name=image_name(environment)))


def build(environment: Environment, base: str) -> str:
    """Builds the image unless it is there; returns its name. Raises docker.errors.BuildError with the build's log."""
    name = image_name(environment)
    if is_built(environment):
        return name
    arguments = {"BASE": base, "ENVIRONMENT": environment.name}
    with contextlib.closing(client()) as engine:
        engine.images.build(
            path=str(launch.SOURCE), tag=name, buildargs=arguments, network_mode="host", rm=True, forcerm=True
        )
        _forget_older(engine, environment, name)
    return name


def _forget_older(engine: docker.DockerClient, environment: Environment, name: str) -> None:
    for image in engine.images.list(name=f"condmat-evals-{environment.name}"):
        for tag in image.tags:
            if tag != name:
                with contextlib.suppress(docker.errors.APIError):  # in use
                    engine.images.remove(tag)


class AttachedChannel:
    """A container's attached stdin, stdout and stderr; the engine sends the last two in frames."""

    def __init__(self, container: Any) -> None:
        self.container = container
        self.stream = container.attach_socket(params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
        self.socket = self.stream._sock
        self.buffer = bytearray()
        self.error_text = bytearray()

    def send(self, data: bytes, deadline: float) -> None:
        self.socket.settimeout(max(0.001, deadline - time.monotonic()))
        self.socket.sendall(data)

    def receive(self, count: int, deadline: float) -> bytes:
        while len(self.buffer) < count:
            kind, size = struct.unpack(">BxxxL", self._exactly(8, deadline))
            payload = self._exactly(size, deadline)
            if kind == 1:
                self.buffer += payload
            else:
                self.error_text = (self.error_text + payload)[-2000:]
        data = bytes(self.buffer[:count])
        del self.buffer[:count]
        return data

    def _exactly(self, count: int, deadline: float) -> bytes:
        data = bytearray()
        while len(data) < count:
            self.socket.settimeout(max(0.001, deadline - time.monotonic()))
            part = self.socket.recv(min(count - len(data), 1 << 20))
            if not part:
                raise EOFError
            data += part
        return bytes(data)

    def errors(self) -> str:
        return self.error_text.decode("utf-8", "replace").strip()

    def close(self) -> None:
        self.socket.close()
        self.stream.close()
        remove(self.container)
        self.container.client.close()


def remove(container: Any) -> None:
    """Ends and removes a container, or finds that it is gone or going."""
    with contextlib.suppress(docker.errors.APIError, requests.exceptions.RequestException):
        container.remove(force=True)
    with contextlib.suppress(docker.errors.APIError, requests.exceptions.RequestException):
        container.wait(condition="removed", timeout=10)


@dataclass
class Docker:
    """Starts workers for one environment. `adjust` may change a container's options: for the tests' controls."""

    environment: Environment
    ceiling: Limits
    adjust: Callable[[Options], Options] = dict

    name = NAME

    def start(self) -> Worker:
        """A new worker, not yet ready. Raises EnvironmentMissing or docker.errors.DockerException."""
        engine = client()
        try:
            container = engine.containers.create(**self.adjust(self.options()))
        except docker.errors.ImageNotFound:
            raise EnvironmentMissing(
                f"the sandbox image {image_name(self.environment)} is not built: run `make sandbox`"
            ) from None
        try:
            channel = AttachedChannel(container)
            container.start()
        except BaseException:
            remove(container)
            raise
        return Worker(channel)

    def options(self) -> Options:
        """How a worker's container is made."""
        user = FIRST_UNUSED + random.SystemRandom().randrange(100_000_000)
        memory = PRELOADED_MEMORY + self.ceiling.memory + 3 * self.ceiling.disk
        private = (
            f"rw,noexec,nosuid,nodev,size={self.ceiling.disk},nr_inodes={launch.INODES},mode=700,uid={user},gid={user}"
        )
        shared = private.replace("mode=700", "mode=1777")  # the supervisor's packages may want /tmp while they load
        return {
            "image": image_name(self.environment),
            "command": launch.command(self.environment, "users", user, user),
            "environment": launch.VARIABLES,
            "labels": {LABEL: owner.this_process()},
            "hostname": "sandbox",
            "stdin_open": True,
            "auto_remove": True,
            "network_mode": "none",
            "read_only": True,
            "tmpfs": {"/scratch": private, "/tmp": shared, "/dev/shm": private},
            "cap_drop": ["ALL"],
            "cap_add": ["SETUID", "SETGID", "KILL"],
            "security_opt": ["no-new-privileges:true"],
            "mem_limit": memory,
            "memswap_limit": memory,
            "pids_limit": self.ceiling.pids + TRUSTED_PROCESSES,
            "log_config": {"Type": "none", "Config": {}},
            "init": False,
        }


def problem() -> str | None:
    """Why Docker cannot be used here, in one line; None when it can."""
    try:
        with contextlib.closing(client()) as engine:
            information = engine.info()
    except (docker.errors.DockerException, requests.exceptions.RequestException) as error:
        return f"no Docker engine answers: {str(error).splitlines()[0][:200]}"
    if information.get("OSType") != "linux":
        return "the Docker engine does not run Linux containers"
    return None


def sweep() -> int:
    """Removes the containers whose owner is gone; they end by themselves, so it finds one only when that has failed."""
    found = 0
    with contextlib.closing(client()) as engine:
        for container in engine.containers.list(all=True, filters={"label": LABEL}, ignore_removed=True):
            if owner.is_gone(container.labels[LABEL]):
                remove(container)
                found += 1
    return found
