"""What can be wrong with a source as a whole."""

from __future__ import annotations


class SourceError(ValueError):
    """A source that cannot be had or read; the message is one line that names it and the mend."""
