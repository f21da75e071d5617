"""What a model means by arguments that do not fit as they stand: lists and objects sent as JSON text, and blanks
(``""``, ``[]``, ``"null"``) where it means to give nothing.

Invariant: no value is made into another one. Text is only read as the list or object that it is the text of, and only
where the schema takes no text; a blank is only left out where the schema does not ask for anything, and where it cannot
be meant: no text is taken there, the tool is a READ, or it refuses the blank. In what a write takes as text a blank may
say "clear it", so there it stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

Schema = dict[str, Any]
Place = tuple[int | str, ...]
"""Keys and positions from the arguments down to a value."""

_CONTAINERS: dict[str, type] = {"array": list, "object": dict}
_NEVER_BLANK = frozenset({"date", "time", "date-time", "duration", "uuid", "email", "uri", "ipv4", "ipv6", "hostname"})
"""Formats of texts of which no blank is one."""
_NOTHING = frozenset({"", "null", "none"})


def meant(value: Any, schema: Schema, *, reading: bool) -> Any:
    """The arguments with what was wrapped taken out, and without blanks that say nothing; ``reading``: of a READ."""
    return _without_blanks(unwrap(value, schema), _alternatives(schema), reading)


def without_nothings(value: Any, schema: Schema, refused: Iterable[Place]) -> Any | None:
    """The arguments without those that the schema does not ask for, that say nothing and that were ``refused``; None
    when there are none.
    """
    fewer = value
    for place in refused:
        fewer = _without(fewer, _alternatives(schema), place)
    return None if fewer is value else fewer


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


def types_of(schema: Schema) -> set[str]:
    """The JSON types that a schema allows, as far as it says; empty when it does not."""
    named = schema.get("type")
    types = {named} if isinstance(named, str) else set(named) if isinstance(named, list) else set()
    for alternative in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if isinstance(alternative, dict):
            types |= types_of(alternative)
    return types


def _part(schema: Schema, key: str) -> Schema:
    """A part of the schema, or of the first of its alternatives that has one."""
    for one in (schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if isinstance(one, dict) and isinstance(part := one.get(key), dict):
            return part
    return {}


def _alternatives(schema: Any) -> list[Schema]:
    """A schema and all that it says by parts, itself first."""
    if not isinstance(schema, dict):
        return []
    parts = [part for key in ("anyOf", "oneOf", "allOf") for part in schema.get(key, ())]
    return [schema, *(one for part in parts for one in _alternatives(part))]


def _of_key(schemas: Sequence[Schema], key: str) -> tuple[list[Schema], bool]:
    """What is said of a property, and whether it may be left out."""
    said = [one["properties"][key] for one in schemas if key in one.get("properties", ())]
    optional = bool(said) and not any(key in one.get("required", ()) for one in schemas)
    return [one for each in said for one in _alternatives(each)], optional


def _of_items(schemas: Sequence[Schema]) -> list[Schema]:
    return [one for each in schemas for one in _alternatives(each.get("items"))]


def _without_blanks(value: Any, schemas: Sequence[Schema], reading: bool) -> Any:
    if isinstance(value, list):
        items = _of_items(schemas)
        return [_without_blanks(item, items, reading) for item in value] if items else value
    if not isinstance(value, dict):
        return value
    kept = {}
    for key, item in value.items():
        said, optional = _of_key(schemas, key)
        item = _without_blanks(item, said, reading) if said else item
        if not (optional and said and _is_blank(item, said, reading)):
            kept[key] = item
    return kept


def _is_blank(value: Any, said: Sequence[Schema], reading: bool) -> bool:
    """Whether a value that may be left out says no more than if it were, by what is said of it."""
    if isinstance(value, str):
        text, types = value.strip().casefold(), types_of(said[0])
        if text not in _NOTHING or any(value in one.get("enum", ()) or one.get("const") == value for one in said):
            return False
        if types and "string" not in types:
            return True
        texts = [one for one in said if one.get("type") == "string"]
        return not text and (reading or (bool(texts) and all(one.get("format") in _NEVER_BLANK for one in texts)))
    default = said[0].get("default", ...)
    return reading and value in ([], {}) and isinstance(value, list | dict) and default in (None, [], {})


def _without(value: Any, schemas: Sequence[Schema], place: Place) -> Any:
    """``value`` itself where nothing may go at that place."""
    if not place:
        return value
    key, rest = place[0], place[1:]
    if isinstance(value, list) and isinstance(key, int) and key < len(value):
        items, inner = _of_items(schemas), value[key]
        fewer = _without(inner, items, rest)
        return value if fewer is inner else [*value[:key], fewer, *value[key + 1 :]]
    if not isinstance(value, dict) or not isinstance(key, str) or key not in value:
        return _without(value, schemas, rest)  # the name of an alternative, not of a value
    inner, (said, optional) = value[key], _of_key(schemas, key)
    if optional and (inner is None or (isinstance(inner, str) and inner.strip().casefold() in _NOTHING)):
        return {name: item for name, item in value.items() if name != key}
    fewer = _without(inner, said, rest)
    return value if fewer is inner else {**value, key: fewer}
