"""The importer of the published question sets, on small files made to their schema."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mattools_assets.qa.published import PublishedError, read_published
from mattools_assets.qa.questions import Question, QuestionKind
from mattools_assets.stages.questions import make_published
from resources.settings import read_settings


def question(number: object, **change: object) -> dict:
    base = {
        "question_id": number,
        "question": f"What about {number}?",
        "choices": {"A": "one", "B": "two", "C": "three", "D": "four"},
        "correct_answer": "B",
    }
    return base | change


def two_sources() -> list[dict]:
    return [
        {"source": "pymatgen/core/lattice.py", "questions": [question("q1"), question("q2")]},
        {"source": "pymatgen/core/sites.py", "questions": [question("q3", correct_answer="D")]},
    ]


def file(folder: Path, document: object, name: str = "pymatgen_code_qa.json") -> Path:
    (folder / name).write_text(json.dumps(document), encoding="utf-8")
    return folder / name


def questions(path: Path) -> list[Question]:
    return read_published(path, QuestionKind.CODE)[0]


def error(path: Path) -> str:
    with pytest.raises(PublishedError) as caught:
        read_published(path, QuestionKind.CODE)
    message = str(caught.value)
    assert "\n" not in message
    assert path.name in message
    return message


def test_json_and_zip_give_the_same(tmp_path: Path) -> None:
    path = file(tmp_path, two_sources())
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as archive:
        archive.write(path, "folder/pymatgen_code_qa.json")
        archive.writestr("__MACOSX/folder/._x.json", b"\x00")
        archive.writestr("README.md", "hello")
    read = questions(path)
    assert questions(tmp_path / "set.zip") == read
    assert [(item.question_id, item.source_id, item.module, item.right) for item in read] == [
        ("q1", "pymatgen/core/lattice.py", "pymatgen/core", "two"),
        ("q2", "pymatgen/core/lattice.py", "pymatgen/core", "two"),
        ("q3", "pymatgen/core/sites.py", "pymatgen/core", "four"),
    ]


@pytest.mark.parametrize("start", [0, 1])
def test_ids_counted_anew_in_each_source_are_told_apart(tmp_path: Path, start: int) -> None:
    document = [{"source": name, "questions": [question(start), question(start + 1)]} for name in ("a.py", "b.py")]
    read = questions(file(tmp_path, document))
    assert [item.question_id for item in read] == [
        f"a.py#{start}",
        f"a.py#{start + 1}",
        f"b.py#{start}",
        f"b.py#{start + 1}",
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"choices": {"A": "1", "B": "2", "C": "3", "D": "4", "E": "5"}}, "found A, B, C, D, E"),
        ({"choices": {"A": "1", "B": "2", "C": "3"}}, "found A, B, C"),
        ({"choices": ["1", "2", "3", "4"]}, "found a list"),
        ({"choices": {"A": "1", "B": "2", "C": "3", "D": 4}}, "an option is no text"),
        ({"correct_answer": "E"}, "found 'E'"),
        ({"correct_answer": None}, "found None"),
        ({"question": " "}, ".question: is missing or empty"),
        ({"question_id": None}, ".question_id: is missing"),
        ({"question_id": "q1"}, "question_id 'q1' is already that of [0].questions[0]"),
        ({"question": "half \ud800 a character"}, ".question: holds half a character"),
        ({"question_id": "\udfff"}, ".question_id: holds half a character"),
        ({"choices": {"A": "1", "B": "\ud83d", "C": "\ude00", "D": "4"}}, ".choices: holds half a character"),
        ({"choices": {"\ud800": "1"}}, "found \\ud800"),
    ],
)
def test_a_bad_question_is_named_with_its_place(tmp_path: Path, change: dict, words: str) -> None:
    document = two_sources()
    document[1]["questions"][0] |= change
    message = error(file(tmp_path, document))
    assert words in message
    assert "[1].questions[0]" in message


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ({"source": "x"}, "expected a list of sources, found an object"),
        ([1], "found a number"),
        ([{"questions": []}], ".source: is missing"),
        ([{"source": True, "questions": []}], ".source: is missing or no text"),
        ([{"source": "x"}], ".questions: is missing"),
        ([{"source": "x", "questions": [1]}], ".questions: is missing or no list"),
        ([], "holds no question;"),
        (
            [{"source": "x", "questions": [question("q", choices=dict.fromkeys("ABCD", "same"))]}],
            "holds no question with four different options",
        ),
    ],
)
def test_other_documents_are_named(tmp_path: Path, document: object, words: str) -> None:
    assert words in error(file(tmp_path, document))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[{"source": ' + "9" * 5_000 + "}]", "too many digits"),
        ('[{"source": "x", "questions": [{"choices": {"A": "a", "A": "z"}}]}]', "the key 'A' is there twice"),
        ('[{"\\ud800": 1, "\\ud800": 2}]', "the key '\\ud800' is there twice"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_python_reads_otherwise_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "pymatgen_code_qa.json"
    path.write_text(text)
    assert words in error(path)


def test_ids_of_two_files_name_both(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as archive:
        for name in ("one.json", "two.json"):
            archive.writestr(name, json.dumps(two_sources()))
    message = error(tmp_path / "set.zip")
    assert "set.zip/two.json: [0].questions[0]: question_id 'q1' is already that of" in message
    assert "set.zip/one.json: [0].questions[0]" in message


def test_questions_without_four_different_options_are_left_out_and_counted(tmp_path: Path) -> None:
    document = two_sources()
    document[0]["questions"] += [
        question("q4", choices={"A": "same", "B": "other", "C": " same", "D": "more"}),
        question("q5", choices={"A": "one", "B": "two", "C": " ", "D": "four"}),
    ]
    path = file(tmp_path, document)
    assert [item.question_id for item in questions(path)] == ["q1", "q2", "q3"]
    settings = read_settings({"CONDMAT_DATA": str(tmp_path / "data"), "CONDMAT_PUBLISHED_QA": str(path)})
    made = make_published(settings)
    assert made.rows.num_rows == made.remarks["questions"] == 3
    assert made.remarks["dropped"] == 2
    assert "| two options are the same | 1 |" in str(made.remarks["card"])
    assert "| an option is empty | 1 |" in str(made.remarks["card"])


def test_half_written_json_and_other_bytes(tmp_path: Path) -> None:
    path = file(tmp_path, two_sources())
    path.write_bytes(path.read_bytes()[:150])
    assert "not whole JSON" in error(path)
    path.write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in error(path)
    assert "no such file" in error(tmp_path / "absent.json")


def test_damaged_archives(tmp_path: Path) -> None:
    path = tmp_path / "set.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", json.dumps(two_sources() * 1) * 20)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert "cannot be read as a zip archive" in error(path)
    path.write_bytes(whole[:60] + bytes(20) + whole[80:])
    assert "cannot be read as a zip archive" in error(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("é.json", "[]")
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xff\xfe"))
    assert "cannot be read as a zip archive" in error(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "x")
    assert "no .json file" in error(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data())
def test_any_damage_is_one_line(tmp_path: Path, data: st.DataObject) -> None:
    """Cut, overwritten or doubled bytes: questions come back, or one line that names the file."""
    path = tmp_path / "set.zip"
    kind = data.draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]))
    with zipfile.ZipFile(path, "w", kind) as archive:
        archive.writestr("é.json", json.dumps(two_sources()))
    damaged = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(damaged[: data.draw(st.integers(0, len(damaged)))])
    try:
        message = f"set.zip: {len(questions(path))} questions"
    except PublishedError as caught:
        message = str(caught)
    assert "\n" not in message
    assert "set.zip" in message
