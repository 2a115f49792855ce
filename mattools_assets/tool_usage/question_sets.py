"""All questions at hand, of every set, each with its reference answer and what its answers and verdicts depend on.

The own set always is, and so are triplets of the test suite that a person accepted. The published one, and runs that
were recorded on it, are read from the folder that CONDMAT_MATTOOLS names: `questions.jsonl`, `test_files.tar.xz` and
`recorded/*.jsonl`, or a checkout of MatTools.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mattools_assets.questions.contract import Question
from mattools_assets.questions.inputs import PREFIX, InputFiles, InputFilesError, read_folder, unpack
from mattools_assets.questions.own import FOLDER, OwnQuestion, OwnQuestionError, own_questions
from mattools_assets.questions.published import SEGMENTS, PublishedQuestion, PublishedQuestionError, read_published
from mattools_assets.systems.replies import Function
from mattools_assets.triplets.stages import accepted_questions
from mattools_assets.triplets.tables import TRIPLETS as TRIPLET_SET
from resources.lake import Lake, LakeError, combined_hash
from resources.settings import Settings

OWN, PUBLISHED, TRIPLETS = "own", "published", "triplets"
ARCHIVE = "test_files.tar.xz"


class ToolUsageError(Exception):
    """What keeps tool usage from being evaluated at all; the message is one line with the mend."""


@dataclass(frozen=True)
class Task:
    """One question of a set with its verification; `id` is unique within its set."""

    question_set: str
    verified: OwnQuestion | PublishedQuestion

    @property
    def id(self) -> str:
        """The question's id."""
        return self.question.id

    @property
    def question(self) -> Question:
        """What is asked."""
        return self.verified.question

    @property
    def reference(self) -> Function:
        """The reference answer: the own set's solution, or the values that a published verification compares with."""
        if isinstance(self.verified, OwnQuestion):
            return Function(self.verified.solution, self.verified.function_name)
        return Function(self.verified.reference_source, "reference_answer")

    @property
    def question_hash(self) -> str:
        """Identity of all that an answer depends on: text and files."""
        files = [f"{name} {_content_hash(content)}" for name, content in sorted(self.question.files.items())]
        return combined_hash(self.question.text, *files)

    @property
    def verification_hash(self) -> str:
        """Identity of all that a verdict depends on beyond the answer."""
        if isinstance(self.verified, OwnQuestion):
            return combined_hash(*(f"{item.name} {item.expected!r}" for item in self.verified.properties))
        return combined_hash(self.verified.verification)

    def expected(self, name: str) -> tuple[str, str]:
        """What the question says of a property, and its right value as text, empty where it is not written down."""
        if isinstance(self.verified, OwnQuestion):
            item = next(item for item in self.verified.properties if item.name == name)
            return item.asked, repr(item.expected.value)
        return "", ""


Tasks = Mapping[tuple[str, str], Task]
"""Tasks by question set and id."""


def all_tasks(settings: Settings) -> dict[tuple[str, str], Task]:
    """Every question at hand, the own set first. Raises ToolUsageError."""
    try:
        tasks = [Task(OWN, own) for own in own_questions()]
    except OwnQuestionError as error:
        raise ToolUsageError(f"{FOLDER}/{error}") from None
    if settings.mattools is not None:
        tasks += [Task(PUBLISHED, item) for item in published_questions(settings.mattools, settings.data)]
    tasks += [Task(TRIPLETS, own) for own in _accepted(settings)]
    return {(task.question_set, task.id): task for task in tasks}


def _accepted(settings: Settings) -> list[OwnQuestion]:
    """The triplets that a person accepted, of the test suite at hand."""
    lake = Lake(settings.lake)
    if settings.test_suite is None or lake.stored(TRIPLET_SET, {}) is None:
        return []
    try:
        return accepted_questions(lake.read(TRIPLET_SET, {}).to_pylist(), settings.test_suite)
    except LakeError as error:
        raise ToolUsageError(str(error)) from None
    except OwnQuestionError as error:
        raise ToolUsageError(f"an accepted triplet is no question: {error}; materialize triplets") from None


def published_questions(folder: Path, data: Path) -> list[PublishedQuestion]:
    """The published questions in `folder` with the test files at hand. Raises ToolUsageError."""
    source = folder if (folder / SEGMENTS).is_dir() else folder / "questions.jsonl"
    if not source.exists():
        raise ToolUsageError(
            f"CONDMAT_MATTOOLS={folder}: holds neither questions.jsonl nor {SEGMENTS}; name such a folder or leave it"
        )
    try:
        return read_published(source, _input_files(folder, data))
    except (PublishedQuestionError, InputFilesError) as error:
        raise ToolUsageError(str(error)) from None


def recorded_files(folder: Path) -> list[Path]:
    """The recorded runs in `folder`."""
    return [
        *sorted(folder.glob("recorded/*.jsonl")),
        *sorted(folder.glob("src/*/*/*/function_generation_results.jsonl")),
    ]


def _input_files(folder: Path, data: Path) -> InputFiles:
    if (folder / ARCHIVE).exists():
        return unpack(folder / ARCHIVE, data)
    return read_folder(folder / PREFIX) if (folder / PREFIX).is_dir() else InputFiles()


def _content_hash(content: bytes | Path) -> str:
    if isinstance(content, bytes):
        return combined_hash(content.hex())
    facts = content.stat()
    return _file_hash(content, facts.st_size, facts.st_mtime_ns)


@lru_cache(maxsize=4096)
def _file_hash(path: Path, _size: int, _changed: int) -> str:
    return combined_hash(path.read_bytes().hex())
