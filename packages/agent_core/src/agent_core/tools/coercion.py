"""Arguments that a model wrapped: a list or an object sent as a JSON string where the schema wants the thing itself.

Invariant: only the wrapping is taken off. A string stays one wherever the schema allows a string, or the text is not
JSON of a wanted type.
"""

from __future__ import annotations

from typing import Any

import msgspec

_CONTAINERS: dict[str, type] = {"array": list, "object": dict}


def unwrap(value: Any, schema: Any) -> Any:
    """``value`` with wrapped lists and objects taken out of their strings, at any depth that the schema describes."""
    if not isinstance(schema, dict):
        return value
    if isinstance(value, str):
        wanted = types_of(schema)
        containers = tuple(_CONTAINERS[name] for name in wanted if name in _CONTAINERS)
        if not containers or "string" in wanted:
            return value
        try:
            parsed = msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return value
        if not isinstance(parsed, containers):
            return value
        value = parsed
    if isinstance(value, list):
        items = _part(schema, "items")
        return [unwrap(item, items) for item in value] if items else value
    if isinstance(value, dict):
        properties = _part(schema, "properties")
        return {key: unwrap(item, properties.get(key)) for key, item in value.items()} if properties else value
    return value


def types_of(schema: dict[str, Any]) -> set[str]:
    """The JSON types that a schema allows, as far as it says; empty when it does not."""
    named = schema.get("type")
    types = {named} if isinstance(named, str) else set(named) if isinstance(named, list) else set()
    for alternative in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if isinstance(alternative, dict):
            types |= types_of(alternative)
    return types


def _part(schema: dict[str, Any], key: str) -> dict[str, Any]:
    """A part of the schema, or of the first of its alternatives that has one."""
    for one in (schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if isinstance(one, dict) and isinstance(part := one.get(key), dict):
            return part
    return {}
