"""The right values of the own questions, derived a second time from geometry, Bragg's law, tables and arithmetic."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from mattools_assets.questions.own import own_questions

BOLTZMANN = 8.617333262e-5  # Boltzmann's constant, eV/K
CUKA = 1.54184
MASSES = {"H": 1.008, "Li": 6.94, "N": 14.007, "O": 15.999, "Na": 22.98977, "Al": 26.981538, "P": 30.973762}
MASSES |= {"Cl": 35.453, "Fe": 55.845, "Ca": 40.078}
DALTON_PER_CUBIC_ANGSTROM = 1.66053907  # g/cm³

degrees = math.degrees
root = math.sqrt


def bragg(spacing: float, wavelength: float = CUKA) -> float:
    """2θ in degrees."""
    return 2 * degrees(math.asin(wavelength / (2 * spacing)))


def cubic_families(largest: int) -> dict[int, int]:
    """h² + k² + l² up to `largest` and its number of indices: brute force over all."""
    found: dict[int, int] = {}
    reach = math.isqrt(largest)
    for h, k, m in product(range(-reach, reach + 1), repeat=3):
        norm = h * h + k * k + m * m
        if 0 < norm <= largest:
            found[norm] = found.get(norm, 0) + 1
    return found


def electron_wavelength(volts: float) -> float:
    """Relativistic de Broglie wavelength in Å, from kinetic and rest energy in eV; h c = 12398.42 eV Å."""
    rest = 510998.95
    return 12398.41984 / root(volts * (volts + 2 * rest))


def orbit_weights(mesh: int) -> list[int]:
    """Sizes of the orbits of the points of a cubic mesh under permutations and signs, modulo the mesh."""
    points = {}
    for point in product(range(mesh), repeat=3):
        key = tuple(sorted(min(n, mesh - n) for n in point))
        points[key] = points.get(key, 0) + 1
    return sorted(points.values())


def madelung_by_cubes(half: int) -> float:
    """Evjen's sum: shells of ions with weights 1, 1/2, 1/4, 1/8 on faces, edges and corners of a cube."""
    steps = np.arange(-half, half + 1)
    weight = np.where(np.abs(steps) == half, 0.5, 1.0)
    x, y, z = np.meshgrid(steps, steps, steps, indexing="ij")
    weights = weight[:, None, None] * weight[None, :, None] * weight[None, None, :]
    distance = np.sqrt(x**2 + y**2 + z**2)
    distance[half, half, half] = np.inf
    return float(-np.sum(weights * (-1.0) ** (x + y + z) / distance))


IRON = 2.866
GOLD = 4.078
CSCL = 4.123
EV_WATER = 14.9 - 6.8 - 9.9 / 2
THERMAL = {kelvin: math.exp(-0.05 / (BOLTZMANN * kelvin)) for kelvin in (300, 600)}
OLIVINE = MASSES["Li"] + MASSES["Fe"] + MASSES["P"] + 4 * MASSES["O"]
CU_REUSS = 5 / (4 / (168.4 - 121.4) + 3 / 75.4)
CU_VOIGT = (168.4 - 121.4 + 3 * 75.4) / 5

