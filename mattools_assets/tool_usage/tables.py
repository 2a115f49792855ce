"""The tables of tool usage in the lake: questions, answers, executions and scores, every column with its meaning."""

from __future__ import annotations

import pyarrow as pa

from resources.lake import Column, LakeTable

_TEXT, _WHOLE, _NUMBER, _TRUTH = pa.string(), pa.int64(), pa.float64(), pa.bool_()

PROPERTY = pa.struct([("name", _TEXT), ("asked", _TEXT), ("expected", _TEXT)])
"""A property: what the question says of it, and the right value as text; both empty for the published set."""

TOOL_QUESTIONS = LakeTable(
    "tool_questions",
    "The questions of tool usage: one row a question of a set.",
    (),
    (
        Column("question_set", _TEXT, "own, published or triplets"),
        Column("question_id", _TEXT, "the question, unique within its set"),
        Column("topic", _TEXT, "what the question is about"),
        Column("text", _TEXT, "the question as it is put to a model"),
        Column("properties", pa.list_(PROPERTY), "the properties to be returned"),
        Column("files", pa.list_(_TEXT), "files that the function reads"),
        Column("data_at_hand", _TRUTH, "false where files that the question needs are missing here: never verified"),
        Column("question_hash", _TEXT, "identity of text and files: all that an answer depends on"),
        Column("verification_hash", _TEXT, "identity of the verification"),
    ),
)

_IDENTITY = (
    Column("model", _TEXT, "the model's name in models.yaml, or as a recorded run names it"),
    Column("system", _TEXT, "the partition: a live system, reference, or recorded"),
    Column("origin", _TEXT, "live or recorded"),
    Column("answered_as", _TEXT, "the system that answered; of recorded runs the one that they name"),
    Column("question_set", _TEXT, "own, published or triplets"),
    Column("question_id", _TEXT, "the question, unique within its set"),
    Column("repeat", _WHOLE, "number of the repetition, from 0"),
)
_SPENT = (
    Column("requests", _WHOLE, "requests to the model for this answer", identity=False),
    Column("prompt_tokens", _WHOLE, "tokens sent, where the provider says", True, identity=False),
    Column("completion_tokens", _WHOLE, "tokens received, where the provider says", True, identity=False),
    Column("cost_usd", _NUMBER, "cost in US dollars; 0 without a provider, null if unknown", True, identity=False),
    Column("latency_s", _NUMBER, "time of all requests, seconds; null if unknown", True, identity=False),
)
_DOCUMENTS = (
    Column("documents", _TEXT, "who wrote the documents that were retrieved from, or code; null without any", True),
    Column("embedder", _TEXT, "whose vectors found them, bm25 for a search by words; null without any", True),
)

REQUEST = pa.struct(
    [("step", _TEXT), ("round", _WHOLE), ("request_hash", _TEXT), ("status", _TEXT), ("cost_usd", _NUMBER)]
)
"""A request to the model; `request_hash` finds it in the ledger."""
CHUNK = pa.struct(
    [
        *(("source", _TEXT), ("chunk_id", _TEXT), ("document_id", _TEXT), ("title", _TEXT), ("text", _TEXT)),
        *(("score", _NUMBER), ("rank", _WHOLE), ("query", _TEXT), ("round", _WHOLE)),
    ]
)
"""A chunk of a document that was retrieved for a query."""
ROUND = pa.struct([("number", _WHOLE), ("source", _TEXT), ("status", _TEXT), ("error", _TEXT), ("feedback", _TEXT)])
"""A round of a system that tries its function: the function and what it did; texts are hostile."""

TOOL_ANSWERS = LakeTable(
    "tool_answers",
    "Functions that systems wrote: one row a question and repetition.",
    ("model", "system"),
    (
        *_IDENTITY,
        Column("status", _TEXT, "ok when there is a function to execute, else how the answer ended"),
        Column("function_name", _TEXT, "the function's name, hostile text; empty where there is none"),
        Column("source", _TEXT, "its Python source, hostile text; empty where there is none"),
        Column("as_published", _TRUTH, "whether the published harness would have found the function in the reply"),
        Column("error", _TEXT, "why there is no function", nullable=True, identity=False),
        *_SPENT,
        Column("asked", pa.list_(REQUEST), "every request, in order", identity=False),
        Column("retrieved", pa.list_(CHUNK), "every chunk that was retrieved, in order", identity=False),
        Column("rounds", pa.list_(ROUND), "the rounds of systems that try their function", identity=False),
        Column("question_hash", _TEXT, "identity of text and files of the question"),
        Column("entrant_hash", _TEXT, "identity of who answered: model, parameters and system, or the recorded file"),
        *_DOCUMENTS,
    ),
)

TOOL_EXECUTIONS = LakeTable(
    "tool_executions",
    "What the functions did in the sandbox: one row an answer.",
    ("model", "system"),
    (
        *_IDENTITY,
        Column("status", _TEXT, "how the execution ended, or the answer before it; unverified where data are missing"),
        Column("detail", _TEXT, "which limit, signal or defect, in a few words"),
        Column("result", _TEXT, "what the function returned, as the sandbox's typed JSON", nullable=True),
        Column("stdout", _TEXT, "what it printed, hostile text"),
        Column("stderr", _TEXT, "what it wrote to stderr, hostile text", identity=False),
        Column("wall_s", _NUMBER, "seconds by the clock", identity=False),
        Column("cpu_s", _NUMBER, "seconds of processor time", identity=False),
        Column("peak_memory", _WHOLE, "largest memory, bytes", identity=False),
        Column("answer_hash", _TEXT, "identity of function and question"),
        Column("packages", _TEXT, "identity of the packages in the sandbox"),
    ),
)

FINDING = pa.struct([("property", _TEXT), ("finding", _TEXT), ("detail", _TEXT)])
"""What was found of one property: passed, missing, none, wrong_type or wrong_value; `detail` says expected and got."""

TOOL_SCORES = LakeTable(
    "tool_scores",
    "Verdicts on what the functions returned: one row an answer and mode.",
    ("model", "system"),
    (
        *_IDENTITY,
        Column("mode", _TEXT, "whose rules hold: paper or corrected; only the published set knows paper"),
        Column("topic", _TEXT, "what the question is about"),
        Column("status", _TEXT, "how the execution ended; sandbox_error also where the verification met one"),
        Column("runnable", _TRUTH, "whether the function returned a dictionary; null without a verdict", True),
        Column("n_passed", _WHOLE, "properties that passed; null without a verdict", True),
        Column("n_properties", _WHOLE, "properties asked for"),
        Column("findings", pa.list_(FINDING), "property by property; empty without a verdict"),
        Column("exception", _TEXT, "class of the exception that ended the function", nullable=True),
        *_SPENT,
        Column("question_hash", _TEXT, "identity of text and files of the question"),
        Column("verification_hash", _TEXT, "identity of the verification"),
        Column("scorer_version", _TEXT, "version of the verification's code"),
        *_DOCUMENTS,
    ),
)

TABLES = (TOOL_QUESTIONS, TOOL_ANSWERS, TOOL_EXECUTIONS, TOOL_SCORES)
"""Upstream first."""
