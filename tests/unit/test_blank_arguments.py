"""What small models send for what they do not want to give is taken as not given, wherever it cannot mean anything."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, BeforeValidator, WithJsonSchema

from agent_core.events import Fault
from agent_core.messages import ToolCall
from agent_core.tools.registry import Judged, Registry
from agent_core.tools.schema import Arguments, InvalidArguments, arguments_from_schema, arguments_from_signature
from agent_core.tools.tool import Tier, Tool, tool


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Part(BaseModel):
    sku: str
    unit: str | None = None
    due: date | None = None
    qty: int = 1


Names = Annotated[
    list[str] | None,
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
Day = Annotated[date | None, WithJsonSchema({"type": "string", "description": "YYYY-MM-DD"})]


def ask(
    name: str,
    day: date | None = None,
    at: datetime | None = None,
    told: Day = None,
    count: int = 5,
    size: float | None = None,
    amount: Decimal | None = None,
    flag: bool | None = None,
    colour: Colour | None = None,
    kind: Literal["a", "b"] = "a",
    number: UUID | None = None,
    names: Names = None,
    sizes: list[int] | None = None,
    part: Part | None = None,
    parts: list[Part] | None = None,
    either: int | list[int] | None = None,
) -> None:
    """Asks."""


def notes(note: str | None = None, mark: Literal["", "x"] = "x", none: str = "some") -> None:
    """Takes texts."""


NO_TEXT = ["day", "at", "told", "count", "size", "amount", "flag", "colour", "kind", "number", "names", "sizes", "part",
           "parts", "either"]  # fmt: skip
BLANKS = ["", " ", "\n", "null", "None", "none", "NULL"]


def of(function: Any, *, reading: bool) -> Arguments:
    return arguments_from_signature("ask", function, skip=None, reading=reading)


@pytest.mark.parametrize("reading", [True, False])
@pytest.mark.parametrize("parameter", NO_TEXT)
@pytest.mark.parametrize("blank", BLANKS)
def test_a_blank_for_an_optional_parameter_that_takes_no_text_is_not_given(
    parameter: str, blank: str, reading: bool
) -> None:
    judge = of(ask, reading=reading)
    assert judge.validate({"name": "x", parameter: blank}) == judge.validate({"name": "x"})


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(NO_TEXT), st.sampled_from([*BLANKS, None])), st.booleans())
def test_any_number_of_blanks_is_as_if_none_of_them_had_been_sent(blanks: dict[str, Any], reading: bool) -> None:
    judge = of(ask, reading=reading)
    assert judge.validate({**blanks, "name": "x"}) == judge.validate({"name": "x"})


@pytest.mark.parametrize("reading", [True, False])
@pytest.mark.parametrize("place", ["part", "parts"])
def test_blanks_are_not_given_at_any_depth(place: str, reading: bool) -> None:
    judge = of(ask, reading=reading)
    part = {"sku": "A", "due": "", "qty": "null"}
    value = judge.validate({"name": "x", place: part if place == "part" else [part, part]})[place]
    assert value == (Part(sku="A") if place == "part" else [Part(sku="A")] * 2)


def test_a_blank_text_means_nothing_to_a_read_and_may_mean_something_to_a_write() -> None:
    reading, writing = of(notes, reading=True), of(notes, reading=False)
    assert reading.validate({"note": " ", "none": ""}) == {"note": None, "mark": "x", "none": "some"}
    assert writing.validate({"note": " ", "none": ""}) == {"note": " ", "mark": "x", "none": ""}
    nested = {"name": "x", "part": {"sku": "A", "unit": ""}}
    assert of(ask, reading=True).validate(nested)["part"].unit is None
    assert of(ask, reading=False).validate(nested)["part"].unit == ""


@pytest.mark.parametrize("reading", [True, False])
def test_what_may_be_meant_stays(reading: bool) -> None:
    judge = of(notes, reading=reading)
    assert judge.validate({"mark": ""})["mark"] == "", "a choice that there is"
    assert judge.validate({"note": "null"})["note"] == "null", "a text is a text"
    assert of(ask, reading=reading).validate({"name": "", "names": [""]})["name"] == "", "what has to be given"
    assert of(ask, reading=reading).validate({"name": "x", "names": [""]})["names"] == [""], "an item is no argument"


@pytest.mark.parametrize("reading", [True, False])
def test_what_has_to_be_given_and_is_blank_is_refused_as_ever(reading: bool) -> None:
    def must(day: date, part: Part) -> None:
        """Must."""

    for raw in ({"day": "", "part": {"sku": "A"}}, {"day": "2026-01-01", "part": {"sku": None}}):
        with pytest.raises(InvalidArguments):
            of(must, reading=reading).validate(raw)


def test_other_mistakes_are_still_told_and_blanks_beside_them_are_not() -> None:
    with pytest.raises(InvalidArguments) as refused:
        of(ask, reading=False).validate({"name": "x", "count": "many", "day": ""})
    assert "count" in str(refused.value)
    assert "day" not in str(refused.value)


def test_an_empty_list_is_not_given_to_a_read_whose_list_is_empty_by_default() -> None:
    def lists(
        a: list[int] | None = None,
        b: tuple[int, ...] = (),
        c: tuple[int, ...] = (1,),
        d: dict[str, int] | None = None,
    ) -> None:
        """Takes lists."""

    raw: dict[str, Any] = {"a": [], "b": "[]", "c": [], "d": {}}
    assert of(lists, reading=True).validate(raw) == {"a": None, "b": (), "c": (), "d": None}
    assert of(lists, reading=False).validate(raw) == {"a": [], "b": (), "c": (), "d": {}}


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "day": {"type": "string", "format": "date"},
        "count": {"type": "integer"},
        "kind": {"enum": ["a", "b"]},
        "flag": {"type": ["boolean", "null"]},
        "list": {"type": "array", "items": {"type": "object", "properties": {"at": {"type": "number"}}}, "default": []},
        "any": True,
        "mixed": {"oneOf": [{"type": "integer"}, {"type": "string", "format": "date-time"}]},
    },
    "required": ["name"],
}


@pytest.mark.parametrize("reading", [True, False])
def test_tools_that_are_described_by_a_schema_take_blanks_the_same_way(reading: bool) -> None:
    judge = arguments_from_schema("t", SCHEMA, reading=reading)
    blanks = {"day": "", "count": "none", "kind": "", "flag": "", "mixed": " "}
    assert judge.validate({"name": "x", **blanks}) == {"name": "x"}
    assert judge.validate({"name": "", "list": [{"at": ""}], "any": ""}) == {"name": "", "list": [{}], "any": ""}


def test_what_is_shown_approved_and_counted_is_what_the_blanks_came_to() -> None:
    @tool(tier=Tier.WRITE)
    async def book(name: str, day: date | None = None, count: int = 1) -> str:
        """Books."""
        return name

    registry = Registry([book])

    def judged(arguments: str) -> Judged:
        verdict = registry.judge(ToolCall("c", "book", arguments))
        assert not isinstance(verdict, Fault)
        return verdict

    blank, plain = judged('{"name":"x","day":"","count":"null"}'), judged('{"name":"x"}')
    assert (blank.digest, blank.arguments) == (plain.digest, plain.arguments)


def test_whether_a_tool_reads_is_taken_from_its_tier() -> None:
    async def say(note: str | None = None) -> str:
        """Says."""
        return str(note)

    for tier, kept in ((Tier.READ, None), (Tier.WRITE, ""), (Tier.DANGEROUS, "")):
        assert tool(tier=tier)(say).arguments.validate({"note": ""}) == {"note": kept}
        schema = {"properties": {"note": {"type": "string"}}}
        made = Tool.from_schema("say", "Says.", schema, say, tier=tier)
        assert made.arguments.validate({"note": ""}) == ({} if kept is None else {"note": ""})
