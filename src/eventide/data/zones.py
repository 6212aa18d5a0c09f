"""Names of time zones that stand for one fixed offset, in minutes east of UTC.

Names that several countries share with different offsets are left out (IST, AST), but for those
that RFC 2822 defines (EST to PDT).
"""

from __future__ import annotations

from collections.abc import Iterable

ZONES: dict[str, int] = {
    "Z": 0, "UTC": 0, "UT": 0, "GMT": 0, "WET": 0,
    "BST": 60, "WEST": 60, "CET": 60, "MEZ": 60, "WAT": 60,
    "CEST": 120, "MESZ": 120, "EET": 120, "SAST": 120,
    "EEST": 180, "MSK": 180, "EAT": 180, "TRT": 180,
    "PKT": 300, "WIB": 420, "SGT": 480, "HKT": 480, "AWST": 480,
    "JST": 540, "KST": 540, "ACST": 570, "AEST": 600, "ACDT": 630, "AEDT": 660,
    "NZST": 720, "NZDT": 780,
    "BRT": -180, "ART": -180, "NDT": -150, "NST": -210,
    "EDT": -240, "EST": -300, "CDT": -300, "CST": -360, "MDT": -360, "MST": -420,
    "PDT": -420, "PST": -480, "AKDT": -480, "AKST": -540, "HST": -600,
}  # fmt: skip


def shown_zones(names: Iterable[str]) -> str:
    """Say what names stand for.

    >>> shown_zones(["CET", "NST"])
    'CET = UTC+01:00, NST = UTC-03:30'
    """
    return ", ".join(f"{name} = UTC{_offset(ZONES[name])}" for name in sorted(names))


def _offset(minutes: int) -> str:
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
