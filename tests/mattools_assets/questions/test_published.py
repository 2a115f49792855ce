"""Reading published questions and recorded runs, with a set of our own in their form."""

from __future__ import annotations

import io
import json
import random
import tarfile
from pathlib import Path
from typing import Any

import pytest

from mattools_assets import recorded
from mattools_assets.questions import recordings
from mattools_assets.questions.inputs import PREFIX, InputFiles, InputFilesError, read_folder, unpack
from mattools_assets.questions.published import SEGMENTS, PublishedQuestionError, read_published
from mattools_assets.verification.published import INVERTED, Mode, source
from mattools_assets.verification.replays import Results

TEXT = (
    "Calculate:\n    - `volume`: The volume. Format: float.\n    - `name`: Its name.\nRead `tests/test_files/a.vasp`."
)
VERIFICATION = "def test_a(properties):\n    return 'ok'\n"
PROPERTIES = {
    "volume": {"description": "d", "format": "float", "value": "1.5"},
    "name": {"description": "d", "format": "str", "value": "it's"},
}


def entry(**changes: Any) -> dict[str, Any]:
    return {
        "question_id": "test_a",
        "question": TEXT,
        "properties": PROPERTIES,
        "verification_source": VERIFICATION,
        "data_files_here": True,
    } | changes


def write(path: Path, *entries: Any) -> Path:
    path.write_text("\n".join(json.dumps(item) for item in entries) + "\n")
    return path


