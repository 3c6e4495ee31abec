"""One self-contained HTML page about how a job stands."""

from __future__ import annotations

from html import escape
from pathlib import Path

from fabula.core.files import write_whole
from fabula.jobs.status import Standing, duration
from fabula.report.markup import html_page, html_table

_MORE = """
.whole{height:.9rem;border-radius:.45rem;background:var(--line);overflow:hidden;margin:1rem 0}
.whole i{display:block;height:100%;background:#2e9e62}
.facts{display:flex;flex-wrap:wrap;gap:.6rem 2.4rem;margin:1.2rem 0}.facts b{display:block;font-size:1.35rem}
.facts span{color:var(--soft);font-size:.9rem}
.grid{display:flex;flex-wrap:wrap;gap:3px;margin:.8rem 0}.grid i,.key i{width:11px;height:11px;border-radius:3px;
background:var(--line);display:inline-block}
.grid .done,.key .done{background:#2e9e62}.grid .failures,.key .failures{background:#c9a227}
.grid .busy,.key .busy{background:var(--dot)}.grid .stale,.key .stale{background:#8a6fd1}
.grid .failed,.key .failed{background:#d64545}
.key{color:var(--soft);font-size:.9rem}.key i{margin:0 .35rem 0 .9rem}.key i:first-child{margin-left:0}
"""
_STATES = {
    "done": "done",
    "failures": "done, with failures",
    "busy": "under way",
    "stale": "its worker is lost",
    "failed": "failed",
    "waiting": "waiting",
}
_MOST = 4000  # squares on a page; of more shards each stands for several


def write_job_page(standing: Standing, path: str | Path, *, every: float | None = None) -> Path:
    """Write the page, whole or not at all; with ``every`` it looks again after so many seconds."""
    return write_whole(path, job_page(standing, every=every))


def job_page(standing: Standing, *, every: float | None = None) -> str:
    """The page as HTML: how much is done, how fast, each shard as a square, who is at work, what failed."""
    one = standing
    share = one.done / one.shards if one.shards else 1.0
    body = [
        f"<h1>{escape(one.task)}</h1>",
        f'<p class="sub">{escape(one.address)}</p>',
        f'<div class="whole" role="progressbar" aria-label="shards done" aria-valuemin="0" '
        f'aria-valuemax="{one.shards}" aria-valuenow="{one.done}"><i style="width:{100 * share:.1f}%"></i></div>',
        _facts(one, share),
        f"<h2>{f'Round {one.round}: shards' if one.round else 'Shards'}</h2>",
        _grid(one),
        *_workers(one),
        *_failures(one),
    ]
    again = "" if every is None else f'<meta http-equiv="refresh" content="{max(1, round(every))}">'
    return html_page(f"{100 * share:.0f} % · {one.task}", body, style=_MORE, head=again)


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


def _workers(one: Standing) -> list[str]:
    if not one.busy:
        told = "" if one.complete else '<p class="note">Nobody is at work.</p>'
        return [told]
    rows = (
        f"<td>{escape(each.worker)}</td><td>{escape(each.shard)}</td>"
        f'<td class="n">{duration(each.seconds)}</td><td>{"lost" if each.stale else "at work"}</td>'
        for each in one.busy
    )
    return ["<h2>At work</h2>", html_table('<th>worker</th><th>shard</th><th class="n">for</th><th></th>', rows)]


def _failures(one: Standing) -> list[str]:
    if not one.failed:
        return []
    rows = (f"<td>{escape(name)}</td><td>{escape(why)}</td>" for name, why in one.failed.items())
    return ["<h2>Failed</h2>", html_table("<th>shard</th><th>why it failed</th>", rows)]
