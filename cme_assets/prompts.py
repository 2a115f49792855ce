"""The closed-book three-shot prompt."""

from __future__ import annotations

from collections.abc import Sequence

from cme_assets.closed_book import ClosedBookProblem, Exhibit
from cme_assets.tasks.category import MapKind, Shape

ANSWER_DECIMALS = 5

MEASURED = {
    MapKind.ENERGY_MOMENTUM: (
        "an angle-resolved photoemission (ARPES) map: rows are the electron energy E in eV (absolute scale; the Fermi "
        "energy differs between maps), columns the momentum k in 1/Angstrom"
    ),
    MapKind.MOMENTUM_MOMENTUM: (
        "an angle-resolved photoemission (ARPES) map at the Fermi energy: rows are the momentum ky and columns the "
        "momentum kx, both in 1/Angstrom, with the Brillouin zone's centre at (0, 0)"
    ),
    MapKind.LOSS_MOMENTUM: (
        "a resonant inelastic X-ray scattering (RIXS) map: rows are the energy loss in eV, columns the momentum "
        "transfer q in 1/Angstrom along one direction"
    ),
}
"""What a map of each kind is, as the end of a sentence."""


def render(problem: ClosedBookProblem) -> str:
    """The prompt: the question first, then three tables with answers and one without."""
    parts = [_introduction(problem)]
    for number, example in enumerate(problem.examples, start=1):
        parts.append(f"## Example {number}\n{_exhibit(example)}\nAnswer: {answer_text(example.answer or ())}")
    parts.append(f"## Question\n{_exhibit(problem.test)}\n{_closing(problem)}")
    return "\n\n".join(parts) + "\n"


def answer_text(values: Sequence[float]) -> str:
    """An answer in the required form."""
    return f"<answer>[{', '.join(f'{value:.{ANSWER_DECIMALS}f}' for value in values)}]</answer>"


def _introduction(problem: ClosedBookProblem) -> str:
    return "\n".join(
        [
            f"Each table below is {MEASURED[problem.map_kind]}. The first line holds the column values, the first "
            "entry of each following line the row value; intensities are integers, scaled so that the largest is 1000.",
            problem.observed,
            instrument_text(problem),
            task_text(problem),
            "Three examples with their exact answers come first, then the question.",
        ]
    )


def instrument_text(problem: ClosedBookProblem) -> str:
    """How the maps were taken."""
    axes = "momentum" if problem.map_kind is MapKind.MOMENTUM_MOMENTUM else "energy"
    unit = "1/Angstrom" if axes == "momentum" else "eV"
    return (
        f"The instrument broadens every map with Gaussian kernels of full width at half maximum "
        f"{problem.fwhm_rows:.4g} {unit} along the rows' axis and {problem.fwhm_columns:.4g} 1/Angstrom along the "
        f"columns' axis. Each entry is the mean over its pixel; axis values are pixel centres. Maps may carry noise "
        f"made of many small bright spots, which add up to an uneven, positive pedestal."
    )


def task_text(problem: ClosedBookProblem) -> str:
    """What is asked, in which unit and form."""
    return f"Task: {problem.question}\nUnit: {problem.quantity.unit or 'none (a pure number)'}. {_wanted(problem)}"


def _wanted(problem: ClosedBookProblem) -> str:
    names = problem.quantity.names
    match problem.quantity.shape:
        case Shape.SCALAR:
            return f"The answer is one number, {names[0]}."
        case Shape.VALUES:
            return (
                f"The answer is {len(names)} numbers in this order: {', '.join(names)}. Each is compared with the true "
                "value at its place."
            )
        case Shape.ARRAY:
            return f"The answer is a list of {names[0]}, one number for each listed row or column, in table order."


def _exhibit(exhibit: Exhibit) -> str:
    return "\n".join([*facts(exhibit), "```", exhibit.table.text, "```"])


def facts(exhibit: Exhibit) -> list[str]:
    """What is said about one map beside its table, a line each."""
    lines = [f"Given: {given.name} = {_given_value(given.value)} {given.unit}".rstrip() for given in exhibit.given]
    if exhibit.listed is not None:
        values = exhibit.listed.values
        lines.append(
            f"Listed {exhibit.listed.axis}s: {len(values)} consecutive {exhibit.listed.axis}s, "
            f"from {values[0]:.4f} to {values[-1]:.4f}."
        )
    return lines


def _given_value(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.{ANSWER_DECIMALS}f}"


def _closing(problem: ClosedBookProblem) -> str:
    count = problem.wanted
    numbers = "one number" if count == 1 else f"exactly {count} numbers"
    return (
        f"Give the answer for this last table as a JSON list of {numbers} inside answer tags, for example "
        f"{answer_text([0.0] * min(count, 3)).replace('0.00000', '…')}, and nothing after it."
    )
