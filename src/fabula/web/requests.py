"""What can be asked for, as the JSON that comes in."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Text = Annotated[str, StringConstraints(max_length=4000)]
Which = int | Text  # an item: its index in the order given, or its id
Number = Annotated[float, Field(allow_inf_nan=False)]


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Curve(_Asked):
    """A template: knots that rise from 0 to 1, and the curve there."""

    knots: list[Number] = Field(min_length=2, max_length=5000, examples=[[0, 0.5, 1]])
    values: list[Number] = Field(min_length=2, max_length=5000, examples=[[0, 1, 0]])
    name: Text = ""


class Row(_Asked):
    """An item that comes with its essence."""

    id: Text = ""  # by default its number, counted from 1
    essence: Number
    title: Text = ""
    artist: Text = ""


class ToOrder(_Asked):
    """Order a collection that is loaded, or items that come with the request."""

    collection: str | None = Field(None, description="The id of a loaded collection.")
    items: list[Row] | None = Field(None, min_length=1, description="Items in place of a loaded collection.")
    template: Curve | Text | None = Field(
        None, description="A curve, the name of a template, or points '0:0.2,0.5:1,1:0'; else the likeliest arc."
    )
    like: str | None = Field(None, description="The id of a loaded collection whose arc is to be followed.")
    flip: bool = Field(default=False, description="Turn the template upside down.")
    normalise: bool = Field(
        default=True, description="Bring the template to the scale of the essence: mean 0, deviation 1."
    )
    fixed: dict[int, Which] = Field({}, description="Position, counted from 0 (negative: from the end), to item.")
    together: list[list[Which]] = Field([], max_length=5000, description="Runs of items that stay together.")
    before: list[tuple[Which, Which]] = Field([], max_length=5000, description="The first before the second.")
    apart: Text | None = Field(None, description="No two neighbours share this, such as 'artist'.")
    sides: int = Field(1, ge=1, le=26)
    side_limit: Number | None = Field(None, gt=0, description="Seconds that one side holds.")
    limit: Number | None = Field(None, gt=0, description="Seconds in all; what fits worst is left out.")
    smoothness: Number = Field(0.0, ge=-100, le=100, description="Weight of the steps between neighbours.")
    alternatives: int = Field(4, ge=1, le=20, description="How many orderings to propose.")
    why: bool = Field(default=True, description="Say of each item why it stands where it stands.")


class ToOpen(_Asked):
    """Open something of this machine that lies below the folders named at start."""

    path: Text
    by: Text | None = Field(None, description="The column that is the essence.")
    collection: Text | None = Field(None, description="Which collection of a table of several.")


class ToMeasure(_Asked):
    """Choose another essence for a loaded collection."""

    by: Text | None = Field(None, description="A column; none for the model's essence.")


class ToExport(_Asked):
    """Write an ordering that is on the screen."""

    ordering: list[int] = Field(min_length=1, max_length=5000, description="Item indices in the new order.")
    template: Curve
    format: Literal["m3u8", "m3u", "pls", "xspf", "jspf", "csv", "json", "html", "svg", "zip"]
    pinned: list[int] = Field([], max_length=5000, description="Positions that were fixed.")
    left_out: list[int] = Field([], max_length=5000, description="Item indices that the ordering leaves out.")


class ToKeep(_Asked):
    """Keep a session: the page's own state, put into the file as it is."""

    state: dict[str, Any] = {}
