"""RIXS fits against spectra whose lines are written down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import exp, factorial, sqrt

import numpy as np
import pytest

from cme_assets.closed_book import ClosedBookProblem, ListedValues
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise import by_laws as solve
from cme_assets.solvers.rowwise.smoothing import smooth_curve
from cme_assets.tasks.category import Given

A = 3.87
PoseMap = Callable[..., ClosedBookProblem]


def axis(start: float, stop: float) -> Array:
    return start + (stop - start) * (np.arange(100) + 0.5) / 100.0


def bell(x: Array, center: Array | float, fwhm: float) -> Array:
    return 0.5 ** ((2.0 * (x - center) / fwhm) ** 2)


def everywhere(spectrum: Array) -> Array:
    """The same spectrum in all columns, brighter to one side, on a pedestal."""
    return spectrum[:, None] * np.linspace(0.8, 1.2, 100) + 0.1 * spectrum.max()


def damped(loss: Array, energies: Array, damping: float, height: Array | float = 1.0) -> Array:
    """`g w / ((w^2 - w0^2)^2 + 4 g^2 w^2)` at 22 K, scaled so that each column's line has about the same height."""
    w = np.where(np.abs(loss) < 1e-9, 1e-9, loss)[:, None]
    thermal = 1.0 / (1.0 - np.exp(-w / (22.0 * 8.617333262e-5)))
    signal = damping * w * energies**2 / ((w**2 - energies**2) ** 2 + 4.0 * damping**2 * w**2) * thermal
    return height * signal + 0.05 * float(np.max(signal))


def asked(problem: ClosedBookProblem, given: tuple[Given, ...] = (), columns: Array | None = None) -> ClosedBookProblem:
    listed = None if columns is None else ListedValues("column", tuple(columns.tolist()))
    return replace(problem, test=replace(problem.test, given=given, listed=listed))


def test_the_elastic_line_is_told_from_its_shoulder(pose_map: PoseMap) -> None:
    loss = axis(-0.12, 0.18)
    spectrum = bell(loss, 0.0213, 0.020) + 0.45 * bell(loss, 0.0213 + 0.035, 0.025)
    problem = pose_map("F1", loss, axis(0.1, 0.6), everywhere(spectrum), 0.0, answer=(0.0,))
    assert solve(problem)[0] == pytest.approx(0.0213, abs=5e-4)


def test_the_ladder_spacing_is_not_halved(pose_map: PoseMap) -> None:
    # The spectrum of a hundred-meV ladder is also one of fifty meV without every other line.
    loss = axis(-0.10, 0.50)
    spectrum = sum(h / (1.0 + ((loss - 0.1 * n) / 0.0075) ** 2) for n, h in ((1, 1.0), (2, 0.5), (3, 0.2), (4, 0.1)))
    problem = pose_map("F2", loss, axis(0.1, 0.6), everywhere(spectrum + bell(loss, 0.0, 0.012)), 0.0, answer=(0.0,))
    assert solve(problem)[0] == pytest.approx(0.1, abs=3e-4)


def test_the_coupling_of_a_broad_core_hole_follows_from_its_closed_form(pose_map: PoseMap) -> None:
    # For a core hole much broader than the ladder, 1/(x + iG) = (1 - x/iG + ...)/iG with x = (g - m) w: to first
    # order I_1 : I_2 needs the second moments of the overlaps; here they are summed directly over Poisson weights.
    loss, phonon, core_hole, g = axis(-0.10, 0.50), 0.08, 0.25, 1.5

    def overlap(n: int, m: int) -> float:
        terms = (
            (-1.0) ** (m - k) * sqrt(g) ** (n + m - 2 * k) / (factorial(k) * factorial(n - k) * factorial(m - k))
            for k in range(min(n, m) + 1)
        )
        return exp(-g / 2.0) * sqrt(factorial(n) * factorial(m)) * sum(terms)

    def height(n: int) -> float:
        return abs(sum(overlap(n, m) * overlap(0, m) / ((g - m) * phonon + 1j * core_hole) for m in range(40))) ** 2

    spectrum = np.sum([height(n) / (1.0 + ((loss - phonon * n) / 0.0075) ** 2) for n in range(1, 11)], axis=0)
    given = (
        Given("phonon energy w_ph", phonon, "eV"),
        Given("core-hole half width G_c", core_hole, "eV"),
        Given("detuning det", 0.0, "eV"),
    )
    problem = pose_map("F3", loss, axis(0.1, 0.6), everywhere(spectrum), 0.0, answer=(0.0,))
    assert solve(asked(problem, given))[0] == pytest.approx(phonon * sqrt(g), abs=1e-3)


def test_three_orbital_lines_on_a_tail(pose_map: PoseMap) -> None:
    loss = axis(0.8, 3.2)
    peaks = 0.6 * bell(loss, 1.42, 0.20) + bell(loss, 1.81, 0.12) + 0.5 * bell(loss, 2.37, 0.28)
    tail = 0.5 / (1.0 + ((loss - 4.2) / 0.6) ** 2)
    problem = pose_map("G1", loss, axis(0.1, 0.6), everywhere(peaks + tail), 0.0, answer=(0.0, 0.0, 0.0))
    assert solve(problem) == pytest.approx([1.42, 1.81, 2.37], abs=2e-3)


