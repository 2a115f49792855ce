"""Row-by-row fits of symmetric pairs against maps whose lines are written down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from cme_assets.closed_book import ClosedBookProblem, ListedValues
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise import by_laws as solve
from cme_assets.solvers.rowwise.extrema import bottom_and_curvature, node_energy
from cme_assets.solvers.rowwise.pairs import PairFits

KT = 20.0 * 8.617333262e-5
FERMI, CENTER = 11.0, 0.231
PoseMap = Callable[..., ClosedBookProblem]


def axes(bottom: float, half: float) -> tuple[Array, Array]:
    """Absolute energies from `bottom` to 80 meV above the Fermi level, momenta about a place beside the centre."""
    energy = FERMI + bottom + (0.08 - bottom) * (np.arange(100) + 0.5) / 100.0
    return energy, CENTER + 0.07 * half + half * np.linspace(-0.99, 0.99, 100)


def lines(energy: Array, bands: list[Array], rate: float, slope: float = 0.2) -> Array:
    """Lorentzians of half width `rate` in energy, heights rising along momentum, cut off at 20 K."""
    w = (energy - FERMI)[:, None]
    signal = np.sum([rate / ((w - band) ** 2 + rate**2) for band in bands], axis=0)
    signal = signal * (1.0 + slope * np.linspace(-1.0, 1.0, bands[0].size)) + 0.02 * signal.max()
    return signal * expit(-w / KT)


def test_a_parabola_is_found_at_the_columns_that_are_asked(pose_map: PoseMap) -> None:
    energy, k = axes(-0.25, 0.40)
    band = -0.15 + 1.7 * (k - CENTER) ** 2
    problem = pose_map("B7", energy, k, lines(energy, [band], 0.015), FERMI)
    asked = band < 0
    listed = ListedValues("column", tuple(k[asked].tolist()))
    found = solve(replace(problem, test=replace(problem.test, listed=listed)))
    assert found == pytest.approx(FERMI + band[asked], abs=1e-3)


@pytest.mark.parametrize("splitting", [0.0, 0.12])
def test_the_bottom_of_one_parabola_and_of_a_rashba_pair(pose_map: PoseMap, splitting: float) -> None:
    energy, k = axes(-0.24, 0.50)
    q = k - CENTER
    branches = [-0.14 + 2.0 * (q - splitting) ** 2, -0.14 + 2.0 * (q + splitting) ** 2]
    problem = pose_map("B8", energy, k, lines(energy, branches, 0.015), FERMI, answer=(1.0,))
    assert solve(problem)[0] == pytest.approx(FERMI - 0.14, abs=1e-3)


@pytest.mark.parametrize("mass", [0.0, 0.008])
def test_the_node_of_a_cone_with_and_without_mass(pose_map: PoseMap, mass: float) -> None:
    energy, k = axes(-0.35, 0.25)
    half = np.hypot(1.5 * (k - CENTER), mass)
    problem = pose_map("B9", energy, k, lines(energy, [-0.13 - half, -0.13 + half], 0.015), FERMI, answer=(1.0,))
    assert solve(problem)[0] == pytest.approx(FERMI - 0.13, abs=1e-3)


def test_exact_reaches_give_back_bottom_and_curvature_in_spite_of_an_outlier() -> None:
    energy = np.linspace(-0.1, 0.1, 21)
    reach = (energy + 0.05) / 2.5
    reach[4] += 1.0
    fits = PairFits(energy, reach, np.full(21, 1e-3), np.full(21, 0.01), 0.0)
    assert bottom_and_curvature(fits) == pytest.approx((-0.05, 2.5), abs=1e-9)


def test_exact_hyperbola_gives_back_the_middle_of_the_gap() -> None:
    energy = np.linspace(-0.3, 0.0, 31)
    reach = np.sqrt(np.clip((energy + 0.12) ** 2 - 0.01**2, 0.0, None)) / 1.5
    fits = PairFits(energy, reach, np.full(31, 1e-3), np.full(31, 0.005), 0.0)
    assert node_energy(fits) == pytest.approx(-0.12, abs=1e-9)


@pytest.mark.parametrize("category", ["B7", "B8", "B9"])
def test_a_map_without_lines_gives_finite_answers(pose_map: PoseMap, pointless_map: Array, category: str) -> None:
    energy, k = axes(-0.25, 0.4)
    problem = pose_map(category, energy, k, pointless_map, FERMI, answer=(1.0,))
    if category == "B7":
        listed = ListedValues("column", tuple(k[10:90].tolist()))
        problem = replace(problem, test=replace(problem.test, listed=listed))
    found = solve(problem)
    assert len(found) == problem.wanted
    assert np.all(np.isfinite(found))
