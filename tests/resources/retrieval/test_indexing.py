"""Vectors in the lake: only new texts are embedded, by whatever embedder; and they are there for SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import duckdb
import numpy as np
import pytest

from resources.lake import Lake
from resources.llm.client import Client
from resources.llm.ledger import Ledger
from resources.llm.retry import RetryPolicy
from resources.model_entry import ModelEntry, Parameters
from resources.outcomes import Status
from resources.retrieval.documents import Document
from resources.retrieval.embedders import (
    TEXTS_AT_ONCE,
    Embedder,
    EmbeddingFailed,
    EndpointEmbedder,
    WordLlamaEmbedder,
    embedder_name,
)
from resources.retrieval.indexing import Indexed, index_source
from resources.retrieval.search import VectorIndex
from resources.retrieval.splitting import keep_whole, split_all
from resources.retrieval.tables import RETRIEVAL_CHUNKS, RETRIEVAL_VECTORS, chunk_rows, read_chunks, read_vectors
from tests.servers.faulty import FaultyServer
from tests.servers.faulty import running as running_faulty
from tests.servers.scripted import ScriptedServer, running, vector_of

SOURCE = {"source": "notes"}
QUICK = RetryPolicy(errors=2, rejections=2, first_wait=0.01, longest_wait=0.05, try_seconds=5)


class Counting:
    """The local embedder, and what it was given."""

    name = "counting"

    def __init__(self) -> None:
        self.given: list[str] = []

    async def embed(self, texts: Sequence[str], purpose: str) -> np.ndarray:
        self.given += texts
        return await WordLlamaEmbedder().embed(texts, purpose)


class Failing:
    """A provider that is away."""

    name = "counting"

    async def embed(self, _texts: Sequence[str], _purpose: str) -> np.ndarray:
        raise EmbeddingFailed(Status.PROVIDER_ERROR, "away")


def write(lake: Lake, *texts: str) -> None:
    chunks = split_all([Document(f"d{place}", "", text) for place, text in enumerate(texts)], keep_whole)
    lake.write(RETRIEVAL_CHUNKS, SOURCE, chunk_rows("notes", "notes", chunks), {})


async def made(lake: Lake, embedder: Embedder) -> Indexed:
    indexed = await index_source(lake, "notes", embedder)
    lake.write(RETRIEVAL_VECTORS, SOURCE | {"embedder": embedder.name}, indexed.rows, {})
    return indexed


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


async def test_unchanged_texts_are_not_embedded_again(lake: Lake) -> None:
    embedder = Counting()
    write(lake, "one", "two", "two", "three")
    first = await made(lake, embedder)
    assert (first.texts, first.embedded, embedder.given) == (3, 3, ["one", "two", "three"])
    write(lake, "three", "one", "four")
    second = await made(lake, embedder)
    assert (second.texts, second.embedded, embedder.given[3:]) == (3, 1, ["four"])
    stored = read_vectors(lake.read(RETRIEVAL_VECTORS, SOURCE | {"embedder": "counting"}))
    fresh = await WordLlamaEmbedder().embed(["three", "one", "four"])
    np.testing.assert_array_equal(np.stack(list(stored.values())), fresh)


async def test_a_failure_leaves_what_was_there(lake: Lake) -> None:
    write(lake, "one")
    await made(lake, Counting())
    before = lake.read(RETRIEVAL_VECTORS, SOURCE | {"embedder": "counting"})
    write(lake, "one", "two")
    with pytest.raises(EmbeddingFailed):
        await made(lake, Failing())
    assert lake.read(RETRIEVAL_VECTORS, SOURCE | {"embedder": "counting"}).equals(before)


async def test_an_empty_source_can_be_indexed(lake: Lake) -> None:
    write(lake)
    indexed = await made(lake, Counting())
    assert (indexed.texts, indexed.embedded) == (0, 0)
    assert read_vectors(lake.read(RETRIEVAL_VECTORS, SOURCE | {"embedder": "counting"})) == {}


async def test_retrieval_can_be_queried_in_sql(lake: Lake) -> None:
    write(lake, "band structure of silicon", "cooking with apples", "density of states")
    await made(lake, Counting())
    query = (await WordLlamaEmbedder().embed(["electronic bands"]))[0]
    rows = duckdb.sql(
        f"""
        select text, array_cosine_similarity(vector::float[256], $query::float[256]) as score
        from read_parquet('{lake.root}/retrieval_chunks/*/data.parquet')
        join read_parquet('{lake.root}/retrieval_vectors/*/*/data.parquet') using (source, text_hash)
        order by score desc
        """,
        params={"query": query.tolist()},
    ).fetchall()
    vectors = lake.read(RETRIEVAL_VECTORS, SOURCE | {"embedder": "counting"})
    index = VectorIndex(read_chunks(lake.read(RETRIEVAL_CHUNKS, SOURCE)), vectors, WordLlamaEmbedder())
    hits = await index.search("electronic bands", 3)
    assert [text for text, _ in rows] == [hit.chunk.text for hit in hits]
    assert rows[0][0] == "band structure of silicon"


def entry(address: str, **more: object) -> ModelEntry:
    fields = {"name": "vectors", "provider": "openai_compatible", "model": "v", "base_url": address}
    return ModelEntry.model_validate({**fields, "free": True, "protocols": ("embeddings",), **more})


@pytest.fixture
def server() -> ScriptedServer:
    return ScriptedServer({})


@pytest.fixture
def address(server: ScriptedServer) -> Iterator[str]:
    with running(server) as found:
        yield found


async def test_an_endpoint_is_asked_once_for_a_text(server: ScriptedServer, address: str, tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(2 * TEXTS_AT_ONCE + 3)]
    prices = {"free": False, "prices": ({"since": "2024-01-01", "input": 0.13},)}
    with Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as ledger:
        for _ in range(2):
            async with Client(entry(address, **prices), ledger, {}, policy=QUICK) as client:
                vectors = await EndpointEmbedder(entry(address), client).embed(texts, "test")
            np.testing.assert_array_equal(vectors, np.stack([vector_of(text) for text in texts]))
    assert [len(asked) for asked in server.embedded] == [TEXTS_AT_ONCE, TEXTS_AT_ONCE, 3]
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as database:
        paid = database.execute("select count(*), sum(prompt_tokens), sum(cost_usd) from attempts").fetchone()
    assert paid == (3, 7 * len(texts), pytest.approx(7 * len(texts) * 0.13e-6))


async def test_plain_numbers_are_read_too(server: ScriptedServer, address: str, tmp_path: Path) -> None:
    """Some servers know no base64."""
    plain = entry(address, parameters=Parameters(extra_body={"encoding_format": "float"}))
    with Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as ledger:
        async with Client(plain, ledger, {}, policy=QUICK) as client:
            vectors = await EndpointEmbedder(plain, client).embed(["a", "b"], "test")
    np.testing.assert_allclose(vectors, np.stack([vector_of("a"), vector_of("b")]))
    assert embedder_name(plain) == "vectors(encoding_format=float)"
    assert server.embedded == [["a", "b"]]


async def test_a_provider_that_is_away_is_no_answer(tmp_path: Path) -> None:
    with running_faulty(FaultyServer()) as away, Ledger(f"sqlite:///{tmp_path / 'ledger.sqlite'}") as ledger:
        missing = entry(f"{away}/v1")  # it has no such route
        async with Client(missing, ledger, {}, policy=QUICK) as client:
            with pytest.raises(EmbeddingFailed) as caught:
                await EndpointEmbedder(missing, client).embed(["a"], "test")
    assert caught.value.status is Status.PROVIDER_ERROR
