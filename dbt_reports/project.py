"""The dbt project: where it is, how dbt is called, and its manifest.

dbt runs in a process of its own, so that it keeps no connection to a file that is about to be replaced, and writes
nothing outside the data folder.
"""

from __future__ import annotations

import errno
import glob
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from resources.settings import Settings

PROJECT = Path(__file__).parent
DBT = Path(sys.executable).with_name("dbt")
"""dbt of this environment, whether or not the environment is activated."""
QUIET = ("--quiet", "--no-use-colors", "--log-level-file", "info")
"""At its usual level dbt spends a sixth of the time on its log."""
_SOURCES = ("dbt_project.yml", "profiles.yml", "models/**/*", "seeds/*", "macros/*")
_INTERVALS = [PROJECT.parent / "resources" / name for name in ("bootstrap.py", "proportions.py")]


class ReportsError(Exception):
    """Reports that cannot be built; the message is one line with the file and the mend."""


@contextmanager
def explaining_disk_errors(settings: Settings) -> Iterator[None]:
    """Turns what the system says of files and disks into a ReportsError."""
    try:
        yield
    except OSError as error:
        raise ReportsError(
            f"{error.filename or settings.data}: cannot be written ({error.strerror or error}); make the folder"
            " writable, free some space or point CONDMAT_DATA at another one"
        ) from None


def work_folder(settings: Settings) -> Path:
    """Where dbt keeps its artefacts and logs."""
    return settings.data / "dbt"


def build_folder(settings: Settings) -> Path:
    """Where builds leave what dbt knows of the project, which spares the next one to parse it. One build at a time."""
    return work_folder(settings) / "build"


def dbt_variables(settings: Settings, database: Path) -> list[str]:
    """The arguments that tell dbt where the lake is and which file it builds."""
    # The lake's address becomes part of a pattern, in which brackets would be read as choices.
    return ["--vars", json.dumps({"lake": glob.escape(str(settings.lake)), "database": str(database)})]


def dbt_environment(target: Path) -> dict[str, str]:
    """The environment of a dbt process that leaves its traces in `target` and reports to nobody."""
    return {
        **os.environ,
        "DBT_PROJECT_DIR": str(PROJECT),
        "DBT_PROFILES_DIR": str(PROJECT),
        "DBT_TARGET_PATH": str(target),
        "DBT_LOG_PATH": str(target),
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        "DO_NOT_TRACK": "1",
    }


def run_dbt(arguments: list[str], target: Path) -> None:
    """Run dbt to its end. Raises ReportsError with what failed, in one line."""
    forget_results(target)
    done = subprocess.run(
        [DBT, *QUIET, *arguments],
        env=dbt_environment(target),
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise ReportsError(f"{failure(target, done.stdout)}; the whole log is {target / 'dbt.log'}")


def project_files() -> list[Path]:
    """The project's files and what its Python models call: whatever decides what the reports are, beside the lake."""
    found = [path for pattern in _SOURCES for path in sorted(PROJECT.glob(pattern))]
    return [path for path in [*found, *_INTERVALS] if path.is_file() and path.suffix != ".pyc"]


def project_fingerprint() -> str:
    """Identity of those files, 32 hexadecimal digits."""
    digest = hashlib.sha256()
    for path in project_files():
        content = path.read_bytes()
        digest.update(f"{path.relative_to(PROJECT.parent)}:{len(content)}:".encode() + content)
    return digest.hexdigest()[:32]


def manifest(settings: Settings) -> Path:
    """The manifest of the project as it is now, parsed only when a file of the project has changed.

    Several processes load the code location at once; the first one parses and the others wait for it.
    """
    target = work_folder(settings) / "manifest"
    target.mkdir(parents=True, exist_ok=True)
    path, parsed = target / "manifest.json", target / "fingerprint"
    with FileLock(target / "lock"):
        current = project_fingerprint()
        if not path.exists() or not parsed.exists() or parsed.read_text() != current:
            run_dbt(["parse"], target)
            parsed.write_text(current)
    return path


def forget_results(target: Path) -> None:
    """Remove what an earlier run left there, so that it is not taken for the next one's."""
    (target / "run_results.json").unlink(missing_ok=True)


def failure(target: Path, output: str = "") -> str:
    """The first thing that went wrong in a run of dbt, in one line."""
    results = target / "run_results.json"
    if results.exists():
        for result in json.loads(results.read_text())["results"]:
            if result["status"] in ("error", "fail"):
                return f"dbt: {result['unique_id']}: {_one_line(result['message'] or result['status'])}"
    said = _one_line(output.split("Traceback (most recent call last)")[0])
    if os.strerror(errno.ENOSPC) in output:
        said = f"{target}: {os.strerror(errno.ENOSPC)}; free some space and run again"
    return f"dbt: {said or 'ended without a message'}"


def _one_line(text: str, longest: int = 400) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[:longest]}…"
