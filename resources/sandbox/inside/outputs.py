"""The files that a script left: collected as plain bytes, everything odd left out, and the folders emptied again."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

MAX_FILES = 64
MAX_DEPTH = 8
MAX_ENTRIES = 20_000
MAX_NAME = 200


def collect(root: str, known: Mapping[str, bytes], max_bytes: int) -> tuple[dict[str, bytes], list[str]]:
    """New or changed regular files under `root` by relative name, and a note on each kind of thing left out.

    At most 64 files and `max_bytes` in all, eight folders deep. Links of both kinds, pipes, sockets, devices,
    unreadable files and names with control characters are left out. Nothing may be running that could change the tree.
    """
    files: dict[str, bytes] = {}
    notes: dict[str, int] = {}
    room = max_bytes
    for name, path in _regular_files(root, notes):
        try:
            content = _content(path, room)
        except OSError as error:
            _note(notes, f"unreadable ({error.strerror})")
            continue
        if content is None:
            _note(notes, "too large")
        elif content != known.get(name):
            if len(files) == MAX_FILES:
                _note(notes, f"more than {MAX_FILES} files")
                break
            files[name] = content
            room -= len(content)
    return files, [f"{reason}: {count}" for reason, count in notes.items()]


def _regular_files(root: str, notes: dict[str, int]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    folders = [("", root, 0)]
    seen = 0
    while folders:
        prefix, folder, depth = folders.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            _note(notes, "unreadable folder")
            continue
        for entry in entries:
            seen += 1
            if seen > MAX_ENTRIES:
                _note(notes, f"more than {MAX_ENTRIES} entries")
                return found
            odd = _oddity(entry, depth)
            if odd:
                _note(notes, odd)
            elif entry.is_dir(follow_symlinks=False):
                folders.append((f"{prefix}{entry.name}/", entry.path, depth + 1))
            else:
                found.append((prefix + entry.name, entry.path))
    return sorted(found)


def _oddity(entry: os.DirEntry[str], depth: int) -> str | None:
    if len(entry.name) > MAX_NAME or not entry.name.isprintable():
        return "odd name"
    try:
        state = entry.stat(follow_symlinks=False)
    except OSError:
        return "unreadable"
    if stat.S_ISDIR(state.st_mode):
        return "nested too deeply" if depth >= MAX_DEPTH else None
    if not stat.S_ISREG(state.st_mode):
        return "not a regular file"
    return "hard link" if state.st_nlink != 1 else None


def _content(path: str, room: int) -> bytes | None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:
        if os.fstat(descriptor).st_size > room:
            return None
        return file.read(room)


def _note(notes: dict[str, int], reason: str) -> None:
    notes[reason] = notes.get(reason, 0) + 1


def empty(root: str) -> None:
    """Removes everything under `root`, however deep: what a folder holds is moved up before the folder goes."""
    top = os.fsencode(root)
    count = 0
    while entries := list(os.scandir(top)):
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
                continue
            os.chmod(entry.path, 0o700)
            for name in os.listdir(entry.path):
                inner = os.path.join(entry.path, name)
                if stat.S_ISDIR(os.lstat(inner).st_mode):
                    os.chmod(inner, 0o700)
                count += 1
                os.rename(inner, os.path.join(top, b"moved-%d-%d" % (os.getpid(), count)))
            os.rmdir(entry.path)
