"""Whole runs on large packages that nothing here was tuned for, against the standard library's parser."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

# Shared with the other tests of sources, and no package installs it.
sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.mattools_assets.source.independent import check_against_standard_library


@pytest.mark.live
@pytest.mark.slow
@pytest.mark.parametrize("package", ["numpy", "dagster", "sympy"])
def test_whole_packages_agree_with_the_standard_library(package: str) -> None:
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        pytest.skip(f"{package} is not installed")
    check_against_standard_library(Path(found.origin).parent)
