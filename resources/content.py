"""Hashes of Arrow tables by content, independent of chunks, offsets, padding and the file they came from."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def content_hash(rows: pa.Table) -> str:
    """Hash of column names, kinds and values in order, 32 hexadecimal digits."""
    digest = hashlib.sha256()
    for name in rows.column_names:
        column = rows.column(name)
        digest.update(f"{name};".encode())
        _update(digest, column.combine_chunks())
    return digest.hexdigest()[:32]


def _update(digest: Any, values: pa.Array) -> None:
    if isinstance(values, pa.ChunkedArray):
        values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
    # Parquet renames the items of lists, so a nested type's own text says too much.
    kind = values.type if pa.types.is_primitive(values.type) else type(values).__name__
    digest.update(f"{kind}:{len(values)};".encode())
    digest.update(np.packbits(values.is_valid().to_numpy(zero_copy_only=False)).tobytes())
    if pa.types.is_list(values.type):
        digest.update(pc.fill_null(pc.list_value_length(values), 0).to_numpy(zero_copy_only=False).tobytes())
        _update(digest, values.flatten())
    elif pa.types.is_struct(values.type):
        for part in values.flatten():
            _update(digest, part)
    elif pa.types.is_string(values.type):
        texts = [text.encode() for text in values.to_pylist() if text is not None]
        digest.update(np.array([len(text) for text in texts], dtype=np.int64).tobytes())
        digest.update(b"".join(texts))
    else:
        present = values.drop_null()
        digest.update(present.to_numpy(zero_copy_only=False).tobytes())
