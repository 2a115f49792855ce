"""RepoAgent's tree and references of a folder, as JSON on standard output; runs in RepoAgent's own environment.

python source_repoagent.py FOLDER
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("OPENAI_API_KEY", "unused")

from repo_agent.doc_meta_info import MetaInfo
from repo_agent.settings import SettingsManager


def main() -> None:
    target = Path(sys.argv[1])
    SettingsManager.initialize_with_params(
        target_repo=target,
        markdown_docs_name="documents",
        hierarchy_name=".hierarchy",
        ignore_list=[],
        language="en",
        max_thread_count=1,
        log_level="ERROR",
        model="none",
        temperature=0.2,
        request_timeout=60,
        openai_base_url="http://localhost",
    )
    with contextlib.redirect_stdout(sys.stderr):
        started = time.process_time()
        meta = MetaInfo.init_meta_info({}, [])
        tree_done = time.process_time()
        meta.parse_reference()
        references_done = time.process_time()
    edges: list[tuple[str, str]] = []
    objects = 0
    stack = [meta.target_repo_hierarchical_tree]
    while stack:
        item = stack.pop()
        objects += item.item_type.name in ("_class", "_class_function", "_function", "_sub_function")
        edges += [(item.get_full_name(), other.get_full_name()) for other in item.reference_who]
        stack += item.children.values()
    result = {
        "objects": objects,
        "tree_seconds": tree_done - started,
        "reference_seconds": references_done - tree_done,
        "edges": sorted(edges),
    }
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
