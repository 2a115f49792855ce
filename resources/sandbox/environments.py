"""The named environments that scripts run in: which packages, what is imported ahead, and how they are installed."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

REQUIREMENTS = Path(__file__).parent / "environments"
PYTHON = "3.11"  # of the pins


@dataclass(frozen=True)
class Environment:
    """A pinned set of packages; `preload` are the modules whose import a worker pays once.

    The pins are made anew from the `.in` file beside them with
    `uv pip compile --python-version 3.11 --no-header --no-annotate`.
    """

    name: str
    preload: tuple[str, ...]

    @property
    def requirements(self) -> Path:
        """The file of exact versions."""
        return REQUIREMENTS / f"{self.name}.txt"

    @property
    def fingerprint(self) -> str:
        """Changes with any version of any package."""
        return hashlib.sha256(self.requirements.read_bytes()).hexdigest()[:16]


ENVIRONMENTS = {
    environment.name: environment
    for environment in (
        Environment(
            "cme",
            (
                "numpy",
                "numpy.random",
                "scipy.fft",
                "scipy.integrate",
                "scipy.interpolate",
                "scipy.ndimage",
                "scipy.optimize",
                "scipy.signal",
                "scipy.special",
                "scipy.stats",
                "pandas",
                "lmfit",
                "lmfit.models",
                "skimage.filters",
                "skimage.measure",
            ),
        ),
        Environment(
            "mattools",
            (
                "numpy",
                "numpy.random",
                "scipy.optimize",
                "scipy.interpolate",
                "pandas",
                "matplotlib.pyplot",
                "monty.serialization",
                "pymatgen.core",
                "pymatgen.analysis.defects.core",
                "pymatgen.analysis.defects.generators",
                "pymatgen.analysis.defects.thermo",
                "pymatgen.analysis.phase_diagram",
                "pymatgen.analysis.structure_matcher",
                "pymatgen.entries.computed_entries",
                "pymatgen.io.vasp",
                "pymatgen.symmetry.analyzer",
            ),
        ),
    )
}


class EnvironmentMissing(RuntimeError):
    """The environment is not installed; the message says what to run."""


def environment(name: str) -> Environment:
    """The environment called `name`. Raises KeyError naming those that exist."""
    if name not in ENVIRONMENTS:
        raise KeyError(f"no sandbox environment {name!r}; there are {', '.join(ENVIRONMENTS)}")
    return ENVIRONMENTS[name]


def folder(wanted: Environment, data: Path) -> Path:
    """Where the virtual environment is installed under the data folder."""
    return data / "environments" / f"{wanted.name}-{wanted.fingerprint}"


def installed(wanted: Environment, data: Path) -> Path:
    """The folder of the installed environment. Raises EnvironmentMissing."""
    path = folder(wanted, data)
    if not path.exists():
        raise EnvironmentMissing(f"the sandbox environment {wanted.name!r} is not in {path}: run `make sandbox`")
    return path


def install(wanted: Environment, data: Path) -> Path:
    """Installs the environment with uv unless it is there; half an environment is never left under its final name."""
    path = folder(wanted, data)
    if path.exists():
        return path
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    shutil.rmtree(beside, ignore_errors=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    uv = [sys.executable, "-m", "uv"]
    subprocess.run([*uv, "venv", "--quiet", "--python", PYTHON, str(beside)], check=True)
    packages = [*uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", str(beside / "bin" / "python")]
    subprocess.run([*packages, "-r", str(wanted.requirements)], check=True)
    beside.rename(path)
    return path
