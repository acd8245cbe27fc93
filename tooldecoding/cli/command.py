"""Commands of the command line, derived from dataclasses of options."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

import typer
from typer.core import TyperCommand

from tooldecoding.options.given import Given
from tooldecoding.options.option import Option

CONFIG: Final = Option(
    "config", str | None, None, "Settings; a bare name is looked up in configs/.", metavar="FILE.yaml"
)
"""The option of commands that take a YAML file."""


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
    run: Callable[[Given], None]
    options: tuple[Option, ...]
    file_options: tuple[Option, ...] = ()
    panels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def help(self) -> str:
        """What the command does."""
        return inspect.getdoc(self.run) or ""

    @property
    def listed(self) -> tuple[Option, ...]:
        """The options of the command line, with ``--config``, in the sequence of ``--help``."""
        from_file = tuple(option for option in self.file_options if option.only != "file")
        listed = (*self.options, *from_file, CONFIG) if from_file else self.options
        grouped = [name for names in self.panels.values() for name in names]
        return tuple(sorted(listed, key=lambda o: grouped.index(o.name) if o.name in grouped else len(grouped)))

    def _panel(self, name: str) -> str | None:
        return next((title for title, names in self.panels.items() if name in names), None)

    def for_typer(self) -> Callable[..., None]:
        """Return a function whose signature typer turns into the command."""

        def run(context: typer.Context, **values: Any) -> None:
            config = values.pop(CONFIG.name, None)
            given = {name: value for name, value in values.items() if value not in (None, [])}
            self.run(Given(given, config, context.invoked_subcommand))

        context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        parameters = [context, *(self._parameter(option) for option in self.listed)]
        run.__name__, run.__doc__ = self.name, self.help
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
        return run

    def _parameter(self, option: Option) -> inspect.Parameter:
        """``None`` is the default on the command line: it says that the option was not given."""
        about: Any
        if option.positional:
            about = typer.Argument(metavar=option.metavar, help=option.full_help)
        else:
            about = typer.Option(
                self._flag(option),
                metavar=_metavar(option),
                help=option.full_help,
                show_default=False,
                rich_help_panel=self._panel(option.name),
            )
        given_as = _command_line_type(option)
        required = option.required
        return inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if required else None,
            annotation=Annotated[given_as if required else given_as | None, about],
        )

    def _flag(self, option: Option) -> str:
        """A switch can be turned off if a file can turn it on."""
        if _value_type(option.type) is bool and option in self.file_options and option.only is None:
            return f"{option.written}/--no-{option.written.removeprefix('--')}"
        return option.written


def _metavar(option: Option) -> str | None:
    if option.metavar:
        return option.metavar
    schema = option.schema.get("items", option.schema)
    choices = "|".join(schema.get("enum", ()))
    return f"{choices or 'N,N'},…" if option.commas else choices or None


def _command_line_type(option: Option) -> Any:
    """Return the type that typer reads; choices are texts, which ``Option.check`` checks."""
    type_ = _value_type(option.type)
    if get_origin(type_) is tuple:
        return str if option.commas else list[str]
    return str if get_origin(type_) is Literal else type_


def _value_type(type_: Any) -> Any:
    """Return a type without bounds and None."""
    if get_origin(type_) is Annotated:
        return _value_type(get_args(type_)[0])
    if get_origin(type_) in (Union, UnionType):
        return _value_type(next(branch for branch in get_args(type_) if branch is not type(None)))
    return type_
