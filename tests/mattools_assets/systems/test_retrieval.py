"""From a library's source to what is found of what a question needs, through the assets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest

from mattools_assets.assets.retrieval import retrieval_defs
from mattools_assets.docs.tables import LLM_DOCS, documents_table
from mattools_assets.docs.writing import Document, State
from mattools_assets.questions.own import OwnQuestion
from mattools_assets.source.tables import CODE_OBJECTS
from mattools_assets.systems.catalogue import SYSTEMS
from mattools_assets.systems.needed import needed_objects
from mattools_assets.systems.opening import Place, reason_off, system_identity, why_off
from mattools_assets.systems.recall import about_in, stale_recall, summary
from mattools_assets.systems.sources import (
    CODE,
    OBJECT_DOCS,
    OBJECT_DOCS_SPLIT,
    OFFICIAL_DOCS,
    SOURCES,
    Means,
    SourceMissing,
    why_missing,
)
from resources.lake import Lake
from resources.registry import load_registry
from resources.retrieval.choice import EmbedderError, chosen_name
from resources.retrieval.documents import Chunk
from resources.retrieval.tables import RETRIEVAL_CHUNKS, RETRIEVAL_VECTORS
from resources.settings import Settings, read_settings
from tests.mattools_assets.systems.performing import MODULES, QUESTION, small_library
from tests.servers.scripted import ScriptedServer, running

LATTICE = "crystals/lattice.py"
SOLUTION = """def cell_volume():
    from crystals import powder
    from crystals.lattice import cubic

    cell = cubic(2.0)
    return {"volume": cell.volume(), "length": len(cell.lengths), "angle": powder.bragg_angle(2.0, 1.5)}
"""
KEYLESS = [source for source in SOURCES if source != OFFICIAL_DOCS]


def settings_in(folder: Path, **more: str) -> Settings:
    models = folder / "models.yaml"
    if not models.exists():
        models.write_text("models:\n  - {name: centre, provider: reference}\n")
    return read_settings({"CONDMAT_DATA": str(folder), "CONDMAT_MODELS": str(models), **more})


def place_in(folder: Path, **more: str) -> Place:
    settings = settings_in(folder, **more)
    return Place(Lake(settings.lake), settings, load_registry(settings.models_file))


def materialize(place: Place, asset: str, source: str) -> dg.ExecuteInProcessResult:
    resources = {"lake": place.lake, "settings": place.settings}
    definitions = dg.Definitions.merge(retrieval_defs(place.settings), dg.Definitions(resources=resources))
    job = definitions.resolve_implicit_global_asset_job_def()
    return job.execute_in_process(asset_selection=[dg.AssetKey(asset)], partition_key=source)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A lake that holds the source, and nothing to retrieve yet."""
    made = small_library(tmp_path / "made")
    here = place_in(tmp_path)
    for table in (CODE_OBJECTS,):
        here.lake.write(table, {}, made.read(table, {}), {})
    return here


def test_needed_objects_are_those_that_the_solution_refers_to() -> None:
    own = OwnQuestion(QUESTION, (), SOLUTION)
    library = {f"crystals/{name}": text for name, text in MODULES.items()}
    assert needed_objects(library, [own]) == {
        QUESTION.id: (f"{LATTICE}:Lattice.volume:10", f"{LATTICE}:cubic:16", "crystals/powder.py:bragg_angle:4")
    }


def test_a_name_that_could_be_several_things_is_not_needed() -> None:
    solution = "def cell_volume(x):\n    return x.volume()\n"
    own = OwnQuestion(QUESTION, (), solution)
    library = {f"crystals/{name}": text for name, text in MODULES.items()}
    assert needed_objects(library, [own]) == {QUESTION.id: ()}


def chunk(document: str, first: int, last: int, text: str = "") -> Chunk:
    return Chunk("c", document, "", 0, first, last, text, "h")


OBJECTS = [
    {"object_id": "L", "kind": "class", "file": LATTICE, "start_line": 4, "end_line": 13, "name": "Lattice"},
    {"object_id": "v", "kind": "method", "file": LATTICE, "start_line": 10, "end_line": 13, "name": "volume"},
]


