"""What must hold for the knowledge side's tables; each function gives a line for whatever is broken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from mattools_assets.docs.tables import LLM_DOCS
from mattools_assets.docs.writing import USABLE
from mattools_assets.qa.card import kept_and_dropped
from mattools_assets.qa.gates import GATES
from mattools_assets.qa.questions import LETTERS, QA_CODE, QA_DOC, QA_DROPPED, Question, QuestionKind, read_questions
from mattools_assets.qa.scores import QA_ACCURACY, QA_SCORES
from mattools_assets.qa.synthesis import Draft, reasons_dropped
from mattools_assets.source.problems import ProblemKind
from mattools_assets.source.specification import DEFAULT
from mattools_assets.source.tables import CODE_OBJECTS, REFERENCES, SOURCE_PROBLEMS, TOOL_SOURCE
from resources.lake import Lake, LakeTable

PUBLISHED_COUNTS = {
    "file": 301,
    "lines": 183_164,
    "class": 806,
    "function": 816,
    "method": 5_520,
    "nested_function": 50,
}
"""Of the published source: 7,192 classes and functions in all, one datapoint each of the published data sets."""

_SEVERITY = {kind.value: place for place, kind in enumerate(ProblemKind)}

BALANCE_LIMIT = 21.1
"""Chi-squared with three degrees of freedom that balanced letters exceed once in ten thousand question sets."""


def object_counts(lake: Lake) -> dict[str, int]:
    """Objects by kind, and lines."""
    kinds = Counter(lake.read(CODE_OBJECTS, {}, ["kind"]).column("kind").to_pylist())
    return {**kinds, "lines": sum(lake.read(TOOL_SOURCE, {}, ["lines"]).column("lines").to_pylist())}


def wrong_counts(lake: Lake) -> list[str]:
    """Of the published source, what is not as published; of another nothing can be said."""
    specification = lake.read(TOOL_SOURCE, {}, ["specification"]).column("specification").to_pylist()
    if set(specification) != {str(DEFAULT)}:
        return []
    found = object_counts(lake)
    counts = {name: found.get(name, 0) for name in PUBLISHED_COUNTS}
    return [f"{name}: {counts[name]} instead of {n}" for name, n in PUBLISHED_COUNTS.items() if counts[name] != n]


def doubled_objects(lake: Lake) -> list[str]:
    """Objects whose id is not their own alone."""
    ids = Counter(lake.read(CODE_OBJECTS, {}, ["object_id"]).column("object_id").to_pylist())
    return [f"{name} is there {count} times" for name, count in ids.items() if count > 1]


def lost_files(lake: Lake) -> list[str]:
    """Files of the source that are no object."""
    rows = lake.read(CODE_OBJECTS, {}, ["object_id", "kind"]).to_pylist()
    known = {row["object_id"] for row in rows if row["kind"] == "file"}
    return [name for name in lake.read(TOOL_SOURCE, {}, ["file"]).column("file").to_pylist() if name not in known]


def source_findings(lake: Lake) -> list[str]:
    """What could not be read as it should, the worst first, each with its file and line.

    An empty `__init__.py` is as it should be.
    """
    rows = [row for row in lake.read(SOURCE_PROBLEMS, {}).to_pylist() if not _is_empty_package(row)]
    rows.sort(key=lambda row: (_SEVERITY[row["kind"]], row["file"], row["line"]))
    return [f"{_place(row)}: {row['kind']}: {row['message']}" for row in rows]


def _is_empty_package(row: dict[str, Any]) -> bool:
    return row["kind"] == ProblemKind.EMPTY and row["file"].rpartition("/")[2] == "__init__.py"


def _place(row: dict[str, Any]) -> str:
    return f"{row['file']}:{row['line']}" if row["line"] else row["file"]


def broken_references(lake: Lake) -> Iterator[str]:
    """Ends that are no object, and callees on a higher level than what refers to them without containing it."""
    rows = lake.read(CODE_OBJECTS, {}, ["object_id", "level", "parent_id"]).to_pylist()
    level = {row["object_id"]: row["level"] for row in rows}
    parent = {row["object_id"]: row["parent_id"] for row in rows}
    for row in lake.read(REFERENCES, {}, ["source_id", "target_id"]).to_pylist():
        source, target = row["source_id"], row["target_id"]
        if source not in level or target not in level:
            yield f"{source} refers to {target}, of which one is no object"
            continue
        low, high = level[target], level[source]
        related = target in _containers(source, parent) or source in _containers(target, parent)
        if low is not None and high is not None and low > high and not related:
            yield f"{source} on level {high} refers to {target} on level {low}"


def _containers(object_id: str, parent: dict[str, str | None]) -> set[str]:
    found: set[str] = set()
    above = parent[object_id]
    while above is not None and above not in found:
        found.add(above)
        above = parent[above]
    return found


def unfinished_documents(lake: Lake) -> Iterator[str]:
    """Documents of models that are to be asked for again."""
    usable = {state.value for state in USABLE}
    for key in lake.keys(LLM_DOCS):
        for row in lake.read(LLM_DOCS, key, ["object_id", "state", "error"]).to_pylist():
            if row["state"] not in usable:
                yield f"{key['doc_source']}: {row['object_id']}: {row['state']} {row['error']}".rstrip()


def broken_questions(lake: Lake, table: LakeTable) -> Iterator[str]:
    """Questions without four options and a letter of theirs, ids that occur twice; of written ones also any gate's."""
    for key in lake.keys(table):
        questions = read_questions(lake.read(table, key))
        ids = Counter((question.kind, question.question_id) for question in questions)
        yield from (f"{name} is there {count} times" for (_, name), count in ids.items() if count > 1)
        for question in questions:
            if len(question.options) != 4 or question.answer not in LETTERS:
                yield f"{question.question_id}: has no four options with one of them right"
            elif table in (QA_CODE, QA_DOC):
                draft = Draft(question.text, question.right, _wrong(question))
                yield from (f"{question.question_id}: {why}" for gate in GATES if (why := gate(draft)) is not None)


