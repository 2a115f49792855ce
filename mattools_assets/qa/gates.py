"""Which drafts become questions: each gate names what is wrong, or lets the draft pass."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence

from mattools_assets.qa.duplicates import near_duplicates
from mattools_assets.qa.passages import Passage
from mattools_assets.qa.questions import LETTERS, Question, question_hash
from mattools_assets.qa.synthesis import REPEATS, Draft, Dropped
from resources.lake import combined_hash

NEAR_DUPLICATE = 0.85
"""Two questions are near-duplicates when so large a part of their words, taken together, is common."""

_SOURCE_WORDS = r"(?:text|passage|document(?:ation)?|description|excerpt|article|context|docstring)"
_CODE_WORDS = r"(?:code|snippet|implementation|function definition|listing)"
_POINTING = r"(?:the|this|that|above|following|given|provided|shown|presented)"
_SPEAKS_OF_TEXT = re.compile(
    rf"\b(?:according to|based on|as (?:described|stated|mentioned|shown) in|in|from|per)\s+"
    rf"(?:{_POINTING}\s+)+{_SOURCE_WORDS}\b|\b(?:this|given|provided|above|following)\s+{_SOURCE_WORDS}\b",
    re.IGNORECASE,
)
_SPEAKS_OF_CODE = re.compile(
    rf"\b(?:this|given|provided|above|following|shown)\s+(?:python\s+)?{_CODE_WORDS}\b|"
    rf"\b(?:in|according to|from)\s+the\s+(?:python\s+)?{_CODE_WORDS}\b",
    re.IGNORECASE,
)
_LETTER_BOUND = re.compile(
    r"\b(?:(?:all|none|any|both|neither) of (?:the|these)\b.*|(?:both )?[A-D] (?:and|or) [A-D]|option [A-D])",
    re.IGNORECASE,
)
_LIKE_AN_OPTION = re.compile(r"\n\s*[A-D][.)]\s|</?answer>", re.IGNORECASE)


def plain(text: str) -> str:
    """The text as it is compared: as it looks, lower case, without quotes, marks at the ends and doubled blanks."""
    text = "".join(each for each in unicodedata.normalize("NFKC", text) if unicodedata.category(each) != "Cf")
    return re.sub(r"[\s`'\"*]+", " ", text.casefold()).strip(" .;:,")


def options_differ(draft: Draft) -> str | None:
    """Four options that mean four things."""
    options = {plain(option) for option in (draft.correct, *draft.wrong)}
    return None if len(options) == 4 and "" not in options else "the options are not four different ones"


def options_stand_alone(draft: Draft) -> str | None:
    """No option that speaks of the others, since their order is drawn."""
    bound = any(_LETTER_BOUND.search(option) for option in (draft.correct, *draft.wrong))
    return "an option refers to other options" if bound else None


def no_more_options(draft: Draft) -> str | None:
    """Nothing that the prompt would show as a further option, or as an answer."""
    texts = (draft.question, draft.correct, *draft.wrong)
    faked = any(_LIKE_AN_OPTION.search(text) for text in texts)
    return "the question or an option looks like further options or an answer" if faked else None


def question_stands_alone(draft: Draft) -> str | None:
    """No mention of a source that whoever answers does not see; a quoted code block is seen."""
    prose, quotes = re.subn(r"```.*?(?:```|\Z)", " ", draft.question, flags=re.DOTALL)
    if _SPEAKS_OF_TEXT.search(prose):
        return "the question speaks of a text that is not shown"
    if _SPEAKS_OF_CODE.search(prose) and not quotes and "\n" not in draft.question.strip():
        return "the question speaks of code that is not shown"
    return None


def answer_is_not_named(draft: Draft) -> str | None:
    """The right option's words are not in the question, unless those of a wrong one are too."""
    question = plain(draft.question)

    def named(option: str) -> bool:
        words = plain(option)
        return len(words) > 2 and re.search(rf"(?<!\w){re.escape(words)}(?!\w)", question) is not None

    given_away = named(draft.correct) and not any(named(option) for option in draft.wrong)
    return "the question names its answer" if given_away else None


GATES: tuple[Callable[[Draft], str | None], ...] = (
    options_differ,
    options_stand_alone,
    no_more_options,
    question_stands_alone,
    answer_is_not_named,
)


def pass_gates(draft: Draft) -> str | None:
    """The first gate's objection, None when all let the draft pass."""
    return next((objection for gate in GATES if (objection := gate(draft)) is not None), None)


def make_questions(
    drafts: Iterable[tuple[Passage, Sequence[Draft]]], origin: str, seed: int = 0
) -> tuple[list[Question], list[tuple[Passage, Dropped]]]:
    """Questions from the drafts of each passage, and what was dropped with the reason.

    The letters of a passage's questions are a drawn permutation of A to D, so that letters are balanced; the draw
    depends on the passage and `seed` alone, so that more passages do not change the questions of others.
    """
    questions: list[Question] = []
    places: list[Passage] = []
    dropped: list[tuple[Passage, Dropped]] = []
    for passage, written in drafts:
        draw = random.Random(combined_hash(str(seed), passage.kind, passage.source_id))
        letters = draw.sample(LETTERS, len(LETTERS))
        kept = 0
        for draft in written:
            objection = pass_gates(draft)
            if objection is not None:
                dropped.append((passage, Dropped(draft.question, objection)))
                continue
            questions.append(_question(passage, draft, origin, letters[kept % len(letters)], draw))
            places.append(passage)
            kept += 1
    repeated = near_duplicates([f"{question.text} {question.right}" for question in questions], NEAR_DUPLICATE)
    dropped += [
        (places[n], Dropped(questions[n].text, f"{REPEATS}{questions[first].question_id}"))
        for n, first in repeated.items()
    ]
    return [question for n, question in enumerate(questions) if n not in repeated], dropped


def _question(passage: Passage, draft: Draft, origin: str, letter: str, draw: random.Random) -> Question:
    options = draw.sample(draft.wrong, 3)
    options.insert(LETTERS.index(letter), draft.correct)
    a, b, c, d = options
    return Question(
        question_hash(passage.kind, passage.source_id, draft.question, options),
        origin,
        passage.kind,
        passage.source_id,
        passage.module,
        passage.object_kind,
        draft.question,
        (a, b, c, d),
        letter,
    )


def looks_mistaken(answers: Sequence[str | None], right: str) -> bool:
    """True when samples answered without the source all agree on one letter, and it is not the right one.

    Three or more answers are needed; with fewer, or any that could not be read, nothing is said.
    """
    return len(answers) >= 3 and None not in answers and len(set(answers)) == 1 and answers[0] != right
