"""What commands share in reading their command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence


def take_none(module: str, about: str | None, arguments: Sequence[str] | None = None) -> None:
    """For `python -m module`, which takes no arguments: `--help` and whatever else end it before any work begins.

    `about` is the module's docstring; `arguments` are by default those of the process.
    """
    description = (about or "").split("\n")[0]
    argparse.ArgumentParser(prog=f"python -m {module}", description=description).parse_args(arguments)
