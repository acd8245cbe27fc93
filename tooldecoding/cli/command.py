"""Commands of the command line, derived from dataclasses of options."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand

from tooldecoding.options.option import Option
from tooldecoding.options.parsed_arguments import ParsedArguments

CONFIG: Final = Option(
    None, "Settings; a bare name is looked up in configs/.", metavar="FILE.yaml", name="config", type=str | None
)
"""The option of commands that take a YAML file."""

_TYPES: Final = {"integer": int, "number": float, "boolean": bool, "string": str, "array": list[str]}
"""Type in a JSON Schema -> what typer reads; ``Option.check`` checks choices and items."""


class GroupedHelp(TyperCommand):
    """A command whose ``--help`` lists its options in groups, if it has any."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the options of each group under its title."""
        groups: dict[str, list[Any]] = {}
        for parameter in self.get_params(ctx):
            title = getattr(parameter, "rich_help_panel", None)
            groups.setdefault(title or "Options", []).append(parameter.get_help_record(ctx))
        if len(groups) == 1:
            super().format_options(ctx, formatter)
            return
        for title, rows in groups.items():
            with formatter.section(title):
                formatter.write_dl([row for row in rows if row])


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
    panels : mapping of str to tuple of str
        Title of a group in ``--help`` -> names of its options; all others are in a last group.
    """

    name: str
    run: Callable[[ParsedArguments], None]
    options: tuple[Option, ...]
    file_options: tuple[Option, ...] = ()
    panels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def listed(self) -> tuple[Option, ...]:
        """The options of the command line, with ``--config``, in the sequence of ``--help``."""
        listed = (*self.options, *self.file_options, CONFIG) if self.file_options else self.options
        grouped = [name for names in self.panels.values() for name in names]
        return tuple(sorted(listed, key=lambda o: grouped.index(o.name) if o.name in grouped else len(grouped)))

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
        panel = next((title for title, names in self.panels.items() if option.name in names), None)
        about: Any = typer.Option(
            flag, metavar=_metavar(option), help=option.full_help, show_default=False, rich_help_panel=panel
        )
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
