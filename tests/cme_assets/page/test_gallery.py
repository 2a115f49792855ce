"""Pictures against maps whose brightest pixel is known."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cme_assets.page.gallery import HEIGHT, LEFT, TOP, WIDTH, Card, read_gallery
from cme_assets.schemas import NOISY_SPECTRA, PROBLEMS
from resources.lake import Lake, LakeError

SIZE = 20
ROW, COLUMN = 4, 13
ROWS = np.linspace(16.8, 17.18, SIZE)
COLUMNS = np.linspace(-0.3, 0.27, SIZE)


def problem(level: int, **changes: object) -> dict[str, object]:
    return {
        "problem_id": f"B8-L{level}",
        "category": "B8",
        "domain": "B",
        "tier": 1,
        "level": level,
        "resolution": SIZE,
        "draw": 0,
        "role": "example",
        "title": "Band bottom",
        "published": True,
        "map_kind": "EK",
        "noise": 0.1 * level,
        "energy_factor": 1.0,
        "parameters": json.dumps({}),
        "x_start": -0.315,
        "x_stop": 0.285,
        "y_start": 0.0,
        "y_stop": 0.4,
        "y_zero": 16.79,
        "listed_axis": None,
        "listed_first": None,
        "listed_last": None,
        "quantity": ["E_bottom"],
        "unit": "eV",
        "shape": "scalar",
        "truth": [float(ROWS[ROW])],
        "gamma": 0.003,
        "gamma_wide": None,
        "category_hash": "none",
        **changes,
    }


def gallery_card(folder: Path, resolution: int = SIZE, maps: bool = True, **changes: object) -> Card:
    lake = Lake(str(folder))
    key = {"category": "B8"}
    lake.write(PROBLEMS, key, PROBLEMS.rows([problem(level, **changes) for level in range(5)]), {})
    bright = np.full((SIZE, SIZE), 0.1)
    bright[ROW, COLUMN] = 1.0
    rows: list[dict[str, object]] = [
        {
            "problem_id": f"B8-L{level}",
            "category": "B8",
            "level": level,
            "resolution": SIZE,
            "draw": draw,
            "intensity": (bright if draw == 0 else bright.T).ravel(),
            "rms_over_peak": 0.0,
            "pedestal_over_peak": 0.0,
            "row_values": ROWS,
            "column_values": COLUMNS,
        }
        for level in range(5)
        for draw in range(4)
    ]
    if maps:
        lake.write(NOISY_SPECTRA, key, NOISY_SPECTRA.rows(rows), {})
    ((card,),) = [domain.cards for domain in read_gallery(lake, resolution)]
    return card


def brightest(card: Card) -> tuple[float, float]:
    """Where the brightest pixel is in the drawing, x and y."""
    image = Image.open(io.BytesIO(base64.b64decode(card.pictures[0].image)))
    pixels = np.asarray(image.convert("L"), dtype=float)
    ys, xs = np.nonzero(pixels == pixels.max())
    height, width = pixels.shape
    return LEFT + (xs.mean() + 0.5) / width * WIDTH, TOP + (ys.mean() + 0.5) / height * HEIGHT


def points(line: str) -> list[tuple[float, float]]:
    return [tuple(float(part) for part in pair.split(",")) for pair in line.split()]  # type: ignore[misc]


def test_energy_is_a_line_through_its_pixel(tmp_path: Path) -> None:
    card = gallery_card(tmp_path)
    x, y = brightest(card)
    ((start, stop),) = [points(line) for line in card.pictures[0].answer]
    assert (start[0], stop[0]) == (LEFT, LEFT + WIDTH)
    assert start[1] == stop[1] == pytest.approx(y, abs=0.02)
    assert LEFT < x < LEFT + WIDTH
    assert card.pictures[1].answer == (), "drawn once, where there is no noise"


def test_momentum_curve_runs_through_its_pixel(tmp_path: Path) -> None:
    truth = [float(COLUMNS[COLUMN] + 0.01 * (row - ROW)) for row in range(2, 9)]
    listed = {"listed_axis": "y", "listed_first": 2, "listed_last": 8}
    card = gallery_card(tmp_path, quantity=["k"], unit="1/Angstrom", shape="array", truth=truth, **listed)
    (line,) = [points(line) for line in card.pictures[0].answer]
    assert len(line) == 7
    assert line[ROW - 2] == pytest.approx(brightest(card), abs=0.02)
    assert card.asked == "k at 7 rows"
    assert card.unit == "1/Å"


def test_widths_are_nowhere_in_the_map(tmp_path: Path) -> None:
    listed = {"listed_axis": "y", "listed_first": 0, "listed_last": 1}
    card = gallery_card(tmp_path, quantity=["FWHM_k"], unit="1/Angstrom", shape="array", truth=[0.1, 0.1], **listed)
    assert card.pictures[0].answer == ()


def test_ticks_are_where_their_values_are(tmp_path: Path) -> None:
    card = gallery_card(tmp_path)
    pixel_x, pixel_y = WIDTH / SIZE, HEIGHT / SIZE
    for at, label in card.pictures[0].x_ticks:
        place = (float(label.replace("−", "-")) - COLUMNS[0]) / (COLUMNS[1] - COLUMNS[0])
        assert at == pytest.approx(LEFT + (place + 0.5) * pixel_x, abs=0.02)
    for at, label in card.pictures[0].y_ticks:
        place = (float(label) - ROWS[0]) / (ROWS[1] - ROWS[0])
        assert at == pytest.approx(TOP + HEIGHT - (place + 0.5) * pixel_y, abs=0.02)


def test_captions_tell_the_levels_apart(tmp_path: Path) -> None:
    captions = [picture.caption for picture in gallery_card(tmp_path).pictures]
    assert captions == ["level 0: no noise", "level 4: noise 40 % of the peak"]


def test_next_best_resolution_is_shown(tmp_path: Path) -> None:
    assert len(gallery_card(tmp_path, resolution=100).pictures) == 2


def test_maps_not_made_yet(tmp_path: Path) -> None:
    assert gallery_card(tmp_path, maps=False).pictures == ()


def test_truncated_maps_are_named(tmp_path: Path) -> None:
    gallery_card(tmp_path)
    path = tmp_path / "noisy_spectra" / "category=B8" / "data.parquet"
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(LakeError, match=r"category=B8/data\.parquet: cannot be read as Parquet"):
        read_gallery(Lake(str(tmp_path)), SIZE)
