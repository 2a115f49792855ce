"""Array types used by the formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]
ComplexArray = NDArray[np.complexfloating[Any, Any]]
Mask = NDArray[np.bool_]
