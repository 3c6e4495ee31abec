"""``fabula order``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace as Options
from typing import TYPE_CHECKING, Any

import click

from fabula.cli.copy import write_copies
from fabula.cli.printing import HeadedCommand, counting_bar, medium_option, print_lines, print_ordered
from fabula.cli.restore import restore_version
from fabula.core.files import check_target
from fabula.errors import InputError
from fabula.media.extraction import Measuring
from fabula.media.registry import media
from fabula.sources.playlists.playlist import PLAYLIST_ENDINGS
from fabula.sources.registry import Opening, SeveralCollectionsError, is_library, name_pasted

if TYPE_CHECKING:
    from fabula.session.ordered import Ordered
    from fabula.session.request import Ends, Request
    from fabula.session.session import Session

_MOST_PASTED = 16 << 20  # bytes
_SECTIONS = {
    "What is ordered": ("collection", "every", "columns", "medium", "only", "one_of", "pick", "recursive", "jobs",
                        "cache"),
    "The arc": ("template", "like", "flip", "by", "model", "occasion", "embedding", "alternatives", "likeliest",
                "choose", "seconds"),
    "Wishes": ("first", "last", "at", "together", "together_by", "before", "apart", "sides", "side_limit", "limit",
               "fill", "spreads", "series", "smoothness", "smooth_by", "sort_into_mix", "ramp", "folded", "keys",
               "mix_bars", "soft", "keep", "ask", "matter"),
    "What comes out": ("outputs", "grid", "as_name", "gap_s", "gain", "report", "plot", "as_json", "show", "why"),
    "Moved to fabula copy and fabula restore": ("copy_to", "link", "tags", "in_place", "restore", "number"),
}  # fmt: skip


def _name_outputs() -> str:
    """The endings that each medium writes besides."""
    own = {medium.words.items: (*medium.outputs, *medium.sheets) for medium in media().values()}
    return "; ".join(f"of {items} {' '.join(endings)}" for items, endings in own.items() if endings)


_FIRST = ("template", "like", "by", "first", "last", "apart", "sides", "smoothness", "outputs", "as_json")


@click.command("order", cls=HeadedCommand, sections=_SECTIONS, first=_FIRST)
@click.argument("paths", nargs=-1, metavar="PATH...")
@click.option("--template", metavar="NAME|FILE|POINTS", help="A template: see `fabula templates list`.")
@click.option("--like", metavar="PATH", help="Take the arc of that collection.")
@click.option("--flip", is_flag=True, help="Turn the template upside down.")
@click.option("--model", metavar="NAME|FILE", help="The model that proposes the order: see `fabula info`.")
@click.option("--for", "occasion", metavar="OCCASION", help="What the order is for, such as a concert.")
@click.option("--by", metavar="COLUMN", help="Use a column as the essence instead of a model.")
@click.option("--embedding", metavar="COLUMN|FILE.onnx",
              help="Vectors of your own, for --smooth and --by embedding: a list column or a model.")  # fmt: skip
@click.option("--collection", metavar="ID", help="Which collection of a table that holds several.")
@click.option("--all", "every", is_flag=True,
              help="Order each collection of a table by itself; -o is then a .csv or .parquet table.")  # fmt: skip
@click.option("--columns", metavar="ROLE=NAME", multiple=True,
              help="Name a table's column, such as title=Titel; repeatable.")  # fmt: skip
@medium_option
@click.option("--only", metavar="COMPARISON",
              help='Items that fulfil it, such as "rating >= 3 and keywords ~ sea"; dates as 2024-05-17.')  # fmt: skip
@click.option("--one-of", metavar="COLUMN", help="Of items that share it, such as burst, the best alone.")
@click.option("--pick", type=click.IntRange(1), metavar="N",
              help="So many of them, which tell most: one of what is alike, the best, unlike each other.")  # fmt: skip
@click.option("--first", metavar="TITLE", multiple=True, help="The item to open with; B=TITLE for that of side B.")
@click.option("--last", metavar="TITLE", multiple=True, help="The item to close with; B=TITLE for that of side B.")
@click.option("--at", metavar="POSITION=TITLE", multiple=True,
              help="Put an item at a position, such as 3=Intro; repeatable.")  # fmt: skip
@click.option("--together", metavar="TITLE TITLE", multiple=True, nargs=2,
              help="Two titles that follow each other; repeatable.")  # fmt: skip
@click.option("--together-by", metavar="COLUMN", help="Items that share it stand in one run, such as strand.")
@click.option("--before", metavar="TITLE TITLE", multiple=True, nargs=2,
              help="The first somewhere before the second; repeatable.")  # fmt: skip
@click.option("--apart", metavar="COLUMN", multiple=True,
              help="No two neighbours share it, such as artist; --apart soft besides: as few as can be.")  # fmt: skip
@click.option("--sides", "--walls", type=click.IntRange(1), default=1, metavar="N",
              help="Sides with an arc each, as on vinyl; or walls of a room.")  # fmt: skip
@click.option("--spreads", type=click.Choice(["match", "contrast"]),
              help="Two and two face each other after a cover, as in a book, and match or contrast.")  # fmt: skip
@click.option(
    "--side-limit", metavar="LENGTH", help="The longest a side may be, such as 22:00; alone: as many sides as it takes."
)
@click.option("--grid", type=click.IntRange(0), default=0, metavar="N",
              help="So many in a row on a sheet or in a gallery of pictures.")  # fmt: skip
@click.option("--soft", metavar="COLUMNS",
              help="What is to rise as far as all else allows, such as captured; NAME:2 counts twice.")  # fmt: skip
@click.option("--keep", type=float, metavar="SHARE",
              help="Leave this share of the items in their order, such as 0.8, and move the others.")  # fmt: skip
@click.option("--ask", is_flag=True, help="On a terminal: choose opener and close among the likeliest.")
@click.option("--matter/--no-matter", default=True,
              help="Keep title page, contents, preface, epilogue and index of texts where they belong.")  # fmt: skip
@click.option("--limit", metavar="LENGTH", help="The longest it may be in all; what fits worst is left out.")
@click.option("--fill", metavar="LENGTH",
              help="Choose from a crate what fills this length to the second, such as 45:00.")  # fmt: skip
@click.option("--smooth", "smoothness", type=float, default=0.0, metavar="WEIGHT",
              help="Prefer small steps between neighbours; negative for contrast.")  # fmt: skip
@click.option("--smooth-by", metavar="STEPS",
              help="With --smooth: the steps that count, by name, as NAME,NAME or NAME:2,NAME:1.")  # fmt: skip
@click.option("--series/--no-series", default=True,
              help="Keep what titles count in order (Part 1, Part 2), interludes apart.")  # fmt: skip
@click.option("--sort-into-mix", is_flag=True,
              help="As a DJ would: small steps, none larger on average than as given, along an arc.")  # fmt: skip
@click.option("--tempo", "ramp", type=click.Choice(["rise", "fall", "arc"]),
              help="With --sort-into-mix: what the beats per minute do, in place of an arc of energy.")  # fmt: skip
@click.option("--tempo-range", "folded", metavar="LOW-HIGH",
              help="Tempi beyond it are halved or doubled into it, such as 88-176.")  # fmt: skip
@click.option("--keys", type=click.Choice(["strict", "free"]), default="free",
              help="strict: neighbours are one step apart on the wheel of keys (Camelot) at most.")  # fmt: skip
@click.option("--mix-bars", type=click.IntRange(1, 32), metavar="N",
              help="At least so many bars to mix two over, in which never both are full.")  # fmt: skip
@click.option("--alternatives", type=int, default=4, show_default=True, metavar="N", help="Orderings to propose.")
@click.option("--likeliest", is_flag=True,
              help="Propose the likeliest order, not the one expected to agree best with the true one.")  # fmt: skip
@click.option("--choose", type=int, default=1, metavar="N", help="Take the Nth proposal instead of the first.")
@click.option(
    "--seconds", type=float, metavar="N", help="How much to search beyond 18 items: the work of so many seconds."
)
@click.option("-o", "--output", "outputs", metavar="FILE", multiple=True,
              help=f"Write the order: {' '.join(PLAYLIST_ENDINGS)} .csv .tsv .xlsx .json .jsonl .parquet; "
              f"{_name_outputs()}; repeatable.")  # fmt: skip
@click.option("--as", "as_name", metavar="NAME",
              help="Write it back into its library, as a playlist of that name; its own: in its place.")  # fmt: skip
@click.option("--gap", "gap_s", type=float, default=0.0, metavar="SECONDS",
              help="Between two items of a side: it counts in lengths, limits, .cue and timings (.txt).")  # fmt: skip
@click.option("--copy-to", metavar="FOLDER", help="As fabula copy --to.")
@click.option("--link", is_flag=True, help="With --copy-to: as fabula copy --link.")
@click.option("--tags", is_flag=True, help="With --copy-to: as fabula copy --tags.")
@click.option("--gain", is_flag=True,
              help="What brings each to one level: as ReplayGain in copies, as comments in a playlist.")  # fmt: skip
@click.option("--in-place", is_flag=True, help="With --tags: as fabula copy --in-place.")
@click.option("--restore", metavar="FILE", help="As fabula restore.")
@click.option("--version", "number", type=int, metavar="N", help="With --restore: as fabula restore --version.")
@click.option("--report", metavar="FILE.html", help="Write a page with the arc, the table and the alternatives.")
@click.option("--plot", metavar="FILE", help="Write the arc as a picture: .svg .png .pdf")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the table.")
@click.option("--show", metavar="NAMES", help="Columns of what is known of each, such as key; or all.")
@click.option("--why", is_flag=True, help="Say in a sentence why each item stands where it stands.")
@click.option("--recursive/--no-recursive", default=True, help="Go into folders within folders.")
@click.option("--jobs", type=click.IntRange(1), help="Files to measure at a time; by default one per core.")
@click.option("--cache/--no-cache", default=True, help="Keep what was measured.")
def command(*, paths: tuple[str, ...], restore: str | None, number: int | None, **options: Any) -> None:
    """Put music, texts or pictures in an order that tells a story.

    PATH is a folder, files, a playlist, a manuscript or a table.

    \b
    Examples; more of one kind: fabula order --medium music, text or images --help
      fabula order ~/Music/new-album -o new-album.m3u8
      fabula order mix.m3u8 --first "Intro" --apart artist -o mix-ordered.m3u8
      fabula order manuscript.docx -o reordered.docx
      fabula order photos --pick 24 --soft captured -o show.gallery
      fabula order album.csv --by energy --template "0:0.2,0.5:1,1:0" --json
      fabula order catalogue.parquet --all -o orders.parquet
    """
    if restore is not None:
        if paths:
            raise InputError("stands alone; it orders nothing", field="restore")
        restore_version(restore, number)
        _tell_new("--restore", "fabula restore")
    elif number is not None:
        raise InputError("goes with a file to restore", field="version")
    elif not paths:
        raise click.UsageError("Missing argument 'PATH...'.")
    elif options["every"]:
        _order_all(paths, Options(**options))
    else:
        _order_one(paths, Options(**options))


def _order_one(paths: tuple[str, ...], asked: Options) -> None:
    """Order a collection, write what is asked for and print it."""
    _check_options(asked)
    back = _find_name(paths, asked)
    session, request = _open(paths, asked)
    try:
        ordered = session.order(_ask(session, request) if asked.ask else request)
    except InputError as error:
        if error.field != "step_limits" or asked.keys == "strict":
            raise
        raise InputError(error.message, field="mix_bars") from error
    show = _as_names(asked.show)
    ordered.facts(show)  # refuses what is not known before anything is written
    written: list[Path | str] = [*_write_outputs(ordered, asked), *map(ordered.write_back, back)]
    lost = "; ".join(filter(None, map(ordered.losses, asked.outputs)))
    print_ordered(ordered, written, as_json=asked.as_json, why=asked.why, show=show, lost=lost)
    if asked.copy_to is not None or asked.in_place:
        _tell_new("--in-place" if asked.in_place else "--copy-to", "fabula copy on what -o writes")


def _open(paths: tuple[str, ...], asked: Options) -> tuple[Session, Request]:
    """The session and the request, as the options say."""
    from fabula.session.selection import Selection
    from fabula.session.session import check_template, open_session
    from fabula.sources.tables.storage import TABLE_ENDINGS

    request = _as_request(asked)
    if asked.template is not None:
        check_template(asked.template, asked.model)
    if asked.ramp is not None and not asked.sort_into_mix:
        raise InputError("--tempo: goes with --sort-into-mix")
    tempi = as_range(asked.folded)
    folder = Path.cwd() if paths == ("-",) else None
    opening = Opening(asked.collection, as_columns(asked.columns), asked.recursive, tempo_range=tempi, folder=folder,
                      medium=asked.medium)  # fmt: skip
    whole = asked.limit is None and asked.fill is None  # else it is not known how many are written
    chosen = asked.only, asked.one_of, asked.pick, asked.outputs if whole else ()
    wanted = Selection(*chosen) if any(chosen) else None
    how = {name: getattr(asked, name) for name in ("by", "model", "embedding", "occasion")}
    with counting_bar("measuring") as progress, read_pasted(paths) as paths:
        measuring = Measuring(asked.jobs, asked.cache, progress)
        try:
            session = open_session(paths, opening, measuring, selection=wanted, request=request, **how)
        except SeveralCollectionsError as error:
            whole = Path(paths[0]).suffix.lower() in TABLE_ENDINGS or Path(paths[0]).is_dir()
            each = ", or order each with --all" if whole else ""
            raise InputError(f"{error.message}{each}", field=error.field) from error
        if asked.sort_into_mix:
            session, request = session.preset(asked.ramp or "mix", request, measuring)
    return session, request


@contextmanager
def read_pasted(paths: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The paths; or, for ``-``, a file with what is pasted or piped in, as the list that it looks like."""
    if paths != ("-",):
        yield paths
        return
    if sys.stdin.isatty():
        click.echo("paste the list, and end it with Ctrl-D on a line of its own:", err=True)
    data = sys.stdin.buffer.read(_MOST_PASTED + 1)
    if len(data) > _MOST_PASTED:
        raise InputError(f"what is pasted may have {_MOST_PASTED:,} bytes; write it into a file")
    ending, text = name_pasted(data)
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"pasted{ending}"
        file.write_bytes(text)
        yield (str(file),)


