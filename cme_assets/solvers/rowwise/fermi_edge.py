"""A1: the Fermi energy of a featureless map."""

from __future__ import annotations

import numpy as np

from cme_assets.closed_book import ClosedBookProblem
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise.edges import fit_edge


def fermi_energy(problem: ClosedBookProblem) -> Array:
    """Edge fit, temperature free, to the energy distribution curve summed over all momenta, eV."""
    table = problem.test.table
    return np.array([fit_edge(table.rows, table.counts.mean(axis=1), problem.fwhm_rows).fermi_energy])


FERMI_EDGE = {"A1": fermi_energy}
"""Method by category."""
