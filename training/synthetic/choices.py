"""Enum and boolean parameters: their keys, descriptions, and what users say for each value."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Choice:
    """An enum: ``members`` maps each value to what users say for it besides the value itself."""

    keys: tuple[str, ...]
    descriptions: tuple[str, ...]
    clauses: tuple[str, ...]
    members: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Flag:
    """A boolean, with what users say for true and for false."""

    keys: tuple[str, ...]
    descriptions: tuple[str, ...]
    positive: tuple[str, ...]
    negative: tuple[str, ...]


def _choice(keys: str, descriptions: str, clauses: str, members: str) -> Choice:
    rows = (row.partition(":") for row in members.split(";"))
    said = {member: tuple(texts.split("|")) if texts else () for member, _, texts in rows}
    return Choice(tuple(keys.split()), tuple(descriptions.split("|")), tuple(clauses.split("|")), said)


def _flag(keys: str, *texts: str) -> Flag:
    return Flag(tuple(keys.split()), *(tuple(text.split("|")) for text in texts))


CHOICES: tuple[Choice, ...] = (
    _choice("unit units temperature_unit", "Unit of the temperature|Scale to use", "in {v}|using {v}",
            "celsius:Celsius|degrees C|°C;fahrenheit:Fahrenheit|degrees F|°F"),
    _choice("unit system units", "System of units", "in {v} units|{v}",
            "metric:the metric system;imperial:miles and pounds"),
    _choice("unit distance_unit", "Unit of the distance", "in {v}", "km:kilometers;miles:mi;m:meters"),
    _choice("priority urgency level", "How important it is|Priority of the task", "with {v} priority|it is {v}",
            "low:not important|unimportant;medium:normal;high:urgent|very important"),
    _choice("size cup_size", "How big|The size", "a {v} one|{v}", "small:little;medium:regular|middle-sized;large:big"),
    _choice("sort_order order direction", "Direction of sorting", "sorted {v}|in {v} order",
            "asc:ascending|from low to high;desc:descending|from high to low"),
    _choice("sort_by order_by", "What to sort by", "sorted by {v}|ordered by {v}",
            "price:cost;rating:stars;distance:how far it is;date:time"),
    _choice("seating_class cabin_class travel_class", "Class of the seat", "in {v}|{v} class|flying {v}",
            "economy:coach|the cheapest class;business:business class;first:first class"),
    _choice("payment_method pay_with", "How to pay", "with {v}|paying by {v}",
            "credit_card:credit card|my card;cash:cash;paypal:PayPal;bank_transfer:bank transfer"),
    _choice("status state", "State of the entry", "that are {v}|the {v} ones|{v}",
            "open:unsolved;closed:done;pending:waiting"),
    _choice("gender sex", "Gender of the person", "who is {v}|{v}", "male:a man;female:a woman"),
    _choice("language lang", "Language code", "in {v}",
            "en:English;fr:French;de:German;es:Spanish;zh:Chinese;ja:Japanese"),
    _choice("currency currency_code", "Currency, three letters", "in {v}",
            "USD:dollars|US dollars;EUR:euros;GBP:pounds|British pounds;JPY:yen;CNY:yuan"),
    _choice("from_currency base_currency", "Currency to convert from", "from {v}|my {v}",
            "USD:dollars|US dollars;EUR:euros;GBP:pounds;JPY:yen;INR:rupees"),
    _choice("to_currency target_currency", "Currency to convert into", "to {v}|into {v}",
            "USD:dollars|US dollars;EUR:euros;GBP:pounds;JPY:yen;CHF:Swiss francs"),
    _choice("meal meal_type", "Which meal", "for {v}", "breakfast:the morning meal;lunch:midday;dinner:supper|"
            "the evening"),
    _choice("diet dietary", "What may be eaten", "that is {v}|{v}",
            "vegetarian:without meat;vegan:without animal products;"
            "gluten_free:gluten-free"),
    _choice("format output_format file_type", "Form of the output", "as {v}|in {v} format",
            "json:JSON;csv:CSV|a table;xml:XML;pdf:PDF"),
    _choice("frequency interval repeat", "How often", "{v}", "daily:every day;weekly:every week|once a week;"
            "monthly:every month|each month"),
    _choice("period timeframe time_range", "Span of time", "over the last {v}|for the past {v}",
            "day:24 hours;week:7 days;month:30 days;year:12 months"),
    _choice("transport mode travel_mode", "Means of transport", "by {v}|{v}", "driving:car;walking:foot|on foot;"
            "bicycling:bike;transit:public transport|bus or train"),
    _choice("ride_type car_type", "Kind of car", "a {v}|in a {v} car",
            "plus:Plus;comfort:comfortable;black:luxury|Black"),
    _choice("account_type", "Kind of account", "my {v} account|from {v}", "checking:current;savings:saving"),
    _choice("color colour", "Color", "in {v}|a {v} one", "red;green;blue;black;white;yellow"),
    _choice("level difficulty", "How hard it is", "for {v}|a {v} one", "beginner:easy|newcomers;intermediate:medium;"
            "advanced:hard|experts"),
    _choice("room_type", "Kind of room", "a {v} room|{v}", "single:for one person;double:for two|"
            "for a couple;suite:suite"),
    _choice("source category_type", "Where to look", "in {v}|from {v}", "news:the news;blog:blogs;video:videos"),
    _choice("weekday day", "Day of the week", "on {v}|every {v}", "Monday:Mon;Tuesday:Tue;Wednesday:Wed;Thursday:Thu;"
            "Friday:Fri;Saturday:Sat;Sunday:Sun"),
    _choice("operation operator", "What to do with the numbers", "{v}|I want to {v} them", "add:sum up|plus;"
            "subtract:minus|take away;multiply:times;divide:share"),
    _choice("device appliance", "Which device", "the {v}|my {v}",
            "light:lamp;heater:heating;tv:television;fan:ventilator"),
    _choice("mood tone sentiment", "Tone of the text", "that sounds {v}|in a {v} tone", "happy:cheerful;sad:gloomy;"
            "formal:official;casual:relaxed"),
    _choice("shape", "Geometric form", "of a {v}|a {v}", "circle:disc;square;triangle;rectangle"),
)  # fmt: skip

FLAGS: tuple[Flag, ...] = (
    _flag("include_tax tax_included with_tax", "Whether taxes are part of it", "with taxes|including tax",
          "without taxes|excluding tax"),
    _flag("is_public public visible", "Whether everybody may see it", "visible to everyone|make it public",
          "keep it private|only I may see it"),
    _flag("notify send_notification alert", "Whether to send a notification", "let me know about it|notify me",
          "do not notify me|without a notification"),
    _flag("free_cancellation refundable", "Whether the money can be had back", "I may need my money back|refundable",
          "it need not be refundable"),
    _flag("has_wifi wifi internet", "Whether there is wifi", "with wifi|I need internet there", "I don't need wifi"),
    _flag("pets_allowed pet_friendly", "Whether animals may come", "I bring my dog|pets should be allowed",
          "no pets"),
    _flag("urgent is_urgent express", "Whether it has to be fast", "it is urgent|as fast as possible",
          "it is not urgent|there is no hurry"),
    _flag("direct non_stop nonstop", "Whether there are no stops on the way", "nonstop|a direct one|without stops",
          "stops are fine"),
    _flag("round_trip return_trip", "Whether the way back is included", "round trip|there and back",
            "one way only|one-way"),
    _flag("outdoor_seating has_seating_outdoors", "Whether one can sit outside",
            "I want to sit outside|with outdoor seats",
          "inside is better|no outdoor seats"),
    _flag("verbose detailed details", "Whether to give all details", "in detail|with all details",
            "briefly|no details"),
    _flag("case_sensitive match_case", "Whether capitals matter", "capitals matter|case-sensitive", "ignore case"),
    _flag("recursive include_subfolders", "Whether to go into subfolders", "with all subfolders|recursively",
          "without subfolders"),
    _flag("in_stock available available_only", "Whether it must be available now", "that can be had now|in stock",
          "it need not be in stock"),
    _flag("private_visibility hidden", "Whether it is hidden from others", "privately|nobody else should see it",
          "others may see it"),
    _flag("shared_ride shared", "Whether it is shared with others", "I don't mind sharing|shared", "just for me"),
    _flag("live_music has_live_music", "Whether a band plays", "with live music|where a band plays",
            "without live music"),
    _flag("add_insurance insurance", "Whether to insure it", "with insurance|insure it",
            "no insurance|without insurance"),
    _flag("confirm confirmed", "Whether it is confirmed", "yes, I confirm|I am sure", "not confirmed yet"),
    _flag("gift gift_wrap", "Whether to wrap it as a gift", "wrap it as a present|it is a gift", "no wrapping"),
    _flag("subtitles captions", "Whether to show subtitles", "with subtitles", "without subtitles"),
    _flag("shuffle random", "Whether in random sequence", "in random order|shuffled", "in the given order"),
    _flag("active enabled is_active", "Whether it is switched on", "switched on|active", "switched off|inactive"),
    _flag("first_time new_patient new_customer", "Whether it is the first time", "it is my first time|I am new",
          "I have been there before"),
)  # fmt: skip
