"""The published question sets (`pymatgen_code_qa`, `pymatgen_doc_qa`), from files that the user has.

Each is a JSON list of `{"source": …, "questions": [{"question_id", "question", "choices": {"A" … "D"},
"correct_answer"}]}`, alone or in a zip archive.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from mattools_assets.qa.questions import LETTERS, Question, QuestionKind
from mattools_assets.qa.synthesis import Dropped
from mattools_assets.source.unpack import DAMAGED
from resources.settings import Settings
from resources.strict_json import JsonError, is_whole, parse

ORIGIN = "published"
MAX_BYTES = 1 << 30


class PublishedError(ValueError):
    """A file that does not hold published questions; the message is one line with the file, the place and the mend."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in which file something was read."""

    file: str
    place: str = ""

    def at(self, more: str) -> _Place:
        return _Place(self.file, f"{self.place}{more}")

    def error(self, message: str) -> PublishedError:
        line = " ".join(f"{self.file}: {self.place}: {message}".replace(": : ", ": ").split())
        return PublishedError(line.encode("utf-8", "backslashreplace").decode())


def read_published(path: Path, kind: QuestionKind) -> tuple[list[Question], list[Dropped]]:
    """All questions of a `.json` file or of every one in a `.zip` archive, in order, and those that nobody can answer.

    The latter have an empty option, or two that are the same. Raises PublishedError for what cannot be read, a question
    without exactly the options A to D or with an answer that is none of them, and ids that occur twice. Where every
    source counts its own questions from 0 or 1, ids need only be unique within it.
    """
    entries: list[tuple[_Place, Mapping[str, Any], list[Mapping[str, Any]]]] = []
    for place, document in _documents(path):
        if not isinstance(document, list):
            raise place.error(f"expected a list of sources, found {_kind(document)}")
        entries += [_entry(place.at(f"[{number}]"), entry) for number, entry in enumerate(document)]
    counted_by_source = bool(entries) and all(_counts_from_one(questions) for _, _, questions in entries)
    found: dict[str, _Place] = {}
    result: list[Question] = []
    dropped: list[Dropped] = []
    for place, entry, questions in entries:
        for number, raw in enumerate(questions):
            here = place.at(f".questions[{number}]")
            question = _question(here, entry, raw, kind, counted_by_source)
            if question.question_id in found:
                first = found[question.question_id]
                there = first.place if first.file == here.file else f"{first.file}: {first.place}"
                raise here.error(f"question_id {question.question_id!r} is already that of {there}; make ids unique")
            found[question.question_id] = here
            if why := _unanswerable(question):
                dropped.append(Dropped(question.text, why))
            else:
                result.append(question)
    if not result:
        which = "question with four different options" if dropped else "question"
        raise PublishedError(f"{path}: holds no {which}; choose pymatgen_code_qa or pymatgen_doc_qa")
    return result, dropped


def official_files(settings: Settings) -> list[tuple[QuestionKind, Path]]:
    """The files that the settings name, or that a checkout of MatTools holds; none where the user has neither.

    Raises PublishedError for a named place that holds none.
    """
    if settings.knowledge.published is not None:
        if found := question_files(settings.knowledge.published):
            return found
        raise PublishedError(
            f"{settings.knowledge.published}: holds no question set; the names of files must hold code_qa or doc_qa"
        )
    return [] if settings.mattools is None else question_files(settings.mattools)


def question_files(path: Path) -> list[tuple[QuestionKind, Path]]:
    """The files of the published sets below a folder, or `path` itself as one, told by `code_qa` or `doc_qa` in names.

    Raises PublishedError when there is no such path, and when a kind is there more than once.
    """
    if not path.exists():
        raise PublishedError(f"{path}: no such file or folder; name a question set, or a folder that holds them")
    found = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.suffix in (".zip", ".json"))
    sets: list[tuple[QuestionKind, Path]] = []
    for kind in (QuestionKind.CODE, QuestionKind.DOC):
        named = [each for each in found if f"{kind.value}_qa" in each.name.lower()]
        # An archive and what was unpacked from it are the same questions.
        named = [each for each in named if each.suffix == ".zip"] or named
        if len(named) > 1:
            raise PublishedError(f"{path}: holds {named[0].name} and {named[1].name}; keep one set of {kind.value}")
        sets += [(kind, each) for each in named]
    return sets