BY_HAND: dict[tuple[str, str], object] = {
    ("rock-salt", "density"): 4 * (MASSES["Na"] + MASSES["Cl"]) * DALTON_PER_CUBIC_ANGSTROM / 5.64**3,
    ("rock-salt", "nearest_distance"): 5.64 / 2,
    ("silicon-bonds", "primitive_volume"): 5.431**3 / 4,
    ("silicon-bonds", "bond_length"): 5.431 * root(3) / 4,
    ("silicon-bonds", "bond_angle"): degrees(math.acos(-1 / 3)),
    ("hexagonal-reciprocal", "volume"): 3.19**2 * 5.19 * root(3) / 2,
    ("hexagonal-reciprocal", "reciprocal_lengths"): [4 * math.pi / (root(3) * 3.19)] * 2 + [2 * math.pi / 5.19],
    ("hexagonal-reciprocal", "spacing_102"): 1 / root(4 / 3 / 3.19**2 + 4 / 5.19**2),
    ("perovskite-supercell", "titanium_oxygen"): 3.84 / 2,
    ("strained-film", "lattice_lengths"): [4.212 * 1.015, 4.212 * 1.015, 4.212 * 0.98],
    ("strained-film", "volume_change"): 1.015**2 * 0.98,
    ("strained-film", "bond_out_of_plane"): 4.212 * 0.98 / 2,
    ("battery-composition", "iron_mass_fraction"): MASSES["Fe"] / OLIVINE,
    ("battery-composition", "electrons"): 3 + 26 + 15 + 4 * 8,
    ("madelung-energy", "madelung_constant"): madelung_by_cubes(20),
    ("madelung-energy", "energy_per_formula_unit"): -madelung_by_cubes(20) * 14.399645 / 2.82,
    ("copper-primitive", "length"): 3.615 / root(2),
    ("rutile-sites", "long_bond"): 0.305 * 4.594 * root(2),
    ("irreducible-mesh", "weights"): orbit_weights(4),
    ("irreducible-mesh", "points"): len(orbit_weights(4)),
    ("silicon-powder", "first_angles"): [bragg(5.431 / root(norm)) for norm in (3, 8, 11)],
    ("iron-powder", "spacings"): [IRON / root(norm) for norm in (2, 4, 6)],
    ("iron-powder", "multiplicities"): [cubic_families(8)[norm] for norm in (2, 4, 6)],
    ("salt-intensities", "strongest_angle"): bragg(5.64 / 2),
    ("aluminium-molybdenum", "first_angle"): bragg(4.05 / root(3), 0.71073),
    ("aluminium-molybdenum", "second_spacing"): 4.05 / 2,
    ("aluminium-molybdenum", "reflections"): sum(
        bragg(4.05 / root(n), 0.71073) <= 40 for n in (3, 4, 8, 11, 12, 16, 19)
    ),
    ("neutron-caesium-chloride", "first_angle"): bragg(CSCL, 1.8),
    ("neutron-caesium-chloride", "reflections"): sum(CSCL / root(n) >= 1.8 / root(2) for n in cubic_families(16)),
    ("neutron-caesium-chloride", "spacings"): [CSCL, CSCL / root(2), CSCL / root(3)],
    ("electron-wavelength", "wavelength"): electron_wavelength(200e3),
    ("electron-wavelength", "bragg_angle_200"): math.asin(electron_wavelength(200e3) / GOLD),
    ("fermi-function", "above"): 1 / (math.exp(0.1 / (BOLTZMANN * 300)) + 1),
    ("copper-slab", "surface_area"): 3.615**2 * root(3) / 4,
    ("copper-slab", "layer_spacing"): 3.615 / root(3),
    ("miller-families", "equivalent_111"): cubic_families(5)[3],
    ("miller-families", "equivalent_210"): cubic_families(5)[5],
    ("interplanar-angles", "spacing_110"): 4.594 / root(2),
    ("interplanar-angles", "spacing_101"): 1 / root(1 / 4.594**2 + 1 / 2.959**2),
    ("interplanar-angles", "angle"): degrees(math.atan(2.959 / 4.594)),
    ("lithium-oxide-hull", "formation_energy"): (-14.1 + 2 * 1.9 + 9.8 / 2) / 3,
    ("lithium-oxide-hull", "above_hull"): -12.0 / 3 - (-19.2 - 9.8) / 6,
    ("decomposition-products", "hull_energy"): (-9.0 / 2 - 5.4 / 2) / 2,
    ("chemical-potential-window", "formation_enthalpy"): -12.5 + 3.0 + 16.6 / 2,
    ("chemical-potential-window", "gallium_poor"): -12.5 + 16.6 / 2,
    ("balanced-reaction", "aluminium_per_oxide"): 2 * MASSES["Al"] / (2 * MASSES["Fe"] + 3 * MASSES["O"]),
    ("reaction-energy", "energy"): -EV_WATER,
    ("reaction-energy", "energy_kj"): -EV_WATER * 96.48533,
    ("elastic-moduli", "bulk_modulus"): (168.4 + 2 * 121.4) / 3,
    ("elastic-moduli", "shear_voigt"): CU_VOIGT,
    ("elastic-moduli", "shear_reuss"): CU_REUSS,
    ("elastic-moduli", "universal_anisotropy"): 5 * CU_VOIGT / CU_REUSS - 5,
    ("read-cif", "bond"): 5.463 * root(3) / 4,
    ("read-poscar", "axial_bond"): 0.382 * 5.2,
    ("read-molecule", "bond"): math.hypot(0.9397, 0.1162 + 0.2711),
    ("read-trajectory", "displacement"): 5 * math.hypot(0.04, 0.03),
    ("through-json", "lattice_a"): 3.2 * (42 / (3.2**2 * 5.2 * root(3) / 2)) ** (1 / 3),
    ("through-json", "density"): 2 * (MASSES["Al"] + MASSES["N"]) * DALTON_PER_CUBIC_ANGSTROM / 42,
    ("interstitial-lithium", "nearest"): 4.212 * root(3) / 4,
    ("vacancy-supercell", "edge"): 3 * 4.212,
    ("transition-levels", "levels"): [(3.1 - 1.0) / 2, 5.6 - 3.1],
    ("phonon-filling", "ground_state"): [1 - THERMAL[300], 1 - THERMAL[600]],
    ("phonon-filling", "ratio"): THERMAL[300],
    ("charge-model", "at_one"): math.exp(-(2.0**2) / 4),
    ("charge-model", "curvature"): -(2.0**2) / 4,
}


@pytest.mark.parametrize("key", BY_HAND, ids="/".join)
def test_value(key: tuple[str, str]) -> None:
    question, name = key
    own = next(own for own in own_questions() if own.question.id == question)
    expected = next(item.expected for item in own.properties if item.name == name)
    # A quarter of the tolerance at most, so that rounding in the file leaves most of it to the answers.
    margin = max(expected.tolerance / 4, 1e-12)
    np.testing.assert_allclose(np.asarray(expected.value, float), np.asarray(BY_HAND[key], float), rtol=0, atol=margin)


def test_equation_of_state_file_is_the_equation() -> None:
    own = next(own for own in own_questions() if own.question.id == "equation-of-state")
    values = {item.name: item.expected.value for item in own.properties}
    volume, modulus = values["equilibrium_volume"], values["bulk_modulus"] / 160.2176634
    content = own.question.files["energies.csv"]
    assert isinstance(content, bytes)
    for row in content.decode().splitlines()[1:]:
        at, energy = map(float, row.split(","))
        strain = ((volume / at) ** (2 / 3) - 1) / 2  # Eulerian
        wanted = values["minimum_energy"] + 9 / 2 * volume * modulus * strain**2 * (1 + (4.5 - 4) * strain)
        assert energy == pytest.approx(wanted, abs=1e-6)
