"""Kinds of parameter values: how a user says a value, and what the call then carries."""

import string
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

from tooldecoding.training import words as w

Sampler = Callable[[Random], tuple[str, Any]]


def pseudo_word(rng: Random, syllables: int | None = None) -> str:
    """A pronounceable word that no list holds, so that the model must copy it."""
    count = syllables or rng.randint(2, 3)
    return "".join(rng.choice("bcdfghjklmnprstvwz") + rng.choice("aeiou") + rng.choice(["", "n", "r", "s", "l"])
                   for _ in range(count))  # fmt: skip


def _same(draw: Callable[[Random], Any]) -> Sampler:
    """A kind that is said as it is written."""

    def sample(rng: Random) -> tuple[str, Any]:
        value = draw(rng)
        return str(value), value

    return sample


def person(rng: Random) -> str:
    """A given name, mostly with a family name."""
    first = rng.choice(w.FIRST_NAMES) if rng.random() < 0.8 else pseudo_word(rng).capitalize()
    last = rng.choice(w.LAST_NAMES) if rng.random() < 0.8 else pseudo_word(rng).capitalize()
    return first if rng.random() < 0.25 else f"{first} {last}"


def user_name(rng: Random) -> str:
    """``janedoe42``, ``JaneDoe``, ``jane_doe``, ``user7`` …"""
    first, last = rng.choice(w.FIRST_NAMES), rng.choice(w.LAST_NAMES)
    number = str(rng.randint(1, 9999)) if rng.random() < 0.5 else ""
    shape = rng.randrange(5)
    if shape == 0:
        return f"{first.lower()}{last.lower()}{number}"
    if shape == 1:
        return f"{first}{last}{number}"
    if shape == 2:
        return f"{first.lower()}_{last.lower()}{number}"
    if shape == 3:
        return f"{pseudo_word(rng)}{number}"
    return f"user{rng.randint(1, 99999)}"


def password(rng: Random) -> str:
    """A password as people write them in examples, or a random one."""
    if rng.random() < 0.5:
        return rng.choice(["pass", "secret", "pw", "key", pseudo_word(rng), pseudo_word(rng)]) + str(
            rng.randint(0, 99999)
        )
    alphabet = string.ascii_letters + string.digits + "!@#$%"
    return "".join(rng.choice(alphabet) for _ in range(rng.randint(5, 10)))


