"""Constants of nature in the project's units (CODATA 2022)."""

BOLTZMANN = 8.617333262e-5
"""Boltzmann's constant, eV/K."""

HBAR2_OVER_2M_ELECTRON = 3.809982
"""hbar^2 / (2 m_e), eV Angstrom^2."""
