"""What must hold for the physics and for the tables in the lake. Each function lists what is broken, a line each.

The asset checks show these lines; the tests call the same functions. They are cheap: the whole lake in seconds.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

import numpy as np

from cme_assets import schemas
from cme_assets.closed_book import Exhibit
from cme_assets.physics.noise import Specks, speck_field
from cme_assets.physics.resolution import PixelAxis, pixel_response
from cme_assets.physics.self_energies import debye, einstein, fermi_liquid, impurity, marginal_fermi_liquid
from cme_assets.physics.spectral import spectral_function
from cme_assets.physics.thermal import fermi
from cme_assets.posing import measured_table
from cme_assets.problems import DRAWS, EXAMPLES, Sample
from cme_assets.stages.maps import clean_maps, noisy_maps
from cme_assets.stages.prompting import stored_problem
from cme_assets.tables import FULL_SCALE, Table, TableError
from cme_assets.tasks.catalogue import CATEGORIES
from resources.lake import Lake, LakeTable

EXACT = 1e-9
SUM_RULE = 1e-2
"""The window of the sum rule is finite: a Lorentzian of 20 meV loses a few per mille beyond 10 eV."""


def broken_physics() -> list[str]:
    """Identities of the simulator's building blocks that take no lake."""
    energy = np.linspace(-10.0, 10.0, 400_001)
    total = float(np.trapezoid(spectral_function(energy, np.array(-0.1), impurity(energy, 0.02)), energy))
    axis = PixelAxis(-0.5, 0.5, 50)
    lost = np.abs(pixel_response(axis, axis.fine(0.01), 0.01).sum(axis=1) - 1.0).max()
    w = np.linspace(-0.3, 0.3, 601)
    causal = [fermi_liquid(w, 1.5, 20.0), marginal_fermi_liquid(w, 0.2, 0.5, 20.0), einstein(w, 1.0, 0.05)]
    field = speck_field(np.random.default_rng(0), Specks(5_000, 0.01, 0.01), axis, axis)
    at_zero_temperature = debye(np.array([-0.25]), 1.0, 0.05, 1e-3).imag[0]
    holds = {
        "the spectral function's integral over energy is one": abs(total - 1.0) < SUM_RULE,
        "the resolution kernel keeps the intensity": lost < EXACT,
        "self-energies have no positive imaginary part": all(s.imag.max() <= 0 for s in causal),
        "the Debye self-energy saturates at pi lambda W / 3": abs(at_zero_temperature + np.pi * 0.05 / 3) < 1e-5,
        "occupied and empty states add up to one": np.abs(fermi(w, 30.0) + fermi(-w, 30.0) - 1.0).max() < EXACT,
        "a speck field's mean is one": abs(field.mean() - 1.0) < EXACT and field.min() >= 0,
    }
    return [f"does not hold: {identity}" for identity, is_true in holds.items() if not is_true]


def broken_spectra(lake: Lake) -> list[str]:
    """Clean maps that are not finite and positive, and truths that differ between the noise levels of one draw."""
    broken = []
    for key in _complete(lake, schemas.PROBLEMS, schemas.SPECTRA):
        maps = clean_maps(lake.read(schemas.SPECTRA, key))
        bad = any(not np.isfinite(m).all() or m.min() < 0 or m.max() <= 0 for m in maps.values())
        broken += [f"{key['category']}: a map is negative, empty or not finite"] if bad else []
        truths = defaultdict(set)
        for row in lake.read(schemas.PROBLEMS, key, ["resolution", "draw", "parameters", "truth"]).to_pylist():
            truths[row["resolution"], row["draw"]].add((row["parameters"], tuple(row["truth"])))
        uneven = any(len(kinds) > 1 for kinds in truths.values())
        broken += [f"{key['category']}: levels differ in more than noise and resolution"] if uneven else []
    return broken


