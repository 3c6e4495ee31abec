"""What is said of an order as it stands: as lines of text, and as one self-contained HTML page."""

from collections.abc import Sequence
from html import escape
from itertools import pairwise

import numpy as np

from fabula.media.facts import side_name
from fabula.report.markup import ANY_WAY, NUMBER, WHY, html_page, html_table
from fabula.report.pictures import review_figure
from fabula.session.ordered import headline
from fabula.session.review import Join, Review

_SURE = ((0.5, "clear"), (0.2, "likely"), (0.05, "worth a try"), (0.0, "an idea"))  # how likely it is what went wrong


def review_lines(review: Review) -> list[str]:
    """A review as lines of text: a verdict, then each part under a heading."""
    lines = [headline(review.as_it_is), verdict(review), *name_ends(review), *name_sides(review)]
    for heading, rows in (
        ("strongest joins", [_join_line(one) for one in review.strongest]),
        ("weakest joins", [_join_line(one) for one in review.weakest]),
        ("stands oddly", [f"{one.position} {one.title}: {one.why}" for one in review.clear_odd]),
        ("moves that help", [f"{k}. {line}" for k, line in enumerate(move_lines(review), start=1)]),
    ):
        lines += [f"{heading}:", *(f"  {row}" for row in rows)] if rows else []
    return [*filter(None, [*lines, *name_outlook(review)]), *(f"note: {note}" for note in review.notes)]


def verdict(review: Review) -> str:
    """How it stands among random orders, in a sentence; "" where nothing is known."""
    share = review.percentile
    if share is None:
        return ""
    if 40 <= share <= 60:
        return f"about as good as a random order (better than {share:.0f} of 100): treat what follows as a guess"
    if share >= 99.5:
        return "better than 99 of 100 random orders"
    return f"{'only ' if share < 40 else ''}better than {share:.0f} of 100 random orders"


def name_ends(review: Review) -> list[str]:
    """What opens and what closes, how likely that is, and who is likelier."""
    names = {item.id: item.label for item in review.items}
    said = []
    for verb, noun, place, likely in (("opens", "opener", 0, review.openers), ("closes", "close", -1, review.closers)):
        if not likely:
            continue
        here, column = review.items[place], 0 if place == 0 else 1
        shares = {one: round(100 * review.chances[one][column]) for one in (here.id, *likely)}
        told = [(one, f"{names[one]} ({shares[one]} %)") for one in likely if one != here.id]
        better = ", ".join(words for one, words in told if shares[one] > shares[here.id])
        if better:
            said.append(f"{verb} with {here.label} ({shares[here.id]} %); likelier: {better}")
            continue
        role = f"the likeliest {noun}" if here.id == likely[0] else f"as likely as any {noun}"
        then = f"; then {', '.join(words for _, words in told)}" if told else ""
        said.append(f"{verb} with {here.label}, {role} ({shares[here.id]} %){then}")
    return said


def name_sides(review: Review) -> list[str]:
    """Each side and how long it is, where there are several."""
    lengths = review.as_it_is.length_texts
    ends = list(pairwise([0, *np.cumsum(review.sides, dtype=np.intp).tolist()]))
    return [
        f"side {side_name(k)}: {start + 1} to {stop}{f', {lengths[k]}' if lengths[k] else ''}"
        for k, (start, stop) in enumerate(ends)
    ]


def _join_line(join: Join) -> str:
    return f"{join.after}-{join.after + 1} {join.titles[0]} > {join.titles[1]}: {join.why}"


def move_lines(review: Review) -> list[str]:
    """The moves, each with how sure it is, and with what the order rises to among random ones."""
    said, before = [], min(round(review.percentile or 0.0), 99)
    for move in review.moves:
        sure = next(word for least, word in _SURE if move.sure >= least)
        after = min(round(move.percentile), 99)
        said.append(f"{move.say}: {sure}{f'; from {before} to {after} of 100' if after > before else ''}")
        before = max(before, after)
    return said


def name_outlook(review: Review) -> list[str]:
    """What the moves make of it; or that none is worth it."""
    if review.percentile is None:
        return []
    if not review.moves:
        return ["no move of one or two would help much"]
    done = ("it", "both")[len(review.moves) - 1] if len(review.moves) < 3 else f"all {len(review.moves)}"
    return [f"with {done}: better than {min(review.improved or 0.0, 99.0):.0f} of 100 random orders"]


def review_page(review: Review) -> str:
    """The page as HTML: the verdict, the arc with its weak joins, what stands oddly, the moves, every join."""
    title = review.session.title
    words = filter(None, (verdict(review), *name_ends(review), *name_sides(review)))
    moves = [(str(k), escape(one)) for k, one in enumerate(move_lines(review), 1)]
    odd = [(str(one.position), escape(one.title), escape(one.why)) for one in review.clear_odd]
    columns = [("<th>at</th>", NUMBER), ("title", ANY_WAY), ("why", WHY)]
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="sub">{escape(headline(review.as_it_is).removeprefix(f"{title}: "))}, as it stands.</p>',
        *(f"<p>{escape(line[:1].upper() + line[1:])}.</p>" for line in words),
        *(f'<p class="note">{escape(note)}</p>' for note in review.notes),
    ]
    if review.session.essence.ndim == 1 and review.percentile is not None:
        body.append(f"<figure>{review_figure(review)}</figure>")
    between = [("<th>after</th>", NUMBER), ("", ANY_WAY), ("why", WHY)]
    for heading, heads, rows in (
        ("The weakest joins", between, _join_rows(review.weakest)),
        ("The strongest joins", between, _join_rows(review.strongest)),
        ("What stands oddly", columns, odd),
        ("Moves that help", [("<th></th>", NUMBER), ("move", ANY_WAY)], moves),
    ):
        body += [f"<h2>{heading}</h2>", html_table(heads, rows)] if rows else []
    body += [f"<p>{escape(line[:1].upper() + line[1:])}.</p>" for line in name_outlook(review)]
    return html_page(title, body)


def _join_rows(joins: Sequence[Join]) -> list[tuple[str, str, str]]:
    return [(str(one.after), escape(" > ".join(one.titles)), escape(one.why)) for one in joins]
