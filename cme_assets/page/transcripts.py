"""Transcripts beside the page: what was asked, replied, read and true, of every problem of every evaluation.

    transcripts/<evaluation>/index.html        a line a problem
    transcripts/<evaluation>/<category>.html   the category's replies in full
    transcripts/prompts/<size>/<problem>-….html  each prompt once, whoever was asked

Plain linked files: they open from a disk, nothing is loaded before it is wanted, and no script runs. Replies are
hostile text; see `inert`. Pages that are still right are left alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment

from cme_assets.page.gallery import category_order
from cme_assets.page.inert import environment
from cme_assets.page.parts import Part, answer_lines, reply_parts
from cme_assets.page.prompt_pages import PromptPages
from cme_assets.page.writing import FOLDER, is_made, remove_others, write_text
from cme_assets.protocols import PROTOCOLS
from cme_assets.protocols.protocol import Protocol
from resources.lake import Lake, combined_hash
from resources.llm.batched import WAITING, WAITS
from resources.outcomes import Status

Row = dict[str, Any]
Evaluation = tuple[str, str, str, int]
"""Model, protocol, variant and resolution."""

_FROM_REPLIES = ("problem_id", "resolution", "variant", "repeat", "reply", "error")
_IF_THERE = ("steps", "served_model", "finish", "request_hash", "answered_at", "reasoning_tokens", "cached_tokens")


@dataclass(frozen=True)
class Transcript:
    """One evaluation's folder, relative to the page, and its categories."""

    folder: str
    categories: frozenset[str]


@dataclass
class _Found:
    """Lines of an evaluation's index so far."""

    lines: list[Row] = field(default_factory=list)
    categories: set[str] = field(default_factory=set)


def write_transcripts(lake: Lake, beside: Path) -> dict[Evaluation, Transcript]:
    """Write what is new under `beside`/transcripts and remove what is gone. Raises LakeError and OSError."""
    writer = _Writer(lake, beside / FOLDER, environment())
    for protocol in PROTOCOLS:
        for key in lake.keys(protocol.scores.table):
            writer.add(protocol, key)
    written = writer.finish()
    remove_others(beside / FOLDER, writer.kept | writer.prompts.kept)
    return written


def slug(evaluation: Evaluation) -> str:
    """A folder name that any file system and any link takes, and that no two evaluations share."""
    model, protocol, _, resolution = evaluation
    words = re.sub(r"[^a-z0-9.]+", "-", model.lower()).strip("-.")[:60]
    return f"{words}-{protocol}-{resolution}-{hashlib.sha256(repr(evaluation).encode()).hexdigest()[:8]}"


class _Writer:
    def __init__(self, lake: Lake, folder: Path, templates: Environment) -> None:
        self.lake, self.folder, self.templates = lake, folder, templates
        self.prompts = PromptPages(lake, folder / "prompts", templates)
        self.kept: set[Path] = set()
        self.found: dict[Evaluation, _Found] = {}
        sources = ("transcript.html.j2", "transcript.css", "transcript_head.html.j2")
        loader = templates.loader
        assert loader is not None
        self.form = combined_hash(*(loader.get_source(templates, name)[0] for name in sources))

    def add(self, protocol: Protocol, key: Mapping[str, str]) -> None:
        """The replies of one model in one category."""
        replies, scores = (self.lake.stored(step.table, key) for step in (protocol.responses, protocol.scores))
        if replies is None or scores is None:
            return
        rows = self.lake.read(protocol.scores.table, key).to_pylist()
        rows.sort(key=lambda row: (row["variant"], row["resolution"], row["level"], row["repeat"]))
        pages = self.prompts.of(key["category"])
        identity = combined_hash(self.form, replies.content_hash, scores.content_hash, repr(sorted(pages.items())))
        unanswered = any(row["status"] == Status.PROVIDER_ERROR for row in rows)
        texts = _texts(self.lake, protocol, key) if unanswered else None
        rows = [_named(row, texts or {}) for row in rows]
        for (variant, resolution), group in groupby(rows, key=lambda row: (row["variant"], row["resolution"])):
            evaluation = (key["model"], protocol.name, variant, resolution)
            own, path = list(group), self.folder / slug(evaluation) / f"{key['category']}.html"
            found = self.found.setdefault(evaluation, _Found())
            found.lines += [_line(row) for row in own]
            found.categories.add(key["category"])
            self.kept.add(path)
            if is_made(path, identity):
                continue
            if texts is None:
                texts = _texts(self.lake, protocol, key)
            problems = list(_problems(own, texts, pages))
            page = self.templates.get_template("transcript.html.j2").render(
                evaluation=evaluation, category=key["category"], problems=problems, identity=identity
            )
            write_text(path, page)

    def finish(self) -> dict[Evaluation, Transcript]:
        """The indexes."""
        written = {}
        for evaluation, found in self.found.items():
            path = self.folder / slug(evaluation) / "index.html"
            lines = sorted(found.lines, key=lambda row: (category_order(row["category"]), row["level"], row["repeat"]))
            page = self.templates.get_template("transcript_index.html.j2").render(evaluation=evaluation, lines=lines)
            write_text(path, page)
            self.kept.add(path)
            written[evaluation] = Transcript(f"{FOLDER}/{slug(evaluation)}", frozenset(found.categories))
        return written


def _line(row: Row) -> Row:
    names = ("problem_id", "category", "level", "repeat", "status", "score", "score_lenient", "completion_tokens")
    line = {name: row[name] for name in names}
    return line | {"answered": _few(row["values_strict"]), "truth": _few(row["truth"]), "latency_s": row["latency_s"]}


def _few(values: Sequence[float] | None, most: int = 3) -> str:
    shown = ", ".join(f"{value:.5g}" for value in (values or ())[:most])
    return f"{shown} … ({len(values)})" if values and len(values) > most else shown


def _named(row: Row, texts: Mapping[tuple[Any, ...], Row]) -> Row:
    """The row; one whose batch is under way at the provider is no error and is not called one."""
    if texts.get(_identity(row), {}).get("error") != WAITS:
        return row
    return row | {"status": WAITING, "status_lenient": WAITING}


def _texts(lake: Lake, protocol: Protocol, key: Mapping[str, str]) -> dict[tuple[Any, ...], Row]:
    table = protocol.responses.table
    names = [name for name in (*_FROM_REPLIES, *_IF_THERE) if name in table.schema.names]
    return {_identity(row): row for row in lake.read(table, key, names).to_pylist()}


def _identity(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["problem_id"], row["resolution"], row["variant"], row["repeat"]


@dataclass(frozen=True)
class Shown:
    """One problem as its page shows it."""

    row: Row
    told: Row
    parts: tuple[Part, ...]
    answer: tuple[tuple[str, str, str], ...]
    prompt: str | None


def _problems(
    rows: Sequence[Row], texts: Mapping[tuple[Any, ...], Row], pages: Mapping[tuple[int, str], str]
) -> Iterator[Shown]:
    for row in rows:
        told = texts.get(_identity(row), {})
        prompt = pages.get((row["resolution"], row["prompt_hash"]))
        yield Shown(row, told, tuple(reply_parts(told)), tuple(answer_lines(row)), prompt and f"../prompts/{prompt}")
