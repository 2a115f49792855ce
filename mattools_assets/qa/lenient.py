"""The letter that a reply most plainly gives, whatever its form.

A letter counts where the reply says that it is the answer, and not where it is denied, one of several, part of a name
or an article. Rather none than one that a careful reader would not take: what cannot be read is counted apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from mattools_assets.qa.answering import strict_letter

# What decorates is searched from every place of a run of it. No reading needs more of a run than its two ends.
_RUN = re.compile(r"[\W_]{41,}")
_END = 20
# Reasoning that was left in the reply; the answer comes after it, and never before it has ended.
_REASONED = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_REASONING = re.compile(r"<think(?:ing)?>.*", re.DOTALL | re.IGNORECASE)

_OPEN = r"[\s\"'*_$`(\[{]*(?:\\(?:text|textbf|boxed|mathrm|mathbf)\{){0,4}"
# Not A1, A_1g, A's, A-centred, C++ or C#.
_CLOSE = r"(?![A-Za-z0-9]|['’][A-Za-z]|[-‐‑]\w|[+#]|_\w)"
_CAPITAL = rf"{_OPEN}([A-D]){_CLOSE}"
_LETTER = rf"{_OPEN}([A-Da-d]){_CLOSE}"

_TAG = re.compile(r"<answer>(.*?)(?:</answer>|<answer>|\Z)", re.DOTALL | re.IGNORECASE)
_IN_TAG = re.compile(
    rf"^(?:\s*(?i:the\s+)?(?i:(?:final|correct)\s+)?(?i:answer|option|choice)(?i:\s+is)?\s*:?)?{_LETTER}"
)
_FIELDS = (
    # {"answer": "B"}
    re.compile(rf"[\"'](?i:(?:(?:final|correct|right)_?)?(?:answer|letter|choice|option))[\"']\s*:{_LETTER}"),
    re.compile(rf"\\boxed\s*\{{{_LETTER}"),
)
_SENTENCES = (
    # the final answer is B; Answer: B; the right choice would be B
    re.compile(
        r"\b(?i:(?:(?:answer|solution)|(?:correct|right|best|final)\s+(?:answer|option|choice|one|letter))"
        r"(?:\s+(?:is|would be|must be|should be|has to be|to (?:the|this) question is))?"
        r"(?:\s+(?:clearly|definitely|likely|most likely|probably|therefore|thus))?(?:\s+option|\s+choice)?)"
        rf"\s*[:=\-–—]*(?:\s*(?i:option|choice))?{_LETTER}"
    ),
    re.compile(rf"(?i:答案|ответ)\s*[是为:]?{_LETTER}"),
    # I choose option B
    re.compile(rf"\b(?i:(?:choose|pick|select|go(?:ing)? with)(?:\s+(?:option|choice|letter))?){_CAPITAL}"),
    # B is right; option B is the correct one
    re.compile(
        r"(?:\b(?i:option|choice|so|thus|hence|therefore|that)\s+|(?:^|[.!?:;,])[ \t]*)"
        r"[\"'*_$`(\[]*([A-D])[\"'*_$`)\].:]*"
        r"\s+(?i:is|looks|seems|must be)\s+(?i:(?:the\s+)?(?:most\s+)?(?:correct|right|best|true|answer))\b",
        re.MULTILINE,
    ),
)
# What stands out on its own: **B** anywhere, and $B$, `B`, (B), [B] where a line begins or a clause ends.
_BOLD = re.compile(r"\*\*\s*\(?([A-D])\)?\s*[.:]?\s*\)?\*\*")
_SET_APART = r"[$`(\[]\s*([A-D])\s*[$`)\]]"
_APART = (
    _BOLD,
    re.compile(rf"^[ \t>*_\-#]*{_SET_APART}(?!\s*\d)", re.MULTILINE),
    re.compile(rf"{_SET_APART}(?=[*_]*\s*(?:[.,;:!]|$))", re.MULTILINE),
    re.compile(r"\*\*\(?([A-D])\)?[.):][^*\n]+\*\*"),
)
# A line that is a letter, or begins with one as options do: "B", "B.", "B) text"
_LINE = re.compile(
    r"^[\s>*_\-#(\[]*(?i:option\s+|answer\s*:?\s*)?([A-D])(?:[*_]*[).:\]][*_]*(?:\s.*)?|[\s*_.!]*)$", re.MULTILINE
)
_BARE_LINE = re.compile(r"[\s*_$`(\[\"']*([A-Da-d])[\s*_$`)\]\"'.:!]*")

# How far a reading looks around a letter.
_AROUND = 200
_NEAR = 40
_CLAUSE = re.compile(r"[.;!?,\n]|\b(?:but|so|thus|hence|therefore|then|because)\b", re.IGNORECASE)
_DENIED_BEFORE = re.compile(
    r"n['’]t\b|\b(?:not|never|neither|nor|none|cannot|wrong|incorrect|false|second|except|exclud\w*|eliminat\w*"
    r"|rul\w+ out|rather than|instead of|other than|unlikely)\b",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"[\s\"'*_$`)\]}:]*(?:(?:is|are|was|were|would be|looks|seems|must be)\s*)?(?:(?:also|clearly|simply|just)\s+)?"
    r"(?:n['’]t|not\b|no\b|wrong|incorrect|false|invalid|impossible|out\b|ruled out|excluded|eliminated|removed|a trap)"
    r"|[\s\"'*_$`)\]}]*\?|\W*(?:no,? wait|wait|actually|hmm|scratch that)\b",
    re.IGNORECASE,
)
_DECORATION = r"[\s\"'*_$`()\[\]{}]*"
_LIST = rf"(?:[,/|&;]\s*(?:or|and)?|\b(?:or|and|nor)\b){_DECORATION}(?:option|choice)?"
_LISTED_AFTER = re.compile(rf"{_DECORATION}{_LIST}\s*[A-D](?![A-Za-z0-9])")
_LISTED_BEFORE = re.compile(rf"(?<![A-Za-z0-9])[A-D]{_DECORATION}{_LIST}{_DECORATION}\Z")
_OPTION = re.compile(r"[\s>*_\-#(\[]*(?:option\s+)?([A-D])(?:[.):\]]|[ \t*_]*(?:\n|\Z))", re.IGNORECASE)
# What follows a letter A that is no article.
_ARTICLE = re.compile(
    r"[ \n]+(?!(?:and|are|as|because|but|due|for|from|given|has|here|in|is|not|or|over|rather|since|so|that|was|which"
    r"|while|with)\b)[A-Za-z]"
)
_ENDS = re.compile(r"[)\]}\"'*_`$.:,!]*[ \t]*(?:\n|\Z|<)")


def lenient_letter(reply: str) -> str | None:
    """The letter that a reply most plainly gives, whatever its form; None when it gives none, or several.

    Looked for in this order: answer tags, a JSON field or `\\boxed`, a last line that is a letter, a sentence that says
    which is the answer, a letter set apart (`**B**`, `$B$`, `(B)`), a line that begins with a letter. In tags, fields
    and sentences the last one wins, because models correct themselves; of letters set apart and of lines all must
    agree. Beside tags that hold no letter only fields and sentences count.
    """
    if strict := strict_letter(reply):
        return strict
    text = unicodedata.normalize("NFKC", reply)
    text = _RUN.sub(lambda run: run.group()[:_END] + run.group()[-_END:], text)
    text = _REASONING.sub("", _REASONED.sub("", text))
    tags = _TAG.findall(text)
    in_tags = (_last(_IN_TAG, inside) for inside in reversed(tags))
    fields = (_last(field, text) for field in _FIELDS)
    sentences = (_last(sentence, text) for sentence in _SENTENCES)
    if tags:
        return _first(in_tags) or _first(fields) or _first(sentences)
    return _first(fields) or _last_line(text) or _first(sentences) or _standing_out(text)


def _first(letters: Iterator[str | None]) -> str | None:
    return next((letter for letter in letters if letter), None)


def _last(pattern: re.Pattern[str], text: str) -> str | None:
    letters = _meant(pattern, text)
    return letters[-1] if letters else None


def _standing_out(text: str) -> str | None:
    apart = [letter for pattern in _APART for letter in _meant(pattern, text)]
    letters = set(apart or _meant(_LINE, text))
    return letters.pop() if len(letters) == 1 else None


def _last_line(text: str) -> str | None:
    """The letter when the last line is nothing but one; a small one only when it is the whole reply."""
    lines = [line for line in text.splitlines() if line.strip()]
    found = _BARE_LINE.fullmatch(lines[-1]) if lines else None
    letter = found.group(1) if found else ""
    if not letter.isupper() and len(lines) != 1:
        return None
    before = lines[-2].strip() if len(lines) > 1 else ""
    # The end of a list of letters is no answer.
    return None if _BARE_LINE.fullmatch(before) else letter.upper() or None


def _meant(pattern: re.Pattern[str], text: str) -> list[str]:
    """The letters that `pattern` finds where they are said to be the answer."""
    return [found.group(1).upper() for found in pattern.finditer(text) if _is_meant(text, found)]


def _is_meant(text: str, found: re.Match[str]) -> bool:
    """Whether the letter of a match is neither denied nor one of several, and is a letter at all."""
    start, end = found.span(1)
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    letter = found.group(1)
    if letter.islower() and not _ENDS.match(after):
        return False
    if letter == "A" and _ARTICLE.match(after):
        return False
    clause = _CLAUSE.split(before)[-1]
    denied = _DENIED_BEFORE.search(clause) or _DENIED_AFTER.match(after)
    listed = _LISTED_AFTER.match(after) or _LISTED_BEFORE.search(before[-_NEAR:])
    return not denied and not listed and not _is_option(before, letter, after)


def _is_option(before: str, letter: str, after: str) -> bool:
    """Whether the letter begins a line, and the one before or after it a line beside, as where options are repeated."""
    *above, line = before.split("\n")
    if line.strip(" \t>*_-#(["):
        return False
    following = _OPTION.match(after.partition("\n")[2])
    preceding = _OPTION.match(next((each for each in reversed(above) if each.strip()), ""))
    letters = [each.group(1).upper() if each else "" for each in (preceding, following)]
    return letters[0] == chr(ord(letter) - 1) or letters[1] == chr(ord(letter) + 1)