@pytest.mark.parametrize(
    ("source", "piece", "about"),
    [
        (CODE, chunk(LATTICE, 1, 4), {"L"}),
        (CODE, chunk(LATTICE, 5, 9), set()),
        (CODE, chunk(LATTICE, 9, 10), {"v"}),
        (CODE, chunk(LATTICE, 13, 20), {"v"}),
        (CODE, chunk(LATTICE, 14, 20), set()),
        (CODE, chunk("other.py", 1, 20), set()),
        (OBJECT_DOCS, chunk("v", 0, 0), {"v"}),
        (OBJECT_DOCS_SPLIT, chunk("w", 0, 0), set()),
        (OFFICIAL_DOCS, chunk("page", 0, 0, "volume() → float; sublattice(x), Lattice"), {"v"}),
    ],
)
def test_what_a_chunk_is_about(source: str, piece: Chunk, about: set[str]) -> None:
    assert about_in(source, OBJECTS)(piece) == about


def test_recall_is_over_all_needed_objects() -> None:
    rows = [
        {"needed": ["a", "b", "c"], "available": ["a", "b"], "found": ["a"]},
        {"needed": ["d"], "available": ["d"], "found": ["d"]},
        {"needed": [], "available": [], "found": []},
    ]
    assert summary(rows) == {
        "questions": 2,
        "needed objects": 4,
        "available": 0.75,
        "recall": 0.5,
        "questions with a hit": 2,
    }


@pytest.mark.parametrize("source", KEYLESS)
def test_assets_make_what_is_stale_and_nothing_else(place: Place, source: str) -> None:
    assert place.stale([source]) == [("retrieval_chunks", source), ("retrieval_vectors", source)]
    for asset, name in place.stale([source]):
        assert materialize(place, asset, name).success
    assert place.stale([source]) == []
    key = {"source": source, "embedder": place.embedder}
    assert place.lake.read(RETRIEVAL_VECTORS, key).num_rows > 0
    assert stale_recall(place, [source]) == [("retrieval_recall", source)]
    assert materialize(place, "retrieval_recall", source).success
    assert stale_recall(place, [source]) == []


def test_words_need_no_vectors(place: Place, tmp_path: Path) -> None:
    words = place_in(tmp_path, CONDMAT_EMBEDDER="bm25")
    assert words.stale([CODE]) == [("retrieval_chunks", CODE)]
    materialize(words, "retrieval_chunks", CODE)
    assert words.stale([CODE]) == []
    assert materialize(words, "retrieval_vectors", CODE).success
    assert words.lake.keys(RETRIEVAL_VECTORS) == []
    assert system_identity(SYSTEMS["rag-1"], words) != system_identity(SYSTEMS["rag-1"], place)


def write_documents(place: Place, writer: str, *written: Document) -> None:
    place.lake.write(LLM_DOCS, {"doc_source": writer}, documents_table(writer, written), {})


CUBE = Document(f"{LATTICE}:cubic:16", "h", State.WRITTEN, "Purpose: makes a cube.")


@pytest.mark.parametrize("source", [OBJECT_DOCS, OBJECT_DOCS_SPLIT])
def test_documents_of_a_model_are_used_only_when_it_is_named(place: Place, tmp_path: Path, source: str) -> None:
    materialize(place, "retrieval_chunks", source)
    key, system = {"source": source}, SYSTEMS["rag-4" if source == OBJECT_DOCS else "rag-3"]
    assert set(place.lake.read(RETRIEVAL_CHUNKS, key).column("documents").to_pylist()) == {"docstrings"}
    before, stale = system_identity(system, place), place.stale([source])
    write_documents(place, "some-model", CUBE)
    assert place.stale([source]) == stale == [("retrieval_vectors", source)]
    assert system_identity(system, place) == before
    named = place_in(tmp_path, CONDMAT_DOC_SOURCE="some-model")
    assert named.stale([source])[0] == ("retrieval_chunks", source)
    materialize(named, "retrieval_chunks", source)
    rows = named.lake.read(RETRIEVAL_CHUNKS, key).to_pylist()
    assert [(row["documents"], row["title"], row["text"]) for row in rows] == [
        ("some-model", f"cubic ({LATTICE})", "Purpose: makes a cube.")
    ]
    assert system_identity(system, named) != before
    write_documents(place, "other-model", CUBE, replace(CUBE, object_id="x"))
    assert named.stale([source]) == [("retrieval_vectors", source)]
    assert system_identity(SYSTEMS["rag-1"], place) == system_identity(SYSTEMS["rag-1"], named)


