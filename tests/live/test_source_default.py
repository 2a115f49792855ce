"""The default source from PyPI: the published counts, RepoAgent's edges, and a sample of edges checked by hand.

`reference_sample.csv` holds 100 references drawn at random from all of the default source,
`reference_sample_by_certainty.csv` some of each certainty that is not exact, each judged by reading the code on both
sides. `repoagent_edges.csv` holds what RepoAgent 0.2.0 finds in pymatgen-analysis-defects 2024.7.19.
"""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from mattools_assets.source.errors import SourceError
from mattools_assets.source.obtain import DEFAULT_PACKAGES, Package, from_wheels
from mattools_assets.source.project import Project, analyse
from mattools_assets.source.tables import object_id

pytestmark = pytest.mark.live
DATA = Path(__file__).parents[1] / "mattools_assets" / "source" / "data"


def rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(newline="", encoding="utf-8") as opened:
        return list(csv.DictReader(opened))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sources")


@pytest.fixture(scope="module")
def project(cache: Path) -> Project:
    return analyse(from_wheels(DEFAULT_PACKAGES, cache).root)


def test_the_published_counts(project: Project) -> None:
    kinds = Counter(item.kind.value for item in project.objects)
    assert (len(project.files), project.lines) == (301, 183_164)
    documented = {kind: kinds[kind] for kind in ("class", "function", "method", "nested_function")}
    assert documented == {"class": 806, "function": 816, "method": 5520, "nested_function": 50}
    assert sum(documented.values()) == 7192
    assert project.problems == []


def test_the_key_is_unique_where_file_and_name_are_not(project: Project) -> None:
    documented = [item for item in project.objects if item.kind.is_documented]
    assert len({item.key for item in documented}) == 7192
    assert len({(item.file, item.name) for item in documented}) == 5707


def certainties(project: Project) -> dict[tuple[str, str], str]:
    return {
        (object_id(project.objects[r.source]), object_id(project.objects[r.target])): r.certainty.name.lower()
        for r in project.references
    }


def test_the_hand_checked_sample(project: Project) -> None:
    sample, found = rows("reference_sample.csv"), certainties(project)
    right = {(row["source_id"], row["target_id"]) for row in sample if row["verdict"] == "right"}
    (wrong,) = [(row["source_id"], row["target_id"]) for row in sample if row["verdict"] == "wrong"]
    assert len(right) == 99
    assert right <= found.keys()
    assert wrong not in found, "the first of the classes that it can be has a plain attribute of this name"


def test_the_hand_checked_sample_by_certainty(project: Project) -> None:
    sample, found = rows("reference_sample_by_certainty.csv"), certainties(project)
    right = {(row["source_id"], row["target_id"]): row["certainty"] for row in sample if row["verdict"] == "right"}
    assert {pair: found.get(pair) for pair in right} == right


def test_repoagents_edges(cache: Path) -> None:
    defects = analyse(from_wheels(DEFAULT_PACKAGES[1:], cache).root)
    names = {
        item.index: "/".join([item.file, *item.qualified_name.split(".")]) if item.qualified_name else item.file
        for item in defects.objects
    }
    ours = {(names[r.source], names[r.target]) for r in defects.references}
    theirs = {(row["source"], row["target"]) for row in rows("repoagent_edges.csv")}
    assert len(theirs) == 328
    assert theirs - ours == set()


def test_wheels_are_recorded_with_version_and_digest(cache: Path) -> None:
    source = from_wheels(DEFAULT_PACKAGES, cache)
    assert [(part.name, part.version) for part in source.parts] == [
        ("pymatgen", "2024.8.9"),
        ("pymatgen-analysis-defects", "2024.7.19"),
    ]
    # As PyPI lists them for cp311 manylinux_2_17_x86_64 and py3-none-any.
    assert source.parts[1].sha256 == "185ae1246df39ee9c7475986ae5ea4ff7582f97edea4d5762248d3dcc82e0628"


@pytest.mark.parametrize(
    ("package", "words"),
    [
        (Package("pymatgen", "1999.1.1"), "no wheel of this version"),
        (Package("a-package-that-nobody-has-made-so-far", "1.0"), "no wheel of a package of this name"),
    ],
)
def test_what_pypi_does_not_have(cache: Path, package: Package, words: str) -> None:
    with pytest.raises(SourceError, match=words) as caught:
        from_wheels([package], cache)
    assert "\n" not in str(caught.value)
    assert [path.name for path in cache.iterdir() if path.name.startswith(".making")] == []
