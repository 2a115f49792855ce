"""The gap fit against spectra of the pairing model, whose Green's function is written as a continued fraction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d
from scipy.special import expit

from cme_assets.closed_book import ClosedBookProblem
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise import by_laws as solve
from cme_assets.tasks.category import Given

FERMI = 6.5
K = np.linspace(-0.2, 0.2, 100)
ENERGY = FERMI - 0.15 + 0.0021 * (np.arange(100) + 0.5)
GAMMA = 0.003
"""The score's tolerance, eV: the flat minimum over gap and rate leaves the fit up to this far off."""
PoseMap = Callable[..., ClosedBookProblem]


def paired(bands: list[Array], gap: float, rate: float, kelvin: float = 15.0) -> Array:
    """-Im G / pi of `1/G = w - e + i G1 - D^2/(w + e + i Gp)`, cut off, broadened by 3 meV and averaged over pixels."""
    fine = FERMI - 0.2 + 0.0003 * (np.arange(1000) + 0.5)
    w = (fine - FERMI)[:, None]
    signal = np.sum([-np.imag(1.0 / (w - e + 1j * rate - gap**2 / (w + e + 0.002j))) for e in bands], axis=0)
    signal = gaussian_filter1d(signal * expit(-w / (kelvin * 8.617333262e-5)), 0.003 / 2.3548 / 0.0003, axis=0)
    first = round((ENERGY[0] - 0.00105 - (FERMI - 0.2)) / 0.0003)
    return signal[first : first + 700].reshape(100, 7, K.size).mean(axis=1)


def asked(pose_map: PoseMap, intensity: Array) -> ClosedBookProblem:
    problem = pose_map("B10", ENERGY, K, intensity, FERMI, answer=(0.03,))
    return replace(problem, test=replace(problem.test, given=(Given("E_F", FERMI, "eV"),)))


@pytest.mark.parametrize(("gap", "rate"), [(0.018, 0.025), (0.035, 0.040), (0.055, 0.030)])
def test_the_gap_of_one_straight_band(pose_map: PoseMap, gap: float, rate: float) -> None:
    assert solve(asked(pose_map, paired([2.0 * (K - 0.02)], gap, rate)))[0] == pytest.approx(gap, abs=GAMMA)


def test_the_gap_of_two_bands(pose_map: PoseMap) -> None:
    intensity = paired([2.0 * (K + 0.05)], 0.03, 0.03) + 0.6 * paired([2.0 * (K - 0.04)], 0.03, 0.03)
    assert solve(asked(pose_map, intensity))[0] == pytest.approx(0.03, abs=GAMMA)


def test_a_pedestal_that_ignores_the_fermi_level_moves_nothing(pose_map: PoseMap) -> None:
    clean = paired([2.0 * (K - 0.02)], 0.03, 0.03)
    raised = clean + 0.4 * clean.max()
    found = [solve(asked(pose_map, intensity))[0] for intensity in (clean, raised)]
    assert found[1] == pytest.approx(found[0], abs=1e-3)


def test_a_map_without_a_gap_gives_a_finite_answer(pose_map: PoseMap, pointless_map: Array) -> None:
    found = solve(asked(pose_map, pointless_map))
    assert len(found) == 1
    assert np.all(np.isfinite(found))
