"""The Python files of an archive, written below a folder and nowhere else."""

from __future__ import annotations

import lzma
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from mattools_assets.source.errors import SourceError

MAX_BYTES = 1 << 30
"""Most that the Python files of one archive may hold together."""
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    UnicodeDecodeError,  # of a member's name
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
)
"""What `zipfile` raises at an archive that is damaged, encrypted or of another kind."""


def unpack_python(archive: Path, into: Path) -> list[str]:
    """Writes the `.py` files of a zip archive below `into` and returns the paths of links, which are left out.

    Raises SourceError for an archive that is damaged, has no Python file, would write outside `into`, is suspiciously
    large, or holds a file that is there already with other bytes.
    """
    links: list[str] = []
    try:
        with zipfile.ZipFile(archive) as opened:
            members = [member for member in opened.infolist() if member.filename.endswith(".py")]
            if not members:
                raise SourceError(f"{archive.name}: holds no Python file; choose a package that ships its sources")
            if sum(member.file_size for member in members) > MAX_BYTES:
                raise SourceError(
                    f"{archive.name}: its Python files would take more than {MAX_BYTES >> 30} GiB; refused"
                )
            for member in members:
                path = _safe(member.filename, archive)
                if stat.S_ISLNK(member.external_attr >> 16):
                    links.append(path.as_posix())
                else:
                    _write(into / path, opened.read(member), archive)
    except DAMAGED as error:
        raise SourceError(f"{archive.name}: not a whole zip archive ({error}); delete it and try again") from error
    return links


def _safe(name: str, archive: Path) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or ":" in name or "\0" in name:
        raise SourceError(f"{archive.name}: the entry {name!r} would be written outside the folder; refused")
    return path


def _write(path: Path, data: bytes, archive: Path) -> None:
    if path.exists() and path.read_bytes() != data:
        place = f"{path.parent.name}/{path.name}"
        raise SourceError(f"{archive.name}: another package has a different {place}; list only one of the two")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
