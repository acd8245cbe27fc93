"""The tasks of the trial: what the user says, what has to be done, and what the answer has to say."""

from typing import Any, Final, NamedTuple

SYSTEM: Final = "You are a helpful assistant. Today is Monday, 2027-03-08."


class Wanted(NamedTuple):
    """A call that has to be made.

    ``arguments``: key -> the values that are right, texts by a pattern in any case; keys that are not named may have
    any value.
    """

    name: str
    arguments: dict[str, tuple[Any, ...]]


class Task(NamedTuple):
    """What the user says turn by turn, and what is right.

    Attributes
    ----------
    calls : tuple of Wanted
        They have to be made, and nothing else that changes anything.
    says : str
        A pattern that the last answer has to match, in any case.
    asks : bool
        Whether the first turn has to be answered by a question, and with no call that changes anything.
    """

    name: str
    kind: str
    turns: tuple[str, ...]
    calls: tuple[Wanted, ...] = ()
    says: str = ""
    asks: bool = False


def _call(tool: str, **arguments: Any) -> Wanted:
    return Wanted(tool, {key: value if isinstance(value, tuple) else (value,) for key, value in arguments.items()})


TASKS: Final = (
    Task("weather", "one call", ("What is the weather like in Oslo?",), (_call("get_weather", city="oslo"),), r"-4|4 "),
    Task(
        "tomorrow",
        "one call",
        ("Will it be sunny in Rome tomorrow?",),
        (_call("get_weather", city="rome", day="tomorrow"),),
        "17|sunny",
    ),
    Task("timer", "one call", ("Set a timer for 25 minutes.",), (_call("set_timer", minutes=25),), "25"),
    Task(
        "pasta",
        "one call",
        ("Start a 9 minute timer for the pasta, please.",),
        (_call("set_timer", minutes=9, label=".*pasta.*|"),),
        "9|nine",
    ),
    Task(
        "money",
        "one call",
        ("How much is 60 US dollars in euros?",),
        (_call("convert_currency", amount=60, source="usd", target="eur"),),
        "30",
    ),
    Task(
        "heating",
        "one call",
        ("Make it 21 degrees in the bedroom.",),
        (_call("set_thermostat", room=".*bedroom", celsius=21),),
        "21",
    ),
    Task(
        "cold",
        "one call",
        ("Set the garage to -2 °C.",),
        (_call("set_thermostat", room=".*garage", celsius=-2),),
        "2",
    ),
    Task(
        "dentist",
        "one call",
        ("Put a dentist appointment into my calendar for 2027-03-14 at 09:30.",),
        (_call("create_event", title=".*dentist.*", date="2027-03-14", time="0?9:30(:00)?"),),
    ),
    Task(
        "lunch",
        "one call",
        ("Add lunch with Priya to my calendar on March 19 at half past twelve.",),
        (_call("create_event", title=".*lunch.*|.*priya.*", date="2027-03-19", time="12:30(:00)?"),),
    ),
    Task(
        "read",
        "one call",
        ("What does notes/wifi.txt say is the guest password?",),
        (_call("read_file", path="/?notes/wifi.txt"),),
        "blue-heron-52",
    ),
    Task(
        "delete",
        "one call",
        ("Delete the file tmp/cache.bin.",),
        (_call("delete_file", path="/?tmp/cache.bin"),),
    ),
    Task(
        "mail",
        "one call",
        ('Email "The parcel is here" to jberg@fjell.example.',),
        (_call("send_email", to="jberg@fjell.example", text=".*parcel is here.*"),),
    ),
    Task(
        "cart",
        "one call",
        ("Put 3 of product P02050 into my cart.",),
        (_call("add_to_cart", product_id="P02050", quantity=3),),
    ),
    Task(
        "agenda",
        "one call",
        ("What is in my calendar on 2027-03-09?",),
        (_call("list_events", date="2027-03-09"),),
        "team meeting",
    ),
    Task(
        "contact",
        "one call",
        ("What is Ken Watanabe's email address?",),
        (_call("search_contacts", name=".*(ken|watanabe).*"),),
        "ken.w@harbor.example",
    ),
    Task(
        "two cities",
        "two calls",
        ("What is the weather in Lima and in Nairobi?",),
        (_call("get_weather", city="lima"), _call("get_weather", city="nairobi")),
        "22(.|\n)*24|24(.|\n)*22",
    ),
    Task(
        "two timers",
        "two calls",
        ("Start one timer for 5 minutes and another one for 40 minutes.",),
        (_call("set_timer", minutes=5), _call("set_timer", minutes=40)),
    ),
    Task(
        "two rooms",
        "two calls",
        ("Set the kitchen to 19 degrees and the office to 22.5 degrees.",),
        (
            _call("set_thermostat", room=".*kitchen", celsius=19),
            _call("set_thermostat", room=".*office", celsius=22.5),
        ),
    ),
    Task(
        "weather and timer",
        "two calls",
        ("Set a timer for 15 minutes and tell me the weather in Rome.",),
        (_call("set_timer", minutes=15), _call("get_weather", city="rome")),
        "17|sunny",
    ),
    Task(
        "both files",
        "two calls",
        ("Delete reports/q1.txt and reports/q2.txt.",),
        (_call("delete_file", path="/?reports/q1.txt"), _call("delete_file", path="/?reports/q2.txt")),
    ),
    Task(
        "message a contact",
        "chain",
        ("Email Maria Lopez that I will be 10 minutes late.",),
        (_call("search_contacts"), _call("send_email", to="m.lopez@northwind.example", text=".*10 min.*late.*")),
    ),
    Task(
        "thank a contact",
        "chain",
        ("Look up Anna Fischer in my contacts and email her: Thank you for the flowers.",),
        (_call("search_contacts"), _call("send_email", to="anna.f@isar.example", text=".*thank.*flowers.*")),
    ),
    Task(
        "largest file",
        "chain",
        ("Which file in the folder reports is the largest, and what does it say?",),
        (_call("list_files", folder="/?reports/?"), _call("read_file", path="/?reports/q2.txt")),
        "512|lyon",
    ),
    Task(
        "cancel",
        "chain",
        ("Cancel my dentist appointment on 2027-03-11.",),
        (_call("list_events", date="2027-03-11"), _call("delete_event", event_id="E-1041")),
    ),
    Task(
        "cheapest",
        "chain",
        ("Find electric kettles in the shop and put the cheapest one into my cart.",),
        (_call("search_products"), _call("add_to_cart", product_id="P00913", quantity=1)),
    ),
    Task(
        "price in dollars",
        "chain",
        ("How much does the desk lamp cost in US dollars? Look it up in the shop; prices are in euros.",),
        (_call("search_products"), _call("convert_currency", amount=48, source="eur", target="usd")),
        "96",
    ),
    Task(
        "only look",
        "chain",
        ("List the files in notes and read the shopping list.",),
        (_call("list_files", folder="/?notes/?"), _call("read_file", path="/?notes/shopping.txt")),
        "milk",
    ),
    Task(
        "warm up",
        "chain",
        ("Check the weather in Oslo. If it is below zero, set the bathroom to 24 degrees.",),
        (_call("get_weather", city="oslo"), _call("set_thermostat", room=".*bathroom", celsius=24)),
    ),
    Task("hello", "small talk", ("Hi there!",), says="."),
    Task("thanks", "small talk", ("Thanks, that is all for today.",), says="."),
    Task("capital", "small talk", ("What is the capital of Australia?",), says="canberra"),
    Task("joke", "small talk", ("Tell me a joke about cats.",), says="cat"),
    Task("hamlet", "small talk", ("Who wrote Hamlet?",), says="shakespeare"),
    Task(
        "which timer",
        "missing",
        ("Set a timer, please.", "12 minutes."),
        (_call("set_timer", minutes=12),),
        asks=True,
    ),
    Task(
        "how warm",
        "missing",
        ("Change the temperature in the nursery.", "Make it 20 degrees."),
        (_call("set_thermostat", room=".*nursery", celsius=20),),
        asks=True,
    ),
    Task(
        "which day",
        "missing",
        ("Put a haircut into my calendar.", "On 2027-03-20 at 16:00."),
        (_call("create_event", title=".*haircut.*", date="2027-03-20", time="16:00(:00)?"),),
        asks=True,
    ),
    Task("which file", "missing", ("Delete a file for me.",), asks=True),
    Task("what to say", "missing", ("Send an email to ken.w@harbor.example.",), asks=True),
    Task("which amount", "missing", ("Convert some yen into euros for me.",), asks=True),
    Task(
        "and in Berlin",
        "follow-up",
        ("What is the weather in Oslo?", "And in Nairobi?"),
        (_call("get_weather", city="oslo"), _call("get_weather", city="nairobi")),
        "24|cloudy",
    ),
    Task(
        "one more",
        "follow-up",
        ("Set a timer for 30 minutes.", "Start another one for 45 minutes, too."),
        (_call("set_timer", minutes=30), _call("set_timer", minutes=45)),
    ),
    Task(
        "then delete it",
        "follow-up",
        ("Read notes/shopping.txt to me.", "Good. Now delete that file."),
        (_call("read_file", path="/?notes/shopping.txt"), _call("delete_file", path="/?notes/shopping.txt")),
    ),
    Task(
        "what was it",
        "follow-up",
        ("What is Jonas Berg's email address?", "Send him an email that says: See you at the pier."),
        (_call("search_contacts"), _call("send_email", to="jberg@fjell.example", text=".*see you at the pier.*")),
    ),
)
"""43 tasks: one call, two, a chain, small talk, a missing argument, a follow-up."""
