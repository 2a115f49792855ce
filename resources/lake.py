"""The lake: one Parquet file a partition of an asset, on a local disk or in a bucket as the root's address says.

    <root>/<table>/<key>=<value>/…/data.parquet

Every key is also a column of the file, so that readers need not take folder names apart. A file appears whole or not
at all: it is written under another name and renamed. Its key-value metadata says what it was made from, which is
how a later run knows whether it is still good. Nothing here knows Dagster.
"""

from __future__ import annotations

import errno
import hashlib
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from os import PathLike

import pyarrow as pa
import pyarrow.parquet as pq
from upath import UPath

from resources.content import content_hash
from resources.registry import folder_partition, partition_folder

FILE_NAME = "data.parquet"
_METADATA_PREFIX = b"condmat."

Key = Mapping[str, str]
"""A partition: the value of each of a table's keys."""


class LakeError(Exception):
    """A file of the lake that cannot be read or written; the message is one line with the file and the mend."""


@dataclass(frozen=True)
class Column:
    """One documented column. `identity` is False for what may differ between equal results, such as a duration."""

    name: str
    type: pa.DataType
    description: str
    nullable: bool = False
    identity: bool = True


@dataclass(frozen=True)
class LakeTable:
    """An asset's table: the keys that make its partitions and the columns of each file."""

    name: str
    description: str
    keys: tuple[str, ...]
    columns: tuple[Column, ...]

    @cached_property
    def schema(self) -> pa.Schema:
        """The Arrow schema, descriptions included."""
        return pa.schema(
            pa.field(c.name, c.type, nullable=c.nullable, metadata={"description": c.description}) for c in self.columns
        )

    def rows(self, rows: list[dict[str, object]]) -> pa.Table:
        """An Arrow table of Python rows, which must have exactly these columns."""
        for row in rows:
            if row.keys() != (names := set(self.schema.names)):
                raise ValueError(f"{self.name}: a row's columns differ from the schema: {sorted(row.keys() ^ names)}")
        return pa.Table.from_pylist(rows, schema=self.schema)

    def fault(self, rows: pa.Table) -> str | None:
        """What is wrong with `rows` as this table, in a few words, or None."""
        if not rows.schema.equals(self.schema):
            ours, theirs = {f.name: f.type for f in self.schema}, {f.name: f.type for f in rows.schema}
            differing = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
            return f"columns differ from the schema: {', '.join(differing) or 'in order or nullability'}"
        empty = [c.name for c in self.columns if not c.nullable and rows.column(c.name).null_count]
        return f"empty values in {', '.join(empty)}" if empty else None

    def content_hash(self, rows: pa.Table) -> str:
        """Identity of the rows' contents: equal rows have equal hashes, however they were stored."""
        return content_hash(rows.select([c.name for c in self.columns if c.identity]))


@dataclass(frozen=True)
class Stored:
    """What a file says of itself: its contents' hash, and what its writer noted."""

    content_hash: str
    provenance: Mapping[str, str]


