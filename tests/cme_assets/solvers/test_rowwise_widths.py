"""Widths of momentum distribution curves on maps whose widths are written down."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import expit, voigt_profile

from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise import by_laws as solve
from cme_assets.solvers.rowwise.widths import fit_law

KELVIN = 8.617333262e-5
FERMI = 11.0
ENERGY = FERMI - 0.15 + 0.002 * (np.arange(100) + 0.3)
W = ENERGY - FERMI
BELOW = W < 0
K = np.linspace(-0.4, 0.4, 101)[:-1] + 0.004
VELOCITY = -1.4

LAWS = {
    "C1": np.full(W.size, 0.08),
    "C2": 0.04 + 0.5 * np.abs(W),
    "C3": 0.04 + 3.0 * W**2,
    # Debye spectrum at T = 0: the rate grows as |w|^3 up to the cut-off, here 50 meV, and is constant below.
    "C4": 0.04 + 0.8 * W**2 + (2 * np.pi / 3 / 1.4) * np.minimum(np.abs(W), 0.05) ** 3 / 0.05**2,
    "C5": 0.04 + 0.2 * np.abs(W) + (np.pi / 3 / 1.4) * np.minimum(np.abs(W), 0.05) ** 3 / 0.05**2,
}


def width_map(fwhm: Array) -> Array:
    """A straight band with rows of `fwhm` (n,), seen through both kernels and the pixel."""
    along = np.hypot(0.005 / 2.3548, 0.008 / np.sqrt(12.0))
    seen = np.hypot(along, np.hypot(0.003 / 2.3548, 0.002 / np.sqrt(12.0)) / abs(VELOCITY))
    lines = voigt_profile(K[None, :] - 0.02 - W[:, None] / VELOCITY, seen, 0.5 * fwhm[:, None])
    return (lines + 0.02 * lines.max()) * expit(-W / (15.0 * KELVIN))[:, None]


@pytest.mark.parametrize("category", sorted(LAWS))
def test_widths_follow_their_law(pose_map: Callable, category: str) -> None:
    found = solve(pose_map(category, ENERGY, K, width_map(LAWS[category]), FERMI))
    assert found == pytest.approx(LAWS[category][BELOW], abs=0.003)


def test_the_kernels_are_taken_out(pose_map: Callable) -> None:
    narrow = np.full(W.size, 0.016)
    assert solve(pose_map("C1", ENERGY, K, width_map(narrow), FERMI)) == pytest.approx(narrow[BELOW], abs=0.001)


def test_spoilt_rows_do_not_bend_a_law() -> None:
    w = np.linspace(-0.15, -0.001, 80)
    width = 0.05 + 0.4 * np.abs(w)
    width[[5, 30, 55]] = 0.6
    law = fit_law(w, width, np.full(80, 0.002), [lambda at: [np.ones_like(at), np.abs(at)]])
    assert law(w) == pytest.approx(0.05 + 0.4 * np.abs(w), abs=0.002)


@pytest.mark.parametrize("category", sorted(LAWS))
def test_nothing_to_be_found_gives_a_finite_answer(pose_map: Callable, pointless_map: Array, category: str) -> None:
    problem = pose_map(category, ENERGY, K, pointless_map, FERMI)
    found = solve(problem)
    assert len(found) == problem.wanted
    assert np.isfinite(found).all()
