"""The reference solver as one script that an agent could have written: its own sources, packed, and what is known."""

from __future__ import annotations

import base64
import dataclasses
import io
import pprint
import zipfile
from pathlib import Path

from cme_assets.closed_book import ClosedBookProblem, Exhibit

PACKAGE = Path(__file__).parents[3] / "cme_assets"
SHIPPED = (
    *("__init__.py", "closed_book.py", "tables.py", "tasks/__init__.py", "tasks/category.py", "tasks/ranges.py"),
    *("physics/**/*.py", "solvers/**/*.py"),
)

SCRIPT = """
import base64, json, sys
with open("/tmp/package.zip", "wb") as file:
    file.write(base64.b64decode(PACKAGE))
sys.path.insert(0, "/tmp/package.zip")
from cme_assets.closed_book import ClosedBookProblem, Exhibit, ListedValues
from cme_assets.solvers import ENTRANTS
from cme_assets.tables import Table
from cme_assets.tasks.category import Given, MapKind, Quantity, Shape

def exhibit(text, facts, answer):
    listed = facts["listed"] and ListedValues(facts["listed"]["axis"], tuple(facts["listed"]["values"]))
    given = tuple(Given(each["name"], each["value"], each["unit"]) for each in facts["given"])
    return Exhibit(Table.parse(text.replace(",", "\\t")), given, listed, answer)

facts = json.load(open("map.json"))
test = exhibit(open("map.csv").read(), facts, None)
examples = tuple(exhibit(*example) for example in EXAMPLES)
problem = ClosedBookProblem(
    category_id=CATEGORY, map_kind=MapKind(KIND), observed="", question="",
    quantity=Quantity(QUANTITY[0], QUANTITY[1], Shape(QUANTITY[2])),
    fwhm_rows=facts["fwhm_rows"], fwhm_columns=facts["fwhm_columns"], examples=examples, test=test,
)
submit([float(value) for value in ENTRANTS["reference-rowwise"](problem)])
"""


def solver_script(problem: ClosedBookProblem) -> str:
    """The script for one problem: an agent has seen its examples and carries them over, as text, in the script."""
    examples = tuple((example.table.text, _facts(example), example.answer) for example in problem.examples)
    quantity = (problem.quantity.names, problem.quantity.unit, str(problem.quantity.shape))
    known = {
        "PACKAGE": _package(),
        "EXAMPLES": examples,
        "CATEGORY": problem.category_id,
        "KIND": str(problem.map_kind),
        "QUANTITY": quantity,
    }
    return "".join(f"{name} = {pprint.pformat(value, width=10**9)}\n" for name, value in known.items()) + SCRIPT


def _facts(exhibit: Exhibit) -> dict[str, object]:
    listed = exhibit.listed and {"axis": exhibit.listed.axis, "values": exhibit.listed.values}
    return {"given": [dataclasses.asdict(given) for given in exhibit.given], "listed": listed}


def _package() -> str:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted({path for pattern in SHIPPED for path in PACKAGE.glob(pattern)}):
            archive.write(path, path.relative_to(PACKAGE.parent).as_posix())
    return base64.b64encode(packed.getvalue()).decode()