def broken_noise(lake: Lake) -> list[str]:
    """Noisy maps that are not the clean map and a non-negative field of the declared mean."""
    broken = []
    for key in _complete(lake, schemas.SPECTRA, schemas.NOISY_SPECTRA):
        levels = CATEGORIES[key["category"]].levels
        clean = clean_maps(lake.read(schemas.SPECTRA, key))
        for (size, index, draw), noisy in noisy_maps(lake.read(schemas.NOISY_SPECTRA, key)).items():
            ideal = clean[size, levels[index].energy_factor, draw]
            field = (noisy - ideal) / ideal.max()
            if field.min() < -EXACT or abs(field.mean() - levels[index].noise) > EXACT:
                broken.append(f"{key['category']}-L{index}, draw {draw}, {size} pixels: noise is not as declared")
    return broken


def broken_tables(lake: Lake) -> list[str]:
    """Tables of the noisiest prompts that do not read back to what was measured."""
    broken = []
    for key in _complete(lake, schemas.NOISY_SPECTRA, schemas.PROMPTS):
        category = CATEGORIES[key["category"]]
        last = len(category.levels) - 1
        maps = noisy_maps(lake.read(schemas.NOISY_SPECTRA, key))
        for row in lake.read(schemas.PROMPTS, key).to_pylist():
            if row["level"] != last:
                continue
            size = row["resolution"]
            try:
                problem = stored_problem(row)
            except TableError as error:
                broken.append(f"{lake.path(schemas.PROMPTS, key)}: table of {error}")
                continue
            tables = [measured_table(Sample(category, draw, size), maps[size, last, draw]) for draw in range(DRAWS)]
            shown = zip((*problem.examples, problem.test), tables, strict=True)
            if not all(_is_same(exhibit, table) and exhibit.table.text in row["prompt"] for exhibit, table in shown):
                broken.append(f"{row['problem_id']}, {size} pixels: a table does not read back to the map")
            if problem.test.answer is not None or any(example.answer is None for example in problem.examples):
                broken.append(f"{row['problem_id']}: the question carries its answer, or an example lacks it")
    return broken


def _complete(lake: Lake, *tables: LakeTable) -> list[dict[str, str]]:
    """Categories that all of `tables` have; what is not there yet is not broken."""
    first, *others = (lake.keys(table) for table in tables)
    return [key for key in first if all(key in keys for keys in others)]


def _is_same(exhibit: Exhibit, table: Table) -> bool:
    read = exhibit.table
    same = np.array_equal(read.counts, table.counts) and read.counts.max() == FULL_SCALE
    return bool(same and np.array_equal(read.rows, table.rows) and np.array_equal(read.columns, table.columns))


def scores_out_of_range(lake: Lake, table: LakeTable) -> list[str]:
    """Scores below 0, above 1 or not a number, and scores where the outcome allows none."""
    names = ["model", "problem_id", "status", "score", "score_lenient", "score_wide"]
    return [
        f"{row['model']} on {row['problem_id']}: {name} is {row[name]}"
        for row in lake.read_all(table, names).to_pylist()
        for name in names[3:]
        if row[name] is not None and not 0 <= row[name] <= 1
    ]


def count_problems(lake: Lake, categories: Iterable[str]) -> Counter[str]:
    """Categories, problems and categories of each tier in the lake, of those named that belong to the published 38."""
    wanted = set(categories)
    rows = lake.read_all(schemas.PROBLEMS, ["category", "tier", "problem_id", "draw", "published"]).to_pylist()
    questions = [row for row in rows if row["draw"] == EXAMPLES and row["published"] and row["category"] in wanted]
    tiers = {row["category"]: row["tier"] for row in questions}
    counted = Counter(f"tier {tier}" for tier in tiers.values())
    return counted + Counter(categories=len(tiers), problems=len({row["problem_id"] for row in questions}))


def mean_scores(lake: Lake, table: LakeTable) -> dict[tuple[str, int], float]:
    """Mean score by model and resolution, over what has a score."""
    grouped = defaultdict(list)
    for row in lake.read_all(table, ["model", "resolution", "score"]).to_pylist():
        if row["score"] is not None:
            grouped[row["model"], row["resolution"]].append(row["score"])
    return {key: float(np.mean(scores)) for key, scores in grouped.items()}