def _ask(session: Session, request: Request) -> Request:
    """The request with the opener and the close that a person chooses among the likeliest; Enter leaves it open."""
    from dataclasses import replace

    from fabula.session.request import find_item
    from fabula.session.review import likely_ends

    items = session.collection.items
    for name, question, likely in zip(("first", "last"), ("opens", "closes"), likely_ends(session), strict=True):
        if getattr(request, name) is not None or not likely:
            continue
        click.echo(f"Which {question}?", err=True)
        for number, (item, chance) in enumerate(likely, start=1):
            click.echo(f"  {number}  {items[item].label} ({100 * chance:.0f} %)", err=True)
        while True:
            said = click.prompt("number or title; Enter: as the model finds", default="", show_default=False, err=True)
            if not said.strip():
                break
            try:
                number = int(said) if said.strip().isdecimal() else 0
                chosen = likely[number - 1][0] if 1 <= number <= len(likely) else find_item(items, said.strip(), name)
            except InputError as error:
                click.echo(f"fabula: {error.message}", err=True)
                continue
            request = replace(request, first=chosen) if name == "first" else replace(request, last=chosen)
            break
    return request


def _tell_new(option: str, command: str) -> None:
    """Name the command that an option has become."""
    click.echo(f"note: {option} has moved: use {command}", err=True)


