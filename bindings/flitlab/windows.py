"""Increases of a run's counts, window by window."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from flitlab.courses import Sample


def increases(samples: Iterable[Sample]) -> pd.DataFrame:
    """Returns a table with a row for each window of a course: the increase of each count in that window. The index is
    the cycle in which the window ends. samples: of one run from cycle 0, as :func:`flitlab.courses.follow`
    returns them; values that are no numbers are left out.

    >>> print(increases([{"cycle": 10, "packets": 3}, {"cycle": 20, "packets": 7}]))
           packets
    cycle
    10           3
    20           4
    """
    import pandas as pd

    counts = pd.DataFrame(list(samples)).set_index("cycle").select_dtypes("number")
    return counts - counts.shift(fill_value=0)
