"""D1 to D7: energies of the modes that kink a band, from the row-by-row momenta and widths.

For given cut-offs W everything else is linear: with a = 1/v0 and b_i = lam_i/v0 the momenta are
`kF + a w - sum b_i S'_i(w)` and the half widths `g + c w^2 + sum b_i |S''_i(w)|`, S_i the Debye self-energy of coupling
one. The cut-offs are searched on a grid and then refined; the examples, whose cut-offs are known, tell how strong the
couplings lam_i may be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.optimize import minimize, nnls

from cme_assets.closed_book import ClosedBookProblem, Exhibit
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise.phonons import debye_parts
from cme_assets.solvers.rowwise.rows import CORRELATION
from cme_assets.solvers.rowwise.tracing import trace

LEAST_ERROR = 0.0005
"""No row's momentum or width is trusted to better than this, 1/Angstrom."""
CLOSEST = 0.010
"""Two modes nearer than this are one to the eye, eV."""
LIMITS = (0.005, 0.17)
"""Lowest and highest cut-off tried, eV."""
WIDEST_PRIOR = 0.6
"""Relative uncertainty of a coupling that three examples can still narrow down."""
ROUNDS = 3
MARGIN = 1.0


@dataclass(frozen=True)
class Rows:
    """Energies w (n,) from the Fermi level, momenta and half widths of the rows with their errors.

    Momenta grow with energy and start at MARGIN, so that all coefficients of the fit are positive.
    """

    w: Array
    momentum: Array
    momentum_error: Array
    hwhm: Array
    hwhm_error: Array

    @cached_property
    def slope(self) -> float:
        """Slope of the straight line through the momenta, Angstrom/eV."""
        return float(np.polyfit(self.w, self.momentum, 1)[0])

    @cached_property
    def values(self) -> Array:
        """Momenta, then half widths, (2 n,), in units of their errors."""
        return np.concatenate([self.momentum, self.hwhm]) / self.error

    @cached_property
    def error(self) -> Array:
        """Errors of the momenta, then of the half widths, (2 n,)."""
        return np.concatenate([self.momentum_error, self.hwhm_error])

    @cached_property
    def plain(self) -> Array:
        """The terms besides the modes, (2 n, 4): kF, a, g and c."""
        terms = np.zeros((2 * self.w.size, 4))
        above, below = terms[: self.w.size], terms[self.w.size :]
        above[:, 0], above[:, 1] = 1.0, self.w
        below[:, 2], below[:, 3] = 1.0, self.w**2
        return terms


@dataclass(frozen=True)
class Coupling:
    """What the examples tell about the couplings: their `mean` and standard deviation `spread`."""

    mean: float
    spread: float


@dataclass(frozen=True)
class Fit:
    """Cost and couplings of the best fit with given cut-offs; `weight` (2 n,) of the data for the next round."""

    cost: float
    couplings: Array
    weight: Array


def read_rows(problem: ClosedBookProblem, exhibit: Exhibit) -> Rows:
    """Momenta and half widths of an exhibit, mirrored if need be so that the momentum grows with energy."""
    found = trace(problem, exhibit)
    rows = found.rows
    w = rows.energy - found.fermi_energy
    sign = np.sign(np.polyfit(w, rows.center, 1)[0]) if len(rows) > 2 else 1.0
    return Rows(
        w,
        sign * rows.center - np.min(sign * rows.center, initial=0.0) + MARGIN,
        CORRELATION * np.hypot(rows.center_error, LEAST_ERROR),
        0.5 * rows.fwhm,
        CORRELATION * np.hypot(0.5 * rows.fwhm_error, LEAST_ERROR),
    )