def _check_options(asked: Options) -> None:
    """Refuse what cannot be written or asked, before any work is done."""
    if asked.ask and not sys.stdin.isatty():
        raise InputError("needs a terminal to ask on; --first and --last say it without", field="ask")
    check_outputs([path for path in asked.outputs if not is_library(path)], asked.report, asked.plot)
    copies = asked.copy_to is not None
    if copies and not asked.copy_to.strip():
        raise InputError("name a folder for the copies", field="copy_to")
    if asked.link and not copies:
        raise InputError("goes with --copy-to", field="link")
    if asked.tags and copies == asked.in_place:
        raise InputError("goes with either --copy-to or --in-place", field="tags")
    if asked.gain and not copies and not asked.outputs:
        raise InputError("goes with --copy-to or -o", field="gain")
    if asked.in_place and not asked.tags:
        raise InputError("goes with --tags", field="in_place")


def check_outputs(outputs: Sequence[str], report: str | None, plot: str | None) -> None:
    """Refuse orders, a page or a picture that cannot be written; nothing else is loaded."""
    for output in outputs:
        from fabula.session.export import check_output

        check_output(output)
    if report is not None and check_target(report).suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{report}: the ending must be .html")
    if plot is not None:
        from fabula.report.pictures import check_picture

        check_picture(plot)


