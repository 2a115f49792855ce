"""Energy distribution curves fitted one by one: a Lorentzian beneath the Fermi function."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import uniform_filter1d

from cme_assets.closed_book import ClosedBookProblem
from cme_assets.physics.spectral import lorentzian
from cme_assets.physics.thermal import fermi
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise.edges import fit_edge
from cme_assets.solvers.rowwise.separable import Blur, fit_shape
from cme_assets.tables import Table

TEMPERATURE = 20.0
"""Low-temperature ARPES; the prompt names none and the edge is mostly the instrument's, K."""
START_HWHM = 0.03
HWHM_LIMITS = (0.003, 0.25)
"""Half widths in energy, eV."""
SMOOTHING_POINTS = 5
BRIGHTEST = 0.9
"""Quantile of a row's counts that stands for the band in it."""
AROUND_EDGE = 0.05
"""What of the sum over momentum is fitted on either side of the edge, eV; beyond, the band's own shape shows."""


def column_energies(problem: ClosedBookProblem, wanted: Array) -> tuple[Array, Array]:
    """Momenta and energies (eV, the table's axis) of the columns at `wanted`; not a number where no line was found."""
    table = problem.test.table
    energy = table.rows - _fermi_level(table, problem.fwhm_rows)
    blur = Blur.of(energy, problem.fwhm_rows)
    occupied = fermi(blur.fine, TEMPERATURE)
    background = np.column_stack([blur(occupied), np.ones_like(energy)])

    def design(parameters: Array) -> Array:
        return np.column_stack([blur(lorentzian(blur.fine, *parameters) * occupied), background])

    def fitted(curve: Array) -> float:
        top = energy[np.argmax(uniform_filter1d(curve, SMOOTHING_POINTS))]
        fit = fit_shape(design, curve, [(top, START_HWHM)], (energy[0], HWHM_LIMITS[0]), (energy[-1], HWHM_LIMITS[1]))
        return float(fit.parameters[0]) if fit.heights[0] > 0 else np.nan

    columns = np.flatnonzero(np.isin(table.columns, wanted))
    found = np.array([fitted(table.counts[:, column].astype(float)) for column in columns])
    return table.columns[columns], found + table.rows[0] - energy[0]


def _fermi_level(table: Table, fwhm: float) -> float:
    """The edge of the sum over momentum, looked for where the band's own height drops, eV."""
    rough = fit_edge(table.rows, np.quantile(table.counts, BRIGHTEST, axis=1), fwhm).fermi_energy
    near = np.abs(table.rows - rough) < AROUND_EDGE
    return fit_edge(table.rows[near], table.counts.mean(axis=1)[near], fwhm).fermi_energy if near.any() else rough
