"""The tool source: its files, and what is read from them."""

from __future__ import annotations

from collections import Counter

from mattools_assets import pictures
from mattools_assets.source.obtain import Obtained
from mattools_assets.source.order import Order
from mattools_assets.source.project import Project, analyse
from mattools_assets.source.reading import read_files
from mattools_assets.source.specification import parse_specification
from mattools_assets.source.tables import CODE_OBJECTS, REFERENCES, SOURCE_PROBLEMS, TOOL_SOURCE, object_id
from resources.lake import LakeTable
from resources.markdown import markdown_table
from resources.settings import Settings
from resources.stage import Made, Remarks

SHOWN = 15


def obtained(settings: Settings) -> Obtained:
    """The source that the settings name, fetched below the data folder unless it is a folder. Raises SourceError."""
    return parse_specification(settings.knowledge.source).obtain(settings.data / "sources")


def make_tool_source(settings: Settings) -> Made:
    """One row a file. Raises SourceError, one line that names what is wrong and the mend."""
    source = obtained(settings)
    files, _ = read_files(source.root, source.under)
    parts = [" ".join(filter(None, (part.name, part.version, part.sha256))) for part in source.parts]
    facts = {
        "origin": source.origin,
        "specification": str(parse_specification(settings.knowledge.source)),
        "parts": parts,
    }
    rows = [{"file": file.path, "lines": file.lines, "sha256": file.sha256, **facts} for file in files]
    remarks: Remarks = {
        "files": len(files),
        "lines": sum(file.lines for file in files),
        "made of": "\n".join(f"* `{part}`" for part in parts),
    }
    return Made(TOOL_SOURCE.rows(rows), remarks)


def make_source_tables(settings: Settings) -> dict[LakeTable, Made]:
    """Objects, references and problems of the source, with pictures of tree and graph. Raises SourceError."""
    source = obtained(settings)
    project = analyse(source.root, source.under, source.links)
    return {
        CODE_OBJECTS: Made(project.code_objects(), _tree_remarks(project)),
        REFERENCES: Made(project.reference_table(), _graph_remarks(project)),
        SOURCE_PROBLEMS: Made(project.problem_table(), {"findings": len(project.problems)}),
    }


def _tree_remarks(project: Project) -> Remarks:
    kinds = Counter(item.kind.value for item in project.objects)
    documented = Counter(item.file for item in project.objects if item.kind.is_documented)
    largest = markdown_table(("file", "objects"), documented.most_common(SHOWN))
    counts: Remarks = dict(kinds.most_common())
    return {**counts, "lines": project.lines, "tree": pictures.tree(project.files), "largest files": largest}


def _graph_remarks(project: Project) -> Remarks:
    certainty = Counter(reference.certainty.name.lower() for reference in project.references)
    callers = Counter(reference.target for reference in project.references)
    most = [(object_id(project.objects[index]), count) for index, count in callers.most_common(SHOWN)]
    return {
        "references": len(project.references),
        "levels": len(project.order.levels),
        "cycles": len(project.order.cycles()),
        "graph": pictures.graph(project.objects, project.references, project.order),
        "objects by level": pictures.levels(project.order),
        "largest cycles": _cycles(project, project.order),
        "most referenced": markdown_table(("object", "referred to by"), most),
        "certainty": markdown_table(("certainty", "references"), certainty.most_common()),
    }


def _cycles(project: Project, order: Order) -> str:
    found = order.cycles()[:SHOWN]
    if not found:
        return "none"
    names = [", ".join(f"`{object_id(project.objects[index])}`" for index in group[:SHOWN]) for group in found]
    return markdown_table(("objects", "which"), [(len(group), text) for group, text in zip(found, names, strict=True)])
