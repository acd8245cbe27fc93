"""What a parameter can mean: its keys, its descriptions and, in other words, what users say for its value."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from training.synthetic import dates
from training.synthetic import values as v

STRING: Mapping[str, Any] = {"type": "string"}
INTEGER: Mapping[str, Any] = {"type": "integer"}
NUMBER: Mapping[str, Any] = {"type": "number"}


@dataclass(frozen=True)
class Concept:
    """One meaning of a parameter.

    Attributes
    ----------
    group : str
        Concepts of a group have similar values, so only the wording tells them apart.
    schema : mapping
        JSON Schema of the value.
    keys, descriptions : tuple of str
    clauses : tuple of str
        What a user says; ``{v}`` is the value.
    sample : Sampler
        Draws a value.
    """

    group: str
    schema: Mapping[str, Any]
    keys: tuple[str, ...]
    descriptions: tuple[str, ...]
    clauses: tuple[str, ...]
    sample: v.Sampler


def _c(group: str, schema: Mapping[str, Any], keys: str, descriptions: str, clauses: str, sample: v.Sampler) -> Concept:
    return Concept(
        group, schema, tuple(keys.split()), tuple(descriptions.split("|")), tuple(clauses.split("|")), sample
    )


_CITY, _PERSON = v.same(v.city), v.same(v.person)

CONCEPTS: tuple[Concept, ...] = (
    _c("place", STRING, "city location town place city_name", "Name of the city|The city to look in|Where to search|"
       "The location for which it is wanted", "in {v}|for {v}|around {v}|I am in {v}|in the {v} area", _CITY),
    _c("place", STRING, "origin from_city departure_city from source start_location", "Where the journey starts|"
       "The city of departure|Starting point of the trip", "from {v}|leaving from {v}|starting in {v}|departing {v}",
       _CITY),
    _c("place", STRING, "destination to_city arrival_city to dest end_location", "Where the journey ends|"
       "The city of arrival|Place to travel to", "to {v}|going to {v}|heading for {v}|arriving in {v}", _CITY),
    _c("place", STRING, "birthplace birth_city home_town", "The place of birth|Where the person was born",
       "born in {v}|who comes from {v}", _CITY),
    _c("place", STRING, "location city", "The city and state, e.g. San Francisco, CA|"
       "City and state such as 'Boston, MA'|"
       "The location in the format 'City, State'", "in {v}|for {v}|near {v}", v.city_and_state),
    _c("country", STRING, "country nation country_name", "Name of the country|The country in question",
       "in {v}|of {v}|for the country {v}", v.same(v.country)),
    _c("country", STRING, "country_code country region_code", "Two-letter country code|"
       "ISO code of the country, e.g. US",
       "in {v}|for {v}", v.country_code),
    _c("venue", STRING, "venue location room meeting_place", "Where it takes place|The venue", "at the {v}|in the {v}",
       v.one_of("places")),
    _c("venue", STRING, "pickup pickup_location pick_up", "Where to be picked up|Place where the ride begins",
       "pick me up at {v}|from {v}|I am waiting at {v}", v.same(v.street)),
    _c("venue", STRING, "dropoff destination drop_off_address", "Where to be dropped off|Place where the ride ends",
       "drop me at {v}|take me to {v}|to {v}", v.same(v.street)),
    _c("venue", STRING, "address street_address shipping_address", "The street address|Where to send it|"
       "Address with house number", "at {v}|my address is {v}|I live at {v}", v.same(v.street)),
    _c("person", STRING, "name person_name full_name", "Full name of the person|The name",
       "named {v}|the name is {v}|for {v}|called {v}", _PERSON),
    _c("person", STRING, "recipient to receiver addressee", "Who gets it|The person to whom it goes", "to {v}|for {v}|"
       "so that {v} gets it", _PERSON),
    _c("person", STRING, "sender from_name author", "Who it comes from|The person who wrote it",
       "from {v}|by {v}|written by {v}|signed by {v}", _PERSON),
    _c("person", STRING, "customer_name client guest_name", "The customer's name|Name of the client",
       "the customer is {v}|for our client {v}|on behalf of {v}", _PERSON),
    _c("person", STRING, "doctor_name doctor physician", "The doctor to see|Name of the physician", "with Dr. {v}|"
       "the doctor is {v}|I want to see {v}", _PERSON),
    _c("person", STRING, "patient_name patient", "Name of the patient|Who is ill", "for the patient {v}|"
       "the patient is {v}|it is {v} who is ill", _PERSON),
    _c("person", STRING, "manager supervisor assignee owner", "The responsible person|Who takes care of it",
       "under {v}|{v} takes care of it|assigned to {v}|{v} is in charge", _PERSON),
    _c("name", STRING, "first_name given_name", "The given name", "my first name is {v}|first name {v}",
       v.same(v.first_name)),
    _c("name", STRING, "last_name surname family_name", "The family name", "my last name is {v}|surname {v}",
       v.same(v.last_name)),
    _c("user", STRING, "username user user_name login account", "Name of the account|The user's login",
       "my username is {v}|I am {v}|for the user {v}|my account is {v}", v.same(v.user_name)),
    _c("user", STRING, "password passwd pwd secret", "The user's secret|Password of the account",
       "my password is {v}|the password is {v}|with password {v}", v.same(v.password)),
    _c("user", STRING, "token access_token auth_token session_token api_key", "Proof of the login|Access token|"
       "Key that authenticates the request", "my token is {v}|with the token {v}|use the key {v}", v.same(v.token)),
    _c("user", STRING, "new_password new_secret", "The password to be set", "change it to {v}|the new one is {v}",
       v.same(v.password)),
    _c("id", STRING, "order_id order_number purchase_id", "Number of the purchase|The order's identifier",
       "order {v}|the order number is {v}|for my order {v}", v.same(v.identifier)),
    _c("id", STRING, "user_id customer_id member_id client_id", "Identifier of the user|The customer's number",
       "my ID is {v}|user {v}|my customer number is {v}", v.same(v.identifier)),
    _c("id", STRING, "id record_id item_id uuid key ref", "Unique identifier|Which record it is",
       "number {v}|with ID {v}|"
       "the ID is {v}", v.same(v.identifier)),
    _c("id", STRING, "ticket_id booking_id reservation_id confirmation", "Reference of the booking|Confirmation number",
       "my booking is {v}|the confirmation number is {v}|reference {v}", v.same(v.identifier)),
    _c("id", STRING, "appointment_id case_id", "Identifier of the appointment",
       "the appointment ID is {v}|appointment {v}",
       v.same(v.identifier)),
    _c("id", INTEGER, "id user_id post_id number", "Numeric identifier|The number that identifies it",
       "with id {v}|number {v}|the one with ID {v}", v.same(lambda d: d.randint(1, 99999))),
    _c("contact", STRING, "email email_address mail", "Mail address|Where to write to",
       "my email is {v}|send it to {v}|"
       "at {v}|you can write to {v}", v.same(v.email)),
    _c("contact", STRING, "phone phone_number mobile tel", "Number to call|Telephone number",
       "call {v}|my phone is {v}|"
       "the number is {v}", v.same(v.phone)),
    _c("contact", STRING, "url link website image_url page", "Web address|Link to the resource", "{v}|at {v}|from {v}|"
       "the link is {v}", v.same(v.url)),
    _c("date", STRING, "date day on_date event_date", "The day, YYYY-MM-DD|Date in the format YYYY-MM-DD|"
       "When it takes place (YYYY-MM-DD)", "on {v}|for {v}|dated {v}|it is on {v}", dates.date),
    _c("date", STRING, "start_date from_date check_in_date begin since", "First day, YYYY-MM-DD|"
       "When it begins (YYYY-MM-DD)", "from {v}|starting {v}|beginning on {v}|checking in {v}", dates.date),
    _c("date", STRING, "end_date to_date check_out_date until due_date", "Last day, YYYY-MM-DD|"
       "When it is over (YYYY-MM-DD)", "until {v}|to {v}|ending {v}|through {v}", dates.date),
    _c("date", STRING, "birthday date_of_birth birth_date dob", "Date of birth, YYYY-MM-DD", "born on {v}|"
       "my birthday is {v}|I was born {v}", dates.date),
    _c("date", STRING, "date day", "Date in the format MM/DD/YYYY|The day (MM/DD/YYYY)", "on {v}|for {v}",
       dates.slashed_date),
    _c("time", STRING, "datetime timestamp time start_time", "When it begins. Format: YYYY-MM-DD HH:MM:SS|"
       "The time, YYYY-MM-DD HH:MM:SS", "at {v}|for {v}|it starts {v}|from {v}", dates.date_time),
    _c("time", STRING, "end_time finish_time", "When it ends. Format: YYYY-MM-DD HH:MM:SS", "until {v}|to {v}|"
       "it is over at {v}", dates.date_time),
    _c("clock", STRING, "time hour departure_time opening_time",
       "Time of day, HH:MM|The time in 24-hour format (HH:MM)",
       "at {v}|around {v}|for {v}", dates.clock),
    _c("clock", STRING, "end_time closing_time return_time", "When it is over, HH:MM", "until {v}|back at {v}|till {v}",
       dates.clock),
    _c("text", STRING, "title subject heading name", "How it is called|Title of the entry", 'called "{v}"|titled "{v}"|'
       "with the title '{v}'|named {v}", v.same(v.phrase)),
    _c("text", STRING, "content body text note details", "What it says|The text itself|Content of the entry",
       'saying "{v}"|that says "{v}"|with the text "{v}"|"{v}"', v.same(v.sentence)),
    _c("text", STRING, "message comment feedback msg", "The message to send|What to tell", '"{v}"|tell them "{v}"|'
       'the message is "{v}"|write: {v}', v.same(v.sentence)),
    _c("text", STRING, "query keyword search_term topic q", "What to look for|Search words|The topic of interest",
       'about {v}|on {v}|for "{v}"|related to {v}|{v}', v.same(v.phrase)),
    _c("text", STRING, "description task reason purpose", "What it is about|Why it is done",
       "because of {v}|it is about "
       "{v}|the reason is {v}", v.same(v.phrase)),
    _c("work", STRING, "movie_name film movie title", "Name of the film|The movie", "the movie {v}|to watch {v}|{v}",
       v.same(v.title)),
    _c("work", STRING, "song_name track song", "Name of the song|Which track", "the song {v}|the track {v}|{v}",
       v.same(v.title)),
    _c("work", STRING, "book_title book", "Name of the book", "the book {v}|a copy of {v}", v.same(v.title)),
    _c("work", STRING, "artist singer band", "Who plays it|Name of the artist", "by {v}|from {v}", _PERSON),
    _c("work", STRING, "product_name product item model brand", "Which article|Name of the product", "the {v}|a {v}|"
       "for the product {v}", v.same(v.title)),
    _c("thing", STRING, "item object thing element", "What it is|The object", "a {v}|the {v}|for a {v}",
       v.one_of("things")),
    _c("thing", STRING, "symptom condition disease", "What the patient suffers from|The illness", "I have {v}|"
       "suffering from {v}|because of my {v}", v.one_of("things")),
    _c("thing", STRING, "dish food meal cuisine", "What to eat|Name of the dish", "some {v}|a {v}|I feel like {v}|{v}",
       v.one_of("dishes")),
    _c("thing", STRING, "genre style category", "Kind of music or film|The genre", "some {v}|of the {v} kind|{v}",
       v.one_of("genres")),
    _c("company", STRING, "company company_name employer organization", "Name of the firm|The organisation",
       "at {v}|of {v}|for the company {v}|{v}'s", v.one_of("companies")),
    _c("company", STRING, "symbol ticker stock stock_symbol", "Stock symbol|The ticker of the share", "{v}|for {v}|"
       "shares of {v}", v.same(v.upper_code)),
    _c("code", STRING, "formula expression equation", "What is to be computed|Mathematical expression",
       "{v}|what is {v}|"
       "of {v}", v.same(v.formula)),
    _c("code", STRING, "path file_path filename file", "Where the file lies|Path of the file",
       "the file {v}|in {v}|{v}|"
       "at {v}", v.same(v.path)),
    _c("code", STRING, "command cmd code query script", "What to execute|The statement to run", "run `{v}`|`{v}`|"
       "execute {v}|{v}", v.same(v.code)),
    _c("language", STRING, "target_language to_language tgt_lang", "Language of the result|Language to translate into",
       "into {v}|to {v}|in {v}", v.one_of("languages")),
    _c("language", STRING, "source_language from_language src_lang", "Language of the original",
       "from {v}|it is written in {v}", v.one_of("languages")),
    _c("count", INTEGER, "count number quantity num amount", "How many|Number of pieces", "{v} of them|{v} pieces|{v}",
       v.whole(1, 50)),
    _c("count", INTEGER, "guests num_people party_size passengers adults", "Number of persons|How many people come",
       "for {v} people|{v} of us|a party of {v}|{v} guests", v.whole(1, 20)),
    _c("count", INTEGER, "nights duration days length_of_stay", "How long, in days|Number of days", "for {v} days|"
       "{v} nights|{v} days long", v.whole(1, 60)),
    _c("count", INTEGER, "rooms room_count bedrooms", "Number of rooms", "{v} rooms|with {v} rooms", v.whole(1, 9)),
    _c("count", INTEGER, "limit max_results top_n page_size", "How many results to return|Maximum number of entries",
       "at most {v}|only {v} results|the top {v}|no more than {v}", v.whole(1, 100)),
    _c("count", INTEGER, "page page_number offset", "Page of the results|Which page", "page {v}|on page {v}",
       v.whole(1, 40)),
    _c("count", INTEGER, "age years", "Age in years", "aged {v}|{v} years old|I am {v}", v.whole(1, 99)),
    _c("count", INTEGER, "year season", "The year", "in {v}|from {v}|of the year {v}",
       v.same(lambda d: d.randint(1950, 2030))),
    _c("count", INTEGER, "minutes duration time_limit", "How long, in minutes", "for {v} minutes|{v} minutes",
       v.whole(1, 180)),
    _c("money", INTEGER, "max_price budget price_limit", "Highest price|What it may cost", "under {v} dollars|"
       "at most ${v}|my budget is {v}|below {v}", v.whole(10, 9000)),
    _c("money", INTEGER, "min_price lowest_price price_from", "Lowest price",
       "from {v} dollars|at least ${v}|above {v}",
       v.whole(5, 900)),
    _c("money", NUMBER, "amount sum value price", "How much money|The amount", "{v} dollars|${v}|an amount of {v}|"
       "{v} euros", v.decimal(1, 2000)),
    _c("money", NUMBER, "principal loan_amount capital", "Money that is lent|Initial sum", "a loan of {v}|"
       "{v} dollars to begin with|starting with ${v}", v.decimal(100, 90000)),
    _c("money", INTEGER, "salary income revenue", "Yearly income", "I earn {v}|with an income of {v}|making {v} a year",
       v.whole(10000, 200000)),
    _c("rate", NUMBER, "rate interest_rate percentage percent", "Rate in percent", "at {v}%|{v} percent|a rate of {v}",
       v.decimal(0, 20)),
    _c("rate", NUMBER, "discount tax_rate tip", "Share in percent that is taken off or added", "with {v}% off|"
       "plus {v} percent|{v}% of it", v.decimal(0, 50)),
    _c("size", NUMBER, "length depth", "How long it is, in meters|Length", "{v} meters long|with a length of {v}|"
       "length {v}", v.decimal(0.1, 200)),
    _c("size", NUMBER, "width breadth base", "How wide it is, in meters|Width", "{v} meters wide|a width of {v}|"
       "width {v}", v.decimal(0.1, 200)),
    _c("size", NUMBER, "height altitude", "How high it is, in meters|Height",
       "{v} meters high|{v} m tall|a height of {v}",
       v.decimal(0.1, 300)),
    _c("size", NUMBER, "radius r", "Radius of the circle", "a radius of {v}|with radius {v}", v.decimal(0.1, 100)),
    _c("size", NUMBER, "weight mass", "How heavy it is, in kilograms|Mass",
       "weighing {v} kg|{v} kilograms|a mass of {v}",
       v.decimal(0.1, 200)),
    _c("size", NUMBER, "distance range", "How far, in kilometers", "{v} km away|within {v} kilometers|over {v} km",
       v.decimal(0.5, 900)),
    _c("size", NUMBER, "temperature temp", "How warm, in degrees", "at {v} degrees|a temperature of {v}|{v} degrees",
       v.decimal(0, 120, signed=True)),
    _c("size", NUMBER, "speed velocity", "How fast|Initial speed", "at a speed of {v}|{v} m/s|moving at {v}",
       v.decimal(0.5, 300)),
    _c("point", NUMBER, "latitude lat", "Degrees north", "at latitude {v}|latitude {v}", v.decimal(0, 90, signed=True)),
    _c("point", NUMBER, "longitude lon lng", "Degrees east", "and longitude {v}|longitude {v}",
       v.decimal(0, 180, signed=True)),
    _c("point", INTEGER, "x a first first_number n", "The first number|First operand", "of {v}|{v}|the number {v}",
       v.whole(-50, 500)),
    _c("point", INTEGER, "y b second second_number m", "The second number|Second operand", "and {v}|with {v}|by {v}",
       v.whole(-50, 500)),
    _c("list", {"type": "array", "items": STRING}, "attendees participants members guests recipients",
       "Who takes part|Names of the participants", "with {v}|invite {v}|for {v}", v.listed(_PERSON)),
    _c("list", {"type": "array", "items": STRING}, "tags topics items keywords labels", "Words that describe it|"
       "The entries", "tagged {v}|with the keywords {v}|namely {v}|{v}", v.listed(v.one_of("things"))),
    _c("list", {"type": "array", "items": STRING}, "cities locations stops places", "Places to visit|Names of cities",
       "in {v}|for {v}|stopping in {v}", v.listed(_CITY, 2)),
    _c("list", {"type": "array", "items": STRING}, "ingredients dishes foods", "What is in it|Names of the dishes",
       "with {v}|containing {v}|{v}", v.listed(v.one_of("dishes"))),
    _c("list", {"type": "array", "items": INTEGER}, "numbers values array nums data",
       "The numbers|List of whole numbers",
       "the numbers {v}|{v}|of {v}", v.listed(v.same(lambda d: d.randint(-20, 200)), 2, 6)),
    _c("list", {"type": "array", "items": NUMBER}, "scores measurements points series", "The measured values|"
       "List of numbers", "the values {v}|{v}|measured {v}", v.listed(v.same(lambda d: round(d.uniform(0, 100), 1)),
       2, 5)),
    _c("list", {"type": "array", "items": INTEGER}, "ids user_ids order_ids", "Which entries|Identifiers",
       "with the IDs {v}|numbers {v}", v.listed(v.same(lambda d: d.randint(100, 9999)), 1, 4)),
)  # fmt: skip

GROUPS: Mapping[str, tuple[Concept, ...]] = {
    group: tuple(c for c in CONCEPTS if c.group == group) for group in dict.fromkeys(c.group for c in CONCEPTS)
}
"""Name of a group -> its concepts."""
