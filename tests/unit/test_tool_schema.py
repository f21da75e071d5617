"""What a model is told of a tool's arguments, and what becomes of those it sends."""

from __future__ import annotations

import datetime as dt
import gc
import json
import weakref
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from agent_core.events import Fault
from agent_core.messages import ToolCall
from agent_core.tools.registry import Registry
from agent_core.tools.schema import (
    Arguments,
    InvalidArguments,
    arguments_from_schema,
    arguments_from_signature,
    clean_schema,
)
from agent_core.tools.tool import Tier, Tool, ToolContext, tool


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Address(BaseModel):
    """Where to."""

    title: str = Field(title="Salutation", description="Mr, Ms")
    street: str


class Order(BaseModel):
    address: Address
    colour: Colour = Colour.RED
    also: Address | None = None


class Node(BaseModel):
    name: str
    children: list[Node] = []


def place(
    order: Order,
    title: str,
    schema: int = 3,
    copy: Annotated[list[Literal["a", "b"]] | None, Field(description="which")] = None,
    amount: Decimal = Decimal("1.5"),
) -> None:
    """Places an order."""


def tree(root: Node, properties: dict[str, int]) -> None:
    """Looks at a tree."""


def arguments(function: Any) -> Arguments:
    return arguments_from_signature(function.__name__, function, skip=None)


def every_node(schema: Any) -> list[dict[str, Any]]:
    """Every dict that stands where a schema stands."""
    nodes = [schema]
    for key in ("properties", "patternProperties"):
        for inner in schema.get(key, {}).values():
            nodes += every_node(inner)
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for inner in schema.get(key, []):
            nodes += every_node(inner)
    for key in ("items", "additionalProperties", "not"):
        if isinstance(schema.get(key), dict):
            nodes += every_node(schema[key])
    return nodes


@pytest.mark.parametrize("function", [place, tree])
def test_schemas_are_inlined_and_carry_no_titles(function: Any) -> None:
    schema = arguments(function).schema
    text = json.dumps(schema)
    assert "$ref" not in text
    assert "$defs" not in text
    for node in every_node(schema):
        assert not isinstance(node.get("title"), str), "an annotation named title goes"
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False


def test_a_parameter_named_title_stays() -> None:
    schema = arguments(place).schema
    assert schema["properties"]["title"] == {"type": "string"}
    assert "title" in schema["required"]
    address = schema["properties"]["order"]["properties"]["address"]
    assert address["properties"]["title"] == {"description": "Mr, Ms", "type": "string"}
    assert address["required"] == ["title", "street"]


def test_parameters_named_like_keywords_or_model_attributes_are_parameters() -> None:
    schema = arguments(tree).schema
    assert schema["properties"]["properties"]["additionalProperties"] == {"type": "integer"}
    values = arguments(place).validate(
        {"order": {"address": {"title": "Ms", "street": "x"}}, "title": "t", "schema": "4"}
    )
    assert values["schema"] == 4
    assert values["copy"] is None
    assert isinstance(values["order"], Order)


def test_recursion_ends_in_a_plain_object() -> None:
    children = arguments(tree).schema["properties"]["root"]["properties"]["children"]
    assert children["items"] == {"type": "object"}


def test_schemas_are_the_same_every_time() -> None:
    assert json.dumps(arguments(place).schema) == json.dumps(arguments(place).schema)


def test_what_was_validated_can_be_dumped_and_validated_again() -> None:
    judge = arguments(place)
    raw = {"order": {"address": {"title": "Ms", "street": "x"}, "colour": "blue"}, "title": "t", "amount": "2.50"}
    values = judge.validate(raw)
    assert values["amount"] == Decimal("2.50")
    dumped = judge.dump(values)
    assert dumped["order"]["colour"] == "blue"
    assert judge.dump(judge.validate(dumped)) == dumped


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ({}, ["order: is required", "title: is required"]),
        ({"order": 1, "title": "t"}, ["order"]),
        ({"order": {"address": {"title": "x"}}, "title": "t"}, ["order.address.street: is required"]),
        ({"order": {"address": {"title": "x", "street": "y"}}, "title": 3}, ["title", "not 3"]),
        (
            {"order": {"address": {"title": "x", "street": "y"}}, "title": "t", "colour": "red"},
            ["colour: there is no such argument", "there are: order, title, schema, copy, amount"],
        ),
    ],
)
def test_what_does_not_fit_is_explained_in_the_terms_of_the_arguments(raw: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(InvalidArguments) as error:
        arguments(place).validate(raw)
    for word in words:
        assert word in str(error.value)
    assert "pydantic" not in str(error.value)
    assert "p_" not in str(error.value)


def test_what_was_sent_is_shown_only_in_part() -> None:
    with pytest.raises(InvalidArguments) as error:
        arguments(place).validate({"order": {"address": {"title": "x", "street": "y"}}, "title": ["z" * 5000]})
    assert len(str(error.value)) < 400


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"properties": {"n": {"type": "integer"}}, "required": ["n"]}, {"n": 1}, {"n": "x"}),
        ({"properties": {"n": {"type": "integer"}}, "required": ["n"]}, {"n": 1, "more": 2}, {}),
        ({"properties": {"c": {"enum": ["a", "b"]}}}, {"c": "a"}, {"c": "z"}),
        ({"properties": {"c": {"enum": [1.5, None, "x"]}}}, {"c": 1.5}, {"c": 2.5}),
        ({"properties": {"l": {"type": "array", "items": {"type": "string"}}}}, {"l": ["a"]}, {"l": "a"}),
        ({"properties": {"o": {"type": "object"}}}, {"o": {"a": 1}}, {"o": []}),
        ({"properties": {"u": {"type": ["string", "null"]}}}, {"u": None}, {"u": []}),
        ({"properties": {"a": {}}, "additionalProperties": False}, {"a": object}, {"b": 1}),
        ({"properties": {"d": {"$ref": "#/$defs/D"}}, "$defs": {"D": {"type": "integer"}}}, {"d": 1}, {"d": "x"}),
    ],
)
def test_a_json_schema_is_checked_as_far_as_it_can_be(schema: dict[str, Any], good: Any, bad: Any) -> None:
    judge = arguments_from_schema("t", {"type": "object", **schema})
    assert judge.validate(good) == good
    with pytest.raises(InvalidArguments):
        judge.validate(bad)


