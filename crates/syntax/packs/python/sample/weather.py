#!/usr/bin/env python3
"""Stations and what they measure. — „Wetter“"""

from __future__ import annotations

import json
import os.path as paths, sys
from collections import (
    OrderedDict,
    defaultdict as grouped,
)
from . import station
from ..tools.text import *

MOST_READINGS = 100
names: list[str] = ["Süd", "Nord"]
first, second = 1, 2


class Reading(tuple, metaclass=Meta):
    """One value at one time."""

    unit = "°C"
    __slots__ = ()


@registered("station")
# Kept open while it measures.
@dataclass(frozen=True)
class Station(
    station.Base[int],
    Named,
):
    """A station.

    It keeps its readings.
    """

    name: str
    readings: list[Reading] = field(default_factory=list)

    def __init__(self, name: str, *, most: int = MOST_READINGS) -> None:
        self.name = name
        self.most = most

    @property
    def last(self) -> Reading: return self.readings[-1]

    @staticmethod
    async def fetch(url, /, timeout=3.0, *args, **rest):
        """Asks a server."""

        def retry(times):
            return fetch(url, times)

        async with open_session(url) as session:
            try:
                text = await session.get(f"{url}/last?n={retry(2)!r:>{timeout}} fetch")
            except OSError as problem:
                print(problem, "fetch failed")
        return [json.loads(line) for line in text if (size := len(line)) > 1]

    class Meta:
        ordering = ["name"]


def average(station, key=lambda reading: reading[0]):
    # The mean of all; fetch is not needed.
    total = sum(map(key, station.readings))
    global names
    match station:
        case Station(name=name, readings=[head, *tail]):
            return total / len(tail)
    return Station.fetch(station.name)


if sys.platform == "win32":
    def separator(): return "\\"
else:
    def separator():
        return "/"

handler = lambda event: average(event)
