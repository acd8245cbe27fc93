"""The tools of the trial. They do nothing: what they would do is noted, and what they read is made up."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple

CONTACTS: Final = {
    "Maria Lopez": "m.lopez@northwind.example",
    "Ken Watanabe": "ken.w@harbor.example",
    "Jonas Berg": "jberg@fjell.example",
    "Anna Fischer": "anna.f@isar.example",
}
EVENTS: Final = {
    "E-1041": ("Dentist", "2027-03-11", "15:00"),
    "E-1042": ("Team meeting", "2027-03-09", "10:00"),
    "E-1043": ("Yoga class", "2027-03-11", "18:30"),
}
FILES: Final = {
    "reports/q1.txt": "Revenue in the first quarter was 418,000 euros.",
    "reports/q2.txt": "Revenue in the second quarter was 512,500 euros, because of the new shop in Lyon.",
    "notes/shopping.txt": "milk, rye bread, coffee filters",
    "notes/wifi.txt": "The guest network is called Larch and its password is blue-heron-52.",
    "tmp/cache.bin": "0000000000",
}
PRODUCTS: Final = {
    "P00417": ("electric kettle, steel", 34.5),
    "P00913": ("electric kettle, plastic", 19.9),
    "P02050": ("yoga mat", 25.0),
    "P03311": ("desk lamp", 48.0),
}
WEATHER: Final = {"oslo": "-4 °C, snow", "rome": "17 °C, sunny", "nairobi": "24 °C, cloudy", "lima": "22 °C, fog"}
EUROS: Final = {"EUR": 1.0, "USD": 0.5, "JPY": 0.008, "GBP": 1.25}
"""What one of each currency is worth, so that figures are not those of the news."""


class Action(NamedTuple):
    """A call that ran: its tool and arguments, and whether it changes anything."""

    name: str
    arguments: Mapping[str, Any]
    changes: bool


class World:
    """What the tools of one task read and note.

    Attributes
    ----------
    actions : list of Action
        The calls that ran, in sequence; without those that failed because something does not exist.
    """

    def __init__(self) -> None:
        self.actions: list[Action] = []

    def tools(self) -> list[Callable[..., Any]]:
        """Return the tools, as Python functions with documentation."""
        act, read = self._act, self._read

        def set_timer(minutes: int, label: str = "") -> str:
            """Start a timer.

            Args:
                minutes: Length of the timer in minutes.
                label: What the timer is for.
            """
            act("set_timer", minutes=minutes, label=label)
            return f"The timer runs for {minutes} minutes."

        def get_weather(city: str, day: Literal["today", "tomorrow"] = "today") -> str:
            """Get the weather forecast of a city.

            Args:
                city: Name of the city.
                day: Which day.
            """
            read("get_weather", city=city, day=day)
            found = next((w for name, w in WEATHER.items() if name in city.casefold()), "11 °C, rain")
            return f"{city}, {day}: {found}"

        def search_contacts(name: str) -> list[dict[str, str]]:
            """Search the address book.

            Args:
                name: Name of the person, or a part of it.
            """
            read("search_contacts", name=name)
            words = name.casefold().split()
            return [{"name": n, "email": e} for n, e in CONTACTS.items() if any(w in n.casefold() for w in words)]

        def send_email(to: str, text: str) -> str:
            """Send an email.

            Args:
                to: Email address of the recipient.
                text: Text of the email.
            """
            act("send_email", to=to, text=text)
            return f"Sent to {to}."

        def list_events(date: str) -> list[dict[str, str]]:
            """List the events of the calendar on a day.

            Args:
                date: The day, as YYYY-MM-DD.
            """
            read("list_events", date=date)
            return [{"id": i, "title": t, "date": d, "time": h} for i, (t, d, h) in EVENTS.items() if d == date]

        def create_event(title: str, date: str, time: str) -> str:
            """Put an event into the calendar.

            Args:
                title: What it is.
                date: The day, as YYYY-MM-DD.
                time: When it begins, as HH:MM.
            """
            act("create_event", title=title, date=date, time=time)
            return f"Created: {title}, {date} {time}."

        def delete_event(event_id: str) -> str:
            """Delete an event of the calendar.

            Args:
                event_id: Id of the event, as list_events returns it.
            """
            if event_id not in EVENTS:
                act("delete_event", event_id=event_id)
                return f"error: there is no event {event_id}"
            act("delete_event", event_id=event_id)
            return f"Deleted: {EVENTS[event_id][0]}."

        def list_files(folder: str) -> list[dict[str, Any]]:
            """List the files in a folder with their sizes.

            Args:
                folder: Path of the folder.
            """
            read("list_files", folder=folder)
            inside = folder.strip("/ ") + "/"
            return [{"path": p, "bytes": len(t.encode())} for p, t in FILES.items() if p.startswith(inside)]

        def read_file(path: str) -> str:
            """Read a text file.

            Args:
                path: Path of the file.
            """
            read("read_file", path=path)
            return FILES.get(path.strip("/ "), f"error: there is no file {path}")

        def delete_file(path: str) -> str:
            """Delete a file.

            Args:
                path: Path of the file.
            """
            act("delete_file", path=path)
            return f"Deleted {path}."

        def set_thermostat(room: str, celsius: float) -> str:
            """Set the temperature of a room.

            Args:
                room: Name of the room.
                celsius: Temperature in degrees Celsius.
            """
            act("set_thermostat", room=room, celsius=celsius)
            return f"The {room} is set to {celsius} °C."

        def convert_currency(amount: float, source: str, target: str) -> str:
            """Convert an amount of money into another currency.

            Args:
                amount: How much.
                source: Currency of the amount, such as EUR.
                target: Currency to convert into, such as USD.
            """
            read("convert_currency", amount=amount, source=source, target=target)
            if source.upper() not in EUROS or target.upper() not in EUROS:
                return "error: unknown currency"
            return f"{amount * EUROS[source.upper()] / EUROS[target.upper()]:.2f} {target.upper()}"

        def search_products(query: str) -> list[dict[str, Any]]:
            """Search the shop for products.

            Args:
                query: What to look for.
            """
            read("search_products", query=query)
            words = [word.removesuffix("s") for word in query.casefold().split()]
            found = {i: p for i, p in PRODUCTS.items() if any(word in p[0] for word in words)}
            return [{"product_id": i, "name": n, "euros": price} for i, (n, price) in found.items()]

        def add_to_cart(product_id: str, quantity: int = 1) -> str:
            """Put a product of the shop into the cart.

            Args:
                product_id: Id of the product, as search_products returns it.
                quantity: How many.
            """
            act("add_to_cart", product_id=product_id, quantity=quantity)
            return f"In the cart: {quantity} x {product_id}."

        return [
            *(set_timer, get_weather, search_contacts, send_email, list_events, create_event, delete_event),
            *(list_files, read_file, delete_file, set_thermostat, convert_currency, search_products, add_to_cart),
        ]

    def _act(self, name: str, /, **arguments: Any) -> None:
        self.actions.append(Action(name, arguments, True))

    def _read(self, name: str, /, **arguments: Any) -> None:
        self.actions.append(Action(name, arguments, False))
