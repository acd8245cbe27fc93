"""Everyday tools (weather, timers, messages, music, …) with whole requests for them, of our own wording.

The other synthetic tools are random pairs of a verb and a noun. These are what people try first with an assistant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from string import Formatter
from typing import Any

from tooldecoding.formats.call_format import Call
from training.synthetic import dates
from training.synthetic import values as v
from training.synthetic.concepts import INTEGER, NUMBER, STRING
from training.synthetic.lexicon import Draw
from training.synthetic.parameters import Parameter, Said
from training.synthetic.tools import Tool, styled


def _members(said: str) -> tuple[Mapping[str, Any], v.Sampler]:
    """Return the schema and the sampler of an enum, given as ``member:what users say|…;member``."""
    rows = [row.partition(":") for row in said.split(";")]
    words = {member: texts.split("|") if texts else [member.replace("_", " ")] for member, _, texts in rows}

    def sample(d: Draw) -> tuple[str, str]:
        member = d.choice(list(words))
        return d.choice(words[member]), member

    return {"type": "string", "enum": list(words)}, sample


def _words(texts: str) -> v.Sampler:
    return v.same(lambda d: d.choice(texts.split("|")))


SLOTS: Mapping[str, tuple[Mapping[str, Any], v.Sampler, str]] = {
    "city": (STRING, v.same(v.city), "Name of the city|The city"),
    "other_city": (STRING, v.same(v.city), "The other city|Where to go"),
    "person": (STRING, v.same(v.person), "Name of the person|Who it is for"),
    "place": (STRING, v.one_of("places"), "The place|Where it is"),
    "address": (STRING, v.same(v.street), "The street address|Where to go"),
    "day": (STRING, _words("today|tomorrow|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|tonight"),
            "The day, such as today, tomorrow or Monday|Which day"),
    "date": (STRING, dates.date, "The date, YYYY-MM-DD|Date in the format YYYY-MM-DD"),
    "clock": (STRING, dates.clock, "Time of day, HH:MM|When, in the format HH:MM"),
    "minutes": (INTEGER, v.whole(1, 120), "How many minutes|Duration in minutes"),
    "days": (INTEGER, v.whole(1, 14), "How many days|Number of days"),
    "nights": (INTEGER, v.whole(1, 14), "How many nights"),
    "people": (INTEGER, v.whole(1, 12), "How many people|Number of persons"),
    "count": (INTEGER, v.whole(1, 20), "How many|Most results"),
    "level": (INTEGER, v.whole(0, 100), "From 0 to 100|In percent"),
    "percent": (NUMBER, v.decimal(1, 40), "In percent|The percentage"),
    "number": (NUMBER, v.decimal(0, 500), "The number|The value"),
    "amount": (NUMBER, v.decimal(1, 2000), "How much money|The amount"),
    "degrees": (NUMBER, v.decimal(5, 35), "The temperature in degrees|How warm it should be"),
    "topic": (STRING, v.same(v.phrase), "What it is about|What to look for"),
    "sentence": (STRING, v.same(v.sentence), "The text|What to say"),
    "item": (STRING, v.one_of("things"), "What it is|The item"),
    "dish": (STRING, v.one_of("dishes"), "The dish|What to eat"),
    "dishes": ({"type": "array", "items": STRING}, v.listed(v.one_of("dishes"), 1, 3), "What to add|The entries"),
    "people_list": ({"type": "array", "items": STRING}, v.listed(v.same(v.person), 1, 3), "Who is invited|The guests"),
    "numbers": ({"type": "array", "items": INTEGER}, v.listed(v.same(lambda d: d.randint(0, 200)), 2), "The numbers"),
    "title": (STRING, v.same(v.title), "The title|Its name"),
    "genre": (STRING, v.one_of("genres"), "The genre|Which kind"),
    "language": (STRING, v.one_of("languages"), "The language|Into which language"),
    "company": (STRING, v.one_of("companies"), "Name of the company|The firm"),
    "symbol": (STRING, v.same(v.upper_code), "The ticker symbol|Symbol of the stock"),
    "email": (STRING, v.same(v.email), "The mail address|Who gets the mail"),
    "phone": (STRING, v.same(v.phone), "The telephone number"),
    "order": (STRING, v.same(v.identifier), "Number of the order|The tracking number"),
    "path": (STRING, v.same(v.path), "Path of the file|Which file"),
    "url": (STRING, v.same(v.url), "The web address|The page"),
    "formula": (STRING, v.same(v.formula), "The expression|What to compute"),
    "scale": (*_members("celsius:celsius|degrees Celsius|C;fahrenheit:fahrenheit|degrees Fahrenheit|F"), "The unit"),
    "from_money": (*_members("USD:dollars|US dollars|USD;EUR:euros|EUR;GBP:pounds|GBP;JPY:yen"), "Currency to convert"),
    "to_money": (*_members("USD:dollars|USD;EUR:euros|EUR;CHF:Swiss francs|CHF;INR:rupees|INR"), "Currency to get"),
    "room": (*_members("kitchen;bedroom;living_room;bathroom;office;garage"), "The room|Which room"),
    "device": (*_members("light:light|lamp;fan;heater:heater|heating;tv:TV|television;speaker"), "The device"),
    "switch": (*_members("on;off"), "Whether to switch it on or off"),
    "travel": (*_members("car:by car|driving;bike:by bike|cycling;walk:on foot|walking;transit:by bus|by train"),
               "Means of transport"),
    "length_unit": (*_members("km:kilometers|km;mi:miles;m:meters;ft:feet"), "Unit of the value"),
    "result_unit": (*_members("cm:centimeters|cm;yd:yards;in:inches"), "Unit of the result"),
}  # fmt: skip
"""What a value is -> its schema, its sampler and its descriptions."""


@dataclass(frozen=True)
class Everyday:
    """A tool with whole requests for it.

    Attributes
    ----------
    names, descriptions : sequence of str
    slots : mapping
        Key -> what it is (``SLOTS``).
    required : sequence of str
        Keys that stand in every request.
    bare : str
        A request without any value.
    requests : sequence of str
        ``{key}`` is replaced by what a user says for it.
    """

    names: Sequence[str]
    descriptions: Sequence[str]
    slots: Mapping[str, str]
    required: Sequence[str]
    bare: str
    requests: Sequence[str]


def _e(names: str, descriptions: str, keys: str, bare: str, requests: str) -> Everyday:
    """Make a tool; ``keys`` are ``key:slot``, with ``!`` if required, and ``slot`` alone if it is the key, too."""
    pairs = [key.rstrip("!").partition(":") for key in keys.split()]
    slots = {key: slot or key for key, _, slot in pairs}
    required = [key.partition(":")[0].rstrip("!") for key in keys.split() if key.endswith("!")]
    return Everyday(names.split("|"), descriptions.split("|"), slots, required, bare, requests.split("|"))


EVERYDAY: tuple[Everyday, ...] = (
    _e("get weather|weather forecast|current weather", "Weather of a city.|Returns the forecast for a place.",
       "city! day unit:scale", "what's the weather like", "what's the weather in {city}|weather {city} {day}|"
       "is it going to rain in {city} {day}|how warm is it in {city}, in {unit}|do I need an umbrella in {city}"),
    _e("get forecast|daily forecast", "Forecast for some days.", "location:city! days!", "give me the forecast",
       "what will the weather be in {location} over the next {days} days|{days} day forecast for {location}"),
    _e("set timer|start timer", "Starts a timer.|Sets a kitchen timer.", "minutes! label:dish", "set a timer",
       "set a timer for {minutes} minutes|timer {minutes} min|{minutes} minutes for the {label} please|start a "
       "{minutes} minute timer|remind me about the {label} in {minutes} minutes"),
    _e("set alarm|create alarm", "Sets an alarm.", "time:clock! day", "wake me up",
       "wake me up at {time}|set an alarm for {time} {day}|alarm at {time}|I have to get up at {time} {day}"),
    _e("create reminder|add reminder|remind me", "Adds a reminder.|Reminds the user of something.",
       "text:topic! day time:clock", "remind me of something", "remind me: {text}|remind me {day} at {time} of {text}|"
       "don't let me forget {text}|reminder for {day}: {text}"),
    _e("create event|add calendar event|schedule meeting", "Adds an event to the calendar.",
       "title:topic! date! time:clock attendees:people_list", "put something into my calendar",
       "add {title} to my calendar on {date}|schedule {title} for {date} at {time}|meeting with {attendees} about "
       "{title} on {date} at {time}|put {title} into the calendar, {date}"),
    _e("list events|get calendar", "Lists the events of a day.", "day!", "what's in my calendar",
       "what do I have {day}|am I free {day}|what's on my calendar {day}|any meetings {day}"),
    _e("send message|send text|text message", "Sends a text message.", "recipient:person! message:sentence!",
       "send a message", "text {recipient}: {message}|send {recipient} a message saying {message}|tell {recipient} "
       "{message}|message {recipient} that {message}"),
    _e("send email|write mail", "Sends an email.|Writes a mail to someone.", "to:email! subject:topic! body:sentence",
       "send an email", "email {to} about {subject}|send a mail to {to}, subject {subject}, saying {body}|write to "
       "{to} with the subject {subject}: {body}"),
    _e("make call|call contact|phone", "Calls somebody.", "contact:person!", "call somebody",
       "call {contact}|can you ring {contact}|get {contact} on the phone|I need to talk to {contact}"),
    _e("play music|play song", "Plays music.|Plays a song.", "song:title! artist:person", "play some music",
       "play {song}|put on {song} by {artist}|I want to hear {song}|play {song} from {artist}"),
    _e("play genre|start radio", "Plays music of a genre.", "genre! volume:level", "play something",
       "play some {genre}|put on {genre} at volume {volume}|I'm in the mood for {genre}|{genre} radio"),
    _e("set volume|change volume", "Changes the volume.", "level!", "change the volume",
       "volume to {level}|set the volume to {level} percent|turn it to {level}"),
    _e("control device|switch device|smart home", "Switches a device on or off.", "device! state:switch! room",
       "do something about the light", "turn {state} the {device}|turn the {device} in the {room} {state}|switch "
       "{state} the {room} {device}|{device} {state}"),
    _e("set temperature|set thermostat", "Sets the thermostat.", "temperature:degrees! room", "make it warmer",
       "set the {room} to {temperature} degrees|make it {temperature} degrees|heat the {room} to {temperature}|"
       "thermostat {temperature}"),
    _e("convert currency|exchange money", "Converts an amount of money.",
       "amount! from_currency:from_money! to_currency:to_money!", "convert some money",
       "how much is {amount} {from_currency} in {to_currency}|convert {amount} {from_currency} to {to_currency}|"
       "{amount} {from_currency} in {to_currency}"),
    _e("convert units|unit converter", "Converts a length.", "value:number! from_unit:length_unit! "
       "to_unit:result_unit!", "convert a length", "{value} {from_unit} in {to_unit}|how many {to_unit} are {value} "
       "{from_unit}|convert {value} {from_unit} into {to_unit}"),
    _e("calculate|evaluate expression|calculator", "Computes an expression.", "expression:formula!",
       "calculate something", "what is {expression}|calculate {expression}|{expression}=?|how much is {expression}"),
    _e("sum numbers|add numbers", "Adds numbers.", "numbers!", "add some numbers",
       "add {numbers}|what's the sum of {numbers}|sum up {numbers}"),
    _e("calculate tip|split bill", "Computes the tip of a bill.", "bill:amount! tip:percent people",
       "help me with the bill", "what's a {tip} percent tip on {bill}|split {bill} between {people} people with {tip}% "
       "tip|tip for a bill of ${bill}"),
    _e("translate|translate text", "Translates a text.", "text:sentence! target_language:language!",
       "translate something", 'translate "{text}" into {target_language}|how do you say "{text}" in {target_language}|'
       'what is "{text}" in {target_language}'),
    _e("web search|search web|search", "Searches the web.", "query:topic! limit:count", "look something up",
       "search for {query}|google {query}|look up {query}|find {limit} pages about {query}|what is {query}"),
    _e("get news|news search", "Latest news.", "topic! count", "what's new", "any news about {topic}|news on {topic}|"
       "show me {count} headlines about {topic}|what's happening with {topic}"),
    _e("stock price|get quote", "Price of a stock.", "symbol!", "how are my stocks doing",
       "how is {symbol} doing|price of {symbol}|what does {symbol} trade at|quote for {symbol}"),
    _e("book table|reserve restaurant", "Reserves a table.", "restaurant:title! people! day time:clock", "book a table",
       "book a table for {people} at {restaurant}|table for {people} at {restaurant}, {day} at {time}|reserve "
       "{restaurant} for {people} people {day}"),
    _e("find restaurants|restaurant search", "Finds restaurants.", "city! cuisine:dish", "I'm hungry",
       "where can I eat {cuisine} in {city}|restaurants in {city}|good {cuisine} in {city}|find me a place to eat in "
       "{city}"),
    _e("order food|food delivery", "Orders food.", "dish! quantity:people address", "order some food",
       "order {quantity} {dish}|I want {dish} delivered to {address}|get me a {dish}|{quantity} {dish} to {address}"),
    _e("search flights|find flight", "Finds flights.", "origin:city! destination:other_city! date", "find me a flight",
       "flights from {origin} to {destination}|I want to fly from {origin} to {destination} on {date}|cheap flights "
       "{origin} - {destination}|how do I get from {origin} to {destination} by plane on {date}"),
    _e("book hotel|hotel search", "Finds a hotel.", "city! nights! guests:people", "I need a hotel",
       "hotel in {city} for {nights} nights|find me a room in {city}, {nights} nights, {guests} people|we need a place "
       "in {city} for {nights} nights"),
    _e("get directions|route", "Finds a route.", "destination:address! mode:travel", "how do I get there",
       "how do I get to {destination}|directions to {destination} {mode}|take me to {destination}|fastest way to "
       "{destination} {mode}"),
    _e("order taxi|request ride", "Orders a taxi.", "pickup:address! destination:place", "call me a taxi",
       "I need a cab at {pickup}|taxi from {pickup} to the {destination}|pick me up at {pickup}"),
    _e("track package|order status", "Where a parcel is.", "order_number:order!", "where is my parcel",
       "where is my order {order_number}|track {order_number}|status of {order_number}"),
    _e("add to list|shopping list", "Adds to the shopping list.", "items:dishes!", "add something to my list",
       "add {items} to my shopping list|we need {items}|put {items} on the list"),
    _e("add task|create todo", "Adds a task.", "task:topic! due:day", "add a task",
       "new task: {task}|add {task} to my todos for {due}|I have to do {task} by {due}|todo {task}"),
    _e("take note|save note", "Saves a note.", "text:sentence!", "take a note", "note: {text}|write down that {text}|"
       "save this: {text}"),
    _e("find recipe|recipe search", "Finds a recipe.", "dish! servings:people", "what can I cook",
       "how do I make {dish}|recipe for {dish}|{dish} recipe for {servings} people|I'd like to cook {dish}"),
    _e("movie showtimes|find movie", "Showtimes of a film.", "movie:title! city day", "what's on at the movies",
       "when is {movie} on|showtimes for {movie} in {city}|is {movie} playing {day} in {city}"),
    _e("define word|dictionary", "Looks up a word.", "word:item!", "look up a word",
       "what does {word} mean|define {word}|meaning of {word}"),
    _e("open file|read file", "Reads a file.", "path!", "open a file", "open {path}|show me {path}|read {path}|what's "
       "in {path}"),
    _e("fetch page|open website", "Fetches a page.", "url!", "open a page", "open {url}|what does {url} say|get {url}|"
       "go to {url}"),
    _e("get time|world clock", "Time in a city.", "city!", "what time is it", "what time is it in {city}|"
       "time in {city}|how late is it in {city} now"),
    _e("transfer money|send payment", "Sends money.", "recipient:person! amount! note:topic", "send some money",
       "send {amount} dollars to {recipient}|pay {recipient} ${amount} for {note}|transfer {amount} to {recipient}"),
)  # fmt: skip


def everyday_tool(d: Draw, kind: Everyday) -> Tool:
    """Draw the documentation of a tool."""
    parameters = []
    for key, slot in kind.slots.items():
        schema, sample, descriptions = SLOTS[slot]

        def say(d: Draw, sample: v.Sampler = sample) -> Said:
            said, value = sample(d)
            return Said(said, said, value)

        parameters.append(Parameter(key, schema, d.choice(descriptions.split("|")), key in kind.required, say))
    name = d.choice(kind.names)
    return Tool(styled(d, name.split(" ")), (name,), "", d.choice(kind.descriptions), tuple(parameters))


def keys_of(request: str) -> list[str]:
    """Return the keys whose values a request says."""
    return [key for _, key, _, _ in Formatter().parse(request) if key]


def ask_everyday(d: Draw, kind: Everyday, tool: Tool, twice: bool = False) -> tuple[str, tuple[Call, ...]]:
    """Draw a request and its call; two calls that differ in one text if ``twice`` and the request has one."""
    request = d.choice([r for r in kind.requests if set(kind.required) <= set(keys_of(r))])
    said = {p.key: p.say(d) for p in tool.parameters if p.key in keys_of(request)}
    told = {key: one.clause for key, one in said.items()}
    calls = [Call(tool.name, {key: one.value for key, one in said.items()})]
    texts = [key for key, one in said.items() if isinstance(one.value, str) and "enum" not in SLOTS[kind.slots[key]][0]]
    if twice and texts:
        key = d.choice(texts)
        other = next(p for p in tool.parameters if p.key == key).say(d)
        told[key] += f" and {other.clause}"
        calls.append(replace(calls[0], arguments={**calls[0].arguments, key: other.value}))
    end = d.choice(["", "", "?", ".", "!"])
    return request.format(**told).strip() + end, tuple(calls)