def _documents(path: Path) -> Iterator[tuple[_Place, Any]]:
    try:
        if path.suffix.lower() != ".zip":
            yield _Place(str(path)), _parse(_Place(str(path)), path.read_bytes())
            return
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.endswith(".json") and "__MACOSX" not in name]
            if not names:
                raise PublishedError(f"{path}: holds no .json file; choose the archive of a question set")
            for name in names:
                if archive.getinfo(name).file_size > MAX_BYTES:
                    raise PublishedError(f"{path}: {name} is larger than {MAX_BYTES >> 30} GiB; refused")
                place = _Place(f"{path}/{name}")
                yield place, _parse(place, archive.read(name))
    except FileNotFoundError:
        raise PublishedError(f"{path}: no such file; name the zip archive or JSON file of a question set") from None
    except DAMAGED as error:
        raise PublishedError(f"{path}: cannot be read as a zip archive ({error}); download it again") from None


def _parse(place: _Place, data: bytes) -> Any:
    try:
        return parse(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise place.error("not UTF-8 text; download it again") from None
    except JsonError as error:
        raise place.error(f"{error}; download it again") from None


def _entry(place: _Place, entry: Any) -> tuple[_Place, Mapping[str, Any], list[Mapping[str, Any]]]:
    if not isinstance(entry, dict):
        raise place.error(f"expected a source with its questions, found {_kind(entry)}")
    if isinstance(entry.get("source"), bool) or not isinstance(entry.get("source"), str | int):
        raise place.at(".source").error("is missing or no text")
    questions = entry.get("questions")
    if not isinstance(questions, list) or not all(isinstance(raw, dict) for raw in questions):
        raise place.at(".questions").error("is missing or no list of questions")
    return place, entry, questions


def _question(
    place: _Place, entry: Mapping[str, Any], raw: Mapping[str, Any], kind: QuestionKind, counted_by_source: bool
) -> Question:
    text, choices, answer = raw.get("question"), raw.get("choices"), raw.get("correct_answer")
    identifier = raw.get("question_id")
    source = str(entry["source"])
    if isinstance(identifier, bool) or not isinstance(identifier, str | int) or identifier == "":
        raise place.at(".question_id").error("is missing; give each question a text or number")
    if not isinstance(text, str) or not text.strip():
        raise place.at(".question").error("is missing or empty")
    if not isinstance(choices, dict) or sorted(choices) != list(LETTERS):
        found = ", ".join(sorted(map(str, choices))) if isinstance(choices, dict) else _kind(choices)
        raise place.at(".choices").error(f"must be the four options A, B, C, D; found {found or 'none'}")
    if not all(isinstance(choices[letter], str) for letter in LETTERS):
        raise place.at(".choices").error("an option is no text")
    if not isinstance(answer, str) or answer not in choices:
        raise place.at(".correct_answer").error(f"must be A, B, C or D; found {answer!r}")
    texts = {"source": source, "question_id": str(identifier), "question": text, "choices": "".join(choices.values())}
    for field, value in texts.items():
        if not is_whole(value):
            raise place.at(f".{field}").error("holds half a character (such as \\ud800); write the whole one")
    return Question(
        f"{source}#{identifier}" if counted_by_source else str(identifier),
        ORIGIN,
        kind,
        source,
        PurePosixPath(source).parent.as_posix() if "/" in source else "",
        "",
        text,
        (choices["A"], choices["B"], choices["C"], choices["D"]),
        answer,
    )


def _unanswerable(question: Question) -> str | None:
    """Why nobody can choose among the options, or None."""
    options = [option.strip() for option in question.options]
    if not all(options):
        return "an option is empty"
    return "two options are the same" if len(set(options)) < len(options) else None


def _counts_from_one(questions: list[Mapping[str, Any]]) -> bool:
    ids = [str(question.get("question_id")) for question in questions]
    return any(ids == [str(n + start) for n in range(len(ids))] for start in (0, 1))


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", type(None): "nothing", bool: "true or false"}
    return names.get(type(value), "a number")
