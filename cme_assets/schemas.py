"""The tables of CME-SpectrumBench in the lake: every column with its type, unit and meaning.

A table's keys (its partition) are columns of the file too; readers switch Hive parsing of the folder names off.
Maps are stored row by row: value (row i, column j) is at i x resolution + j.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from resources.lake import Column, LakeTable

_TEXT, _WHOLE, _NUMBER = pa.string(), pa.int64(), pa.float64()
_NUMBERS = pa.list_(_NUMBER)

_CATEGORY = Column("category", _TEXT, "task category: A1 to G5, or one of your own")
_PROBLEM = Column("problem_id", _TEXT, "problem, for display: category and level, such as B3-L2")
_LEVEL = Column("level", _WHOLE, "level of difficulty, 0 (least noise or sharpest) to 4")
_RESOLUTION = Column("resolution", _WHOLE, "pixels along each side of the map")
_DRAW = Column("draw", _WHOLE, "draw of the parameters: 0, 1, 2 are the worked examples, 3 is the question")
_DOMAIN = Column("domain", _TEXT, "letter of the physics domain: A to G, any other for categories of your own")
_TIER = Column("tier", _WHOLE, "published tier of difficulty, 1 to 3")
_ROWS = Column("row_values", _NUMBERS, "pixel centres along the rows' axis as printed: eV or 1/Angstrom")
_COLUMNS = Column("column_values", _NUMBERS, "pixel centres along the columns' axis, 1/Angstrom")
_CATEGORY_HASH = Column("category_hash", _TEXT, "identity of the version of the category")
_PROMPT_HASH = Column("prompt_hash", _TEXT, "SHA-256 of the prompt's text")

PROBLEMS = LakeTable(
    "problems",
    "What was drawn and what is asked: one row a resolution, level and draw.",
    ("category",),
    (
        _PROBLEM,
        _CATEGORY,
        _DOMAIN,
        _TIER,
        _LEVEL,
        _RESOLUTION,
        _DRAW,
        Column("role", _TEXT, "example or question"),
        Column("title", _TEXT, "the category in a few words"),
        Column("published", pa.bool_(), "whether the category is one of the 38; others stay out of totals"),
        Column("map_kind", _TEXT, "EK, KK or QW: energy-momentum, momentum-momentum, loss-momentum"),
        Column("noise", _NUMBER, "mean of the noise as a fraction of the clean map's peak"),
        Column("energy_factor", _NUMBER, "broadening of the instrument's energy kernel"),
        Column("parameters", _TEXT, "the drawn parameters as JSON, eV, 1/Angstrom and K"),
        Column("x_start", _NUMBER, "left edge of the window, 1/Angstrom"),
        Column("x_stop", _NUMBER, "right edge of the window, 1/Angstrom"),
        Column("y_start", _NUMBER, "lower edge of the window in the model's coordinate, eV or 1/Angstrom"),
        Column("y_stop", _NUMBER, "upper edge of the window in the model's coordinate, eV or 1/Angstrom"),
        Column("y_zero", _NUMBER, "added to the model's coordinate where rows are printed, eV"),
        Column("listed_axis", _TEXT, "y or x: the axis along which an array answer is asked", nullable=True),
        Column("listed_first", _WHOLE, "first pixel of that run", nullable=True),
        Column("listed_last", _WHOLE, "last pixel of that run, inclusive", nullable=True),
        Column("quantity", pa.list_(_TEXT), "names of the values asked, in order"),
        Column("unit", _TEXT, "unit of the answer; empty for a pure number"),
        Column("shape", _TEXT, "scalar, values or array"),
        Column("truth", _NUMBERS, "the exact answer"),
        Column("gamma", _NUMBER, "half width of the Lorentzian score, in the answer's unit"),
        Column("gamma_wide", _NUMBER, "second, wider half width where one was published", nullable=True),
        _CATEGORY_HASH,
    ),
)

SPECTRA = LakeTable(
    "spectra",
    "Maps after resolution and without noise: one row a resolution, energy kernel and draw, shared by the levels.",
    ("category",),
    (
        _CATEGORY,
        _RESOLUTION,
        Column("energy_factor", _NUMBER, "broadening of the instrument's energy kernel"),
        _DRAW,
        Column("intensity", _NUMBERS, "the map, arbitrary unit"),
        Column("peak", _NUMBER, "its largest value"),
        _ROWS,
        _COLUMNS,
    ),
)

NOISY_SPECTRA = LakeTable(
    "noisy_spectra",
    "Maps as measured: one row a resolution, level and draw.",
    ("category",),
    (
        _PROBLEM,
        _CATEGORY,
        _LEVEL,
        _RESOLUTION,
        _DRAW,
        Column("intensity", _NUMBERS, "the map with noise, arbitrary unit"),
        Column("rms_over_peak", _NUMBER, "spread of the noise about its mean, as a fraction of the clean peak"),
        Column("pedestal_over_peak", _NUMBER, "mean of the noise, as a fraction of the clean peak"),
        _ROWS,
        _COLUMNS,
    ),
)

GIVEN = pa.struct([("name", _TEXT), ("number", _NUMBER), ("text", _TEXT), ("unit", _TEXT)])
"""A value stated with a map: either `number` or `text` is set."""

EXHIBIT = pa.struct(
    [
        ("table", _TEXT),
        ("given", pa.list_(GIVEN)),
        ("listed_axis", _TEXT),
        ("listed_values", _NUMBERS),
        ("answer", _NUMBERS),
    ]
)
"""One table of a prompt and what is said about it; `answer` is null for the question."""

PROMPTS = LakeTable(
    "prompts",
    "What an entrant is shown, as text and taken apart: one row a resolution and level.",
    ("category",),
    (
        _PROBLEM,
        _CATEGORY,
        _LEVEL,
        _RESOLUTION,
        Column("prompt", _TEXT, "the closed-book three-shot prompt", identity=False),
        _PROMPT_HASH,
        Column("prompt_tokens", _WHOLE, "length of the prompt in o200k tokens", identity=False),
        Column("map_kind", _TEXT, "EK, KK or QW", identity=False),
        Column("observed", _TEXT, "what was measured, in words", identity=False),
        Column("question", _TEXT, "what is asked, in words", identity=False),
        Column("quantity", pa.list_(_TEXT), "names of the values asked, in order", identity=False),
        Column("unit", _TEXT, "unit of the answer", identity=False),
        Column("shape", _TEXT, "scalar, values or array", identity=False),
        Column("wanted", _WHOLE, "how many numbers the answer has", identity=False),
        Column("fwhm_rows", _NUMBER, "kernel along the rows' axis, full width at half maximum", identity=False),
        Column("fwhm_columns", _NUMBER, "kernel along the columns' axis, 1/Angstrom", identity=False),
        Column("exhibits", pa.list_(EXHIBIT), "three examples and the question", identity=False),
    ),
)

_EVALUATION = (
    Column("model", _TEXT, "the model's name in models.yaml"),
    Column("protocol", _TEXT, "how it was asked: direct, code or react"),
    Column("variant", _TEXT, "settings of the protocol; published is the published ones"),
    _RESOLUTION,
    Column("repeat", _WHOLE, "number of the repetition, from 0"),
    _PROBLEM,
    _CATEGORY,
)
_USAGE = (
    Column("prompt_tokens", _WHOLE, "tokens sent", identity=False),
    Column("completion_tokens", _WHOLE, "tokens received, reasoning included", identity=False),
    Column("cost_usd", _NUMBER, "cost in US dollars; 0 without a provider, null if unknown", True, identity=False),
    Column("latency_s", _NUMBER, "time to the final reply, seconds", identity=False),
)


def responses_table(protocol: str) -> LakeTable:
    """Replies under a protocol that asks once: one row a resolution, repetition and problem."""
    return LakeTable(
        f"{protocol}_responses",
        f"What models replied under the {protocol} protocol.",
        ("model", "category"),
        (
            *_EVALUATION,
            _LEVEL,
            Column("status", _TEXT, "how the request ended; ok when there is a reply to read"),
            Column("reply", _TEXT, "the reply, hostile text; empty where there is none"),
            Column("error", _TEXT, "why there is no reply", nullable=True, identity=False),
            *_USAGE,
            _PROMPT_HASH,
            Column("entrant_hash", _TEXT, "identity of what was asked: the model and its parameters, or the solver"),
        ),
    )


AGENT_STEP = pa.struct(
    [
        ("number", _WHOLE),
        ("stage", _TEXT),
        ("status", _TEXT),
        ("request_hash", _TEXT),
        ("message", _TEXT),
        ("reasoning", _TEXT),
        ("script", _TEXT),
        ("output", _TEXT),
        ("wall_s", _NUMBER),
        ("cpu_s", _NUMBER),
        ("peak_memory", _WHOLE),
        ("prompt_tokens", _WHOLE),
        ("completion_tokens", _WHOLE),
        ("cost_usd", _NUMBER),
        ("latency_s", _NUMBER),
    ]
)
"""One reply with its script and what that wrote, or (`stage` test) the last script on the question's map; all texts are
hostile. `request_hash` finds the request in the ledger. Seconds, bytes, US dollars."""


def runs_table(protocol: str) -> LakeTable:
    """Runs of agents under a protocol: replies, and how they came about."""
    replies = responses_table(protocol)
    steps = (
        Column("script", _TEXT, "the last script, hostile text", nullable=True),
        Column("steps", pa.list_(AGENT_STEP), "the transcript, a reply or an execution a step", identity=False),
    )
    title = f"What agents did under the {protocol} protocol: one row a resolution, repetition and problem."
    return LakeTable(f"{protocol}_runs", title, replies.keys, (*replies.columns, *steps))


def scores_table(protocol: str) -> LakeTable:
    """Scores under a protocol: one row for each row of its replies. `score` is null where the model is not to blame."""
    return LakeTable(
        f"{protocol}_scores",
        f"Scores of what models replied under the {protocol} protocol.",
        ("model", "category"),
        (
            *_EVALUATION,
            _DOMAIN,
            _TIER,
            _LEVEL,
            Column("status", _TEXT, "final outcome with the strict reading"),
            Column("status_lenient", _TEXT, "final outcome with the lenient reading"),
            Column("score", _NUMBER, "Lorentzian score of the strict reading, 0 to 1", nullable=True),
            Column("score_lenient", _NUMBER, "Lorentzian score of the lenient reading, 0 to 1", nullable=True),
            Column("score_wide", _NUMBER, "score of the strict reading with the second, wider gamma", nullable=True),
            *_USAGE,
            Column("values_strict", _NUMBERS, "values of the strict reading", nullable=True),
            Column("values_lenient", _NUMBERS, "values of the lenient reading", nullable=True),
            Column("truth", _NUMBERS, "the exact answer"),
            Column("gamma", _NUMBER, "half width of the Lorentzian score, in the answer's unit"),
            Column("rms_over_peak", _NUMBER, "noise of the question's map: spread, as a fraction of the peak"),
            Column("pedestal_over_peak", _NUMBER, "noise of the question's map: mean, as a fraction of the peak"),
            _PROMPT_HASH,
            _CATEGORY_HASH,
            Column("scorer_version", _TEXT, "version of parser and score"),
        ),
    )


SERVED = (
    Column("cached_tokens", _WHOLE, "tokens sent that the provider read from its cache", True, identity=False),
    Column("reasoning_tokens", _WHOLE, "tokens received that were reasoning", True, identity=False),
    Column("first_token_s", _NUMBER, "time to the first token of a streamed reply, seconds", True, identity=False),
    Column("served_model", _TEXT, "the model as the provider names it in the reply", True, identity=False),
    Column("fingerprint", _TEXT, "the provider's fingerprint of the system that replied", True, identity=False),
    Column("finish", _TEXT, "the provider's word for why the reply ended", True, identity=False),
    Column("request_hash", _TEXT, "the request in the ledger, where it is kept as sent", True, identity=False),
    Column("attempts", _WHOLE, "how often the request was sent", True, identity=False),
    Column("answered_at", pa.timestamp("us", "UTC"), "when the reply was complete", True, identity=False),
)
"""What a provider tells with a reply; null for entrants that have none."""

_ASKED_ONCE = responses_table("direct")
DIRECT_RESPONSES = replace(_ASKED_ONCE, columns=(*_ASKED_ONCE.columns, *SERVED))
DIRECT_SCORES = scores_table("direct")
CODE_RUNS, CODE_SCORES = runs_table("code"), scores_table("code")
REACT_RUNS, REACT_SCORES = runs_table("react"), scores_table("react")

ALL = (
    *(PROBLEMS, SPECTRA, NOISY_SPECTRA, PROMPTS, DIRECT_RESPONSES, DIRECT_SCORES),
    *(CODE_RUNS, CODE_SCORES, REACT_RUNS, REACT_SCORES),
)
"""Upstream first."""
