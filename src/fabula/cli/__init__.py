"""The command line: each command parses, calls one function below and prints."""

import codecs
import os
import signal
import sys
from difflib import get_close_matches
from importlib import import_module
from unicodedata import normalize

import click

from fabula.errors import FabulaError, InputError, clip_line, shown
from fabula.version import __version__

# Command: what `fabula --help` says of it. Modules are loaded when their command runs, those of research from below.
COMMANDS = {
    "order": "Put music, texts or pictures in an order that tells a story.",
    "review": "Say what is good and what is weak in an order as it stands, and the moves that would help.",
    "arcs": "Show the arc within single items, such as whole books, and which of six emotional arcs it is like.",
    "demo": "Order a small collection that comes with the package: of music, of text or of pictures.",
    "copy": "Write numbered copies of files, in the order in which a playlist, a table or a folder has them.",
    "restore": "Bring back a version of a file that was replaced; lists them where there are several.",
    "sources": "List where collections may come from and go back to, what is installed, and an example of each.",
    "doctor": "Say what is installed, what is missing for what, where things are kept, and try out the main job.",
    "serve": "Open the page on which an arc is drawn and the order follows.",
    "templates": "List, show, learn and compare story templates.",
    "extract": "Measure files and write a table, one row a file.",
    "encode": "Write the essence of every item of a table of collections, or of a folder.",
    "job": "Cut large work into shards that any number of processes and machines do.",
    "cache": "Say what is kept of measured files, or forget it.",
    "fetch": "Fetch a public dataset of ordered collections.",
    "info": "Say what a model takes, what it was trained on and how it did.",
    "train": "Train an essence on ordered collections: a table, or a folder of numbered folders and playlists.",
    "audit": "Measure the information about the order, with the controls that would catch a leak.",
    "evaluate": "Measure how well every method recovers the true order of held-out collections.",
    "reproduce": "Reproduce every table and figure of the paper, with controls and paired tests.",
    "bench-order": "Run an ordering method through the benchmark, beside those of this package and the paper's.",
    "compare": "Compare what each feature tells about the order with what the essence tells.",
}
_RESEARCH = ("templates", "fetch", "info", "train", "audit", "evaluate", "reproduce", "bench-order", "compare")
# Arguments whose option has another name.
OPTIONS = {"smoothness": "smooth", "step_limits": "keys", "occasion": "for", "gap_s": "gap"}


class _Commands(click.Group):
    """A group that loads a command's module only when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            near = get_close_matches(cmd_name, COMMANDS, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are: {', '.join(COMMANDS)}"
            raise click.UsageError(f"there is no command '{cmd_name}'; {hint}", ctx)
        module = f"{'research.' if cmd_name in _RESEARCH else ''}{cmd_name.replace('-', '_')}"
        command: click.Command = import_module(f"fabula.cli.{module}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


GREETING = f"""fabula {__version__} finds the order that tells a story.
  fabula demo              orders an album that comes with it
  fabula order FOLDER      your music, texts or pictures, a playlist or a table
  fabula review FOLDER     what is good and what is weak in the order you have
  fabula serve             the page: draw an arc, and the order follows
Next: fabula demo. All commands: fabula --help. What is installed: fabula doctor."""


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(__version__, message="fabula %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an error; may stand anywhere.")
@click.pass_context
def cli(context: click.Context, *, debug: bool) -> None:
    """Find the order that tells a story.

    \b
    Example:
      fabula order album.csv --by energy --template icarus -o album.m3u8
    """
    if context.invoked_subcommand is None:
        click.echo(GREETING)


def main() -> None:
    """Run the command line; a user's mistake is one line on stderr and exit code 2."""
    if "--debug" not in sys.argv:
        _silence_libraries()
    _soften_output()
    # as after an error, so that everything started is ended and nothing is half-written
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(run(sys.argv[1:]))


def _silence_libraries() -> None:
    """Let nobody but Python write on stderr: decoders of sound print what they think of a broken file there."""
    try:
        own = os.dup(2)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 2)
        os.close(quiet)
    except OSError:  # no stderr at all
        return
    sys.stderr = os.fdopen(own, "w", buffering=1, encoding=sys.stderr.encoding, errors="backslashreplace")


# What stands for characters that an output lacks: bars, small columns, curves, and what is typed.
_PLAIN = str.maketrans("▁▂▃▄▅▆▇█▏▎▍▌▋▊▉…—–‘’“”„«»→×·•♭♯\u2800\xa0", '_.,-=+*########.--\'\'""""">x..b#  ')


def _soften_output() -> None:
    """Let an output that lacks a character show one that is like it: a Windows console, a log in Latin-1."""

    def replace(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        found = []
        for c in error.object[error.start : error.end].translate(_PLAIN):
            bare = "*" if "\u2801" <= c <= "\u28ff" else normalize("NFKD", c).encode("ascii", "ignore").decode()
            found.append(bare or ("?" if c.isprintable() else shown(c)))  # the star is of a curve
        return "".join(found), error.end

    codecs.register_error("fabula", replace)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="fabula")


def run(arguments: list[str]) -> int:
    """Run the command line on a list of arguments and return its exit code."""
    debug = "--debug" in arguments or bool(os.environ.get("FABULA_DEBUG"))
    try:
        code = cli.main([a for a in arguments if a != "--debug"], prog_name="fabula", standalone_mode=False)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        if debug and not isinstance(error, BrokenPipeError):
            raise
        if isinstance(error, OSError):  # nobody reads on, or nothing more can be written: the last flush passes
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code, line = _tell(error)
        if line:
            click.echo(f"fabula: {line}", err=True)
    return code if isinstance(code, int) else 0


def _tell(error: BaseException) -> tuple[int, str]:
    """The exit code for an error, and what is said of it in a line; a wrong argument is called by its option."""
    match error:
        case FabulaError() | click.ClickException():
            line = error.format_message() if isinstance(error, click.ClickException) else str(error)
            if isinstance(error, InputError) and error.field:
                line = f"--{OPTIONS.get(error.field, error.field).replace('_', '-')}: {error.message}"
            return 2, clip_line(line)
        case KeyboardInterrupt() | click.Abort():
            return 130, "interrupted"
        case BrokenPipeError():
            return 0, ""
        case OSError():  # of the output: what else goes wrong with files is told by those who open them
            what = f"{shown(error.filename)}: cannot be used" if error.filename else "what is printed cannot be written"
            return 2, f"{what} ({error.strerror or error})"
    why = f"{type(error).__name__}: {' '.join(str(error).split())}"  # ours, or of a package that extends this one
    return 1, f"something unforeseen went wrong ({why}); --debug shows where"