def test_lines(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    (folder / "deep").mkdir(parents=True)
    for name in ("a.vasp", "b.vasp", "deep/c"):
        (folder / name).write_text(name)
    path = write(
        tmp_path / "questions.jsonl", entry(), entry(question_id="test_b", verification_source="def test_b(p): 1")
    )
    first, second = read_published(path, read_folder(folder))
    assert first.question.properties == ("volume", "name")
    assert first.question.files == {f"{PREFIX}/a.vasp": folder / "a.vasp"}
    assert (first.question.id, second.question.id) == ("test_a", "test_b")


def test_reference_answer_is_what_the_verification_compares_with(tmp_path: Path) -> None:
    body = """def test_a(properties):
    expected_properties = {"volume": {"format": "float", "value": "> 0"}, "name": {"format": "str", "value": "it's"}}
    errors = []
    return "ok"
"""
    (question,) = read_published(write(tmp_path / "q.jsonl", entry(verification_source=body)), InputFiles())
    namespace: dict[str, Any] = {}
    exec(question.reference_source, namespace)  # our own text, written above
    assert namespace["reference_answer"]() == {"volume": 1.0, "name": "it's"}


def test_checkout(tmp_path: Path) -> None:
    folder = tmp_path / "src" / "question_segments" / "pymatgen_analysis_defects" / "test_a"
    folder.mkdir(parents=True)
    (folder / "question.txt").write_text(TEXT)
    (folder / "new_unit_test.py").write_text(VERIFICATION)
    (question,) = read_published(tmp_path, InputFiles())
    assert question.question.properties == ("volume", "name")
    (folder / "properties.json").write_text(json.dumps({"properties": PROPERTIES}))
    (question,) = read_published(tmp_path, InputFiles())
    assert question.question.properties == ("volume", "name")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "no questions"),
        ("{", "line 1: not whole JSON"),
        ("[]", "one JSON object a line"),
        (json.dumps(entry(question="")), "question is missing"),
        (json.dumps(entry(properties={})), "properties is missing"),
        (json.dumps(entry(question_id="test_c")), "does not define test_c()"),
        ("\n".join([json.dumps(entry())] * 2), "occurs twice"),
        (
            json.dumps(entry(question_id="../x", verification_source="def ../x(")),
            "question_id is no name of a function",
        ),
        (json.dumps(entry(question="\ud800")), "question holds half a character"),
        (json.dumps(entry(properties={"\ud800": {}})), "'\\ud800' is no name of a property"),
        (json.dumps(entry(properties={"": {}})), "'' is no name of a property"),
        (json.dumps(entry(data_files_here="false")), "data_files_here must be true or false"),
    ],
)
def test_bad_questions(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(content)
    with pytest.raises(PublishedQuestionError) as error:
        read_published(path, InputFiles())
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_corrected_source_changes_the_inverted_check_alone(tmp_path: Path) -> None:
    name = INVERTED[0]
    body = f"def {name}(properties):\n    if  isinstance(actual_value, eval(expected_format)):\n        pass\n"
    path = write(tmp_path / "q.jsonl", entry(question_id=name, verification_source=body), entry())
    inverted, other = read_published(path, InputFiles())
    assert source(inverted, Mode.PAPER) == body
    assert source(inverted, Mode.CORRECTED) == body.replace("if  isinstance", "if not isinstance")
    assert source(other, Mode.CORRECTED) == VERIFICATION
    (mended,) = read_published(
        write(tmp_path / "m.jsonl", entry(question_id=name, verification_source=body.replace("if  ", "if not "))),
        InputFiles(),
    )
    with pytest.raises(ValueError, match="corrected already"):
        source(mended, Mode.CORRECTED)


def archive(path: Path, *names: str) -> Path:
    with tarfile.open(path, "w:xz") as content:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = 1
            content.addfile(info, io.BytesIO(b"x"))
    return path


def test_unpacking(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.tar.xz", "tests/test_files/a.vasp", "tests/test_files/deep/b")
    files = unpack(path, tmp_path)
    assert sorted(files.files) == ["a.vasp", "deep/b"]
    before = files.files["a.vasp"].stat().st_mtime_ns
    assert unpack(path, tmp_path).files["a.vasp"].stat().st_mtime_ns == before


def test_an_archive_of_something_else_is_named(tmp_path: Path) -> None:
    path = archive(tmp_path / "a.tar.xz", "other/a")
    for _ in range(2):  # the second time it lies unpacked
        with pytest.raises(InputFilesError, match=r"a\.tar\.xz: holds no folder tests/test_files"):
            unpack(path, tmp_path / "data")


@pytest.mark.parametrize("kind", ["xz", "gz", "bz2"])
def test_a_damaged_archive_is_one_line_wherever_it_is(tmp_path: Path, kind: str) -> None:
    path = tmp_path / f"a.tar.{kind}"
    noise = random.Random(0).randbytes(3_000)
    with tarfile.open(path, f"w:{kind}") as content:
        info = tarfile.TarInfo("tests/test_files/a")
        info.size = len(noise)
        content.addfile(info, io.BytesIO(noise))
    whole = path.read_bytes()
    step = len(whole) // 25
    cut = [whole[:place] for place in range(0, len(whole) - 40, step)]
    wrong = [whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :] for place in range(12, len(whole), step)]
    said = []
    for number, damaged in enumerate([b"no archive", *cut, *wrong]):
        path.write_bytes(damaged)
        try:
            unpack(path, tmp_path / "data" / str(number))
        except InputFilesError as error:
            said.append(str(error))
    assert len(said) > 25
    assert all(line.startswith(f"{path}: cannot be unpacked (") and "\n" not in line for line in said)
    assert list((tmp_path / "data").rglob("*.new")) == []


def test_what_is_there_in_an_archives_place_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputFilesError, match="cannot be unpacked"):
        unpack(tmp_path, tmp_path / "data")


def test_an_archive_that_climbs_out_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    path = archive(tmp_path / "a.tar.xz", "../../../evil")
    with pytest.raises(InputFilesError):
        unpack(path, tmp_path / "data")
    assert list((tmp_path / "data").rglob("*.new")) == []
    assert not (tmp_path / "evil").exists()


