"""Dopings of contours whose areas have a closed form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from cme_assets.closed_book import ClosedBookProblem
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise import by_laws as solve
from cme_assets.solvers.rowwise.diagonal_cuts import DiagonalCuts
from cme_assets.tables import Table
from cme_assets.tasks.category import Given

A = 3.87
ZONE = np.pi / A
X = -0.06 + 0.0098 * (np.arange(100) + 0.5)
Y = -0.04 + 0.0098 * (np.arange(100) + 0.5)
KX, KY = X[None, :], Y[:, None]
PoseMap = Callable[..., ClosedBookProblem]


def cuts() -> DiagonalCuts:
    return DiagonalCuts.of(Table("", Y, X, np.ones((100, 100), dtype=np.int64)), A)


def asked(pose_map: PoseMap, category: str, intensity: Array, answer: tuple[float, ...]) -> ClosedBookProblem:
    problem = pose_map(category, Y, X, intensity, 0.0, answer=answer)
    return replace(problem, test=replace(problem.test, given=(Given("lattice constant a", A, "Angstrom"),)))


def ring(distance: Array) -> Array:
    """A ridge of Lorentzian profile, half width 0.02, where `distance` (1/Angstrom) from a contour is zero."""
    return 1.0 / (1.0 + (distance / 0.02) ** 2)


def test_a_circle_about_the_centre_has_the_doping_of_its_area() -> None:
    radius = 0.6 * ZONE
    contour = np.sqrt(np.clip(radius**2 - cuts().v ** 2, 0.0, None))
    assert cuts().doping(contour) == pytest.approx(1.0 - 2.0 * np.pi * 0.6**2 / 4.0, abs=2e-3)


def test_a_circle_about_the_corner_leaves_the_rest_occupied() -> None:
    radius = 0.6 * ZONE
    contour = np.sqrt(2.0) * ZONE - np.sqrt(np.clip(radius**2 - cuts().v ** 2, 0.0, None))
    assert cuts().doping(contour) == pytest.approx(1.0 - 2.0 * (1.0 - np.pi * 0.6**2 / 4.0), abs=2e-3)


def test_the_antiferromagnetic_zone_boundary_is_half_filling() -> None:
    assert cuts().doping(np.full(cuts().v.size, ZONE / np.sqrt(2.0))) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("share", [0.62, 0.70])
def test_one_circular_sheet_about_the_corner(pose_map: PoseMap, share: float) -> None:
    intensity = ring(np.hypot(KX - ZONE, KY - ZONE) - share * ZONE) * (1.0 + 0.3 * KX)
    problem = asked(pose_map, "E1", intensity, (0.1,))
    assert solve(problem)[0] == pytest.approx(1.0 - 2.0 * (1.0 - np.pi * share**2 / 4.0), abs=0.01)


def test_crossing_lines_of_ruthenate_form(pose_map: PoseMap) -> None:
    # Two straight lines at kx, ky = K that avoid each other: areas by hand without the rounding of the corner.
    side, gap = 0.69 * ZONE, 0.05
    dx, dy = KX - side, KY - side
    root = np.sqrt((0.5 * (dx - dy)) ** 2 + gap**2)
    radius = 0.80 * ZONE
    sheets = ring(0.5 * (dx + dy) - root) + ring(0.5 * (dx + dy) + root)
    found = solve(asked(pose_map, "E3", sheets + ring(np.hypot(KX, KY) - radius), (0.1, 0.1, 0.1)))
    grid = (np.arange(2000) + 0.5) * ZONE / 2000.0
    ex, ey = grid[None, :] - side, grid[:, None] - side
    opening = np.sqrt((0.5 * (ex - ey)) ** 2 + gap**2)
    alpha = np.mean(0.5 * (ex + ey) - opening < 0)
    beta = np.mean(0.5 * (ex + ey) + opening < 0)
    expected = [1.0 - 2.0 * alpha, 1.0 - 2.0 * beta, 1.0 - 2.0 * np.pi * 0.80**2 / 4.0]
    assert found == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize(("category", "count"), [("E1", 1), ("E2", 2), ("E3", 3), ("E4", 3)])
def test_a_map_without_a_contour_gives_finite_answers(
    pose_map: PoseMap, pointless_map: Array, category: str, count: int
) -> None:
    found = solve(asked(pose_map, category, pointless_map, (0.1,) * count))
    assert len(found) == count
    assert np.all(np.isfinite(found))
