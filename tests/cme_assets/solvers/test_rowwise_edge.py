"""The edge fit against edges with a closed form, and the package's independence of what makes problems."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.special import erfc, expit

from cme_assets.closed_book import ClosedBookProblem, Exhibit
from cme_assets.physics.types import Array
from cme_assets.solvers.rowwise import LAWS, by_laws
from cme_assets.solvers.rowwise.edges import fit_edge
from cme_assets.tables import Table
from cme_assets.tasks.category import MapKind, Quantity, Shape

KELVIN = 8.617333262e-5
SIGMA_TO_FWHM = 2.3548200450309493
ENERGY = np.linspace(4.8, 5.2, 101)[:-1] + 0.002


def test_a_cold_edge_is_an_error_function() -> None:
    # A step of height one seen through a Gaussian of 10 meV is erfc; pixels of 4 meV change it by less than 1 %.
    curve = 0.5 * erfc((ENERGY - 5.0123) / (0.010 * np.sqrt(2.0)))
    fit = fit_edge(ENERGY, curve, 0.010 * SIGMA_TO_FWHM, temperature=5.0)
    assert fit.fermi_energy == pytest.approx(5.0123, abs=5e-5)


@pytest.mark.parametrize("temperature", [80.0, 250.0])
def test_a_warm_sloped_edge_gives_back_energy_and_temperature(temperature: float) -> None:
    w = ENERGY - 4.9871
    curve = 40.0 + 900.0 * (1.0 - 0.8 * w) * expit(-w / (KELVIN * temperature))
    fit = fit_edge(ENERGY, curve, 1e-5)
    assert fit.fermi_energy == pytest.approx(4.9871, abs=2e-4)
    assert fit.temperature == pytest.approx(temperature, rel=0.03)


def test_the_error_tells_the_scatter() -> None:
    rng = np.random.default_rng(5)
    clean = 500.0 * expit(-(ENERGY - 5.01) / (KELVIN * 150.0))
    fits = [fit_edge(ENERGY, clean + rng.normal(0.0, 10.0, clean.size), 0.003) for _ in range(40)]
    pulls = np.array([(fit.fermi_energy - 5.01) / fit.error for fit in fits])
    assert 0.6 < pulls.std() < 1.6


@pytest.mark.parametrize("curve", [np.zeros(100), np.full(100, 3.0), np.linspace(0.0, 1.0, 100)])
def test_a_curve_without_edge_gives_a_finite_energy(curve: Array) -> None:
    assert np.isfinite(fit_edge(ENERGY, curve, 0.003).fermi_energy)


def _problem(category: str, counts: Array) -> ClosedBookProblem:
    axis = np.linspace(0.0, 0.6, counts.shape[1])
    table = Table("E\\k", ENERGY, axis, counts.astype(np.int64))
    example = Exhibit(table, (), None, (5.0,))
    question = Exhibit(table, (), None, None)
    quantity = Quantity(("E_F",), "eV", Shape.SCALAR)
    return ClosedBookProblem(
        category, MapKind.ENERGY_MOMENTUM, "", "", quantity, 0.003, 0.005, (example,) * 3, question
    )


def test_the_fermi_energy_of_a_map_is_found_in_its_sum_over_momenta() -> None:
    curve = 1000.0 * expit(-(ENERGY - 5.0311) / (KELVIN * 100.0))
    counts = np.rint(np.outer(curve, np.linspace(0.6, 1.0, 100)))
    assert by_laws(_problem("A1", counts)) == pytest.approx([5.0311], abs=5e-4)


@pytest.mark.parametrize("counts", [np.zeros((100, 100)), np.full((100, 100), 1000)])
def test_an_empty_map_gives_one_finite_number(counts: Array) -> None:
    answer = by_laws(_problem("A1", counts))
    assert len(answer) == 1
    assert np.isfinite(answer).all()


def test_a_category_without_method_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="X9"):
        by_laws(_problem("X9", np.zeros((100, 100))))


def test_the_solver_needs_nothing_that_makes_problems() -> None:
    code = (
        "import sys, cme_assets.solvers.rowwise as r; "
        "bad = [m for m in sys.modules if m in ('cme_assets.problems', 'cme_assets.posing') "
        "or m.startswith(('dagster', 'cme_assets.tasks.')) "
        "and m not in ('cme_assets.tasks.category', 'cme_assets.tasks.ranges')]; "
        "print(bad, len(r.LAWS))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["[]", str(len(LAWS))]
