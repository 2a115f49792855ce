"""How long simulating, rendering and solving take, and how they grow with the table: `python -m benchmarks.simulation`.

CPU seconds of one process, all its threads counted: other work on the machine disturbs them less than wall time.
`--resolutions 50,100,200` chooses the tables, `--categories A1,B1` some of the categories, `--solve` adds the
row-by-row reference.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from cme_assets.closed_book import ClosedBookProblem
from cme_assets.physics.resolution import Instrument
from cme_assets.posing import pose
from cme_assets.problems import DRAWS, Sample, add_noise, clean_map, draw_parameters, noise_map
from cme_assets.prompts import render
from cme_assets.solvers import ENTRANTS
from cme_assets.tasks.catalogue import CATEGORIES
from cme_assets.tasks.category import Category
from resources.tokens import count_tokens

Times = defaultdict[str, float]


@contextmanager
def _timed(times: Times, name: str) -> Iterator[None]:
    start = time.process_time()
    yield
    times[name] += time.process_time() - start


def _problems(category: Category, size: int, times: Times) -> Iterator[ClosedBookProblem]:
    """The category's five problems; the clean maps are shared by levels of equal resolution, as the assets do."""
    instrument = Instrument()
    with _timed(times, "draws"):
        samples = [Sample(category, draw, size) for draw in range(DRAWS)]
        for sample in samples:
            _ = (sample.axes, sample.truth)
    clean = {}
    for number, level in enumerate(category.levels):
        maps = []
        for sample in samples:
            key = (sample.index, level.energy_factor)
            with _timed(times, "maps"):
                if key not in clean:
                    clean[key] = clean_map(sample, level, instrument)
            with _timed(times, "noise"):
                field = noise_map(sample, number) if level.noise else clean[key] * 0.0
                maps.append((sample, add_noise(clean[key], field, level).values))
        with _timed(times, "tables"):
            problem = pose(category, level, instrument, maps)
        yield problem


def measure(size: int, names: list[str], solve: bool) -> Times:
    """CPU seconds by stage for all problems of the categories named, tables of side `size`."""
    times: Times = defaultdict(float)
    draw_parameters.cache_clear()
    for name in names:
        for problem in _problems(CATEGORIES[name], size, times):
            with _timed(times, "prompts"):
                text = render(problem)
            with _timed(times, "tokens"):
                count_tokens(text)
            if solve:
                with _timed(times, "reference-rowwise"):
                    ENTRANTS["reference-rowwise"](problem)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.simulation", description=__doc__)
    parser.add_argument("--resolutions", default="50,100,200")
    parser.add_argument("--categories", default=",".join(CATEGORIES))
    parser.add_argument("--solve", action="store_true")
    arguments = parser.parse_args()
    names = arguments.categories.split(",")
    results = {int(size): measure(int(size), names, arguments.solve) for size in arguments.resolutions.split(",")}
    stages = list(next(iter(results.values())))
    print(f"{len(names)} categories, {5 * len(names)} problems; CPU seconds")
    print("\t".join(["stage", *(f"{size} x {size}" for size in results)]))
    for stage in stages:
        print("\t".join([stage, *(f"{times[stage]:.2f}" for times in results.values())]))
    simulation = ["draws", "maps", "noise"]
    print("\t".join(["simulation", *(f"{sum(times[s] for s in simulation):.2f}" for times in results.values())]))


if __name__ == "__main__":
    main()
