"""Where a source comes from: wheels of PyPI, a folder, or a commit of a git repository.

What was fetched is kept below `cache` and fetched once; each copy is written beside its place and renamed.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from mattools_assets.source.errors import SourceError
from mattools_assets.source.reading import readable
from mattools_assets.source.unpack import unpack_python

WHEEL_PYTHON = "3.11"
WHEEL_PLATFORMS = ("manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux_2_28_x86_64")
"""Wheels are chosen for this system on every machine, so that all read the same bytes."""

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]*")
_OFFERED = re.compile(r"from versions: ([^)]*)\)")


@dataclass(frozen=True, slots=True)
class Package:
    """A distribution of PyPI at an exact version."""

    name: str
    version: str


DEFAULT_PACKAGES = (Package("pymatgen", "2024.8.9"), Package("pymatgen-analysis-defects", "2024.7.19"))
"""What the published benchmark was made from: 301 files, 183,164 lines."""


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that a source was put together from: a wheel with its version, or a repository with its commit."""

    name: str
    version: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Obtained:
    """A source ready to be read: the files below `root / under`. `links` were left out of it."""

    root: Path
    under: str
    origin: str
    parts: tuple[Part, ...]
    links: tuple[str, ...] = ()


def from_folder(path: Path) -> Obtained:
    """A package's folder, or one that holds packages, read where it is. Raises SourceError naming it."""
    if not path.is_dir():
        raise SourceError(f"{path}: no such folder; name the folder of a package, or one that holds packages")
    if next(path.rglob("*.py"), None) is None:
        raise SourceError(f"{path}: no Python file (*.py) below this folder; name the folder of a package")
    root = path = path.resolve()
    while (root / "__init__.py").exists() and root.parent != root:
        root = root.parent
    under = path.relative_to(root).as_posix()
    return Obtained(root, "" if under == "." else under, "folder", (Part(readable(path.name), "", ""),))


def from_wheels(packages: Sequence[Package], cache: Path) -> Obtained:
    """The Python files of these wheels in one tree. Raises SourceError naming the package or the archive."""
    for package in packages:
        if not _NAME.fullmatch(package.name) or not _VERSION.fullmatch(package.version):
            raise SourceError(
                f"{package.name}=={package.version}: not a package and version, such as pymatgen and 2024.8.9"
            )
    name = "+".join(f"{_normalised(package.name)}-{package.version}" for package in packages)

    def fill(folder: Path, scratch: Path) -> tuple[list[Part], list[str]]:
        parts = []
        for package in packages:
            wheel = _download(package, scratch / package.name)
            links = unpack_python(wheel, folder)
            if links:
                raise SourceError(f"{wheel.name}: the entry {links[0]!r} is a link, which no wheel may hold; refused")
            parts.append(Part(package.name, package.version, hashlib.sha256(wheel.read_bytes()).hexdigest()))
        return parts, []

    return _cached(cache / name, "pypi", fill)


def from_checkout(repository: Path, commit: str, cache: Path) -> Obtained:
    """The Python files of a local git repository at a commit, tag or branch. Raises SourceError."""
    full = commit_of(repository, commit)

    def fill(folder: Path, scratch: Path) -> tuple[list[Part], list[str]]:
        archive = scratch / f"{repository.name}-{full[:12]}.zip"
        made = _git(repository, ["archive", "--format=zip", f"--output={archive}", full])
        if made.returncode:
            raise SourceError(f"{repository}: git archive of {full} failed: {_last_line(made.stderr)}")
        links = unpack_python(archive, folder)
        return [Part(repository.resolve().name, full, "")], links

    return _cached(cache / f"{_normalised(repository.resolve().name)}-{full}", "git", fill)


def commit_of(repository: Path, commit: str) -> str:
    """The full name of a commit, tag or branch of a local git repository. Raises SourceError."""
    if not repository.is_dir():
        raise SourceError(f"{repository}: no such folder; clone the repository first")
    revision = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{commit}^{{commit}}"]
    if _git(repository, ["rev-parse", "--git-dir"]).returncode:
        raise SourceError(f"{repository}: not a git repository; name a clone, or read it as a folder")
    found = _git(repository, revision)
    if found.returncode:
        raise SourceError(f"{repository}: no commit {commit!r}; fetch it, or name another")
    return found.stdout.decode().strip()


def _cached(place: Path, origin: str, fill: Callable[[Path, Path], tuple[list[Part], list[str]]]) -> Obtained:
    manifest = place / "manifest.json"
    if not manifest.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent, prefix=".making-") as scratch:
            made = Path(scratch) / "made"
            (made / "tree").mkdir(parents=True)
            parts, links = fill(made / "tree", Path(scratch))
            facts = {"origin": origin, "parts": [asdict(part) for part in parts], "links": links}
            (made / "manifest.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")
            shutil.rmtree(place, ignore_errors=True)
            made.rename(place)
    facts = json.loads(manifest.read_text(encoding="utf-8"))
    known = tuple(Part(**part) for part in facts["parts"])
    return Obtained(place / "tree", "", facts["origin"], known, tuple(facts["links"]))


def _download(package: Package, into: Path) -> Path:
    wanted = f"{package.name}=={package.version}"
    platforms = [argument for platform in WHEEL_PLATFORMS for argument in ("--platform", platform)]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--disable-pip-version-check", "--no-input", "--python-version", WHEEL_PYTHON, *platforms]
    ended = subprocess.run([*command, "--dest", str(into), wanted], capture_output=True, check=False)
    wheels = sorted(into.glob("*.whl")) if into.exists() else []
    if ended.returncode == 0 and wheels:
        return wheels[0]
    message = ended.stderr.decode(errors="replace")
    offered = _OFFERED.search(message)
    if offered is None:
        raise SourceError(f"{wanted}: pip could not fetch it: {_last_line(ended.stderr)}")
    versions = [version.strip() for version in offered.group(1).split(",") if version.strip() not in ("", "none")]
    if not versions:
        raise SourceError(
            f"{package.name}: PyPI has no wheel of a package of this name; check the name, or read a folder"
        )
    known = ", ".join(versions[-5:])
    raise SourceError(f"{wanted}: PyPI has no wheel of this version; the newest of {len(versions)} are {known}")


def _git(repository: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, check=False)
    except FileNotFoundError as error:
        raise SourceError("git is not installed; install it, or read the source as a folder") from error


def _normalised(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).lower()


def _last_line(output: bytes) -> str:
    lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["no message"])[-1]
