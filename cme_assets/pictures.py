"""Maps as small pictures for the Dagster UI: PNG in Markdown, so that they need no server and no file.

Dagster stores them in every event, so a gallery stays under GALLERY_BYTES.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from PIL import Image

from cme_assets.physics.types import Array

SIDE = 150
COLOURS = 32
GALLERY_BYTES = 95_000


def png(values: Array, side: int = SIDE) -> bytes:
    """A map as a square PNG of about `side` pixels, low energies at the bottom, from zero (dark) to its peak."""
    scaled = np.clip(values / max(float(values.max()), 1e-300), 0.0, 1.0)[::-1]
    shades = np.rint(scaled * (COLOURS - 1)).astype(np.uint8)
    repeat = max(1, round(side / len(shades)))
    image = Image.fromarray(np.kron(shades, np.ones((repeat, repeat), dtype=np.uint8)), mode="P")
    palette = colormaps["inferno"](np.linspace(0.0, 1.0, COLOURS))[:, :3]
    image.putpalette(np.rint(palette * 255).astype(np.uint8).ravel().tolist())
    buffer = io.BytesIO()
    image.save(buffer, "PNG", optimize=True, bits=5)
    return buffer.getvalue()


def gallery(titled: Sequence[tuple[str, Array]]) -> str:
    """Maps with their titles as Markdown; the last ones are left out when it would grow beyond GALLERY_BYTES."""
    parts: list[str] = []
    for title, values in titled:
        part = f"**{title}**\n\n![{title}](data:image/png;base64,{base64.b64encode(png(values)).decode()})"
        if sum(map(len, parts)) + len(part) > GALLERY_BYTES:
            break
        parts.append(part)
    return "\n\n".join(parts)
