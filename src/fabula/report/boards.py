"""The leaderboard of the benchmark, and how a job stands: one HTML page each that loads nothing from elsewhere."""

from collections.abc import Sequence
from html import escape

from fabula.jobs.status import Standing, duration
from fabula.report.charts import Bar, bars_figure
from fabula.report.markup import NUMBER, html_page, html_table, read_style
from fabula.research.bench import SHOWN, BenchCard, BenchRow

WHOSE = {"yours": "yours", "ours": "fabula", "paper": "the paper", "known": "oracle"}
_RULES = (
    "A method is shown the items of each test collection shuffled, under names drawn for that one question, and gives "
    "one ordering. It may learn from the training collections. A question that is not answered, not in time or not "
    "with a permutation counts as a random ordering does on average. Intervals are 95 %, over "
    "those who made the collections. The paper prints no table of order recovery: its row is its "
    "method, run here."
)


def board_page(cards: Sequence[BenchCard]) -> str:
    """A page with a board for each task: the table of all methods and the picture of their rank correlation."""
    heading = f'<h1>Finding the order</h1><p class="sub">{escape(_RULES)}</p>'
    return html_page("Finding the order", [heading, *map(_board, cards)], style=read_style("board"))


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
    figure = bars_figure([("Spearman's rank correlation with the true order", bars)]) if bars else ""
    columns = [("method", ""), *((name, NUMBER) for name in (*SHOWN, "failed"))]
    table = html_table(columns, map(_row, card.rows))
    return f"<h2>{escape(task['name'])}</h2><p>{escape(about)}</p>{failures}{notes}{table}<figure>{figure}</figure>"


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


# One self-contained HTML page about how a job stands.

_STATES = {
    "done": "done",
    "failures": "done, with failures",
    "busy": "under way",
    "stale": "its worker is lost",
    "failed": "failed",
    "waiting": "waiting",
}
_MOST = 4000  # squares on a page; of more shards each stands for several


def job_page(one: Standing, *, every: float | None = None) -> str:
    """How much is done, how fast, each shard as a square, who works, what failed; ``every`` so many seconds anew."""
    share = one.done / one.shards if one.shards else 1.0
    body = [
        f"<h1>{escape(one.task)}</h1>",
        f'<p class="sub">{escape(one.address)}</p>',
        f'<div class="whole" role="progressbar" aria-label="shards done" aria-valuemin="0" '
        f'aria-valuemax="{one.shards}" aria-valuenow="{one.done}"><i style="width:{100 * share:.1f}%"></i></div>',
        _facts(one, share),
        f"<h2>{f'Round {one.round}: shards' if one.round else 'Shards'}</h2>",
        _grid(one),
    ]
    if one.busy:
        rows = [
            (escape(each.worker), escape(each.shard), duration(each.seconds), "lost" if each.stale else "at work")
            for each in one.busy
        ]
        columns = [("worker", ""), ("shard", ""), ("for", NUMBER), ("", "")]
        body += ["<h2>At work</h2>", html_table(columns, rows)]
    elif not one.complete:
        body.append('<p class="note">Nobody is at work.</p>')
    if one.failed:
        failures = [tuple(map(escape, both)) for both in one.failed.items()]
        body += ["<h2>Failed</h2>", html_table([("shard", ""), ("why it failed", "")], failures)]
    again = "" if every is None else f'<meta http-equiv="refresh" content="{max(1, round(every))}">'
    return html_page(f"{100 * share:.0f} % · {one.task}", body, style=read_style("job"), head=again)


def _facts(one: Standing, share: float) -> str:
    state = "complete" if one.complete else "unknown" if one.seconds_left is None else duration(one.seconds_left)
    facts = [
        (f"{100 * share:.0f} %", f"{one.done:,} of {one.shards:,} shards"),
        (f"{one.done_items:,}", f"{one.items} done"),
        ("" if one.rate is None else f"{one.rate:,.1f}", f"{one.items} a second"),
        (state, "" if one.complete else "left"),
    ]
    if one.failed_items:
        facts.append((f"{one.failed_items:,}", "rows tell of a failure"))
    told = (f"<div><b>{escape(value)}</b><span>{escape(name)}</span></div>" for value, name in facts if value)
    return f'<div class="facts">{"".join(told)}</div>'


def _grid(one: Standing) -> str:
    step = -(-len(one.states) // _MOST)
    worst = list(_STATES)
    shown = [max(one.states[i : i + step], key=worst.index) for i in range(0, len(one.states), step)] if step else []
    squares = "".join(
        f'<i class="{state}" title="{escape(f"shard {i * step}: {_STATES[state]}")}"></i>'
        for i, state in enumerate(shown)
    )
    key = "".join(f'<i class="{name}"></i>{escape(text)}' for name, text in _STATES.items() if name in one.states)
    several = f" Each square is {step} shards." if step > 1 else ""
    return f'<div class="grid">{squares}</div><p class="key">{key}{several}</p>'
