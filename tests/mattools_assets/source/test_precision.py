"""What docs/call-graph.md says of each certainty against the judged samples."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from pathlib import Path

from mattools_assets.source.references import Certainty
from resources.proportions import wilson_interval

DATA = Path(__file__).parent / "data"
DOCUMENT = Path(__file__).parents[3] / "docs" / "call-graph.md"
ROW = r"^\| `(\w+)` \| [\d,]+ \| (\d+) of (\d+) \| (\d+) to (\d+) % \|"


def judged() -> dict[str, list[bool]]:
    """Whether each reference is right, by certainty: exact ones from the first sample, others from their own."""
    found: defaultdict[str, list[bool]] = defaultdict(list)
    pairs = set()
    for name in ("reference_sample.csv", "reference_sample_by_certainty.csv"):
        with (DATA / name).open(newline="", encoding="utf-8") as opened:
            for row in csv.DictReader(opened):
                if (row["certainty"] == "exact") is (name == "reference_sample.csv"):
                    assert row["verdict"] == "right" or row["reason"]
                    found[row["certainty"]].append(row["verdict"] == "right")
                    pairs.add((row["source_id"], row["target_id"]))
    assert len(pairs) == sum(map(len, found.values())), "drawn without replacement"
    return found


def test_the_document_gives_the_precision_of_the_samples() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| [\d,]+ \| (\d+) of (\d+) \| (\d+) to (\d+) % \|", DOCUMENT.read_text(), re.MULTILINE
    )
    expected = []
    for certainty in Certainty:
        verdicts = judged()[certainty.name.lower()]
        low, high = wilson_interval(sum(verdicts) / len(verdicts), len(verdicts))
        counts = (str(sum(verdicts)), str(len(verdicts)))
        expected.append((certainty.name.lower(), *counts, f"{100 * low:.0f}", f"{100 * high:.0f}"))
    assert rows == expected