def fit_modes(rows: Rows, cutoffs: Array, prior: Coupling | None = None, weight: Array | None = None) -> Fit:
    """The bounded linear fit for given `cutoffs` (m,), eV."""
    modes = len(cutoffs)
    parts = [debye_parts(rows.w, cutoff) for cutoff in cutoffs]
    terms = np.array([np.concatenate([-real, rate]) for real, rate in parts]).T
    basis = np.concatenate([rows.plain, terms], axis=1) / rows.error[:, None]
    extra = np.zeros((modes if prior else 0, 4 + modes))
    if prior:
        # lam_i = b_i / a is expected at the examples' mean: a residual linear in (a, b_i), scaled by a typical a.
        typical = max(rows.slope / (1.0 + 0.5 * modes * prior.mean), 0.05)
        extra[:, 1] = -prior.mean / (prior.spread * typical)
        extra[:, 4:] = np.eye(modes) / (prior.spread * typical)
    weight = np.ones(rows.values.size) if weight is None else weight
    matrix = np.concatenate([basis * weight[:, None], extra])
    target = np.concatenate([rows.values * weight, np.zeros(len(extra))])
    solution, _ = nnls(matrix, target)
    misfit = basis @ solution - rows.values
    cost = float(np.sum((weight * misfit) ** 2) + np.sum((extra @ solution) ** 2))
    scale = max(float(np.median(np.abs(misfit))), 1e-9)
    return Fit(cost, solution[4:] / max(solution[1], 1e-3), 1.0 / np.sqrt(1.0 + (misfit / (4.0 * scale)) ** 2))


def find_modes(rows: Rows, modes: int, prior: Coupling | None) -> Array:
    """The `modes` cut-offs that fit best, increasing, eV: a coarse search, then a refinement."""
    step = (0.002, 0.005, 0.008)[min(modes, 3) - 1]
    # Where only rows near the Fermi level could be fitted, there is still room for all modes.
    deepest = max(0.9 * float(np.max(np.abs(rows.w))), CLOSEST + 2 * modes * step)
    grid = np.arange(CLOSEST, deepest, step)
    tried = np.array(list(combinations(grid, modes)))
    tried = tried[np.all(np.diff(tried, axis=1) >= CLOSEST, axis=1)]
    starts = sorted(tried, key=lambda c: fit_modes(rows, c, prior).cost)[:3]
    best = starts[0]
    weight: Array | None = None
    for _ in range(ROUNDS):
        refined = [_refine(rows, start, prior, weight) for start in starts]
        best = min(refined, key=lambda c: fit_modes(rows, c, prior, weight).cost)
        weight = fit_modes(rows, best, prior, weight).weight
        starts = [best]
    return np.sort(best)


def _refine(rows: Rows, start: Array, prior: Coupling | None, weight: Array | None) -> Array:
    def cost(cutoffs: Array) -> float:
        return fit_modes(rows, np.clip(cutoffs, *LIMITS), prior, weight).cost

    simplex = np.concatenate([start[None, :], start + 0.003 * np.eye(start.size)])
    found = minimize(
        cost,
        start,
        method="Nelder-Mead",
        options={"initial_simplex": simplex, "xatol": 1e-4, "fatol": 1e-3, "maxfev": 120},
    )
    return np.clip(found.x, *LIMITS)


def couplings_of(problem: ClosedBookProblem) -> Coupling | None:
    """The couplings found in the examples when their cut-offs are put in."""
    found: list[float] = []
    for example in problem.examples:
        rows = read_rows(problem, example)
        if rows.w.size > 10 and example.answer:
            found.extend(fit_modes(rows, np.array(example.answer)).couplings)
    values = np.array(found)
    values = values[np.isfinite(values)]
    if values.size < 2:
        return None
    mean = float(np.median(values))
    spread = max(float(np.std(values, ddof=1)), 0.1 * mean)
    return Coupling(mean, spread) if 0 < spread < WIDEST_PRIOR * mean else None


def _modes(count: int) -> Callable[[ClosedBookProblem], Array]:
    def solve(problem: ClosedBookProblem) -> Array:
        rows = read_rows(problem, problem.test)
        if rows.w.size <= 10:
            return np.mean([np.array(example.answer or ()) for example in problem.examples], axis=0)
        return find_modes(rows, count, couplings_of(problem))

    return solve


KINKS = {**{f"D{number}": _modes(1) for number in range(1, 6)}, "D6": _modes(2), "D7": _modes(3)}
"""Method by category."""