def token(rng: Random) -> str:
    """A random identifier of letters and digits."""
    if rng.random() < 0.5:
        return "".join(rng.choice("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(rng.randint(6, 18)))
    return "".join(rng.choice(string.ascii_lowercase) + rng.choice(string.digits) for _ in range(rng.randint(4, 9)))


def number_id(rng: Random) -> str:
    """An id of digits, sometimes with a prefix."""
    prefix = rng.choice(["", "", "", "A", "ORD-", "ID", "TX_"])
    return prefix + "".join(rng.choice(string.digits) for _ in range(rng.randint(3, 9)))


def phrase(rng: Random) -> str:
    """A short title or content."""
    shape = rng.randrange(6)
    adjective, thing = rng.choice(w.ADJECTIVES), rng.choice(w.THINGS)
    if shape == 0:
        text = f"{adjective} {thing}"
    elif shape == 1:
        text = f"{rng.choice(w.ACTIONS).replace('_', ' ')} the {thing}"
    elif shape == 2:
        text = f"{thing} with {person(rng)}"
    elif shape == 3:
        text = f"{adjective} {thing} and {rng.choice(w.THINGS)}"
    elif shape == 4:
        text = f"{rng.choice(w.ACTIONS).replace('_', ' ')} {rng.choice(w.FIRST_NAMES)}'s {thing}"
    else:
        text = f"{thing} about {rng.choice(w.THINGS)} in {rng.choice(w.CITIES)}"
    return text[0].upper() + text[1:] if rng.random() < 0.5 else text


def sentence(rng: Random) -> str:
    """A short sentence, for messages and comments."""
    subject = rng.choice(["I", "We", "They", f"The {rng.choice(w.THINGS)}", rng.choice(w.FIRST_NAMES)])
    verb = rng.choice(["will be", "was", "looks", "could be", "is not", "must be"])
    tail = rng.choice([".", "!", "", " today.", " tomorrow.", f" in {rng.choice(w.CITIES)}."])
    return f"{subject} {verb} {rng.choice(w.ADJECTIVES)}{tail}"


def _moment(rng: Random) -> datetime:
    return datetime(rng.randint(2021, 2025), 1, 1) + timedelta(
        days=rng.randrange(365), minutes=30 * rng.randrange(48) if rng.random() < 0.8 else rng.randrange(1440)
    )


def _ordinal(day: int) -> str:
    return f"{day}{'th' if 10 < day < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def _said_day(rng: Random, moment: datetime) -> str:
    month, day, year = moment.strftime("%B"), moment.day, moment.year
    return rng.choice(
        [f"{month} {day}, {year}", f"{month} {_ordinal(day)}, {year}", f"{_ordinal(day)} of {month} {year}"]
    )


def _said_time(rng: Random, moment: datetime) -> str:
    hour = moment.hour % 12 or 12
    half = rng.choice(["am", " AM"]) if moment.hour < 12 else rng.choice(["pm", " PM"])
    minute = f":{moment.minute:02d}" if moment.minute or rng.random() < 0.4 else ""
    return f"{hour}{minute}{half}"


def date(rng: Random) -> tuple[str, str]:
    """``2023-07-15``, sometimes from "July 15th, 2023" or from "tomorrow" with today's date given."""
    moment = _moment(rng)
    written = moment.strftime("%Y-%m-%d")
    shape = rng.random()
    if shape < 0.55:
        return written, written
    if shape < 0.92:
        return _said_day(rng, moment), written
    today = (moment - timedelta(days=1)).strftime("%Y-%m-%d")
    return f"tomorrow (today is {today})", written


def date_time(rng: Random) -> tuple[str, str]:
    """``2023-07-15 14:00:00``, sometimes from its spoken form."""
    moment = _moment(rng)
    written = moment.strftime("%Y-%m-%d %H:%M:%S")
    shape = rng.random()
    if shape < 0.5:
        return written, written
    if shape < 0.65:
        return moment.strftime("%Y-%m-%d") + " at " + _said_time(rng, moment), written
    if shape < 0.85:
        return f"{_said_day(rng, moment)} at {_said_time(rng, moment)}", written
    return f"{_said_time(rng, moment)} on {_said_day(rng, moment)}", written


def clock(rng: Random) -> tuple[str, str]:
    """``14:30``, sometimes from "2:30 pm"."""
    moment = _moment(rng)
    written = moment.strftime("%H:%M")
    return (written if rng.random() < 0.5 else _said_time(rng, moment)), written


def formula(rng: Random) -> str:
    """An arithmetic formula such as ``(12+7)*3``."""
    text = str(rng.randint(1, 99))
    for _ in range(rng.randint(1, 3)):
        text = f"{text}{rng.choice('+-*/')}{rng.randint(1, 999)}"
        if rng.random() < 0.3:
            text = f"({text})"
    return text


def url(rng: Random) -> str:
    """A made-up web address."""
    site = rng.choice([pseudo_word(rng), rng.choice(w.THINGS)])
    path = rng.choice(["", f"/{rng.choice(w.THINGS)}", f"/{rng.choice(w.THINGS)}/{rng.randint(1, 999)}.png"])
    return f"https://{rng.choice(['www.', ''])}{site}.{rng.choice(['com', 'org', 'net', 'io'])}{path}"


def email(rng: Random) -> str:
    """A made-up mail address."""
    return f"{user_name(rng)}@{rng.choice(['example.com', 'mail.org', pseudo_word(rng) + '.com'])}"


def flag(rng: Random) -> tuple[str, bool]:
    """A truth value, said as yes/no or true/false."""
    value = rng.random() < 0.5
    return rng.choice(["yes", "true", "True"] if value else ["no", "false", "False"]), value


def names(rng: Random) -> tuple[str, list[str]]:
    """A list of people."""
    people = rng.sample([person(rng) for _ in range(8)], rng.randint(1, 4))
    people = list(dict.fromkeys(people))
    if len(people) == 1:
        return people[0], people
    return ", ".join(people[:-1]) + f" and {people[-1]}", people


def topics(rng: Random) -> tuple[str, list[str]]:
    """A list of words."""
    chosen = rng.sample(sorted(set(w.THINGS)), rng.randint(2, 4))
    return ", ".join(chosen), chosen


@dataclass(frozen=True)
class Kind:
    """A kind of value: documented types, key names, ways of saying it (``{v}`` value, ``{k}`` key words)."""

    type: str
    keys: tuple[str, ...]
    clauses: tuple[str, ...]
    sample: Sampler
    hint: str = ""


def _kind(type_: str, keys: str, clauses: str, sample: Sampler, hint: str = "") -> Kind:
    return Kind(type_, tuple(keys.split()), tuple(c for c in clauses.split("|") if c), sample, hint)


KINDS: tuple[Kind, ...] = (
    _kind("str", "name person_name patient_name customer_name guest_name owner full_name doctor_name employee author",
          "for {v}|named {v}|the name is {v}", _same(person)),
    _kind("str", "username user user_name account login nickname", "my username is {v}|I am {v}|for the user {v}",
          _same(user_name)),
    _kind("str", "password pass_word old_password pin secret", "my password is {v}|the password is {v}",
          _same(password)),
    _kind("str", "token access_token auth_token session_token api_key", "my token is {v}|with the token {v}",
          _same(token)),
    _kind("str", "order_id booking_id id record_id ticket_id appointment_id user_id item_id reference code",
          "the ID is {v}|number {v}|with ID {v}", _same(number_id)),
    _kind("str", "email email_address contact_email recipient", "my email is {v}|send it to {v}", _same(email)),
    _kind("str", "city location destination origin from_city to_city place region departure arrival",
          "in {v}|the city is {v}|{v} please", _same(lambda r: r.choice(w.CITIES))),
    _kind("str", "content title subject event topic description task note query keyword keywords",
          'called "{v}"|titled "{v}"|about "{v}"|it is "{v}"', _same(phrase)),
    _kind("str", "message text comment feedback body source src reason", '"{v}"|saying "{v}"|that says "{v}"',
          _same(sentence)),
    _kind("str", "location venue room place address", "at the {v}|in the {v}", _same(lambda r: r.choice(w.PLACES))),
    _kind("str", "date day start_date end_date check_in_date due_date birthday deadline", "on {v}|for {v}|dated {v}",
          date, "Format: YYYY-MM-DD"),
    _kind("str", "time datetime start_time end_time remind_time timestamp", "at {v}|the time is {v}|for {v}", date_time,
          "Format: YYYY-MM-DD HH:MM:SS"),
    _kind("str", "time hour opening_time departure_time", "at {v}", clock, "Format: HH:MM"),
    _kind("str", "formula expression equation", "{v}|what is {v}|compute {v}", _same(formula)),
    _kind("str", "url link image website image_url", "{v}|at {v}|from {v}", _same(url)),
    _kind("str", "language target_language tgt_lang lang", "into {v}|in {v}",
          _same(lambda r: r.choice(w.LANGUAGES))),
    _kind("str", "symbol stock_code ticker currency currency_code", "{v}|for {v}",
          _same(lambda r: "".join(r.choice(string.ascii_uppercase) for _ in range(r.randint(2, 5))))),
    _kind("str", "phone phone_number mobile", "call {v}|my phone is {v}",
          _same(lambda r: f"{r.randint(100, 999)}-{r.randint(100, 999)}-{r.randint(1000, 9999)}")),
    _kind("str", "symptom condition category type item product", "{v}|it is {v}|for {v}",
          _same(lambda r: r.choice(w.THINGS))),
    _kind("str", "model brand project device title label", "named {v}|it is the {v}",
          _same(lambda r: pseudo_word(r).capitalize() + r.choice(["", "", f" {r.randint(1, 99)}"]))),
    _kind("int", "count number quantity num_people guests limit size days age room_count adult_count duration",
          "{v} of them|{v}", _same(lambda r: r.randint(1, 20))),
    _kind("int", "year amount price budget distance max_price population", "{v}", _same(lambda r: r.randint(10, 5000))),
    _kind("float", "amount price rate weight height temperature ratio score latitude",
          "{v}", _same(lambda r: round(r.uniform(0, 500), r.randint(1, 2)))),
    _kind("bool", "urgent is_public confirm active repeat notify include_tax premium", "", flag),
    _kind("list(str)", "attendees participants members guests recipients invitees", "with {v}|invite {v}", names),
    _kind("list(str)", "tags topics items symptoms keywords", "{v}", topics),
)  # fmt: skip

GENERIC_CLAUSES = (
    "the {k} is {v}", "the {k} should be {v}", "{k}: {v}", "use {v} as the {k}", "{v} for the {k}", "with {k} {v}",
    'the {k} is "{v}"', "{k} {v}", "my {k} is {v}", "set the {k} to {v}",
)  # fmt: skip