def _find_name(paths: tuple[str, ...], asked: Options) -> list[str | None]:
    """Under which name the order goes back into its library: none or one, None for that of what was opened."""
    back: list[str | None] = [] if asked.as_name is None else [asked.as_name]
    for output in filter(is_library, asked.outputs):
        if output not in paths:
            raise InputError(f"{output}: -o takes the address that is opened, or a file; for another name --as")
        back.append(None)
    asked.outputs = tuple(output for output in asked.outputs if not is_library(output))
    if back and not any(map(is_library, paths)):
        raise InputError("goes with a library, such as subsonic://USER@HOST/playlist/NAME", field="as")
    return back


def _write_outputs(ordered: Ordered, asked: Options) -> list[Path]:
    """Write all that is asked for; nothing else is loaded."""
    written = [ordered.save(output, gain=asked.gain) for output in asked.outputs]
    if asked.report is not None:
        from fabula.report.page import write_page

        written.append(write_page(ordered, asked.report))
    if asked.plot is not None:
        from fabula.report.pictures import write_picture

        written.append(write_picture(ordered, asked.plot))
    if asked.copy_to is not None or asked.in_place:
        written += write_copies(ordered, asked.copy_to, link=asked.link, tags=asked.tags, gain=asked.gain)
    return written


# Options that --all takes: wishes that every collection can have, and what holds for all.
_WITH_ALL = ("every", "model", "likeliest", "series", "columns", "outputs", "jobs", "cache", "by", "template", "flip",
             "apart", "together_by", "smoothness", "smooth_by", "soft", "keep", "matter", "seconds")  # fmt: skip


