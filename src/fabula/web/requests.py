"""What can be asked for, as the JSON that comes in."""

import json
import math
from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Literal

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Text = Annotated[str, StringConstraints(max_length=4000)]
Which = int | Text  # an item: its index in the order given; or its id, its title, or the name of its file
Ends = Which | dict[int, Which]  # of the whole, or by side, counted from 0
Number = Annotated[float, Field(allow_inf_nan=False)]
Height = Annotated[float, Field(allow_inf_nan=False, ge=-1e9, le=1e9)]  # of a template
Length = Number | Text  # a number in the unit of the medium, or text as people write it, such as 22:00


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class TemplateBody(_Body):
    """A template: knots that rise from 0 to 1, and its values there."""

    knots: list[Number] = Field(min_length=2, max_length=5000, examples=[[0, 0.5, 1]])
    values: list[Height] = Field(min_length=2, max_length=5000, examples=[[0, 1, 0]])
    name: Text = ""
    interpolation: Literal["cubic", "monotone"] = "cubic"


class ItemBody(_Body):
    """An item that comes with its essence."""

    id: Text = ""  # by default its number, counted from 1
    essence: Number
    title: Text = ""
    creator: Text = ""
    length: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None


class OrderRequest(_Body):
    """Order a collection that is open, or items that come with the request."""

    collection: str | None = Field(None, description="The id of an open collection.")
    items: list[ItemBody] | None = Field(None, min_length=1, description="Items in place of an open collection.")
    template: TemplateBody | Text | None = Field(
        None, description="A template, its name, or points '0:0.2,0.5:1,1:0'; else the arcs of the model."
    )
    like: str | None = Field(None, description="The id of an open collection whose arc is to be followed.")
    flip: bool = Field(default=False, description="Turn the template upside down.")
    scaled: bool = Field(
        default=True, description="Bring the template to the scale of the essence: mean 0, deviation 1."
    )
    alternatives: int = Field(4, ge=1, le=20, description="How many orderings to propose.")
    choose: int = Field(1, ge=1, le=20, description="Which of the proposals to take, counted from 1.")
    likeliest: bool = Field(default=False, description="Propose the likeliest order first, not the one expected.")
    ordering: list[int] | None = Field(
        None, min_length=1, max_length=5000, description="Take this ordering (item indices) as it is."
    )
    side_sizes: list[int] = Field([], max_length=26, description="With an ordering: how many items each side has.")
    first: Ends | None = Field(None, description="The opener; or by side, counted from 0.")
    last: Ends | None = Field(None, description="The close; or by side, counted from 0.")
    fixed: dict[int, Which] = Field({}, description="Position, counted from 0 (negative: from the end), to item.")
    together: list[list[Which]] = Field([], max_length=5000, description="Runs of items that stay together.")
    together_by: Text | None = Field(None, description="What shares this stands in one run: 'creator', or any column.")
    before: list[tuple[Which, Which]] = Field([], max_length=5000, description="The first before the second.")
    apart: Text | None = Field(None, description="No two neighbours share this: 'creator', or any column.")
    apart_soft: bool = Field(default=False, description="As few as possible share it, instead of none.")
    sides: int = Field(1, ge=1, le=26, description="How many sides, each with an arc of its own.")
    spreads: Literal["", "match", "contrast"] = Field("", description="Items face each other two by two, as in a book.")
    side_limit: Length | None = Field(None, description="The length one side holds.")
    limit: Length | None = Field(None, description="The length of all; what fits worst is left out.")
    gap_s: Number = Field(0.0, ge=-60, le=60, description="Seconds between two items of a side; below 0 they overlap.")
    smoothness: Number = Field(0.0, ge=-100, le=100, description="Weight of the steps between neighbours.")
    smooth_by: dict[Text, Number] = Field(
        {}, max_length=20, description="The steps that count, by name, with their weights; by default the medium's."
    )
    step_limits: dict[Text, Number] = Field(
        {}, max_length=20, description="The largest step that neighbours may be apart, by name."
    )
    never_worse: bool = Field(default=False, description="With smoothness: no step that counts grows on average.")
    series: bool = Field(default=True, description="Keep what titles count in order, and interludes apart.")
    titles: dict[int, Text] = Field({}, description="Item, counted from 0, to what it is to be called in the answer.")
    explain: bool = Field(default=True, description="Say of each item why it stands where it stands.")
    budget_ms: int | None = Field(
        None, ge=10, le=10_000, description="Search no longer than this, for the chosen proposal alone: a first answer."
    )
    sequence: int | None = Field(None, ge=0, le=2**53, description="Answered as it is, to tell a late answer by.")