def test_only_a_schema_of_an_object_can_be_arguments() -> None:
    with pytest.raises(TypeError, match="type object"):
        arguments_from_schema("t", {"type": "string"})
    assert arguments_from_schema("t", {}).schema == {"type": "object", "properties": {}}


_schemas = st.recursive(
    st.sampled_from(
        [{"type": "string", "title": "T"}, {"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}, {"const": {"title": 1}}]
    ),
    lambda inner: st.one_of(
        st.builds(lambda node: {"type": "array", "items": node, "title": "L"}, inner),
        st.builds(
            lambda nodes: {"type": "object", "properties": nodes},
            st.dictionaries(st.sampled_from(["title", "a", "$ref", "items"]), inner, max_size=3),
        ),
        st.builds(lambda nodes: {"anyOf": nodes}, st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=6,
)


@given(_schemas, _schemas, _schemas)
def test_any_schema_is_cleaned_without_references_titles_or_end(root: Any, one: Any, other: Any) -> None:
    cleaned = clean_schema({"type": "object", "properties": {"x": root}, "$defs": {"A": one, "B": other}})
    for node in every_node(cleaned):
        assert "$ref" not in node or isinstance(node["$ref"], dict)
        assert not isinstance(node.get("title"), str)
        assert "$defs" not in node
    names = set(root.get("properties", {}))
    if root.get("type") == "object":
        assert set(cleaned["properties"]["x"]["properties"]) == names, "no parameter is lost"


# --- tools


def test_a_tool_is_made_from_an_annotated_function() -> None:
    @tool(tier=Tier.WRITE, timeout=5)
    def ship(skus: list[str], day: dt.date, ctx: ToolContext) -> str:
        """Ships things."""
        return "ok"

    assert (ship.name, ship.description, ship.tier) == ("ship", "Ships things.", Tier.WRITE)
    assert list(ship.schema.parameters["properties"]) == ["skus", "day"]
    assert ship.context_parameter == "ctx"
    assert not ship.repeatable


def test_a_tool_is_made_from_a_schema_and_a_function() -> None:
    async def handler(**arguments: Any) -> str:
        return json.dumps(arguments)

    made = Tool.from_schema("far", "Far away.", {"properties": {"a": {"type": "string"}}}, handler, timeout=2)
    assert made.schema.parameters == {"properties": {"a": {"type": "string"}}, "type": "object"}
    assert made.repeatable
    assert made.timeout == 2


def test_what_makes_no_tool_is_said_when_it_is_made() -> None:
    def undocumented(a: int) -> None: ...

    def starred(*a: int) -> None:
        """No."""

    def bare(a) -> None:  # type: ignore[no-untyped-def]
        """No."""

    for function, words in ((undocumented, "docstring"), (starred, "plain named"), (bare, "annotation")):
        with pytest.raises(TypeError, match=words):
            tool(function)


@pytest.mark.parametrize(
    ("arguments", "key"),
    [
        ('{"sku":"A","sku":"B"}', "sku"),
        ('{"sku":"A","qty":1,"\\u0073ku":"B"}', "sku"),
        ('{"lines":[{"qty":1,"qty":100}]}', "qty"),
        ('{"sku":"A","sku":"A"}', None),
        ('{"lines":[{"qty":1},{"qty":2}]}', None),
        ("", None),
    ],
)
def test_an_argument_that_is_given_twice_with_two_values_is_refused(arguments: str, key: str | None) -> None:
    def handler(**arguments: Any) -> None: ...

    registry = Registry([Tool.from_schema("order", "Orders.", {"properties": {}}, handler)])
    judged = registry.judge(ToolCall(id="c", name="order", arguments=arguments))
    if key is None:
        assert not isinstance(judged, Fault)
    else:
        assert isinstance(judged, Fault)
        assert judged.type == "validation"
        assert f"{key!r} twice" in judged.message


def test_tools_made_anew_of_one_code_share_their_arguments_and_keep_nobodys_shop_alive() -> None:
    class Shop:
        """What a tool closes over."""

    def made_for(shop: Shop) -> Tool:
        @tool
        async def look(sku: str, limit: int = 3) -> str:
            """Looks."""
            return f"{shop}{sku}{limit}"

        return look

    shops = [Shop(), Shop()]
    tools = [made_for(shop) for shop in shops]
    assert tools[0].arguments is tools[1].arguments
    gone = weakref.ref(shops[0])
    del shops[0], tools[0]
    gc.collect()
    assert gone() is None


def test_functions_that_only_look_alike_have_arguments_of_their_own() -> None:
    def made(kind: type, default: object) -> Tool:
        async def look(value=default):  # type: ignore[no-untyped-def]
            """Looks."""

        look.__annotations__["value"] = kind
        return tool(look)

    number, text = made(int, 3), made(str, "a")
    assert number.arguments.schema["properties"]["value"]["type"] == "integer"
    assert text.arguments.schema["properties"]["value"]["type"] == "string"
    assert made(int, 4).arguments.schema["properties"]["value"]["default"] == 4
    assert made(list[int], [1]).arguments.validate({}) == {"value": [1]}, "a default without a hash"