def _order_all(paths: tuple[str, ...], asked: Options) -> None:
    """Order every collection of a table."""
    from fabula.session.catalogue import CatalogueRequest, order_catalogue

    context, typed = click.get_current_context(), click.core.ParameterSource.COMMANDLINE
    others = [one for one in context.command.params if one.name in vars(asked) and one.name not in _WITH_ALL]
    for option in others:
        if option.name is not None and context.get_parameter_source(option.name) is typed:
            raise InputError("goes with one collection, not with --all", field=option.opts[0].lstrip("-"))
    if len(paths) != 1 or len(asked.outputs) != 1:
        raise InputError("--all takes one table and -o, where the orderings go (.csv or .parquet)")
    with counting_bar("ordering") as report:
        opening = Opening(columns=as_columns(asked.columns))
        measuring = Measuring(asked.jobs, asked.cache)
        what = CatalogueRequest(paths[0], asked.model, opening, measuring, report)
        done = order_catalogue(what, asked.outputs[0], by=asked.by, request=_as_request(asked))
    sure = "each the best there is" if done.exact == done.collections else f"{done.exact:,} surely the best there is"
    ordered = f"ordered: {done.collections:,} collections of {done.items:,} items; {sure}"
    free = f"what titles ask for is kept in {done.counted:,} collections (--no-series leaves them free)"
    print_lines(ordered, *([free] if done.counted else []), f"written: {done.path}")


