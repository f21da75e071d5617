"""Arguments of a tool: the JSON Schema that is sent, and the validation of what comes back.

Invariant: the schema is inlined (no ``$ref``), carries no ``title`` annotation and no keyword that common endpoints
refuse, and its key order is fixed; validation never changes the meaning of an argument.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model
from pydantic.fields import FieldInfo

from .coercion import Place, meant, without_nothings

_UNSENT = frozenset({"title", "$defs", "definitions", "discriminator", "examples", "$schema", "$id"})
_SCHEMA_VALUED = frozenset({"items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"})
_SCHEMA_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SCHEMA_MAPS = frozenset({"properties", "patternProperties"})


class InvalidArguments(ValueError):
    """The arguments do not fit; the message says which and why, in the model's terms. ``places``: where."""

    def __init__(self, message: str, places: Iterable[Place] = ()) -> None:
        super().__init__(message)
        self.places = tuple(places)


@dataclass(frozen=True)
class Arguments:
    """``schema``: JSON Schema of type object. ``validate``: plain values in, keyword arguments for the function out
    (raises ``InvalidArguments``). ``dump``: those keyword arguments as plain JSON values again, for the canonical
    form.
    """

    schema: dict[str, Any]
    validate: Callable[[dict[str, Any]], dict[str, Any]]
    dump: Callable[[dict[str, Any]], dict[str, Any]]


Check = Callable[[dict[str, Any]], dict[str, Any]]


MOST_KEPT = 500
_kept: dict[tuple[Any, ...], Arguments] = {}


def arguments_from_signature(
    name: str, function: Callable[..., Any], *, skip: str | None, reading: bool = False
) -> Arguments:
    """From annotations and defaults, through a Pydantic model that forbids unknown arguments. ``reading``: of a READ,
    which takes a blank for nothing (see ``coercion``). Making them takes milliseconds and tools are made anew for each
    person, so what is made of one code is kept; the function is not, nor what it closes over.
    """
    if not inspect.isfunction(function):
        return _from_signature(name, function, skip, reading)
    defaults = (function.__defaults__, *(function.__kwdefaults__ or {}).items())
    code = (function.__code__, function.__module__, defaults, *function.__annotations__.items())
    made_of = (name, skip, reading, *code)
    try:
        known = _kept.get(made_of)
    except TypeError:  # a default or an annotation that has no hash
        return _from_signature(name, function, skip, reading)
    if known is None:
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        known = _kept[made_of] = _from_signature(name, function, skip, reading)
    return known


def _from_signature(name: str, function: Callable[..., Any], skip: str | None, reading: bool) -> Arguments:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == skip:
            continue
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"tool {name!r}: parameter {parameter.name!r} must be a plain named one")
        if parameter.name not in hints:
            raise TypeError(f"tool {name!r}: parameter {parameter.name!r} needs an annotation")
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    # Aliases keep parameters such as "schema" or "copy" from shadowing attributes of the model class.
    safe: Any = {f"p_{key}": (kind, _aliased(default, key)) for key, (kind, default) in fields.items()}
    model = create_model(f"{name}_arguments", __config__=ConfigDict(extra="forbid"), **safe)
    keys = tuple(fields)
    schema = clean_schema(model.model_json_schema(by_alias=True))

    def check(given: dict[str, Any]) -> dict[str, Any]:
        try:
            value = model.model_validate(given)
        except ValidationError as error:
            places = [item["loc"] for item in error.errors(include_url=False)]
            raise InvalidArguments(_explain(error, keys), places) from None
        return {key: getattr(value, f"p_{key}") for key in keys}

    def dump(values: dict[str, Any]) -> dict[str, Any]:
        value = model.model_construct(**{f"p_{key}": values[key] for key in keys})
        dumped: dict[str, Any] = value.model_dump(mode="json", by_alias=True)
        return dumped

    return Arguments(schema, _as_meant(check, schema, reading), dump)


