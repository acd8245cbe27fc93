"""Dates and times: how a user says one, and what the call has."""

from collections.abc import Callable
from datetime import datetime, timedelta

from training.synthetic.lexicon import Draw


def _moment(d: Draw) -> datetime:
    minutes = 30 * d.randrange(48) if d.chance(0.8) else d.randrange(1440)
    return datetime(d.randint(2015, 2027), 1, 1) + timedelta(days=d.randrange(365), minutes=minutes)


def _said_day(d: Draw, moment: datetime) -> str:
    month, day, year = moment.strftime("%B"), moment.day, moment.year
    if d.chance(0.25):
        month = month[:3]
    ordinal = f"{day}{'th' if 10 < day < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"
    return d.choice([f"{month} {day}, {year}", f"{month} {ordinal}, {year}", f"{ordinal} of {month} {year}",
                     f"{day} {month} {year}"])  # fmt: skip


def _said_time(d: Draw, moment: datetime) -> str:
    hour = moment.hour % 12 or 12
    half = d.choice(["am", " AM"]) if moment.hour < 12 else d.choice(["pm", " PM"])
    minute = f":{moment.minute:02d}" if moment.minute or d.chance(0.4) else ""
    return f"{hour}{minute}{half}"


def _sampler(
    layout: str, say: Callable[[Draw, datetime], str], written_share: float
) -> Callable[[Draw], tuple[str, str]]:
    """Draw moments that a user says or, with a probability of ``written_share``, writes in the call's layout."""

    def sample(d: Draw) -> tuple[str, str]:
        moment = _moment(d)
        written = moment.strftime(layout)
        return (written if d.chance(written_share) else say(d, moment)), written

    return sample


date = _sampler("%Y-%m-%d", _said_day, 0.5)
"""``2023-07-15``, often said as "July 15th, 2023"."""
slashed_date = _sampler("%m/%d/%Y", _said_day, 0.5)
"""``07/15/2023``, often said as "July 15th, 2023"."""
clock = _sampler("%H:%M", _said_time, 0.4)
"""``14:30``, often said as "2:30 pm"."""


def date_time(d: Draw) -> tuple[str, str]:
    """``2023-07-15 14:00:00``, at times said as "July 15th, 2023 at 2 pm"."""
    moment = _moment(d)
    written = moment.strftime("%Y-%m-%d %H:%M:%S")
    day, time = d.choice([moment.strftime("%Y-%m-%d"), _said_day(d, moment)]), _said_time(d, moment)
    return d.choice([written, written, f"{day} at {time}", f"{day}, {time}"]), written
