"""The questions that models are asked: written by models, published, or the thirty of this project."""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import replace

from mattools_assets.qa.answering import answer_prompt
from mattools_assets.qa.card import dataset_card
from mattools_assets.qa.gates import looks_mistaken, make_questions
from mattools_assets.qa.handwritten import handwritten_questions
from mattools_assets.qa.lenient import lenient_letter
from mattools_assets.qa.passages import PYMATGEN_CODE, PYMATGEN_DOC, Passage, read_passages
from mattools_assets.qa.published import PublishedError, official_files, read_published
from mattools_assets.qa.questions import (
    LETTERS,
    QA_CODE,
    QA_DOC,
    QA_DROPPED,
    QA_HANDWRITTEN,
    QA_PUBLISHED,
    Question,
    QuestionKind,
    questions_table,
)
from mattools_assets.qa.synthesis import NO_REPLY_YET, REPLY_SCHEMA, Draft, Dropped, read_reply, synthesis_prompt
from resources.lake import Lake, LakeTable
from resources.llm.answer import Answer
from resources.llm.asking import answers_of
from resources.llm.ledger import Ledger
from resources.llm.request import ChatRequest
from resources.llm.spending import budget_of
from resources.markdown import fenced
from resources.model_entry import ModelEntry
from resources.outcomes import Status
from resources.registry import read_environment
from resources.settings import Settings
from resources.stage import Made, Remarks

SHOWN = 10
TABLES = {QuestionKind.CODE: QA_CODE, QuestionKind.DOC: QA_DOC}

_log = logging.getLogger(__name__)


def make_handwritten() -> Made:
    """The thirty questions that the project ships."""
    return _made(QA_HANDWRITTEN, handwritten_questions(), ())


def make_published(settings: Settings) -> Made:
    """The official questions, from the files that the user has. Raises PublishedError."""
    if not official_files(settings):
        raise PublishedError(
            "CONDMAT_PUBLISHED_QA is not set: let it name the official question set's zip archives, or a folder "
            "that holds them"
        )
    return _made(QA_PUBLISHED, *official_questions(settings))


def official_questions(settings: Settings) -> tuple[list[Question], list[Dropped]]:
    """The official questions in the files that the user has, and those not kept; none without files.

    Raises PublishedError.
    """
    read = [read_published(path, kind) for kind, path in official_files(settings)]
    questions = [question for kept, _ in read for question in kept]
    return questions, [each for _, dropped in read for each in dropped]


async def written_questions(
    lake: Lake, settings: Settings, ledger: Ledger, entry: ModelEntry, kind: QuestionKind
) -> AsyncGenerator[tuple[str, Made, Made, int], None]:
    """The entry's name, the questions that its model wrote, those not kept, and how many passages are still open.

    Raises LakeError and LedgerError. Questions come from what could be asked; the rest is asked the next time.
    """
    passages = _passages(lake, settings, kind)
    answers = await _ask(settings, ledger, entry, [_synthesis(entry, passage) for passage in passages])
    drafts: list[tuple[Passage, Sequence[Draft]]] = []
    dropped: list[tuple[Passage, Dropped]] = []
    left: list[tuple[Passage, Dropped]] = []
    for passage, answer in zip(passages, answers, strict=True):
        if answer.status in (Status.OK, Status.TRUNCATED):
            read, malformed = read_reply(answer.text)
            drafts.append((passage, read))
            dropped += [(passage, each) for each in malformed]
        elif answer.status.is_scored:
            dropped.append((passage, Dropped("", f"no reply: {answer.status.value}")))
        else:
            left.append((passage, Dropped("", f"{NO_REPLY_YET}{answer.status.value}")))
    questions, gated = make_questions(drafts, entry.name, settings.knowledge.seed)
    dropped += gated
    unanswered = len(left)
    if settings.knowledge.self_check:
        questions, unchecked = await _checked(settings, ledger, entry, questions)
        unanswered += unchecked
    made = _made(TABLES[kind], questions, [each for _, each in dropped])
    made.remarks.update({"passages": len(passages), "passages without a reply": unanswered})
    yield entry.name, made, _dropped(entry.name, kind, [*dropped, *left]), unanswered