def arguments_from_schema(name: str, schema: Mapping[str, Any], *, reading: bool = False) -> Arguments:
    """From a JSON Schema. Text becomes the numbers and truth values it wants, then the whole schema is checked."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    cleaned = clean_schema(dict(schema))
    if cleaned.get("type", "object") != "object":
        raise TypeError(f"tool {name!r}: the schema of its arguments must be of type object")
    cleaned.setdefault("type", "object")
    cleaned.setdefault("properties", {})
    properties: dict[str, Any] = cleaned["properties"]
    required = set(cleaned.get("required", ()))
    adapters = {key: TypeAdapter(_python_type(value)) for key, value in properties.items()}
    closed = cleaned.get("additionalProperties") is False
    try:
        Draft202012Validator.check_schema(cleaned)
    except SchemaError as error:
        raise TypeError(f"tool {name!r}: its schema is none: {error.message}") from None
    checker = Draft202012Validator(cleaned)

    def check(given: dict[str, Any]) -> dict[str, Any]:
        problems: list[tuple[Place, str]] = [
            ((key,), "is required") for key in properties if key in required and key not in given
        ]
        if closed:
            problems += [((key,), "there is no such argument") for key in given if key not in properties]
        values: dict[str, Any] = {}
        for key, value in given.items():
            try:
                values[key] = adapters[key].validate_python(value) if key in adapters else value
            except ValidationError as error:
                problems += [((key, *item["loc"]), item["msg"]) for item in error.errors()]
        if not problems:
            found = sorted(checker.iter_errors(values), key=lambda error: [str(part) for part in error.path])
            problems += [(tuple(error.absolute_path), error.message[:200]) for error in found[:10]]
        if problems:
            told = "; ".join(f"{_path(place)}: {problem}" for place, problem in problems)
            raise InvalidArguments(told, [place for place, _ in problems])
        return values

    return Arguments(cleaned, _as_meant(check, cleaned, reading), lambda values: dict(values))


def _as_meant(check: Check, schema: dict[str, Any], reading: bool) -> Check:
    """Checks what the model means by what it sent; what says nothing and is refused counts as not given."""

    def validate(raw: dict[str, Any]) -> dict[str, Any]:
        given = meant(raw, schema, reading=reading)
        while True:  # each round leaves something out
            try:
                return check(given)
            except InvalidArguments as refused:
                fewer = without_nothings(given, schema, refused.places)
                if fewer is None:
                    raise
                given = fewer

    return validate


def clean_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Inlined and without annotations that endpoints refuse. A recursive reference becomes ``{"type": "object"}``."""
    definitions = {**schema.get("definitions", {}), **schema.get("$defs", {})}
    cleaned = _clean(schema, definitions, ())
    return cleaned if isinstance(cleaned, dict) else {}


def _clean(node: Any, definitions: Mapping[str, Any], open_refs: tuple[str, ...]) -> Any:
    if not isinstance(node, dict):
        return node
    if isinstance(reference := node.get("$ref"), str):
        key = reference.rsplit("/", 1)[-1]
        if key in open_refs or key not in definitions:
            return {"type": "object"}
        merged = {**definitions[key], **{k: v for k, v in node.items() if k != "$ref"}}
        return _clean(merged, definitions, (*open_refs, key))
    result: dict[str, Any] = {}
    for key, value in node.items():
        if key in _UNSENT:
            continue
        if key in _SCHEMA_MAPS and isinstance(value, dict):
            result[key] = {name: _clean(item, definitions, open_refs) for name, item in value.items()}
        elif key in _SCHEMA_LISTS and isinstance(value, list):
            result[key] = [_clean(item, definitions, open_refs) for item in value]
        elif key in _SCHEMA_VALUED:
            result[key] = _clean(value, definitions, open_refs)
        else:
            result[key] = value
    return result


def _aliased(default: Any, alias: str) -> Any:
    if isinstance(default, FieldInfo):
        return FieldInfo.merge_field_infos(default, alias=alias, validation_alias=alias, serialization_alias=alias)
    return FieldInfo(default=default, alias=alias, validation_alias=alias, serialization_alias=alias)


def _explain(error: ValidationError, keys: tuple[str, ...]) -> str:
    problems = []
    for item in error.errors(include_url=False):
        where, kind = _path(item["loc"]), item["type"]
        if kind == "extra_forbidden":
            problems.append(f"{where}: there is no such argument (there are: {', '.join(keys) or 'none'})")
        elif kind == "missing":
            problems.append(f"{where}: is required")
        else:
            problems.append(f"{where}: {item['msg']}, not {_shown(item['input'])}")
    return "; ".join(problems)


def _path(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "arguments"


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError):
        text = str(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _python_type(schema: Any) -> Any:
    """The closest Python type of a JSON Schema; Any where there is none, so nothing valid is refused."""
    if not isinstance(schema, dict):
        return Any
    if isinstance(choices := schema.get("enum"), list) and choices:
        from typing import Literal

        return Literal[tuple(choices)]
    kind = schema.get("type")
    if isinstance(kind, list):
        union: Any = None
        for each in kind:
            member = _python_type({**schema, "type": each})
            union = member if union is None else union | member
        return Any if union is None else union
    if kind == "array":
        return list[_python_type(schema.get("items"))]  # type: ignore[misc]
    if kind == "object":
        return dict[str, Any]
    simple: dict[Any, Any] = {"string": str, "integer": int, "number": float, "boolean": bool, "null": type(None)}
    return simple.get(kind, Any)


__all__ = [
    "Arguments",
    "BaseModel",
    "InvalidArguments",
    "arguments_from_schema",
    "arguments_from_signature",
    "clean_schema",
]
