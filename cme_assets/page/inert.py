"""Text of strangers made visible and harmless: model names, and whatever a model replied.

Markup is escaped by the templates. What escaping leaves are characters that act on whoever displays them: terminal
escape codes, and marks that turn the direction of writing around or take no room. They are shown by name.
"""

from __future__ import annotations

import re
import unicodedata

from jinja2 import Environment, PackageLoader, StrictUndefined

# Looking at every character of a megabyte takes a second, and nearly all are plain.
_NOT_PLAIN = re.compile(r"[^\n\t\x20-\x7e]")


def inert(text: object) -> str:
    """`text` with every control and format character written out, such as ⟨U+001B⟩; line breaks and tabs stay."""
    return _NOT_PLAIN.sub(lambda found: _shown(found[0]), str(text))


def _shown(character: str) -> str:
    # Cc control, Cf format, Cs half of a pair, Co private, Zl and Zp separators.
    acts = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
    return f"⟨U+{ord(character):04X}⟩" if acts else character


def environment() -> Environment:
    """Jinja with everything escaped that a template does not declare safe, and `inert` as a filter."""
    templates = Environment(
        loader=PackageLoader("cme_assets.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["inert"] = inert
    return templates
