"""The leaderboard of the benchmark as one HTML page: nothing in it is loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from fabula.core.files import write_whole
from fabula.report.charts import Bar, bars_figure
from fabula.report.markup import html_page, html_table
from fabula.research.bench import SHOWN, BenchCard, BenchRow

WHOSE = {"yours": "yours", "ours": "fabula", "paper": "the paper", "known": "oracle"}
_MORE = (
    "body{max-width:76rem}td:first-child{min-width:15rem}td.n .soft{font-size:.78rem}.about{font-size:.85rem}"
    ".tag{font-size:.8rem;border:1px solid var(--line);border-radius:1rem;padding:.05rem .5rem;"
    "white-space:nowrap}tr.yours td{font-weight:600}tr.yours .tag{border-color:var(--dot);color:var(--dot)}"
    "tr.known td{color:var(--soft)}"
)
_RULES = (
    "A method is shown the items of each test collection shuffled, under names drawn for that one question, and gives "
    "one ordering. It may learn from the training collections. A question that is not answered, not in time or not "
    "with a permutation counts as a random ordering does on average. Intervals are 95 %, by a studentised bootstrap "
    "over those who made the collections, drawn whole. The paper prints no table of order recovery: its row is its "
    "method, run here."
)


def write_board(cards: Sequence[BenchCard], path: str | Path) -> Path:
    """Write a page with a board for each task, whole or not at all."""
    return write_whole(path, board_page(cards))


def board_page(cards: Sequence[BenchCard]) -> str:
    """The page: for each task the table of all methods and the picture of their rank correlation."""
    heading = f'<h1>Finding the order</h1><p class="sub">{escape(_RULES)}</p>'
    return html_page("Finding the order", [heading, *map(_board, cards)], style=_MORE)


def _board(card: BenchCard) -> str:
    task = card.task
    titles = ", titles" if task["titles"] else ""
    makers = f" by {task['groups']:,} makers" if task["groups"] < task["test"] else ""
    about = (
        f"{task['about']}. {task['training']:,} collections to learn from, {task['test']:,} to order"
        f"{makers}; {task['rule']}. Shown: {', '.join(task['features'][:12]) or 'no features'}"
        f"{' and more' if len(task['features']) > 12 else ''}{titles}. Test {task['digest']}."
    )
    failures = "".join(
        f'<p class="note">{count:,} counted as random: {escape(why)}</p>' for why, count in card.failures.items()
    )
    notes = "".join(f'<p class="note">{escape(note)}</p>' for note in card.notes)
    found = [(row.method, row.metrics["spearman"]) for row in card.rows if row.method != "random"]
    bars = [Bar(method, rho.mean, rho.low, rho.high) for method, rho in found]
    figure = bars_figure([("Spearman's rank correlation with the true order", bars)], standalone=False) if bars else ""
    return (
        f"<h2>{escape(task['name'])}</h2><p>{escape(about)}</p>{failures}{notes}{_table(card.rows)}"
        f"<figure>{figure}</figure>"
    )


def _table(rows: Sequence[BenchRow]) -> str:
    heads = "".join(f'<th class="n">{escape(name)}</th>' for name in (*SHOWN, "failed"))
    return html_table(f"<th>method</th>{heads}", map(_row, rows))


def _row(row: BenchRow) -> str:
    cells = "".join(
        f'<td class="n">{found.mean:.3f}<br><span class="soft">{found.low:.3f} to {found.high:.3f}</span></td>'
        for found in (row.metrics[name] for name in SHOWN)
    )
    about = f'<br><span class="soft about">{escape(row.about)}</span>' if row.about else ""
    whose = f'<span class="tag">{escape(WHOSE.get(row.kind, row.kind))}</span>'
    return (
        f'<tr class="{escape(row.kind, quote=True)}"><td>{escape(row.method)} {whose}{about}</td>{cells}'
        f'<td class="n">{row.failed or ""}</td></tr>'
    )
