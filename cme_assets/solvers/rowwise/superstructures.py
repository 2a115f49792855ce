"""B5, B6: a straight band among weaker copies at equal distances, or folded.

The map is sheared until the band is upright and summed over energy; a comb of Lorentzians with one spacing and one
attenuation is fitted to the sum, and with these two fixed to every row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.optimize import least_squares, leastsq

from cme_assets.closed_book import ClosedBookProblem
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise.alone import each_alone, listed_values
from cme_assets.solvers.rowwise.dispersions import Band, linear_band
from cme_assets.solvers.rowwise.rows import RowFits, fermi_level, pixel_of

COPIES = np.arange(-7, 8)
INVERSE_VELOCITIES = np.concatenate([-np.geomspace(2.5, 0.25, 60), np.geomspace(0.25, 2.5, 60)])
"""Slopes dk/dE tried for the shear, Angstrom/eV."""
SPACINGS = np.arange(0.04, 0.165, 0.0125)
"""Distances between copies from which the fit of the sum starts, 1/Angstrom."""
GAIN = 0.6
"""A comb is believed if it leaves less than this share of a single line's squared misfit."""
ROUNDS = 2
SHARPEST_SHARE = 0.5
"""The part of the rows, from the Fermi level down, whose lines are narrow enough to show the comb."""
TILT = 1.2
"""Where copies overlap, what varies across them moves the fitted line by about this times its half width squared, A."""


@dataclass(frozen=True)
class Comb:
    """Distance of neighbouring copies, 1/Angstrom, and each copy's strength relative to the one before."""

    spacing: float
    attenuation: float

    def shape(self, x: Array, center: float, hwhm: float) -> Array:
        """Sum of unit Lorentzians at `center + n spacing` with weight `attenuation^|n|`, (x.size,)."""
        if self.attenuation == 0:
            return hwhm**2 / ((x - center) ** 2 + hwhm**2)
        offset = x[None, :] - center - self.spacing * COPIES[:, None]
        return self.attenuation ** np.abs(COPIES) @ (hwhm**2 / (offset**2 + hwhm**2))


SINGLE = Comb(1.0, 0.0)


def straighten(
    k: Array, energy: Array, counts: Array, inverse: float, k_fermi: float, level: float
) -> tuple[Array, Array]:
    """The mean of all rows after each is moved by its band's momentum: distances u and the mean there."""
    pixel = pixel_of(k)
    shift = k_fermi + inverse * (energy - level)
    u = np.arange(-0.5 * np.ptp(k), 0.5 * np.ptp(k), pixel)
    place = (u[None, :] + shift[:, None] - k[0]) / pixel
    inside = (place >= 0) & (place <= k.size - 1)
    left = np.clip(place.astype(int), 0, k.size - 2)
    part = place - left
    row = np.arange(energy.size)[:, None]
    values = counts[row, left] * (1.0 - part) + counts[row, left + 1] * part
    number = inside.sum(axis=0)
    seen = number >= 0.5 * energy.size
    return u[seen], (values * inside).sum(axis=0)[seen] / number[seen]


def upright_line(k: Array, energy: Array, counts: Array, level: float) -> tuple[float, float]:
    """Slope dk/dE and momentum at `level` of the straight line along which the mean intensity is largest."""
    best, found = -np.inf, (INVERSE_VELOCITIES[0], float(k.mean()))
    middle = 0.5 * (k[0] + k[-1])
    for inverse in INVERSE_VELOCITIES:
        # Every shear keeps the band's middle row in place, so that the band stays inside.
        u, mean = straighten(k, energy, counts, float(inverse), middle, float(energy.mean()))
        if u.size < 10:
            continue
        smooth = gaussian_filter1d(mean, 1.5)
        place = int(np.argmax(smooth))
        height = float(smooth[place] - np.median(smooth))
        if height > best:
            at_middle = middle + float(u[place])
            best, found = height, (float(inverse), at_middle + float(inverse) * (level - float(energy.mean())))
    return found


