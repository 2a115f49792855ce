"""Dopings from the sheets of a Fermi surface: ridges on diagonal cuts, line fits, area (E1 to E4)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise, product

import numpy as np
from scipy.signal import find_peaks

from cme_assets.closed_book import ClosedBookProblem
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise.diagonal_cuts import DiagonalCuts
from cme_assets.solvers.rowwise.ridges import best_by_node, family, fitted, score

NEXT_NEIGHBOURS = (-0.45, -0.35, -0.25, -0.15, -0.05)
THIRD_NEIGHBOURS = (0.0, 0.07, 0.14, 0.21)
"""Trial t'/t and t''/t of the shapes laid on the map."""
SPLITTINGS = (0.10, 0.16, 0.22, 0.28, 0.36, 0.46)
"""Trial t_perp/t of a bilayer."""
GAMMA_NEXT_NEIGHBOURS = (0.2, 0.3, 0.4, 0.5)
CLEARANCE = 0.02
"""Least distance of gamma's crossing of the diagonal from those of alpha and beta, 1/Angstrom."""
LAYERS = 3
CANDIDATES = 10
LEAST_DISTANCE = 0.06
"""Sheets of a trilayer closer than this in doping are taken for one."""
TERMS = 2
ROUNDS = 2


def single_sheet(problem: ClosedBookProblem) -> Array:
    """The doping of one sheet."""
    cuts = _cuts(problem)
    contours, scores = best_by_node(cuts, cuts.relief(), NEXT_NEIGHBOURS, THIRD_NEIGHBOURS)
    return _dopings(cuts, contours[[int(np.argmax(scores))]])


def _cuts(problem: ClosedBookProblem) -> DiagonalCuts:
    lattice_constant = next(float(given.value) for given in problem.test.given if "lattice" in given.name)
    return DiagonalCuts.of(problem.test.table, lattice_constant)


def _dopings(cuts: DiagonalCuts, sheets: Array) -> Array:
    """Dopings of `sheets` (n, cuts) after they have been fitted to the cuts."""
    for _ in range(ROUNDS):
        sheets = fitted(cuts, sheets, TERMS)
    return np.array([cuts.doping(sheet) for sheet in sheets])


def bilayer(problem: ClosedBookProblem) -> Array:
    """Two sheets that touch on the diagonal, laid on the map with the textbook form of the bilayer splitting."""
    cuts = _cuts(problem)
    relief = cuts.relief()
    best = -np.inf
    for t1, t2, splitting in product(NEXT_NEIGHBOURS, THIRD_NEIGHBOURS, SPLITTINGS):
        pair = np.array([family(cuts, t1, t2, sign * splitting) for sign in (-1.0, 1.0)])
        scores = score(cuts, relief, pair[0]) + score(cuts, relief, pair[1])
        node = int(np.argmax(scores))
        if scores[node] > best:
            best, sheets = scores[node], pair[:, node]
    return np.sort(_dopings(cuts, sheets))


def ruthenate(problem: ClosedBookProblem) -> Array:
    """Alpha and beta as the two branches of a hyperbola about the corner of two crossing lines; gamma between them."""
    cuts = _cuts(problem)
    relief = cuts.relief()
    corners = np.linspace(0.55, 0.85, 61) * np.sqrt(2.0) * cuts.zone
    gaps = np.linspace(0.0, 0.20, 15)
    opening = np.sqrt(cuts.v**2 + gaps[:, None, None] ** 2)
    outer, inner = corners[:, None] + opening, corners[:, None] - opening
    relieved = np.where(cuts.inside(outer), cuts.along(relief, outer), 0.0)
    relieved = relieved + np.where(cuts.inside(inner), cuts.along(relief, inner), 0.0)
    gap, corner = np.unravel_index(np.argmax(relieved.sum(axis=-1)), relieved.shape[:2])
    alpha, beta = outer[gap, corner], inner[gap, corner]
    contours, scores = best_by_node(cuts, relief, GAMMA_NEXT_NEIGHBOURS, (0.0,))
    between = (contours[:, 0] > beta[0] + CLEARANCE) & (contours[:, 0] < alpha[0] - CLEARANCE)
    gamma = contours[int(np.argmax(np.where(between, scores, -np.inf)))]
    return _dopings(cuts, np.array([alpha, beta, gamma]))


def trilayer(problem: ClosedBookProblem) -> Array:
    """Three nested sheets: of the ridges found along the diagonal, the three that stand out most."""
    cuts = _cuts(problem)
    contours, scores = best_by_node(cuts, cuts.relief(), NEXT_NEIGHBOURS, THIRD_NEIGHBOURS)
    scores = np.where(np.isfinite(scores), scores, -1.0)
    peaks = find_peaks(np.pad(scores, 1, constant_values=-2.0))[0] - 1
    peaks = peaks[np.argsort(scores[peaks])[::-1][:CANDIDATES]]
    dopings = {int(peak): cuts.doping(contours[peak]) for peak in peaks}
    triples = [
        triple
        for triple in combinations(sorted(dopings), LAYERS)
        if all(dopings[a] - dopings[b] > LEAST_DISTANCE for a, b in pairwise(triple))
    ]
    if not triples:
        triples = [tuple(np.linspace(0, scores.size - 1, LAYERS + 2).astype(int)[1:-1])]
    best = max(triples, key=lambda triple: float(scores[list(triple)].sum()))
    return np.sort(_dopings(cuts, contours[list(best)]))


FERMI_SURFACES: dict[str, Callable[[ClosedBookProblem], Array]] = {
    "E1": single_sheet,
    "E2": bilayer,
    "E3": ruthenate,
    "E4": trilayer,
}
"""The row-wise method by category."""
