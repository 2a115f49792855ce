"""How far an agent may go. Other limits make another variant of the evaluation."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from resources.sandbox.limits import MEBIBYTE, Limits

PUBLISHED = "published"
MOST = {"steps": 10_000, "tokens": 10**9, "seconds": 1e7, "script_seconds": 1e6, "script_mebibytes": 2**20}
"""Beyond these a limit is a slip of the pen, and some do not fit into what holds them."""


@dataclass(frozen=True)
class AgentLimits:
    """What one run of an agent may use; passing a limit is the agent's own failure.

    `steps` counts its replies, `tokens` what it writes in all of them, `seconds` the processor time of all its scripts
    before the last one; `script_seconds` (processor time) and `script_mebibytes` hold for each script. Processor time
    does not depend on how busy the machine is, time by the clock does.
    """

    steps: int = 10
    tokens: int = 100_000
    seconds: float = 600.0
    script_seconds: float = 60.0
    script_mebibytes: int = 1024

    def __post_init__(self) -> None:
        for name, value in dataclasses.asdict(self).items():
            if not 0 < value <= MOST[name]:  # which a NaN is not either
                raise ValueError(f"agent limit {name}={value:g}: use a number above zero, at most {MOST[name]:,}")

    @classmethod
    def of(cls, changed: Mapping[str, float]) -> AgentLimits:
        """The default limits with those `changed`, by name. Raises ValueError."""
        types = {name: type(value) for name, value in dataclasses.asdict(cls()).items()}
        for name, value in changed.items():
            if name not in types:
                raise ValueError(f"there is no agent limit {name!r}; use {', '.join(types)}")
            if types[name] is int and not float(value).is_integer():
                raise ValueError(f"agent limit {name}={value:g}: use a whole number")
        return cls(**{name: types[name](value) for name, value in changed.items()})

    @property
    def variant(self) -> str:
        """The name under which results with these limits are kept: the limits that differ from the default."""
        differing = [
            f"{field.name} {getattr(self, field.name):g}"
            for field in dataclasses.fields(self)
            if getattr(self, field.name) != field.default
        ]
        return ", ".join(differing) or PUBLISHED

    @property
    def script(self) -> Limits:
        """The sandbox's limits for one script."""
        return Limits(
            wall_s=3 * self.script_seconds,
            cpu_s=self.script_seconds,
            memory=self.script_mebibytes * MEBIBYTE,
            output=64 * 1024,
            result=256 * 1024,
            outputs=MEBIBYTE,
        )