def find_comb(u: Array, mean: Array) -> tuple[Comb, float]:
    """The comb of the straightened sum and where its strongest line lies on `u`."""
    unit = (mean - mean.min()) / max(float(np.ptp(mean)), 1e-12)

    def residual(p: Array) -> Array:
        line = Comb(p[4], p[5]).shape(u, p[0], p[1]) if p.size == 6 else SINGLE.shape(u, p[0], p[1])
        return p[2] * line + p[3] - unit

    start = [float(u[np.argmax(unit)]), 0.03, 0.8, 0.1]
    low, high = [u[0], 0.003, 0.0, -1.0], [u[-1], 0.3, 3.0, 1.0]
    single = least_squares(residual, np.clip(start, low, high), bounds=(low, high), max_nfev=60)
    low, high = [*low, 0.03, 0.0], [*high, 0.2, 0.85]
    fits = [
        least_squares(residual, np.clip([*start, spacing, 0.5], low, high), bounds=(low, high), max_nfev=30)
        for spacing in SPACINGS
    ]
    best = min(fits, key=lambda fit: fit.cost)
    for side in (-1.0, 1.0):
        moved = best.x + np.array([side * best.x[4], 0, 0, 0, 0, 0])
        other = least_squares(residual, np.clip(moved, low, high), bounds=(low, high), max_nfev=60)
        best = min(best, other, key=lambda fit: fit.cost)
    if best.cost > GAIN * single.cost:
        return SINGLE, float(single.x[0])
    return Comb(float(best.x[4]), float(best.x[5])), float(best.x[0])


def fit_comb_rows(k: Array, energy: Array, counts: Array, guess: Array, comb: Comb) -> RowFits:
    """Every row fitted with a comb of fixed spacing and attenuation, started at momentum `guess` (n,)."""
    kept: list[list[float]] = []
    width, pixel = 0.03, pixel_of(k)
    for at, row, start in zip(energy, counts, guess, strict=True):
        base = float(np.median(row))

        def residual(p: Array, row: Array = row) -> Array:
            return p[2] * comb.shape(k, p[0], abs(p[1]) + 0.2 * pixel) + p[3] - row

        height = float(np.interp(start, k, row)) - base
        found, covariance, _, _, status = leastsq(residual, [start, width, height, base], full_output=True, maxfev=120)
        misfit = float(np.sum(residual(found) ** 2)) / (k.size - 4)
        if covariance is None or status not in (1, 2, 3, 4) or found[2] <= 0 or abs(found[0] - start) > 3.0 * width:
            continue
        errors = np.sqrt(np.maximum(np.diag(covariance), 0.0) * max(misfit, 1e-12))
        fwhm = 2.0 * (abs(found[1]) + 0.2 * pixel)
        kept.append([at, found[0], errors[0], fwhm, 2.0 * errors[1], found[3], errors[3], np.sqrt(misfit)])
    return RowFits(*np.array(kept).reshape(-1, 8).T)


def main_band(problem: ClosedBookProblem) -> tuple[Band, RowFits | None]:
    """The strongest straight band of the question, and the rows' own fits; None if too few rows could be fitted."""
    table = problem.test.table
    level = fermi_level(problem, problem.test)
    keep = table.rows < level
    if keep.sum() < 4:
        keep = np.ones(table.rows.size, dtype=bool)
    k, energy, counts = table.columns, table.rows[keep], table.counts[keep].astype(float)
    pixel = pixel_of(k)
    inverse, k_fermi = upright_line(k, energy, counts, level)
    band = Band(level, k_fermi, 1.0 / abs(inverse), 0.0, float(np.sign(inverse)))
    fitted: RowFits | None = None
    for _ in range(ROUNDS):
        sharp = slice(int((1.0 - SHARPEST_SHARE) * energy.size), None)
        u, mean = straighten(k, energy[sharp], counts[sharp], band.direction / band.velocity, band.k_fermi, level)
        if u.size < 10 or np.ptp(mean) <= 0:
            break
        comb, center = find_comb(u, mean)
        rows = fit_comb_rows(k, energy, counts, band.momentum(energy) + center, comb)
        if len(rows) < 4:
            break
        fitted = rows
        error = np.hypot(rows.center_error, TILT * (0.5 * rows.fwhm) ** 2) if comb.attenuation else rows.center_error
        band = linear_band(replace(rows, center_error=error), level, pixel)
    return band, fitted


def _momenta(problem: ClosedBookProblem) -> Array:
    return main_band(problem)[0].momentum(listed_values(problem))


def momenta_alone(problem: ClosedBookProblem) -> Array:
    """The momentum of each listed row's own fit of the comb; where hardly a row could be fitted, the band's."""
    band, rows = main_band(problem)
    wanted = listed_values(problem)
    return band.momentum(wanted) if rows is None else each_alone(rows.energy, rows.center, wanted)


def _velocity(problem: ClosedBookProblem) -> Array:
    band, _ = main_band(problem)
    return np.array([band.direction * band.velocity])


SUPERSTRUCTURES = {"B5": _momenta, "B6": _velocity}
"""Method by category."""
SUPERSTRUCTURES_ALONE = {"B5": momenta_alone}
"""Method by category when every listed row stands for itself."""
