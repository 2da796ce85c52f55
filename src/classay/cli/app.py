"""The application: commands, exit codes, and errors in one voice."""

from __future__ import annotations

import typer

from .. import __version__
from ..expect import InputError
from . import classes, console, data, drift, identify, learner, network, preference, slices, stability

DONE, MISTAKE, PARTIAL = 0, 2, console.PARTIAL

app = typer.Typer(
    name="classay",
    help="Assay classifiers: tell what accuracy does not.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Try: `classay learner breast_cancer`",
)
app.command("learner", epilog=learner.EXAMPLES)(learner.command)
app.command("stability", epilog=stability.EXAMPLES)(stability.command)
app.command("preference", epilog=preference.EXAMPLES)(preference.command)
app.command("drift", epilog=drift.EXAMPLES)(drift.command)
app.command("data", epilog=data.EXAMPLES)(data.command)
app.command("slices", epilog=slices.EXAMPLES)(slices.command)
app.command("network", epilog=network.EXAMPLES)(network.command)
app.command("classes", epilog=classes.EXAMPLES)(classes.command)
app.command("identify", epilog=identify.EXAMPLES)(identify.command)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"classay {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
) -> None:
    pass


def run(arguments: list[str]) -> int:
    """Run the command with these arguments and return its exit code."""
    try:
        app(arguments, prog_name="classay")
    except InputError as mistake:
        if "--debug" in arguments:
            raise
        console.error(str(mistake))
        return MISTAKE
    except console.NothingDone:
        console.error("Interrupted before anything was done.")
        return PARTIAL
    except SystemExit as leaving:  # how Typer ends, also after a wrong option, which it explains itself
        return leaving.code if isinstance(leaving.code, int) else DONE
    return DONE
