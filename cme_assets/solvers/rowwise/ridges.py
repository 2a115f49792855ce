"""Finding the sheets of a Fermi surface on diagonal cuts, and fitting lines to every cut."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from cme_assets.physics.fermi_surfaces import bilayer_splitting, one_band
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise.diagonal_cuts import DiagonalCuts
from cme_assets.solvers.rowwise.separable import fit_shape

NODES = 140
"""Trial crossings of the diagonal."""
NEAREST_NODE, FARTHEST_NODE = 0.25, 0.85
"""Where the diagonal may be crossed, of its length in the quadrant."""
LEAST_SHARE = 0.5
"""A trial sheet must lie in the quadrant on this share of all cuts."""
REACH = 0.10
"""How far from a sheet a cut is fitted, 1/Angstrom."""
WIDTHS = (0.004, 0.12)
START_WIDTH = 0.018
CLOSEST = 0.004
OUTLIER = 4.0
PASSES = 5


def family(cuts: DiagonalCuts, t1: float, t2: float, splitting: float = 0.0) -> Array:
    """Contours (nodes, cuts) of one-band shape, one for each trial crossing of the diagonal.

    `t1`, `t2` are t'/t and t''/t; `splitting` the bilayer's t_perp/t, negative for the bonding sheet. A shape of
    textbook form serves as a ruler to be laid on the map; the fits below move it.
    """
    u = np.linspace(0.0, np.sqrt(2.0) * 1.15 * np.pi, 240)
    v = cuts.v * np.pi / cuts.zone
    x, y = (u + v[:, None]) / np.sqrt(2.0), (u - v[:, None]) / np.sqrt(2.0)
    energy = one_band(x, y, 1.0, t1, t2, 0.0) + bilayer_splitting(x, y, splitting)
    nodes = np.linspace(NEAREST_NODE, FARTHEST_NODE, NODES) * np.pi
    levels = one_band(nodes, nodes, 1.0, t1, t2, 0.0)
    # Below the axis ky = 0 a cut leaves the quadrant: a contour that has ended on the axis stays there.
    rising = np.maximum.accumulate(np.where(u < v[:, None], -np.inf, energy), axis=1)
    rising = np.where(np.isfinite(rising), rising, -100.0)
    contours = np.array([np.interp(levels, line, u) for line in rising])
    return contours.T * cuts.zone / np.pi


def score(cuts: DiagonalCuts, relief: Array, contours: Array) -> Array:
    """Mean relief along each of `contours` (n, cuts); contours mostly outside the quadrant count nothing."""
    inside = cuts.inside(contours)
    count = inside.sum(axis=1)
    mean = np.sum(np.where(inside, cuts.along(relief, contours), 0.0), axis=1) / np.maximum(count, 1)
    return np.where(count >= LEAST_SHARE * cuts.v.size, mean, -np.inf)


def best_by_node(cuts: DiagonalCuts, relief: Array, t1: Sequence[float], t2: Sequence[float]) -> tuple[Array, Array]:
    """For each trial crossing of the diagonal the contour (nodes, cuts) of highest mean relief, and that relief."""
    families = np.array([family(cuts, *shape) for shape in product(t1, t2)])
    scores = np.array([score(cuts, relief, contours) for contours in families])
    best = np.argmax(scores, axis=0)
    nodes = np.arange(NODES)
    return families[best, nodes], scores[best, nodes]


def fitted(cuts: DiagonalCuts, sheets: Array, degree: int) -> Array:
    """`sheets` (n, cuts) moved to where the lines of each cut are: fits cut by cut, smoothed from cut to cut.

    The shift of a sheet is an even polynomial of v with `degree` + 1 terms.
    """
    n = sheets.shape[0]
    shifts = np.zeros_like(sheets)
    errors = np.full_like(sheets, np.inf)
    width = np.full(n, START_WIDTH)
    for at in range(cuts.v.size):
        known = np.isfinite(cuts.values[at])
        near = known & (np.abs(cuts.u - sheets[:, at, None]).min(axis=0) < REACH)
        present = np.abs(cuts.u[near] - sheets[:, at, None]).min(axis=1, initial=np.inf) < 0.5 * START_WIDTH
        present &= sheets[:, at] < np.sqrt(2.0) * cuts.zone - cuts.v[at] + 0.03
        if near.sum() < 4 * n or not present.any():
            continue
        places, place_errors, width[present] = _fit_cut(
            cuts.u[near], cuts.values[at, near], sheets[present, at], width[present]
        )
        shifts[present, at], errors[present, at] = places - sheets[present, at], place_errors
    return np.array([s + _smooth(cuts.v, d, e, degree) for s, d, e in zip(sheets, shifts, errors, strict=True)])


def _fit_cut(u: Array, values: Array, places: Array, widths: Array) -> tuple[Array, Array, Array]:
    """Lorentzians on a straight background: their places, the errors of these, and their half widths."""
    n = places.size
    slope = u - u.mean()

    def design(parameters: Array) -> Array:
        x = u[:, None] - parameters[:n]
        lines = parameters[n:] ** 2 / (x**2 + parameters[n:] ** 2)
        return np.column_stack([lines, np.ones_like(u), slope])

    start = np.concatenate([places, widths])
    lower = np.concatenate([places - 0.04, np.full(n, WIDTHS[0])])
    upper = np.concatenate([places + 0.04, np.full(n, WIDTHS[1])])
    fit = fit_shape(design, values, [start], lower, upper)
    caught = (fit.heights[:n] > 0) & (np.abs(fit.parameters[:n] - places) < 0.039)
    return fit.parameters[:n], np.where(caught, fit.errors[:n], np.inf), np.clip(fit.parameters[n:], 0.008, 0.05)


def _smooth(v: Array, shift: Array, error: Array, degree: int) -> Array:
    """Weighted least-squares even polynomial through the shifts, without outliers; zero where there are too few."""
    usable = np.isfinite(error) & (error > 0)
    floor = 0.3 * np.median(error[usable]) if usable.any() else 1.0
    weight = np.where(usable, 1.0 / np.maximum(error, floor), 0.0)
    powers = (v / v[-1])[:, None] ** (2 * np.arange(degree + 1))
    curve = np.zeros_like(v)
    for _ in range(PASSES):
        if np.count_nonzero(weight) <= 2 * (degree + 1):
            break
        terms = np.linalg.lstsq(powers * weight[:, None], shift * weight, rcond=1e-10)[0]
        curve = powers @ terms
        pull = weight * np.abs(shift - curve)
        weight = np.where(pull > OUTLIER * max(float(np.median(pull[weight > 0])), 1e-9), 0.0, weight)
    return curve
