"""Files beside the page: written whole or not at all, left alone when still right, removed when no longer wanted."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

FOLDER = "transcripts"
_LOOKED_AT = 400


def write_text(path: Path, text: str) -> None:
    """Put `text` in place of the file. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".tmp")
    # A half of a surrogate pair is no character that a file could hold.
    temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
    temporary.replace(path)


def is_made(path: Path, identity: str) -> bool:
    """Whether the file says that it was made from `identity`."""
    if not path.exists():
        return False
    with path.open("rb") as file:
        return identity.encode() in file.read(_LOOKED_AT)


def remove_others(folder: Path, kept: Set[Path]) -> None:
    """Remove all files under `folder` but those `kept`, and folders that are then empty. Raises OSError."""
    for path in sorted(folder.glob("**/*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif path not in kept:
            path.unlink()
