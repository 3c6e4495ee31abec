"""The pages of the gallery, from site/gallery.json."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

from draw import Figure, Plot

KINDS = {
    "albums": ("Albums", "Thirty famous albums in the order they have, drawn by their energy, with what `fabula review` says of that order."),
    "novels": ("Novels", "Ten novels: how glad their words are from the first page to the last, which names run through which chapters, and what `fabula review` says of the order of the chapters."),
    "books": ("Picture books", "Ten picture books under a free licence: page by page how light they are, and what colours they are made of."),
}  # fmt: skip
Entry = dict[str, Any]


def write_pages(found: dict[str, Any], folder: Path) -> None:
    """One page a piece, one a kind, and the first."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind, (title, words) in KINDS.items():
        all_of = found[kind]
        for number, entry in enumerate(all_of):
            around = all_of[number - 1] if number else None, all_of[number + 1] if number + 1 < len(all_of) else None
            (folder / f"{entry['slug']}.md").write_text(page(kind, entry, around), encoding="utf-8")
        listed = "".join(card(entry) for entry in all_of)
        tree = "\n".join(entry["slug"] for entry in all_of)
        text = f'# {title}\n\n{words}\n\n{note(kind, all_of)}\n\n```{{raw}} html\n<ul class="cards">{listed}</ul>\n```\n\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n'
        (folder / f"{kind}.md").write_text(text, encoding="utf-8")
    head = "# Gallery\n\nFacts and figures: titles in their order, what fabula computed, and nothing of the works themselves.\n"
    body = [f"## {title}\n\n{words}\n\n[All {len(found[kind])}]({kind}.md)\n\n```{{raw}} html\n<ul class=\"cards\">{''.join(map(card, found[kind][:3]))}</ul>\n```\n"
            for kind, (title, words) in KINDS.items()]  # fmt: skip
    tree = "\n```{toctree}\n:hidden:\n\nalbums\nnovels\nbooks\n```\n"
    made = f"\nComputed by fabula {found['version']}: `python site/make_gallery.py DATA`.\n"
    (folder / "index.md").write_text(head + "\n" + "\n".join(body) + made + tree, encoding="utf-8")