def test_a_dispersion_is_found_column_by_column(pose_map: PoseMap) -> None:
    loss, q = axis(-0.10, 1.70), axis(0.05, 0.50)
    energies = np.sqrt(3.0 * q)
    problem = asked(pose_map("G2", loss, q, damped(loss, energies, 0.06), 0.0, answer=(0.0,)), columns=q[5:])
    assert solve(problem) == pytest.approx(energies[5:], abs=3e-3)


def test_exchange_and_paramagnon_follow_their_stated_forms(pose_map: PoseMap) -> None:
    lattice = Given("lattice constant a", A, "Angstrom")
    loss, q = axis(-0.10, 0.50), axis(0.05, 0.80)
    # Along (h, h) the spin-wave energy is 2 Zc J |sin(q a / sqrt 2)|, along (h, 0) it is 2 Zc J sqrt(1 - cos^4(q a/2)).
    forms = {"(h,h)": np.abs(np.sin(q * A / np.sqrt(2.0))), "(h,0)": np.sqrt(1.0 - np.cos(0.5 * q * A) ** 4)}
    for cut, form in forms.items():
        intensity = damped(loss, 2.0 * 1.18 * 0.12 * form, 0.03)
        problem = asked(pose_map("F5", loss, q, intensity, 0.0, answer=(0.0,)), (lattice, Given("direction of q", cut)))
        assert solve(problem)[0] == pytest.approx(0.12, abs=5e-4)
    loss, q = axis(-0.10, 0.90), axis(0.10, 0.80)
    energies = 0.3 * np.sin(0.5 * q * A)
    problem = pose_map("F6", loss, q, damped(loss, energies, 0.08), 0.0, answer=(0.0,))
    assert solve(asked(problem, (lattice,), q[30:])) == pytest.approx(energies[30:], abs=1e-3)


def test_the_velocity_of_an_acoustic_plasmon(pose_map: PoseMap) -> None:
    loss, q = axis(-0.10, 1.30), axis(0.02, 0.30)
    # cosh x + 1 = 2 cosh^2(x/2) and sinh x = 2 sinh(x/2) cosh(x/2) turn the branch into sqrt(A q tanh(q d / 2)).
    energies = np.sqrt(2.5 * q * np.tanh(0.5 * q * 9.0))
    problem = pose_map("G5", loss, q, damped(loss, energies, 0.05), 0.0, answer=(0.0,))
    found = solve(asked(problem, (Given("layer spacing d", 9.0, "Angstrom"),)))
    assert found[0] == pytest.approx(np.sqrt(2.5 * 9.0 / 2.0), rel=3e-3)


@pytest.mark.parametrize(("category", "expected"), [("G3", 0.47), ("G4", 0.05)])
def test_charge_order_is_a_lorentzian_on_a_slope(pose_map: PoseMap, category: str, expected: float) -> None:
    loss, q = axis(-0.10, 0.30), axis(0.15, 0.80)
    profile = 0.8 / (1.0 + ((q - 0.47) / 0.05) ** 2) + 0.2 + 0.3 * (q - 0.15)
    problem = pose_map(category, loss, q, bell(loss, 0.0, 0.045)[:, None] * profile + 0.1, 0.0, answer=(0.0,))
    assert solve(problem)[0] == pytest.approx(expected, abs=5e-4)


def test_smoothing_leaves_a_parabola_alone_and_drops_an_outlier() -> None:
    x = np.linspace(0.0, 1.0, 80)
    y = 0.3 + 0.5 * x - 0.2 * x**2
    spoilt = y + np.where(np.arange(80) == 33, 0.4, 0.0)
    assert smooth_curve(x, spoilt, np.ones(80), x) == pytest.approx(y, abs=1e-6)


GIVEN = {
    "F3": (Given("phonon energy w_ph", 0.08), Given("core-hole half width G_c", 0.2), Given("detuning det", 0.0)),
    "F5": (Given("lattice constant a", A), Given("direction of q", "(h,0)")),
    "F6": (Given("lattice constant a", A),),
    "G5": (Given("layer spacing d", 9.0),),
}


@pytest.mark.parametrize("category", ["F1", "F2", "F3", "F4", "F5", "F6", "G1", "G2", "G3", "G4", "G5"])
def test_a_map_without_lines_gives_finite_answers(pose_map: PoseMap, pointless_map: Array, category: str) -> None:
    loss, q = axis(-0.10, 0.50), axis(0.10, 0.60)
    answer = (0.1,) * (3 if category == "G1" else 1)
    problem = pose_map(category, loss, q, pointless_map, 0.0, answer=answer)
    columns = q[20:] if category in ("F4", "F6", "G2") else None
    problem = asked(problem, GIVEN.get(category, ()), columns)
    found = solve(problem)
    assert len(found) == problem.wanted
    assert np.all(np.isfinite(found))
