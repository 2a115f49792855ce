"""Listed rows and columns that stand for themselves, on maps that no law describes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, voigt_profile

from cme_assets.closed_book import ClosedBookProblem, ListedValues
from cme_assets.physics.types import Array
from cme_assets.solvers import ENTRANTS
from cme_assets.solvers.rowwise import LAWS, ROWS, by_laws, by_rows
from cme_assets.solvers.rowwise.alone import each_alone

KELVIN = 8.617333262e-5
FERMI = 7.0
ENERGY = FERMI - 0.20 + 0.0025 * (np.arange(100) + 0.4)
W = ENERGY - FERMI
BELOW = W < 0
K = np.linspace(-0.4, 0.4, 101)[:-1] + 0.004
ARRAYS = ("B1", "B3", "B5", "B7", "C1", "C2", "C3", "C4", "C5", "F4", "F6", "G2")
STEP = np.where(np.abs(W + 0.1) < 0.03, 0.03, 0.0)
"""A band that steps aside over some two dozen rows, which neither a line nor a parabola does, 1/Angstrom."""


def row_map(momentum: Array, fwhm: Array) -> Array:
    """Voigt rows on a background, cut off at 15 K; momenta and widths (n,) are each row's own."""
    sigma = np.hypot(0.005 / 2.3548, 0.008 / np.sqrt(12.0))
    lines = voigt_profile(K[None, :] - momentum[:, None], sigma, 0.5 * fwhm[:, None])
    return (lines + 0.02 * lines.max()) * expit(-W / (15.0 * KELVIN))[:, None]


def by_column(problem: ClosedBookProblem, columns: Array) -> ClosedBookProblem:
    return replace(problem, test=replace(problem.test, listed=ListedValues("column", tuple(columns.tolist()))))


def test_the_two_entrants_differ_exactly_where_rows_or_columns_are_listed() -> None:
    assert {category for category in LAWS if ROWS[category] is not LAWS[category]} == set(ARRAYS)
    assert ROWS.keys() == LAWS.keys()
    assert (ENTRANTS["reference-rowwise"], ENTRANTS["reference-laws"]) == (by_rows, by_laws)


@pytest.mark.parametrize("category", ["B1", "B3"])
def test_rows_keep_a_step_that_a_law_smooths_away(pose_map: Callable, category: str) -> None:
    momentum = 0.02 + W / 1.5 + STEP
    problem = pose_map(category, ENERGY, K, row_map(momentum, np.full(W.size, 0.03)), FERMI)
    assert np.median(np.abs(by_rows(problem) - momentum[BELOW])) < 5e-4
    assert np.max(np.abs(by_laws(problem) - momentum[BELOW])) > 0.01


@pytest.mark.parametrize("category", ["C1", "C2", "C3", "C4", "C5"])
def test_rows_keep_a_width_that_no_law_has(pose_map: Callable, category: str) -> None:
    fwhm = 0.06 + 0.02 * np.sin(60.0 * W)
    problem = pose_map(category, ENERGY, K, row_map(0.02 + W / 1.5, fwhm), FERMI)
    assert by_rows(problem) == pytest.approx(fwhm[BELOW], abs=1.5e-3)
    assert np.max(np.abs(by_laws(problem) - fwhm[BELOW])) > 0.01


def test_rows_of_a_comb_keep_their_own_momenta(pose_map: Callable) -> None:
    momentum = 0.04 + W / 1.8 + 0.004 * np.sin(60.0 * W)
    copies = [0.5 ** abs(n) * row_map(momentum + 0.11 * n, np.full(W.size, 0.03)) for n in range(-4, 5)]
    found = by_rows(pose_map("B5", ENERGY, K, np.sum(copies, axis=0), FERMI))
    assert found == pytest.approx(momentum[BELOW], abs=1.5e-3)


def test_columns_keep_a_band_that_is_no_parabola(pose_map: Callable) -> None:
    band = -0.12 + 0.8 * np.abs(K) ** 1.5 + np.where(np.abs(K - 0.1) < 0.05, 0.02, 0.0)
    sigma = np.hypot(0.003 / 2.3548, 0.0025 / np.sqrt(12.0))
    lines = voigt_profile(W[:, None] - band[None, :], sigma, 0.012) + 0.5
    problem = pose_map("B7", ENERGY, K, lines * expit(-W / (20.0 * KELVIN))[:, None], FERMI)
    occupied = band < -0.03
    assert by_rows(by_column(problem, K[occupied])) == pytest.approx(FERMI + band[occupied], abs=1.5e-3)


@pytest.mark.parametrize("category", ["F4", "F6", "G2"])
def test_columns_keep_their_own_energies_and_dampings(pose_map: Callable, category: str) -> None:
    loss, q = np.linspace(-0.1, 0.6, 100), np.linspace(0.1, 0.6, 100)
    energy = 0.2 + 0.3 * q + np.where(np.abs(q - 0.35) < 0.06, 0.05, 0.0)
    damping = 0.04 + 0.1 * q
    w = loss[:, None]
    response = damping * w / ((w**2 - energy**2) ** 2 + 4.0 * damping**2 * w**2)
    # The thermal factor 1/(1 - exp(-w/kT)) is finite where the response has its zero.
    intensity = np.where(np.abs(w) > 1e-9, response / -np.expm1(-w / (22.0 * KELVIN)), 0.0) + 0.1
    found = by_rows(by_column(pose_map(category, loss, q, intensity, 0.0, answer=(0.0,)), q))
    assert found == pytest.approx(energy, abs=3e-3)


def test_failed_and_far_off_places_are_filled_from_their_neighbours() -> None:
    places = np.arange(60.0)
    values = 0.5 + 0.01 * places + 0.002 * np.sin(places)
    spoilt = values.copy()
    spoilt[[7, 20, 21]] = np.nan
    spoilt[40] = 3.0
    found = each_alone(places, spoilt, places)
    untouched = np.delete(np.arange(60), [7, 20, 21, 40])
    assert found[untouched] == pytest.approx(values[untouched], abs=1e-12)
    assert found[40] == pytest.approx(0.5 * (values[39] + values[41]))
    assert found[20] == pytest.approx(values[19] + (values[22] - values[19]) / 3.0)


def test_a_question_without_rows_is_refused(pose_map: Callable) -> None:
    with pytest.raises(ValueError, match="B1: lists no rows or columns"):
        by_rows(pose_map("B1", ENERGY, K, row_map(W / 1.5, np.full(W.size, 0.03)), FERMI, (1.0,)))


@pytest.mark.parametrize("category", ARRAYS)
def test_nothing_to_be_found_gives_a_finite_answer(pose_map: Callable, pointless_map: Array, category: str) -> None:
    problem = pose_map(category, ENERGY, K, pointless_map, FERMI)
    if category in ("B7", "F4", "F6", "G2"):
        problem = by_column(problem, K[20:])
    found = by_rows(problem)
    assert len(found) == problem.wanted
    assert np.isfinite(found).all()
