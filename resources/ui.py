"""`python -m resources.ui`: the Dagster UI of all three code locations on this machine, until it is interrupted.

`dg dev` does not end on SIGTERM and leaves servers behind when it is killed, so its whole process group ends here.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

from resources.dagster_home import DagsterHomeError, open_instance
from resources.settings import SettingError, read_settings

HOST = "127.0.0.1"
PORT = 3000
WORKSPACE = Path(__file__).parent.parent / "workspace.yaml"
SECONDS_TO_END = 8.0


def main() -> int:
    """Exit status of `dg dev`, or 0 when it was ended from outside."""
    parser = argparse.ArgumentParser(prog="python -m resources.ui", description=__doc__)
    parser.add_argument("--port", type=int, default=PORT, help=f"port on {HOST} (default {PORT})")
    port = parser.parse_args().port
    try:
        settings = read_settings()
        if is_taken(port):
            raise SettingError(f"port {port} is in use; run `.venv/bin/python -m resources.ui --port {port + 1}`")
        # Set up before several processes use the folder at once.
        open_instance(settings.dagster_home).dispose()
    except (SettingError, DagsterHomeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    environment = os.environ | {"CONDMAT_DATA": str(settings.data), "DAGSTER_HOME": str(settings.dagster_home)}
    return serve(port, environment)


def serve(port: int, environment: dict[str, str]) -> int:
    """Run `dg dev` in a process group of its own until it ends or this process gets SIGTERM or SIGINT."""
    asked_to_end = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: asked_to_end.set())
    command = [str(Path(sys.executable).with_name("dg")), "dev", "-w", str(WORKSPACE), "-h", HOST, "-p", str(port)]
    process = subprocess.Popen(command, cwd=WORKSPACE.parent, env=environment, start_new_session=True)
    print(f"Dagster will be at http://{HOST}:{port} in about a minute; stop it with Ctrl-C", flush=True)
    try:
        while process.poll() is None and not asked_to_end.wait(0.5):
            pass
        return 0 if asked_to_end.is_set() else process.returncode
    finally:
        end_group(process)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Interrupt the process, give it some seconds, then kill whatever is left of its group."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS_TO_END)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def is_taken(port: int) -> bool:
    """Whether something listens on the port already."""
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


if __name__ == "__main__":
    sys.exit(main())
