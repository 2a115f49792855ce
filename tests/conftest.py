"""For all tests: one thread of linear algebra a process; more of them hinder one another on few cores."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
