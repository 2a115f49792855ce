"""Search against independent results: numpy over all vectors, BM25 by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from resources.retrieval.documents import Chunk, Document
from resources.retrieval.embedders import WordLlamaEmbedder
from resources.retrieval.search import VectorIndex, WordIndex, words
from resources.retrieval.splitting import keep_whole, split_all
from resources.retrieval.tables import vector_rows


class Fixed:
    """Gives one vector for everything; what it makes of queries is not under test."""

    name = "fixed"

    def __init__(self, vector: np.ndarray) -> None:
        self.vector = vector

    async def embed(self, texts: Sequence[str], _purpose: str) -> np.ndarray:
        return np.stack([self.vector] * len(texts))


def chunks_of(texts: Sequence[str]) -> list[Chunk]:
    return split_all([Document(f"d{place:04}", "", text) for place, text in enumerate(texts)], keep_whole)


def vector_index(chunks: list[Chunk], vectors: np.ndarray, query: np.ndarray) -> VectorIndex:
    hashes = [chunk.text_hash for chunk in chunks]
    return VectorIndex(chunks, vector_rows("s", "fixed", hashes, vectors), Fixed(query))


@pytest.mark.parametrize("length", [3, 256])
async def test_the_nearest_vectors_are_those_of_numpy(length: int) -> None:
    random = np.random.default_rng(7)
    vectors = random.normal(size=(400, length)).astype(np.float32) * random.uniform(0.1, 9, size=(400, 1)).astype("f4")
    query = random.normal(size=length).astype(np.float32)
    chunks = chunks_of([f"text {number}" for number in range(400)])
    hits = await vector_index(chunks, vectors, query).search("anything", 5)
    exact = vectors.astype(float) @ query / np.linalg.norm(vectors.astype(float), axis=1) / np.linalg.norm(query)
    best = np.argsort(-exact)[:5]
    assert [hit.chunk.document_id for hit in hits] == [f"d{place:04}" for place in best]
    np.testing.assert_allclose([hit.score for hit in hits], exact[best], atol=1e-6)
    assert [hit.rank for hit in hits] == [1, 2, 3, 4, 5]


async def test_chunks_of_one_text_share_its_vector_and_are_all_found() -> None:
    chunks = chunks_of(["same", "same", "other"])
    table = vector_rows("s", "fixed", [chunks[0].text_hash, chunks[2].text_hash], np.eye(2, dtype=np.float32))
    hits = await VectorIndex(chunks, table, Fixed(np.array([1, 0], np.float32))).search("", 2)
    assert {hit.chunk.id for hit in hits} == {chunks[0].id, chunks[1].id}
    assert [hit.chunk.id for hit in hits] == sorted(hit.chunk.id for hit in hits)


async def test_an_empty_source_has_no_hits() -> None:
    table = vector_rows("s", "fixed", [], np.empty((0, 0), np.float32))
    assert await VectorIndex([], table, Fixed(np.ones(2, np.float32))).search("x", 5) == []
    assert await WordIndex([]).search("x", 5) == []


async def test_word_scores_are_those_by_hand() -> None:
    texts = ["silicon band gap gap", "silicon lattice", "phonon phonon phonon"]
    hits = await WordIndex(chunks_of(texts)).search("the gap of silicon", 3)
    # Lucene's form: idf = ln(1 + (N - n + 0.5) / (n + 0.5)), tf = f / (f + k1 (1 - b + b L / mean L)).
    mean = (4 + 2 + 3) / 3

    def part(found: int, times: int, length: int) -> float:
        idf = math.log(1 + (3 - found + 0.5) / (found + 0.5))
        return idf * times / (times + 1.5 * (1 - 0.75 + 0.75 * length / mean))

    first = part(1, 2, 4) + part(2, 1, 4)
    second = part(2, 1, 2)
    assert [hit.chunk.text for hit in hits] == texts[:2]
    np.testing.assert_allclose([hit.score for hit in hits], [first, second], rtol=1e-5)


async def test_words_that_occur_nowhere_find_nothing() -> None:
    assert await WordIndex(chunks_of(["silicon", "carbon"])).search("uranium", 5) == []


def test_identifiers_count_whole_and_by_parts() -> None:
    assert words("SpacegroupAnalyzer.get_symmetry_ops(XRDCalculator)") == [
        *("spacegroupanalyzer", "spacegroup", "analyzer"),
        *("get_symmetry_ops", "get", "symmetry", "ops"),
        *("xrdcalculator", "xrd", "calculator"),
    ]


async def test_the_local_embedder_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object, **_more: object) -> None:
        raise AssertionError("asked the network")

    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)
    vectors = await WordLlamaEmbedder().embed(
        ["the band gap of a semiconductor", "electronic gap between the bands", "a recipe for apple cake"], ""
    )
    assert vectors.shape == (3, 256)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2