class ReviewRequest(_Body):
    """Review an order of an open collection as it stands."""

    ordering: list[int] | None = Field(None, min_length=1, max_length=5000, description="By default as it was opened.")
    side_sizes: list[int] = Field([], max_length=26, description="With an ordering: how many items each side has.")
    titles: dict[int, Text] = Field({}, description="Item, counted from 0, to what it is to be called in the answer.")


class DemoRequest(_Body):
    """Open a collection that comes with the package."""

    name: Literal["music", "text", "pictures"] = "music"


class OpenRequest(_Body):
    """Open something of this machine that lies below the folders named at start, or a library named there."""

    path: Text
    by: Text | None = Field(None, description="The column that is the essence.")
    collection: Text | None = Field(None, description="Which collection of a source of several.")
    medium: Text | None = Field(None, description="What kind of media files are, where several know their endings.")


class EssenceRequest(_Body):
    """Choose another essence for an open collection."""

    by: Text | None = Field(None, description="A column; none for the model's essence.")


class ExportRequest(_Body):
    """Write a result of this collection."""

    result: str = Field(description="The id that POST /api/order answered as `result`.", max_length=100)
    format: str = Field(
        description="m3u8, csv, json, html, svg, zip and the like, or one of the medium's `outputs`.",
        pattern=r"^[a-z0-9]+(\.[a-z0-9]+)?$",
        max_length=20,
    )
    gap_s: Number | None = Field(None, ge=-60, le=60, description="In place of the gap that it was ordered with.")


class WriteRequest(_Body):
    """Write a result back into the library of its collection."""

    result: str = Field(description="The id that POST /api/order answered as `result`.", max_length=100)
    name: Text | None = Field(None, description="Of a new playlist; by default in place of the one that was opened.")


class DeskRequest(_Body):
    """Keep the page's state of a collection."""

    revision: int = Field(ge=0, description="The revision the state was made from, 0 for the first.")
    state: dict[str, Any]


class VersionRequest(_Body):
    """Keep the page's state of a collection under a name."""

    state: dict[str, Any]
    replace: bool = Field(default=False, description="Whether it may take the place of one with this name.")


class SaveRequest(_Body):
    """Save a session: the page's own state goes into the file as it is."""

    state: dict[str, Any] = {}


# JSON as the standard has it: without NaN and Infinity

_MOST_DEEP = 60  # levels; nobody's request has more


class StrictRoute(APIRoute):
    """A route whose JSON bodies are what the standard calls JSON, and not too deep."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, for requests that read JSON strictly."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await handler(_StrictRequest(request.scope, request.receive))

        return handle


class _StrictRequest(Request):
    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            self._json = read_json(await self.body())
        return self._json


def read_json(body: bytes) -> Any:
    """What a body says; refused when it is not JSON, holds a number that is none, or is nested too deep."""
    try:
        data = json.loads(body, parse_constant=_read_float, parse_float=_read_float)
        if _measure_depth(data) > _MOST_DEEP:
            raise ValueError(f"it is nested more than {_MOST_DEEP} deep")
    except (ValueError, RecursionError) as error:
        words = "it is nested too deep" if isinstance(error, RecursionError) else str(error)[:200]
        raise json.JSONDecodeError(words, "", 0) from error
    return data


def _read_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is no number of JSON, or too large")
    return value


def _measure_depth(data: Any) -> int:
    """How deep lists and objects are nested; looked at level by level."""
    level, depth = [data] if isinstance(data, dict | list) else [], 0
    while level and depth <= _MOST_DEEP:
        inner = [value for one in level for value in (one.values() if isinstance(one, dict) else one)]
        level = [value for value in inner if isinstance(value, dict | list)]
        depth += 1
    return depth
