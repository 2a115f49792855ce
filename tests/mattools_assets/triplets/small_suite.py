"""A small test suite of our own on pymatgen, and what a good model would reply to its three requests."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

from tests.servers.scripted import Turn

FILES = {
    "conftest.py": """
        from pathlib import Path

        import pytest
        from pymatgen.core import Structure

        @pytest.fixture
        def salt():
            return Structure.from_file(Path(__file__).parent / "data" / "NaCl.vasp")
        """,
    "data/NaCl.vasp": """
        NaCl
        1.0
        4.0 0.0 0.0
        0.0 4.0 0.0
        0.0 0.0 4.0
        Na Cl
        1 1
        direct
        0.0 0.0 0.0
        0.5 0.5 0.5
        """,
    "test_salt.py": """
        def test_salt(salt):
            assert len(salt) == 2
            assert abs(salt.volume - 64.0) < 1e-6
        """,
}
NAME = "test_salt_test_salt"
PROPERTIES: dict[str, Any] = {
    "n_sites": {"type": "int", "description": "Number of sites.", "value": 2, "source": "first assertion", "mutant": 3},
    "volume": {
        "type": "float",
        "unit": "Å³",
        "description": "Volume of the cell.",
        "value": 64.0,
        "tolerance": 1e-6,
        "reason": "as the test has it",
        "source": "second assertion",
        "mutant": 64.1,
    },
}
TASK = "Read the structure of rock salt and look at its cell."
SOLUTION = f"""\
def {NAME}():
    from pymatgen.core import Structure

    salt = Structure.from_file("data/NaCl.vasp")
    return {{"n_sites": len(salt), "volume": salt.volume}}
"""


def write_suite(folder: Path) -> Path:
    """The suite's folder."""
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(content).lstrip("\n"))
    return folder


def plays(
    properties: Any = None, question: str = TASK, solution: str = SOLUTION, fence: str = "```"
) -> dict[str, list[Turn]]:
    """The three replies, by words of the three requests."""
    stated = properties if isinstance(properties, str) else json.dumps(properties or PROPERTIES)
    return {
        "Name the quantities": [Turn(f"<properties>\n{fence}json\n{stated}\n{fence}\n</properties>")],
        "has never seen this test": [Turn(f"<question>{question}</question>")],
        "Turn the test into": [Turn(f"<code>\n{fence}python\n{solution}{fence}\n</code>")],
    }