def scarce_questions(lake: Lake, table: LakeTable) -> Iterator[str]:
    """Writers of whose questions fewer were kept than dropped."""
    kind = QuestionKind.CODE if table == QA_CODE else QuestionKind.DOC
    for key in lake.keys(table):
        dropped = {**key, "kind": kind.value}
        if lake.stored(QA_DROPPED, dropped) is None:
            continue
        reasons = reasons_dropped(lake.read(QA_DROPPED, dropped))
        kept = lake.read(table, key, ["kind"]).num_rows
        if kept < len(reasons):
            yield f"{key['origin']}: {kept_and_dropped(kept, reasons)}"


def _wrong(question: Question) -> tuple[str, str, str]:
    first, second, third = (
        option for letter, option in zip(LETTERS, question.options, strict=True) if letter != question.answer
    )
    return first, second, third


def letter_counts(lake: Lake, table: LakeTable) -> dict[tuple[str, QuestionKind], list[int]]:
    """How often each letter is right, in the order A to D, by who wrote the questions and their kind."""
    found: dict[tuple[str, QuestionKind], list[int]] = {}
    for key in lake.keys(table):
        for question in read_questions(lake.read(table, key)):
            counts = found.setdefault((question.origin, question.kind), [0] * len(LETTERS))
            counts[LETTERS.index(question.answer)] += 1
    return found


def unbalanced_letters(lake: Lake, table: LakeTable) -> list[str]:
    """Question sets whose right letters are not equally frequent beyond chance."""
    broken = []
    for (origin, kind), counts in letter_counts(lake, table).items():
        if (value := chi_squared(counts)) > BALANCE_LIMIT:
            shown = ", ".join(f"{letter} {count}" for letter, count in zip(LETTERS, counts, strict=True))
            broken.append(f"{origin} {kind.value}: {shown} (chi-squared {value:.0f})")
    return broken


def chi_squared(counts: Sequence[int]) -> float:
    """Pearson's statistic of counts against equal frequencies; 0 where there is nothing."""
    expected = sum(counts) / len(counts)
    return sum((count - expected) ** 2 / expected for count in counts) if expected else 0.0


def broken_accuracies(lake: Lake) -> Iterator[str]:
    """Accuracies outside 0 to 1 or outside their interval, and results without an answer."""
    for key in lake.keys(QA_ACCURACY):
        for row in lake.read(QA_ACCURACY, key).to_pylist():
            what = f"{row['model']}, {row['origin']} {row['question_kind']}, {row['dimension']} {row['part']}"
            numbers = [row[name] for name in ("accuracy_strict", "accuracy_lenient", "ci_low", "ci_high")]
            if row["n_answered"] == 0 and any(number is not None for number in numbers):
                yield f"{what}: a result without an answer"
            elif row["n_answered"] and not 0 <= row["ci_low"] <= row["accuracy_lenient"] <= row["ci_high"] <= 1:
                yield f"{what}: the accuracy is outside its interval, or outside 0 to 1"


def wrong_position_bias(lake: Lake) -> Iterator[str]:
    """Whether who always answers A is marked right exactly where A is right: the marking's own control."""
    key = {"model": "baseline-always-a"}
    if lake.stored(QA_SCORES, key) is None:
        return
    for row in lake.read(QA_SCORES, key, ["question_id", "answer", "correct_strict", "correct_lenient"]).to_pylist():
        if {row["correct_strict"], row["correct_lenient"]} != {row["answer"] == "A"}:
            yield f"{row['question_id']}: right letter {row['answer']}, answered A, marked the other way"
