"""Put report and gallery into the templates and write the page: `python -m cme_assets.page.write`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from cme_assets.page.charts import Chart, Point, score_chart
from cme_assets.page.gallery import Domain, category_order, domain_title, read_gallery
from cme_assets.page.inert import environment
from cme_assets.page.report import TIERS, PageError, Report, Row, read_report
from cme_assets.page.transcripts import Evaluation, Transcript, write_transcripts
from cme_assets.solvers import ENTRANTS
from cme_assets.tasks.catalogue import CATEGORIES
from resources.arguments import take_none
from resources.lake import Lake, LakeError
from resources.settings import SettingError, Settings, read_settings


def write_page(settings: Settings) -> Path:
    """Write the page from the reports and the lake. Raises PageError or LakeError; the old page then stays."""
    report = read_report(settings.reports_database)
    lake = Lake(str(settings.lake))
    gallery = read_gallery(lake, report.resolution)
    temporary = settings.page.with_suffix(".tmp")
    try:
        settings.page.parent.mkdir(parents=True, exist_ok=True)
        transcripts = write_transcripts(lake, settings.page.parent)
        text = render(report, gallery, transcripts)
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(settings.page)
    except OSError as error:
        raise PageError(f"{settings.page}: cannot be written ({error.strerror}); make its folder writable") from None
    return settings.page


def render(
    report: Report, gallery: list[Domain], transcripts: Mapping[Evaluation, Transcript] = MappingProxyType({})
) -> str:
    """The page as one HTML text, with links to the transcripts that there are."""
    styles = {row["evaluation"]: number for number, row in enumerate(report.shown)}
    return (
        environment()
        .get_template("index.html.j2")
        .render(
            report=report,
            transcripts=_linked(report, transcripts),
            gallery=gallery,
            styles=styles,
            labels={row["evaluation"]: label(row) for row in report.shown},
            level_chart=_level_chart(report, styles) if report.shown else None,
            size_chart=_size_chart(report, styles) if report.sizes else None,
            published_tiers=_published_tiers(report),
            tiers=TIERS,
            heat=_heat(report),
            problems_here=len(report.benchmark),
            levels_here=len({problem["level"] for problem in report.benchmark}),
            categories_here=len({problem["category"] for problem in report.benchmark}),
            categories_all=sum(category.published for category in CATEGORIES.values()),
            reference_entrants=ENTRANTS,
        )
    )


def _linked(report: Report, transcripts: Mapping[Evaluation, Transcript]) -> dict[str, Transcript]:
    """Transcripts by the evaluation's name."""
    rows = {row["evaluation"]: row for row in report.leaderboard}
    keys = {name: (r["model"], r["protocol"], r["variant"], r["resolution"]) for name, r in rows.items()}
    return {name: transcripts[key] for name, key in keys.items() if key in transcripts}


def label(row: Row) -> str:
    """A short name of an evaluation beside others of its resolution."""
    details = [row[name] for name, usual in (("protocol", "direct"), ("variant", "published")) if row[name] != usual]
    return f"{row['model']} ({', '.join(details)})" if details else str(row["model"])


def _level_chart(report: Report, styles: dict[str, int]) -> Chart:
    lines: list[tuple[str, int | None, list[Point]]] = [
        (label(row), styles[row["evaluation"]], _points(report.levels[row["evaluation"]], "level"))
        for row in report.shown
    ]
    levels = sorted({problem["level"] for problem in report.benchmark})
    for row in report.published:
        if row["published_protocol"] == "python fit":
            ends = ((levels[0], row["published_score_min_noise"]), (levels[-1], row["published_score_max_noise"]))
            points: list[Point] = [(float(level), score, None, None) for level, score in ends]
            lines.append((f"{row['published_model']}, published", None, points))
    return score_chart(lines, [(level, str(level)) for level in levels], "level")


def _size_chart(report: Report, styles: dict[str, int]) -> Chart:
    sizes = sorted({row["resolution"] for group in report.sizes for row in group})
    places = {size: float(place) for place, size in enumerate(sizes)}
    lines = [
        (
            label(group[0]),
            next((styles[row["evaluation"]] for row in group if row["evaluation"] in styles), number),
            _points([{**row, "place": places[row["resolution"]]} for row in group], "place"),
        )
        for number, group in enumerate(report.sizes)
    ]
    return score_chart(lines, [(places[size], f"{size} × {size}") for size in sizes], "size")


def _points(rows: list[Row], at: str) -> list[Point]:
    return [(float(r[at]), r["score"], r["ci_low"], r["ci_high"]) for r in rows if r["score"] is not None]


@dataclass(frozen=True)
class HeatRow:
    """A category's scores, in the order of the evaluations shown."""

    category: str
    title: str
    tier: int
    published: bool
    scores: tuple[float | None, ...]
    evaluations: tuple[str, ...]


@dataclass(frozen=True)
class HeatGroup:
    """The categories of one domain."""

    letter: str
    title: str
    rows: tuple[HeatRow, ...]


def _heat(report: Report) -> list[HeatGroup]:
    scores = {
        evaluation: {row["category"]: row["score"] for row in rows} for evaluation, rows in report.categories.items()
    }
    categories = {row["category"]: row for row in report.problems}
    shown_names = tuple(shown["evaluation"] for shown in report.shown)
    groups: dict[str, list[HeatRow]] = {}
    for category in sorted(categories, key=category_order):
        row = categories[category]
        columns = tuple(scores[shown["evaluation"]].get(category) for shown in report.shown)
        groups.setdefault(row["domain"], []).append(
            HeatRow(category, row["title"] or "", row["tier"], row["published"], columns, shown_names)
        )
    return [HeatGroup(letter, domain_title(letter), tuple(rows)) for letter, rows in groups.items()]


def _published_tiers(report: Report) -> list[tuple[str, dict[int, float]]]:
    """Published scores by tier, one entry a model and protocol."""
    grouped: dict[str, dict[int, float]] = {}
    for row in report.published_tiers:
        grouped.setdefault(f"{row['model']} ({row['protocol']})", {})[row["tier"]] = row["score"]
    return list(grouped.items())


def main() -> int:
    """Write the page and say where it is."""
    take_none("cme_assets.page.write", __doc__)
    try:
        print(write_page(read_settings()))
    except (PageError, LakeError, SettingError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
