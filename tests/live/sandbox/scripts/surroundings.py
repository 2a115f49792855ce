import locale
import os
import time

import numpy as np

threads = {name: value for name, value in os.environ.items() if name.endswith("_NUM_THREADS")}
submit((time.tzname[0], threads, locale.getpreferredencoding(), [np.random.normal(), os.environ["PYTHONHASHSEED"]]))
