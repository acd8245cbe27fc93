"""Rules of the smart home's tools: scenes and timed switches.

The database keeps names of scenes and devices in lower case; recordings of an earlier state of it with other names are
therefore not what a scene's query gives back.
"""

from collections.abc import Sequence
from typing import Any, Final

from eval.benchmarks.api_bank.tools.database import Database, Dialogue, Replay
from eval.benchmarks.api_bank.tools.tool import (
    TIME,
    Arguments,
    Response,
    Tool,
    ToolFailure,
    compare,
    lowered,
    normal_second,
    padded_time,
    same,
)


def learn(dialogues: Sequence[Dialogue], database: Database) -> None:
    """Scenes and timed switches that were there before the dialogue."""
    for dialogue in dialogues:
        made: set[Any] = set()
        for call in dialogue:
            name = lowered(call.text("name"))
            switch = (name, normal_second(call.text("time")))
            if call.name == "AddScene":
                made.add(name)
            elif call.name == "TimedSwitch":
                made.add(switch)
            elif call.name in ("QueryScene", "DeleteScene", "ModifyScene") and name not in made:
                database.note(_SCENES, name, None)
                if call.name == "QueryScene":
                    database.note("QueryScene", name, _lowered_devices(call.output))
            elif call.name == "CancelTimedSwitch" and name and switch not in made:
                database.note(_SWITCHES, switch, None)


_SCENES: Final = "scenes"
_SWITCHES: Final = "timed switches"


def _lowered_devices(output: Any) -> Any:
    if not isinstance(output, list) or not all(isinstance(d, dict) for d in output):
        return output
    return [{k: lowered(v) if k == "name" and isinstance(v, str) else v for k, v in d.items()} for d in output]


def _check_scene(arguments: Arguments, replay: Replay) -> str:
    name = lowered(arguments["name"])
    if name not in replay.database.known(_SCENES):
        raise ToolFailure("there is no such scene")
    return name


def _query_scene(arguments: Arguments, replay: Replay) -> Any:
    return replay.database.outputs.get("QueryScene", {}).get(_check_scene(arguments, replay))


def _delete_scene(arguments: Arguments, replay: Replay) -> str:
    _check_scene(arguments, replay)
    return "success"


def _write_scene(arguments: Arguments, replay: Replay) -> Any:
    """Always fails: the devices arrive as a text, whose characters are no devices."""
    raise ToolFailure("the devices are a text, as the tool manager passes lists on")


def _check_written_scene(response: Response, truth: Response) -> bool:
    """The official checker subscripts the characters of that text before it looks at the exception."""
    raise TypeError("the devices are a text")


def _set_switch(arguments: Arguments, replay: Replay) -> str:
    _read_switch(arguments)
    return "success"


def _cancel_switch(arguments: Arguments, replay: Replay) -> str:
    if _read_switch(arguments) not in replay.database.known(_SWITCHES):
        raise ToolFailure("there is no such device, or it has no switch at this time")
    return "success"


def _read_switch(arguments: Arguments) -> tuple[str, Any]:
    name = lowered(arguments["name"])
    if not name:
        raise ToolFailure("the name is empty")
    return name, padded_time(arguments["time"], TIME)


TOOLS: Final = (
    Tool("AddScene", ("name", "devices"), _write_scene, _check_written_scene),
    Tool("ModifyScene", ("name", "devices"), _write_scene, _check_written_scene),
    Tool("DeleteScene", ("name",), _delete_scene, compare(name=lowered)),
    Tool("QueryScene", ("name",), _query_scene, compare(name=lowered)),
    Tool(
        "TimedSwitch",
        ("name", "time", "on"),
        _set_switch,
        compare(name=lowered, time=normal_second, on=same),
        booleans=("on",),
    ),
    Tool("CancelTimedSwitch", ("name", "time"), _cancel_switch, compare(name=lowered, time=normal_second)),
)
