"""The ledger as Parquet or JSONL: `python -m resources.llm.export [LEDGER_URL [TARGET]]`.

One row a try, with the request as it was sent beside the response as it came; requests without a try (stopped by the
budget) have one row without a response. Rows stream, so that the size of the ledger does not matter.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import Connection, select

from resources.llm.database import LedgerError, open_engine, reading
from resources.llm.request import restore, text_references
from resources.llm.schema import attempts, requests
from resources.llm.storing import decompress, load_texts, parts
from resources.settings import read_settings

ROWS_AT_ONCE = 200
_REQUEST = ("hash", "provider", "endpoint", "model", "repeat", "purpose", "attempts")
_ATTEMPT = tuple(
    column.name for column in attempts.c if column.name not in ("id", "request_hash", "transport", "response")
)
SCHEMA = pa.schema(
    [
        ("hash", pa.string()),
        ("provider", pa.string()),
        ("endpoint", pa.string()),
        ("model", pa.string()),
        ("repeat", pa.int32()),
        ("purpose", pa.string()),
        ("attempts", pa.int32()),
        ("final_status", pa.string()),
        ("is_answer", pa.bool_()),
        ("number", pa.int32()),
        ("run", pa.string()),
        ("started_at", pa.float64()),
        ("finished_at", pa.float64()),
        ("status", pa.string()),
        ("error", pa.string()),
        ("http_status", pa.int32()),
        ("prompt_tokens", pa.int64()),
        ("cached_tokens", pa.int64()),
        ("cache_write_tokens", pa.int64()),
        ("completion_tokens", pa.int64()),
        ("reasoning_tokens", pa.int64()),
        ("cost_usd", pa.float64()),
        ("price_since", pa.string()),
        ("first_token_seconds", pa.float64()),
        ("provider_request_id", pa.string()),
        ("served_model", pa.string()),
        ("fingerprint", pa.string()),
        ("request", pa.string()),
        ("response", pa.string()),
    ]
)


def export(url: str, target: Path) -> int:
    """Write the ledger at `url` to `target`, `.parquet` or `.jsonl`; returns the number of rows.

    The target appears whole or not at all. Raises LedgerError, or ValueError for another ending.
    """
    if target.suffix not in (".parquet", ".jsonl"):
        raise ValueError(f"{target}: end the name with .parquet or .jsonl")
    engine = open_engine(url)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        with reading(engine) as connection:
            write = _write_parquet if target.suffix == ".parquet" else _write_jsonl
            count = write(unfinished, _rows(connection))
        unfinished.replace(target)
        return count
    finally:
        unfinished.unlink(missing_ok=True)
        engine.dispose()


def _rows(connection: Connection) -> Iterator[list[dict[str, Any]]]:
    query = (
        select(
            *(requests.c[name] for name in _REQUEST),
            requests.c.status.label("final_status"),
            requests.c.answer,
            requests.c.body,
            *(attempts.c[name] for name in (*_ATTEMPT, "transport", "response")),
        )
        .join_from(requests, attempts, attempts.c.request_hash == requests.c.hash, isouter=True)
        .order_by(attempts.c.id)
        .execution_options(yield_per=ROWS_AT_ONCE)
    )
    for part in parts(connection.execute(query).mappings(), ROWS_AT_ONCE):
        skeletons = [decompress(row["body"]) for row in part]
        texts = load_texts(connection, {digest for skeleton in skeletons for digest in text_references(skeleton)})
        yield [_row(row, restore(skeleton, texts)) for row, skeleton in zip(part, skeletons, strict=True)]


def _row(row: Any, body: dict[str, Any]) -> dict[str, Any]:
    sent = body | orjson.loads(row["transport"] or "{}")
    response = None if row["response"] is None else decompress(row["response"]).decode("utf-8", "replace")
    return {name: row[name] for name in (*_REQUEST, "final_status", *_ATTEMPT)} | {
        "is_answer": row["number"] is not None and row["number"] == row["answer"],
        "request": orjson.dumps(sent).decode(),
        "response": response,
    }


def _write_parquet(path: Path, batches: Iterator[list[dict[str, Any]]]) -> int:
    count = 0
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        for batch in batches:
            writer.write_table(pa.Table.from_pylist(batch, schema=SCHEMA))
            count += len(batch)
    return count


def _write_jsonl(path: Path, batches: Iterator[list[dict[str, Any]]]) -> int:
    count = 0
    with path.open("wb") as file:
        for batch in batches:
            file.writelines(orjson.dumps({name: row[name] for name in SCHEMA.names}) + b"\n" for row in batch)
            count += len(batch)
    return count


def main() -> None:
    """Say how many rows were written, or in one line what is wrong."""
    parser = argparse.ArgumentParser(prog="python -m resources.llm.export", description=__doc__)
    settings = read_settings()
    parser.add_argument("url", nargs="?", default=settings.ledger_url, help="by default the settings' (%(default)s)")
    parser.add_argument(
        "target", nargs="?", type=Path, default=settings.data / "ledger.parquet", help="ends in .parquet or .jsonl"
    )
    options = parser.parse_args()
    try:
        print(f"{export(options.url, options.target)} tries written to {options.target}")
    except (LedgerError, ValueError, OSError) as error:
        raise SystemExit(str(error)) from None


if __name__ == "__main__":
    main()