def test_runs_in_both_forms(tmp_path: Path) -> None:
    ours = write(
        tmp_path / "run.jsonl",
        {"question_id": "test_a", "function_name": "f", "function_source": "def f(): 1"},
        {"question_id": "test_b", "function_name": "", "function_source": ""},
    )
    folder = tmp_path / "systems" / "round1" / "model"
    folder.mkdir(parents=True)
    theirs = write(
        folder / "function_generation_results.jsonl",
        {"question_file_path": "test_a", "function_name": "f", "function": "def f(): 1"},
    )
    assert [(answer.run, answer.question_id, answer.source) for answer in recordings.read_run(ours)] == [
        ("run", "test_a", "def f(): 1"),
        ("run", "test_b", ""),
    ]
    (answer,) = recordings.read_run(theirs)
    assert (answer.run, answer.source) == ("systems__round1__model", "def f(): 1")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "no answers"),
        ("{", "line 1: not whole JSON"),
        ("5", "line 1: write one JSON object a line"),
        ("[" * 100_000, "line 1: nested too deeply"),
        ("9" * 5_000, "line 1: a number has too many digits"),
        ('{"question_id": "a", "question_id": "b"}', "line 1: the key 'question_id' is there twice"),
        ('{"question_id": "a"}', "function_name is missing"),
        ('{"question_id": 3}', "question_id or question_file_path is missing"),
        ('{"question_id": "a", "function_name": "", "function": ""}\n' * 2, "a second answer to 'a'"),
    ],
)
def test_bad_runs(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(content)
    with pytest.raises(recordings.RecordedRunError) as error:
        recordings.read_run(path)
    assert says in str(error.value)


@pytest.mark.parametrize("text", ["a\u2028b", "a\u2029b", "a\x85b"])
@pytest.mark.parametrize(("start", "end"), [("", "\n"), ("\ufeff", "\r\n")])
def test_a_line_ends_at_its_line_break_alone(tmp_path: Path, text: str, start: str, end: str) -> None:
    lines = [json.dumps(entry(question=text), ensure_ascii=False)]
    lines += [json.dumps(entry(question_id="test_b", verification_source="def test_b(p): 1"))]
    path = tmp_path / "questions.jsonl"
    path.write_bytes((start + "".join(line + end for line in lines)).encode())
    first, second = read_published(path, InputFiles())
    assert (first.question.text, second.question.id) == (text, "test_b")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("new_unit_test.py", None, "cannot be read"),
        ("question.txt", b"\xff", "cannot be read"),
        ("properties.json", b"[" * 100_000, "nested too deeply"),
        ("properties.json", b'{"properties": {}, "properties": {}}', "the key 'properties' is there twice"),
        ("properties.json", b"[1]", "must be a JSON object"),
    ],
)
def test_bad_checkouts(tmp_path: Path, name: str, content: bytes | None, says: str) -> None:
    folder = tmp_path / SEGMENTS / "one"
    folder.mkdir(parents=True)
    whole = {"question.txt": b"Which?", "new_unit_test.py": b"def one(): ...", "properties.json": b"{}"}
    for file, text in (whole | {name: content}).items():
        if text is not None:
            (folder / file).write_bytes(text)
    with pytest.raises(PublishedQuestionError) as error:
        read_published(tmp_path, InputFiles())
    assert f"{folder / name}: {says}" in str(error.value)


def test_results_survive_torn_and_damaged_lines(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "run.jsonl"
    Results(path).add({"digest": "a"})
    with path.open("ab") as file:
        file.write(b"\xff\n[5]\n" + b"[" * 100_000 + b"\n" + b"9" * 5_000 + b'\n{"digest": "b", "pa')
    results = Results(path)
    assert set(results.rows) == {"a"}
    results.add({"digest": "c"})
    assert set(Results(path).rows) == {"a", "c"}


def test_the_command_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write(tmp_path / "run.jsonl", {"question_id": "a", "function_name": "f", "function": ""})
    assert recorded.main([str(run)]) == 1
    assert "give --questions" in capsys.readouterr().err
    (tmp_path / "other").mkdir()
    questions = write(tmp_path / "questions.jsonl", entry())
    twin = write(tmp_path / "other" / "run.jsonl", {"question_id": "a", "function_name": "f", "function": ""})
    assert recorded.main([str(run), str(twin), "--questions", str(questions)]) == 1
    assert "two runs are called 'run'" in capsys.readouterr().err
