"""`python -m benchmarks [NAME [OPTION …]]`: lists the benchmarks, or runs one in a process of its own.

Each prints its figures beside what they are measured against. Whatever else the machine does is in the figures: run
them when it is idle, and look at ratios and CPU seconds.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path


def titles() -> dict[str, str]:
    """The first line of what each benchmark says of itself, by name; none is imported."""
    files = sorted(file for file in Path(__file__).parent.glob("*.py") if not file.name.startswith("_"))
    texts = {file.stem: ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) for file in files}
    return {name: (text or "").split("\n")[0] for name, text in texts.items()}


def main() -> int:
    """The benchmark's exit status, or 1 after one line for a name that is none."""
    known, (name, *options) = titles(), sys.argv[1:] or [""]
    if name in known:
        print(f"{name}, at a load of {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", flush=True)
        return subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *options], check=False).returncode
    if name:
        print(f"error: there is no benchmark {name!r}; use one of {', '.join(known)}", file=sys.stderr)
        return 1
    print("run one by `python -m benchmarks NAME` or `make bench NAME=…`:")
    for known_name, title in known.items():
        print(f"  {known_name:18s} {title}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
