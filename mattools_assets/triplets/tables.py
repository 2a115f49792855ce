"""The tables of unit tests in the lake."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from mattools_assets.triplets.unit_tests import Suite
from resources.lake import Column, LakeTable
from resources.stage import Made

_TEXT = pa.string()
_TEXTS = pa.list_(_TEXT)
FIXTURE = pa.struct([("name", _TEXT), ("file", _TEXT), ("source", _TEXT), ("needs", _TEXTS)])
"""A fixture that a test uses, with the statements of its own file that it needs."""

UNIT_TESTS = LakeTable(
    "unit_tests",
    "Tests and doctests of a test suite with what each needs, and what cannot be told without running it.",
    (),
    (
        Column("file", _TEXT, "path below the suite"),
        Column("name", _TEXT, "pytest's name of the test within its file, without parameters"),
        Column("kind", _TEXT, "test, doctest, or open end: something that only running the suite would tell"),
        Column("line", pa.int64(), "line of the definition, from 1; 0 of an open end"),
        Column("source", _TEXT, "the test's source or docstring; of an open end the reason"),
        Column("is_async", pa.bool_(), "whether it is a coroutine"),
        Column("parametrisation", _TEXTS, "its parametrize decorators"),
        Column("generated_by", _TEXTS, "pytest_generate_tests hooks that may give it parameters"),
        Column("needs", _TEXTS, "imports, globals and helpers of its file that it uses"),
        Column("fixtures", pa.list_(FIXTURE), "fixtures of the suite that it uses, directly or through others"),
        Column("built_in", _TEXTS, "fixtures of pytest itself"),
        Column("unresolved", _TEXTS, "parameters that nothing in the suite explains"),
        Column("data_files", _TEXTS, "files of the suite that it names"),
        Column("test_hash", _TEXT, "identity of the test and all that it needs"),
    ),
)

_NOTHING = ("parametrisation", "generated_by", "needs", "fixtures", "built_in", "unresolved", "data_files")


def make_unit_tests(suite: Suite) -> Made:
    """The rows of `unit_tests`, with counts as remarks."""
    tests = [
        {
            **{name: getattr(test, name) for name in UNIT_TESTS.schema.names if name not in ("fixtures", "test_hash")},
            "fixtures": [
                {"name": each.name, "file": each.file, "source": each.source, "needs": each.needs}
                for each in test.fixtures
            ],
            "test_hash": test.hash,
        }
        for test in suite.tests()
    ]
    empty: dict[str, Any] = {name: [] for name in _NOTHING}
    ends = [
        {
            **empty,
            "file": end.file,
            "name": end.name,
            "kind": "open end",
            "line": 0,
            "source": end.reason,
            "is_async": False,
            "test_hash": "",
        }
        for end in suite.open_ends()
    ]
    remarks = {
        "tests": sum(row["kind"] == "test" for row in tests),
        "doctests": sum(row["kind"] == "doctest" for row in tests),
        "files": len({row["file"] for row in tests}),
        "with unresolved parameters": sum(bool(row["unresolved"]) for row in tests),
        "open ends": len(ends),
    }
    return Made(UNIT_TESTS.rows([*tests, *ends]), {**remarks})


TRIPLET_DRAFTS = LakeTable(
    "triplet_drafts",
    "What models drafted from unit tests, and whether it is proven: one row a unit test.",
    ("model",),
    (
        Column("model", _TEXT, "the model's name in models.yaml"),
        Column("triplet_id", _TEXT, "the draft's id"),
        Column("test_file", _TEXT, "file of the unit test"),
        Column("test_name", _TEXT, "name of the unit test"),
        Column("test_hash", _TEXT, "identity of the unit test and all that it needs"),
        Column("status", _TEXT, "ok when there is a draft, else how the request ended that gave none"),
        Column("error", _TEXT, "why there is no draft", True),
        Column("entry", _TEXT, "the draft as YAML, hostile text", True),
        Column("problems", _TEXTS, "what is wrong with the draft; empty when it is proven"),
        Column("proven", pa.bool_(), "whether the proof holds; null without a draft or where the sandbox failed", True),
        Column("requests", _TEXTS, "the requests in the ledger", identity=False),
        Column("cost_usd", pa.float64(), "cost in US dollars, null if unknown", True, identity=False),
    ),
)

TRIPLETS = LakeTable(
    "triplets",
    "The reviewed triplets: one row a file of the review folder.",
    (),
    (
        Column("triplet_id", _TEXT, "the triplet's id"),
        Column("state", _TEXT, "accepted, pending, rejected, flagged (its unit test has changed) or unproven"),
        Column("why", _TEXT, "what keeps it out of the accepted set", True),
        Column("decision", _TEXT, "pending, accept, edit or reject"),
        Column("note", _TEXT, "the reviewer's note"),
        Column("test_file", _TEXT, "file of the unit test"),
        Column("test_name", _TEXT, "name of the unit test"),
        Column("test_hash", _TEXT, "identity of the unit test that the triplet was drafted from"),
        Column("n_properties", pa.int64(), "properties asked for"),
        Column("entry", _TEXT, "the question with properties and solution as YAML"),
        Column("entry_hash", _TEXT, "identity of the question"),
    ),
)