@pytest.mark.parametrize(
    ("states", "what"),
    [
        ([], "has written no document"),
        ([State.SUBSTITUTE], "has written no document"),
        ([State.WRITTEN, State.FAILED, State.WAITING], "has written 1 of 3 documents"),
    ],
)
def test_a_writer_who_has_not_written_all_gives_no_source(
    place: Place, tmp_path: Path, states: list[State], what: str
) -> None:
    """Half of the documents would be asked about now, and again when the others are there."""
    if states:
        write_documents(place, "some-model", *(replace(CUBE, object_id=f"{n}", state=s) for n, s in enumerate(states)))
    named = place_in(tmp_path, CONDMAT_DOC_SOURCE="some-model")
    line = (
        f"object-docs-split and object-docs: left out; some-model, whom CONDMAT_DOC_SOURCE names, {what};"
        " let it write them all, or name docstrings"
    )
    assert why_off(SYSTEMS["rag-3"], named) == f"rag-3: {line}"
    assert reason_off(SYSTEMS["reflection"], named) == line
    assert why_off(SYSTEMS["rag-1"], named) is None
    with pytest.raises(SourceMissing, match="CONDMAT_DOC_SOURCE"):
        named.stale([OBJECT_DOCS])


def test_changed_code_makes_chunks_stale(place: Place) -> None:
    materialize(place, "retrieval_chunks", CODE)
    rows = place.lake.read(CODE_OBJECTS, {})
    place.lake.write(CODE_OBJECTS, {}, rows.slice(0, rows.num_rows - 1), {})
    assert place.stale([CODE])[0] == ("retrieval_chunks", CODE)


def test_missing_official_documentation_is_one_line(place: Place, tmp_path: Path) -> None:
    line = why_off(SYSTEMS["rag-2"], place)
    assert line is not None
    assert "CONDMAT_OFFICIAL_DOCS" in line
    assert "\n" not in line
    assert why_off(SYSTEMS["rag-1"], place) is None
    there = place_in(tmp_path, CONDMAT_OFFICIAL_DOCS=str(tmp_path / "made" / "pages"))
    assert why_off(SYSTEMS["rag-2"], there) is None


def test_an_embedder_of_the_registry_is_used_through_the_ledger(place: Place) -> None:
    server = ScriptedServer({})
    with running(server) as address:
        (place.settings.data / "models.yaml").write_text(
            "models:\n  - {name: vectors, provider: openai_compatible, model: v, free: true, protocols: [embeddings], "
            f"base_url: '{address}'}}\n"
        )
        served = place_in(place.settings.data)
        assert served.embedder == "vectors"
        for asset, source in served.stale([OBJECT_DOCS]):
            materialize(served, asset, source)
        assert served.stale([OBJECT_DOCS]) == []
        asked = len(server.embedded)
        path = served.lake.path(RETRIEVAL_VECTORS, {"source": OBJECT_DOCS, "embedder": "vectors"})
        path.unlink()
        materialize(served, "retrieval_vectors", OBJECT_DOCS)
        assert len(server.embedded) == asked == 1


@pytest.mark.parametrize("choice", ["centre", "nobody"])
def test_a_setting_that_names_no_embedder_is_one_line(place: Place, choice: str) -> None:
    with pytest.raises(EmbedderError) as caught:
        chosen_name(choice, place.registry, {})
    assert "CONDMAT_EMBEDDER" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_systems_have_an_identity_each(place: Place) -> None:
    identities = {name: system_identity(system, place) for name, system in SYSTEMS.items()}
    assert len(set(identities.values())) == len(SYSTEMS)
    changed = replace(SYSTEMS["single"], version="next")
    assert system_identity(changed, place) != identities["single"]


def test_a_folder_without_pages_is_one_line_and_no_source(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    (tmp_path / "empty").mkdir()
    assert why_missing(Means(lake, tmp_path / "empty"), OFFICIAL_DOCS) == (
        f"official-docs: {tmp_path / 'empty'}: no HTML page (*.html) below this folder"
    )
    assert "CONDMAT_OFFICIAL_DOCS" in (why_missing(Means(lake), OFFICIAL_DOCS) or "")
    (tmp_path / "empty" / "page.html").write_text("<p>A page.</p>")
    assert why_missing(Means(lake, tmp_path / "empty"), OFFICIAL_DOCS) is None
