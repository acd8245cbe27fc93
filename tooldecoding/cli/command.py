"""Commands of the command line, derived from dataclasses of options."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final

import typer

from tooldecoding.options.option import Option
from tooldecoding.options.parsed_arguments import ParsedArguments

CONFIG: Final = Option(
    None, "Settings; a bare name is looked up in configs/.", metavar="FILE.yaml", name="config", type=str | None
)
"""The option of commands that take a YAML file."""

_TYPES: Final = {"integer": int, "number": float, "boolean": bool, "string": str, "array": list[str]}
"""Type in a JSON Schema -> what typer reads; ``Option.check`` checks choices and items."""


@dataclass(frozen=True)
class Command:
    """A command.

    Attributes
    ----------
    name : str
    run : callable
        Takes what the command line gave; its docstring is the command's help.
    options : tuple of Option
        Options that stand only on the command line.
    file_options : tuple of Option
        Options that a YAML file, which ``--config`` names, may set as well.
    """

    name: str
    run: Callable[[ParsedArguments], None]
    options: tuple[Option, ...]
    file_options: tuple[Option, ...] = ()

    @property
    def listed(self) -> tuple[Option, ...]:
        """The options of the command line, with ``--config``, in the sequence of ``--help``."""
        return (*self.options, *self.file_options, CONFIG) if self.file_options else self.options

    def for_typer(self) -> Callable[..., None]:
        """Return a function whose signature typer turns into the command."""

        def run(context: typer.Context, **values: Any) -> None:
            given = {name: value for name, value in values.items() if value not in (None, [])}
            self.run(ParsedArguments(given, given.pop(CONFIG.name, None), context.invoked_subcommand))

        context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        parameters = [context, *map(self._parameter, self.listed)]
        run.__name__, run.__doc__ = self.name, inspect.getdoc(self.run)
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
        return run

    def _parameter(self, option: Option) -> inspect.Parameter:
        """``None`` is the default on the command line: it says that the option was not given."""
        type_: Any = str if option.commas else _TYPES[option.schema["type"]]
        flag = option.written
        if type_ is bool and option in self.file_options and option.only is None:
            flag += f"/--no-{flag.removeprefix('--')}"  # what a file turns on
        about: Any = typer.Option(flag, metavar=_metavar(option), help=option.full_help, show_default=False)
        if option.positional:
            about = typer.Argument(metavar=option.metavar, help=option.full_help)
        return inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if option.required else None,
            annotation=Annotated[type_ if option.required else type_ | None, about],
        )


def _metavar(option: Option) -> str | None:
    if option.metavar:
        return option.metavar
    choices = "|".join(option.schema.get("items", option.schema).get("enum", ()))
    return f"{choices or 'N,N'},…" if option.commas else choices or None