def _passages(lake: Lake, settings: Settings, kind: QuestionKind) -> list[Passage]:
    if kind is QuestionKind.CODE:
        return read_passages(lake.read(PYMATGEN_CODE, {}), kind)
    return read_passages(lake.read(PYMATGEN_DOC, {"doc_source": settings.knowledge.doc_source}), kind)


def synthesis_requests(lake: Lake, settings: Settings, entry: ModelEntry, kind: QuestionKind) -> list[ChatRequest]:
    """What the entry is asked to write all its questions of one kind. Raises LakeError."""
    return [_synthesis(entry, passage) for passage in _passages(lake, settings, kind)]


def _synthesis(entry: ModelEntry, passage: Passage) -> ChatRequest:
    prompt = synthesis_prompt(passage, tags=not entry.capabilities.structured)
    return ChatRequest(
        [{"role": "user", "content": prompt}], purpose=f"mattools questions {passage.kind.value}", schema=REPLY_SCHEMA
    )


async def _checked(
    settings: Settings, ledger: Ledger, entry: ModelEntry, questions: Sequence[Question]
) -> tuple[list[Question], int]:
    """The questions, marked where their writer answers wrongly and the same each time; how many are open yet."""
    times = settings.knowledge.self_check
    requests = [
        ChatRequest([{"role": "user", "content": answer_prompt(question)}], repeat, "mattools questions self-check")
        for question in questions
        for repeat in range(times)
    ]
    answers = await _ask(settings, ledger, entry, requests)
    marked, unanswered = [], 0
    for place, question in enumerate(questions):
        own = answers[place * times : (place + 1) * times]
        unanswered += any(not answer.status.is_scored for answer in own)
        letters = [lenient_letter(answer.text) if answer.status is Status.OK else None for answer in own]
        marked.append(replace(question, is_suspect=looks_mistaken(letters, question.answer)))
    return marked, unanswered


async def _ask(settings: Settings, ledger: Ledger, entry: ModelEntry, requests: Sequence[ChatRequest]) -> list[Answer]:
    """Answers in the order of `requests`."""
    places = {request: place for place, request in enumerate(requests)}
    found: dict[int, Answer] = {}
    keys = read_environment(settings.models_file)
    async for answer in answers_of(entry, lambda: requests, ledger, keys, budget_of(settings), _log):
        found[places[answer.request]] = answer
    return [found[place] for place in range(len(requests))]


def _dropped(origin: str, kind: QuestionKind, dropped: Iterable[tuple[Passage, Dropped]]) -> Made:
    rows: list[dict[str, object]] = [
        {
            "origin": origin,
            "kind": kind.value,
            "source_id": passage.source_id,
            "text": each.question,
            "reason": each.reason,
        }
        for passage, each in dropped
    ]
    return Made(QA_DROPPED.rows(rows), {})


def _made(table: LakeTable, questions: Sequence[Question], dropped: Sequence[Dropped]) -> Made:
    letters = Counter(question.answer for question in questions)
    remarks: Remarks = {
        "questions": len(questions),
        "dropped": len(dropped),
        "suspect": sum(question.is_suspect for question in questions),
        **{f"answers {letter}": letters[letter] for letter in LETTERS},
        "card": dataset_card(table.name, questions, dropped),
    }
    if questions:
        chosen = random.Random(0).sample(list(questions), min(SHOWN, len(questions)))
        remarks["ten random questions"] = "\n\n".join(map(_shown, chosen))
    return Made(questions_table(table, questions), remarks)


def _shown(question: Question) -> str:
    options = "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, question.options, strict=True))
    return fenced(f"{question.text}\n\n{options}\n\nright: {question.answer}", longest=1_500)
