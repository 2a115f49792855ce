"""The three requests by which a unit test becomes a draft: properties, question, solution. The words are our own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mattools_assets.questions.contract import CONTRACT
from mattools_assets.triplets.unit_tests import UnitTest

PROPERTIES = """\
Below is a unit test of a materials-science library with everything it needs. Another program will be asked to calculate
what this test checks. Name the quantities that its assertions check, each as one property.

For every property give
- `type`: int, float, bool, str, structure, composition, `list of T`, `set of T`, `dict of str to T`, `array of int` or
  `array of float`, where T is one of these;
- `description`: one sentence that says what it is, and never what its value is;
- `value`: the right value, which the test's assertions state, as JSON;
- `source`: which assertion says so;
- `mutant`: a value of the same type that is near the right one and wrong;
- for floats also `unit`, `tolerance` (the largest absolute difference that is still right) and its `reason`.

Reply with one JSON object, property name to these fields, between <properties> and </properties>, and nothing else.
"""
QUESTION = """\
Below are a unit test of a materials-science library, with everything it needs, and the properties that it checks. Write
the task for somebody who knows the library and has never seen this test: which objects to build or which files to read,
with every number that is needed, and what to calculate. State no property's value, and do not list the properties: they
are added. Reply with the task's text between <question> and </question>, and nothing else.
"""
SOLUTION = """\
Below are a unit test of a materials-science library, with everything it needs, and a task that asks for what it checks.
Turn the test into the function `{name}` that solves the task. It must calculate the properties as the test does; it
must not write their values down.

{contract}
Reply with the function's source between <code> and </code>, and nothing else.
"""


def properties_prompt(test: UnitTest) -> str:
    """The first request."""
    return f"{PROPERTIES}\n{context(test)}"


def question_prompt(test: UnitTest, properties: Mapping[str, Any]) -> str:
    """The second request."""
    return f"{QUESTION}\n{context(test)}\n{_listed(properties)}"


def solution_prompt(test: UnitTest, properties: Mapping[str, Any], question: str, name: str) -> str:
    """The third request; `name` is the function's."""
    asked = SOLUTION.format(name=name, contract=CONTRACT)
    return f"{asked}\n{context(test)}\n{_listed(properties)}\nThe task:\n{question}\n"


def context(test: UnitTest) -> str:
    """The test with the statements, fixtures and files that it needs."""
    parts = [f"The test `{test.name}` of `{test.file}`:", _code(test.source)]
    if test.needs:
        parts += ["From the same file:", _code("\n\n".join(test.needs))]
    for fixture in test.fixtures:
        parts += [
            f"The fixture `{fixture.name}` of `{fixture.file}`:",
            _code("\n\n".join((*fixture.needs, fixture.source))),
        ]
    if test.data_files:
        listed = "\n".join(f"- `{name}`" for name in test.data_files)
        parts += [f"The function finds these files at exactly these relative paths:\n{listed}"]
    return "\n".join(parts)


def _listed(properties: Mapping[str, Any]) -> str:
    return f"The properties:\n{json.dumps(properties, indent=1, ensure_ascii=False)}"


def _code(source: str) -> str:
    return f"```python\n{source}\n```"