class Lake:
    """Tables under `root`, which is a local folder or an address that fsspec knows, such as `s3://bucket/lake`."""

    def __init__(self, root: PathLike[str] | str) -> None:
        self.root = UPath(root)

    def path(self, table: LakeTable, key: Key) -> UPath:
        """Where a partition's file is, there or not."""
        if set(key) != set(table.keys):
            raise ValueError(f"{table.name} has the keys {', '.join(table.keys)}, not {', '.join(key)}")
        folders = [f"{name}={partition_folder(key[name])}" for name in table.keys]
        return self.root.joinpath(table.name, *folders, FILE_NAME)

    def write(self, table: LakeTable, key: Key, rows: pa.Table, provenance: Mapping[str, str]) -> Stored:
        """Put `rows` in place of the partition's file. Raises LakeError, and then the old file is as it was."""
        path = self.path(table, key)
        if fault := table.fault(rows):
            raise LakeError(f"{path}: not written, {fault}; this is a fault of the program, please report it")
        stored = Stored(table.content_hash(rows), dict(provenance))
        notes = {"content_hash": stored.content_hash, **provenance}
        annotated = rows.replace_schema_metadata({_METADATA_PREFIX + k.encode(): v.encode() for k, v in notes.items()})
        temporary = path.with_name(f".{uuid.uuid4().hex}.tmp")
        with _writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with temporary.open("wb") as file:
                    pq.write_table(annotated, file, compression="zstd")
                temporary.rename(path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
        return stored

    def read(self, table: LakeTable, key: Key, columns: list[str] | None = None) -> pa.Table:
        """The partition's rows, all or some columns. Raises LakeError when it is missing, truncated or of old form."""
        path = self.path(table, key)
        with _reading(path), path.open("rb") as file:
            # In this thread alone: pyarrow's own may let go of Python's buffers while the interpreter ends, which
            # aborts the process (apache/arrow issue 39162).
            parquet = pq.ParquetFile(file, pre_buffer=False)
            rows = parquet.read(columns, use_threads=False).replace_schema_metadata(None)
        if columns is None and (fault := table.fault(rows)):
            raise LakeError(f"{path}: {fault}; {_REMAKE}")
        return rows

    def stored(self, table: LakeTable, key: Key) -> Stored | None:
        """What the partition's file says of itself, read from its footer; None where there is no file."""
        path = self.path(table, key)
        if not path.exists():
            return None
        with _reading(path), path.open("rb") as file:
            metadata = pq.read_metadata(file).metadata or {}
        own = {
            k.removeprefix(_METADATA_PREFIX).decode(): v.decode()
            for k, v in metadata.items()
            if k.startswith(_METADATA_PREFIX)
        }
        return Stored(own.pop("content_hash", ""), own)

    def keys(self, table: LakeTable) -> list[dict[str, str]]:
        """The partitions that have a file, in order. Raises LakeError where a folder's name is that of none."""
        pattern = "/".join(["*"] * len(table.keys) + [FILE_NAME])
        keys = [_key_of(path, table.keys) for path in (self.root / table.name).glob(pattern)]
        return sorted(keys, key=lambda key: [key[name] for name in table.keys])

    def read_all(self, table: LakeTable, columns: list[str] | None = None) -> pa.Table:
        """All partitions' rows, one table; empty where nothing has been written."""
        schema = table.schema if columns is None else pa.schema([table.schema.field(name) for name in columns])
        return pa.concat_tables([schema.empty_table(), *(self.read(table, key, columns) for key in self.keys(table))])


def combined_hash(*parts: str) -> str:
    """One hash of several texts in order, 32 hexadecimal digits."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:{part}".encode())
    return digest.hexdigest()[:32]


def _key_of(path: UPath, names: tuple[str, ...]) -> dict[str, str]:
    """The key that the folders above `path` spell, in the only way in which they are ever written."""
    folders = path.parts[-1 - len(names) : -1]
    try:
        key = {
            name: folder_partition(folder.removeprefix(f"{name}=")) for name, folder in zip(names, folders, strict=True)
        }
        spelled = tuple(f"{name}={partition_folder(value)}" for name, value in key.items())
    except UnicodeError:
        spelled = ()
    if spelled != folders:
        form = "/".join(f"{name}=…" for name in names)
        shown = str(path).encode(errors="backslashreplace").decode()  # names on a disk need not be text
        raise LakeError(f"{shown}: is no file of the lake, whose folders are {form}; delete it or move it elsewhere")
    return key


_REMAKE = "delete this file and run again, only this partition is then made anew"


@contextmanager
def _reading(path: UPath) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise LakeError(f"{path}: is missing; materialize it first") from None
    except (pa.ArrowException, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise LakeError(f"{path}: cannot be read as Parquet ({reason}); {_REMAKE}") from None


@contextmanager
def _writing(path: UPath) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        mends = {
            errno.ENOSPC: "free some space",
            errno.EDQUOT: "free some space",
            errno.EFBIG: "raise the limit on file sizes",
        }
        mend = mends.get(error.errno or 0, "make the folder writable or point CONDMAT_DATA at another one")
        raise LakeError(
            f"{path}: cannot be written ({error.strerror or error}); {mend} and run again, what is finished is kept"
        ) from None
