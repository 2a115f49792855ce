import numpy as np


class EqualToAll:
    __class__ = float

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 1

    def __float__(self):
        return 1.0

    def __array__(self, *arguments, **options):
        return np.ones(3)


class LyingFloat(float):
    def __float__(self):
        return 99.0

    def __repr__(self):
        return "99.0"

    def __eq__(self, other):
        return True


class LyingList(list):
    def __iter__(self):
        return iter([99])

    def __len__(self):
        return 1


class FailingRepr:
    def __repr__(self):
        raise RuntimeError


class PrintingRepr:
    def __repr__(self):
        return "array([1, 2])"


submit(
    {
        "equal to all": EqualToAll(),
        "float that lies": LyingFloat(0.5),
        "list that lies": LyingList([1, 2]),
        "repr that fails": FailingRepr(),
        "repr that prints": PrintingRepr(),
    }
)