def note(kind: str, all_of: list[Entry]) -> str:
    """What to know before reading the figures of a kind."""
    known = sorted(entry["percentile"] for entry in all_of if entry["percentile"] is not None)
    middle = (known[(len(known) - 1) // 2] + known[len(known) // 2]) // 2
    unseen = sorted(entry["percentile"] for entry in all_of if not entry["trained"] and entry["percentile"] is not None)
    what = {"albums": "tracks", "novels": "chapters", "books": "pages"}[kind]
    text = (
        f"The order that people know is better than {known[0]} to {known[-1]} of 100 random orders of the same {what}, in the middle {middle}: "
        "that is what the model says, not how good the work is."
    )
    if len(unseen) == len(all_of):
        return text
    return f"{text} {len(all_of) - len(unseen)} of the {len(all_of)} are among those that the model learned from, and their pages say so; of the {len(unseen)} others the middle is {unseen[len(unseen) // 2]}."


def card(entry: Entry) -> str:
    year = f", {entry['year']}" if entry["year"] else ""
    share = "" if entry["percentile"] is None else f" · better than {entry['percentile']} of 100"
    return f'<li><a href="{entry["slug"]}.html">{thumb(entry)}<b>{escape(entry["title"])}</b><small>{escape(entry["by"])}{year}{share}</small></a></li>'


def thumb(entry: Entry) -> str:
    figure = Figure(220, 56, "fig small")
    heights = entry["heights"]
    plot = Plot(figure, (6, 6, 208, 44), (0, len(heights) - 1), (0, 100))
    if "colours" in entry:
        width = 208 / len(heights)
        for page_number, colours in enumerate(entry["colours"]):
            for k, colour in enumerate(colours):
                tall = 44 / len(colours)
                figure.rect(6 + page_number * width, 6 + k * tall, width + 0.5, tall + 0.5, "", f'fill="{colour}"')
    else:
        points = plot.points(range(len(heights)), heights)
        figure.area([(6, 50), *points, (214, 50)])
        figure.line(points)
    return figure.svg(alone=False).replace("<svg ", '<svg aria-hidden="true" ', 1)


def page(kind: str, entry: Entry, around: tuple[Entry | None, Entry | None]) -> str:
    year = f" ({entry['year']})" if entry["year"] else ""
    parts = [
        f"# {entry['by']}: {entry['title']}{year}\n",
        summary(kind, entry),
        raw(figure_of(kind, entry)),
        caption(kind, entry),
    ]
    if kind == "novels" and entry["people"]:
        parts += [
            "## Names that run through it\n",
            raw(people(entry)),
            "Names of people and places, by the chapters they are met in.\n",
        ]
    if kind == "books":
        parts += ["## Its colours\n", raw(colour_strip(entry)), "Each page by the few colours it is made of.\n"]
    command = (
        "fabula review album.csv"
        if kind == "albums"
        else f"fabula review {'chapters' if kind == 'novels' else 'pages'}/"
    )
    said = "\n".join([entry["head"], *entry["lines"]])
    parts += [
        f"## What the review says\n\n```text\n$ {command}\n{said}\n```\n",
        "## The order\n",
        order_table(kind, entry),
    ]
    before, after = around
    links = [
        f"[← {before['title']}]({before['slug']}.md)" if before else "",
        f"[All]({kind}.md)",
        f"[{after['title']} →]({after['slug']}.md)" if after else "",
    ]
    return "\n".join([*parts, " · ".join(filter(None, links))]) + "\n"


def raw(markup: str) -> str:
    box = f'<div class="fig-box" tabindex="0">{markup}</div>' if markup.startswith("<svg") else markup
    return f"```{{raw}} html\n{box}\n```\n"


def summary(kind: str, entry: Entry) -> str:
    words = entry["head"]
    seen = (
        " The model has learned from this one."
        if entry["trained"]
        else " The model has not learned from this one."
        if kind != "books"
        else ""
    )
    licence = f" {entry['from']}, {entry['licence']}." if kind == "books" else ""
    first = f"{words[0].upper()}{words[1:]}."
    if entry["percentile"] is None:
        return f"{first}{licence}{seen}\n"
    return (
        f"{first}{licence} To the model its order is better than **{entry['percentile']} of 100** random ones.{seen}\n"
    )


def figure_of(kind: str, entry: Entry) -> str:
    """The arc, with what stands where; weak joins are marked."""
    heights, n = entry["heights"], len(entry["heights"])
    figure = Figure(720, 250)
    plot = Plot(figure, (70, 20, 630, 180), (0, max(1, n - 1)), (-4, 104))
    ends = {"energy": ("calm", "energetic"), "valence": ("dark words", "glad words"), "brightness": ("dark", "light")}[
        entry["arc"]
    ]
    chapters = [
        (n * (k + 0.5) / len(entry["items"]), str(k + 1))
        for k in range(0, len(entry["items"]), max(1, len(entry["items"]) // 12))
    ]
    plot.frame(
        ticks=((0, ends[0]), (100, ends[1])),
        x_ticks=chapters if kind == "novels" else [(k, str(k + 1)) for k in range(n)],
    )
    points = plot.points(range(n), heights)
    if kind == "novels":
        low, high = (plot.points(range(n), entry[name]) for name in ("low", "high"))
        figure.area([*low, *reversed(high)])
        figure.line(points)
    else:
        bottom = plot.at(0, -4)[1]
        figure.area([(points[0][0], bottom), *points, (points[-1][0], bottom)])
        figure.line(points)
        for after in entry["weak"]:
            (x, y), (u, v) = points[after - 1], points[after]
            figure.line([(x, y), (u, v)], "b line", 'stroke-dasharray="2 5" stroke-width="3.5"')
        for k, (x, y) in enumerate(points):
            figure.dot(x, y, title=f"{k + 1} {entry['items'][k]}")
    axis = {"albums": "track", "novels": "chapter", "books": "page"}[kind]
    figure.text(70, 242, axis, "soft", 11)
    told = f"{entry['arc'].capitalize()} of {entry['title']}, from the first {axis} to the last"
    return figure.svg(alone=False).replace("<svg ", f'<svg role="img" aria-label="{escape(told)}" ', 1)


def caption(kind: str, entry: Entry) -> str:
    if kind == "novels":
        return f"Valence of the words in windows of {entry['window']:,} words, with the band in which arcs drawn again lie: {entry['described']}.\n"
    weak = " Dashed: the weakest joins." if entry["weak"] else ""
    return f"{entry['arc'].capitalize()} in the order as it stands.{weak}\n"


def people(entry: Entry) -> str:
    n, shown = len(entry["items"]), entry["people"]
    figure = Figure(720, 24 * len(shown) + 26)
    width = 570 / n
    for row, one in enumerate(shown):
        y = 24 * row + 6
        figure.text(120, y + 12, one["name"], size=13, anchor="end")
        figure.rect(130, y, 570, 16)
        for chapter in one["in"]:
            figure.rect(130 + chapter * width, y, width * 0.92, 16, "fa")
    for chapter in range(0, n, max(1, n // 12)):
        figure.text(130 + (chapter + 0.5) * width, 24 * len(shown) + 20, str(chapter + 1), "soft", 11, "middle")
    told = "; ".join(f"{one['name']}: {len(one['in'])} of {n} chapters" for one in shown)
    return figure.svg(alone=False).replace("<svg ", f'<svg role="img" aria-label="{escape(told)}" ', 1)


def colour_strip(entry: Entry) -> str:
    pages = "".join(
        f"<span>{''.join(f'<i style=background:{colour}></i>' for colour in page_of)}</span>"
        for page_of in entry["colours"]
    )
    told = "; ".join(f"page {k + 1}: {', '.join(page_of)}" for k, page_of in enumerate(entry["colours"]))
    return f'<div class="colour-strip" role="img" aria-label="{escape(told)}">{pages}</div>'


def order_table(kind: str, entry: Entry) -> str:
    """The items as they stand, and, of albums, as the model would put them."""
    items = [
        item.title().replace("’S", "’s").replace("'S", "'s") if item.isupper() else item for item in entry["items"]
    ]
    clean = [re.sub(r"[|\[\]*_<>`]", lambda m: "\\" + m.group(), item) for item in items]
    if kind == "novels" and all(item.startswith("Chapter ") for item in clean):
        return f"{len(clean)} chapters without titles.\n"
    if kind == "novels":
        return (
            "\n".join(["| | chapter |", "|---|---|", *(f"| {k + 1} | {item} |" for k, item in enumerate(clean))]) + "\n"
        )
    if kind == "books":
        return f"{len(clean)} pages. The model would put them so: {', '.join(str(k + 1) for k in entry['proposed'])}.\n"
    rows = [f"| {k + 1} | {item} | {clean[entry['proposed'][k]]} |" for k, item in enumerate(clean)]
    return (
        "\n".join(["| | on the record | as the model would have it |", "|---|---|---|", *rows])
        + "\n\nOf many orders that would have worked people know one: the right column is no correction.\n"
    )
