"""Pictures of maps: small enough for an event, the right way up, nothing but markup of ours."""

from __future__ import annotations

import base64
import io
import re

import numpy as np
import pytest
from PIL import Image

from cme_assets.pictures import GALLERY_BYTES, gallery, png


@pytest.mark.parametrize("size", [16, 50, 100, 200, 400])
def test_a_picture_is_square_with_whole_pixels(size: int) -> None:
    image = Image.open(io.BytesIO(png(np.random.default_rng(0).random((size, size)))))
    assert image.width == image.height
    assert image.width % size == 0
    assert 100 <= image.width <= 400


def test_the_first_row_is_at_the_bottom_and_the_peak_is_brightest() -> None:
    values = np.zeros((50, 50))
    values[0, 10] = 5.0
    pixels = np.asarray(Image.open(io.BytesIO(png(values))).convert("L"))
    row, column = np.unravel_index(int(np.argmax(pixels)), pixels.shape)
    scale = pixels.shape[0] // 50
    assert row // scale == 49
    assert column // scale == 10


def test_an_empty_map_is_dark() -> None:
    assert np.asarray(Image.open(io.BytesIO(png(np.zeros((20, 20))))).convert("L")).max() < 10


def test_a_gallery_never_grows_beyond_what_an_event_may_hold() -> None:
    noise = [(f"map {i}", np.random.default_rng(i).random((200, 200))) for i in range(20)]
    text = gallery(noise)
    assert 0 < len(text) <= GALLERY_BYTES
    for encoded in re.findall(r"base64,([^)]*)\)", text):
        assert Image.open(io.BytesIO(base64.b64decode(encoded))).format == "PNG"
