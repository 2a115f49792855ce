"""Photoemission and RIXS in formulas: self-energies, bands, Fermi surfaces, excitations, resolution, noise.

Pure numpy and scipy. Units everywhere: energies in eV, momenta in 1/Angstrom, temperatures in K.
"""