def _as_request(asked: Options) -> Request:
    """What belongs to the request, out of the options."""
    from fabula.media.music.tracks import LONGEST_MIX
    from fabula.session.request import Request

    wishes = {n: value for n, value in vars(asked).items() if n in Request.__dataclass_fields__ and n != "only"}
    columns = [name for name in asked.apart if name != "soft"]
    if len(columns) > 1:
        raise InputError(f"one column; got {', '.join(columns)}", field="apart")
    if asked.apart and not columns:
        raise InputError("name a column besides soft, such as --apart artist --apart soft", field="apart")
    if asked.smooth_by and not asked.smoothness:
        raise InputError("goes with --smooth, such as --smooth 0.5", field="smooth_by")
    wishes |= {"apart": columns[0] if columns else None, "apart_soft": "soft" in asked.apart}
    wishes |= {name: _as_ends(name, wishes[name]) for name in ("first", "last")}
    wishes |= {"at": _as_positions(asked.at), "spreads": asked.spreads or ""}
    wishes |= {name: _as_weights(wishes[name], name) for name in ("smooth_by", "soft")}
    limits = {"key": 1.0} if asked.keys == "strict" else {}
    limits |= {} if asked.mix_bars is None else {"mix": LONGEST_MIX - float(asked.mix_bars)}
    wishes |= {"step_limits": limits}
    return Request(**wishes)


def _as_names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def _as_weights(text: str | None, field: str) -> dict[str, float]:
    """From ``tempo:2,key`` to names and weights."""
    weights: dict[str, float] = {}
    for part in _as_names(text):
        name, _, weight = part.partition(":")
        try:
            weights[name.strip()] = float(weight) if weight else 1.0
        except ValueError:
            raise InputError(f"takes NAME or NAME:WEIGHT; got {part!r}", field=field) from None
    return weights


def _as_ends(name: str, given: tuple[str, ...]) -> Ends | None:
    """A title; or by side, from ``B=TITLE``."""
    matches = [re.fullmatch(r"([A-Za-z])=(.+)", text.strip()) for text in given]
    sides = {ord(match[1].upper()) - ord("A"): match[2] for match in matches if match}
    if sides and len(sides) < len(given):
        raise InputError(f"name each side once, as A=TITLE B=TITLE; got {', '.join(given)}", field=name)
    if not sides and len(given) > 1:
        raise InputError(f"one title, or one for each side as A=TITLE; got {len(given)}", field=name)
    return sides or (given[0] if given else None)


def _as_positions(at: tuple[str, ...]) -> dict[int, str]:
    """From ``3=TITLE``, counted from 1, to position and title."""
    positions: dict[int, str] = {}
    for text in at:
        number, _, title = text.partition("=")
        if not number.strip().lstrip("+-").isdecimal() or not title.strip():
            raise InputError(f"takes POSITION=TITLE, such as 3=Intro or -1=Outro; got {text!r}", field="at")
        if int(number) == 0:
            raise InputError("positions count from 1 (or -1 from the end); got 0", field="at")
        position = int(number) - 1 if int(number) > 0 else int(number)
        if position in positions:
            raise InputError(f"{int(number)} is given twice: for {positions[position]!r} and {title!r}", field="at")
        positions[position] = title
    return positions


def as_range(text: str | None) -> tuple[float, float] | None:
    """From ``88-176`` to two numbers."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*[-:\u2013]\s*(\d+(?:\.\d+)?)\s*", text or "")
    if text is not None and not found:
        raise InputError(f"--tempo-range: takes LOW-HIGH, such as 88-176; got {text!r}")
    return (float(found[1]), float(found[2])) if found else None


def as_columns(given: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """From ``title=Titel`` to role and column."""
    pairs = [text.partition("=") for text in given]
    for role, _, name in pairs:
        if not role.strip() or not name.strip():
            raise InputError(f"takes ROLE=NAME, such as title=Titel; got {role + name!r}", field="columns")
    return tuple((role.strip(), name.strip()) for role, _, name in pairs)
