"""Tree and references against RepoAgent 0.2.0, and the default source: `python -m benchmarks.source_references`.

Both read the same folder, pymatgen-analysis-defects 2024.7.19. Times are processor seconds, so that other work on the
machine counts little. RepoAgent lives in an environment of its own, made on first use below the data folder.
"""

from __future__ import annotations

import json
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from mattools_assets.source.obtain import DEFAULT_PACKAGES, from_wheels
from mattools_assets.source.project import analyse
from mattools_assets.source.reading import read_files
from mattools_assets.source.references import find_references
from mattools_assets.source.tree import CodeObject, build_tree
from resources.arguments import take_none
from resources.settings import read_settings

REPOAGENT = "repoagent==0.2.0"
REPEATS = 5


def main() -> None:
    take_none("benchmarks.source_references", __doc__)
    data = read_settings().data
    with TemporaryDirectory() as scratch:
        folder = Path(scratch) / "source"
        shutil.copytree(from_wheels(DEFAULT_PACKAGES[1:], data / "sources").root, folder)
        (folder / ".gitignore").touch()  # RepoAgent fails without one, and finds fewer edges outside a repository
        subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
        theirs = json.loads(_run_repoagent(_repoagent_python(data / "benchmarks" / "repoagent"), folder))
        ours, tree_seconds, reference_seconds = _ours(folder)
    missing = [edge for edge in map(tuple, theirs["edges"]) if edge not in ours]
    found = len(theirs["edges"]) - len(missing)
    print(f"pymatgen-analysis-defects, {theirs['objects']} objects, processor seconds (ours: median of {REPEATS})")
    print(f"{'':24}{'RepoAgent':>12}{'ours':>12}{'ratio':>10}")
    _row("tree", theirs["tree_seconds"], tree_seconds)
    _row("references", theirs["reference_seconds"], reference_seconds)
    print(f"edges: RepoAgent {len(theirs['edges'])}, ours {len(ours)}, of RepoAgent's in ours {found}")
    for source, target in missing:
        print(f"  lacking: {source} -> {target}")
    _default_source(data)


def _row(name: str, theirs: float, ours: float) -> None:
    print(f"{name:24}{theirs:12.3f}{ours:12.4f}{theirs / ours:9.0f}x")


def _repoagent_python(folder: Path) -> Path:
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", REPOAGENT], check=True)
    return python


def _run_repoagent(python: Path, folder: Path) -> str:
    script = Path(__file__).with_name("source_repoagent.py")
    with TemporaryDirectory() as cache:  # jedi keeps parsed files there; each run begins without
        return subprocess.run(
            [str(python), str(script), str(folder)],
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={"PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": cache, "HOME": cache},
        ).stdout


def _ours(folder: Path) -> tuple[set[tuple[str, str]], float, float]:
    trees, references = [], []
    for _ in range(REPEATS):
        started = time.process_time()
        tree = build_tree(read_files(folder)[0])
        tree_done = time.process_time()
        found = find_references(tree)
        trees.append(tree_done - started)
        references.append(time.process_time() - tree_done)
    edges = {(_path(tree.objects[r.source]), _path(tree.objects[r.target])) for r in found}
    return edges, statistics.median(trees), statistics.median(references)


def _path(item: CodeObject) -> str:
    """An object's name as RepoAgent writes it."""
    return "/".join([item.file, *item.qualified_name.split(".")]) if item.qualified_name else item.file


def _default_source(data: Path) -> None:
    root = from_wheels(DEFAULT_PACKAGES, data / "sources").root
    with get_context("spawn").Pool(1) as pool:  # a process of its own, for its peak memory
        print(pool.apply(_measure, (root,)))


def _measure(root: Path) -> str:
    started = time.process_time()
    project = analyse(root)
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    kinds = Counter(item.kind.value for item in project.objects)
    certainties = Counter(reference.certainty.name.lower() for reference in project.references)
    return (
        f"default source: {len(project.files)} files, {project.lines} lines, {dict(kinds)}\n"
        f"{len(project.references)} references {dict(certainties)}; {len(project.order.levels)} levels, "
        f"cycles of {[len(cycle) for cycle in project.order.cycles()]}\n"
        f"tree, references and order: {seconds:.1f} s of processor time, peak {peak:.0f} MiB"
    )


if __name__ == "__main__":
    main()
