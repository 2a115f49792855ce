"""The Lorentzian score."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import erfcx

from cme_assets.scoring import lorentzian_score


def test_exact_is_one_and_gamma_is_a_half() -> None:
    assert lorentzian_score([1.0], [1.0], 0.003) == 1.0
    assert lorentzian_score([1.003], [1.0], 0.003) == pytest.approx(0.5)
    assert lorentzian_score([0.994], [1.0], 0.003) == pytest.approx(0.2)


def test_values_are_scored_one_by_one() -> None:
    assert lorentzian_score([0.0, 1.01], [0.0, 1.0], 0.01) == pytest.approx(0.75)
    assert lorentzian_score([0.0, np.nan, np.inf], [0.0, 0.0, 0.0], 0.01) == pytest.approx(1 / 3)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0, 3.0]])
def test_a_wrong_number_of_values_is_zero(values: list[float]) -> None:
    assert lorentzian_score(values, [1.0, 2.0], 1.0) == 0.0


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=3, max_size=3), st.floats(1e-6, 1e3))
def test_the_score_is_between_zero_and_one(values: list[float], gamma: float) -> None:
    assert 0.0 <= lorentzian_score(values, [0.0, 1.0, -1.0], gamma) <= 1.0


@pytest.mark.parametrize("ratio", [0.5, 1.0, 3.0])
def test_mean_score_of_normal_errors(ratio: float) -> None:
    """For errors of standard deviation s the mean is sqrt(pi) z erfcx(z), z = gamma/(sqrt2 s); 0.656 at s = gamma."""
    errors = np.random.default_rng(0).normal(0.0, ratio, 400_000)
    z = 1 / (np.sqrt(2) * ratio)
    expected = np.sqrt(np.pi) * z * erfcx(z)
    assert lorentzian_score(errors, np.zeros_like(errors), 1.0) == pytest.approx(expected, abs=3e-3)
    if ratio == 1.0:
        assert expected == pytest.approx(0.656, abs=5e-4)
