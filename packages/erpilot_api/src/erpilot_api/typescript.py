"""TypeScript types of everything that crosses HTTP: ``python -m erpilot_api.typescript [FILE]``.

Invariant: a function of the schemas alone, so that the page's types can be compared with the vocabulary without Node.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .schemas import components

_HEAD = """\
// The protocol of Erpilot: events, envelopes, and the shapes of the HTTP resources.
// Made by `make protocol` from the types of the server; changes here are lost.
"""
_SIMPLE = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "null": "null"}
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def render() -> str:
    """The whole file."""
    return _HEAD + "".join("\n" + "".join(_declaration(name, schema)) for name, schema in components().items())


def _declaration(name: str, schema: dict[str, Any]) -> Iterator[str]:
    yield from _comment(schema.get("description"), "")
    if "properties" not in schema:
        yield f"export type {name} = {_type(schema)};\n"
        return
    required = set(schema.get("required", ()))
    yield f"export interface {name} {{\n"
    for key, value in schema["properties"].items():
        yield from _comment(value.get("description"), "  ")
        written = key if _IDENTIFIER.fullmatch(key) else json.dumps(key)
        yield f"  {written}{'' if key in required else '?'}: {_type(value)};\n"
    yield "}\n"


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rsplit("/", 1)[1])
    if "enum" in schema:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " | ".join(dict.fromkeys(_type(member) for member in schema[union]))
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(_SIMPLE[one] for one in kind)
    if kind == "array":
        return _array(schema)
    if kind == "object":
        values = schema.get("additionalProperties", True)
        return f"Record<string, {_type(values) if isinstance(values, dict) else 'unknown'}>"
    return _SIMPLE.get(str(kind), "unknown")


def _array(schema: dict[str, Any]) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(_type(item) for item in schema['prefixItems'])}]"
    item = _type(schema["items"]) if isinstance(schema.get("items"), dict) else "unknown"
    return f"({item})[]" if "|" in item else f"{item}[]"


def _comment(text: str | None, indent: str) -> Iterator[str]:
    if text:
        lines = " ".join(text.replace("``", "`").replace("*/", "* /").split())
        yield f"{indent}/** {lines} */\n"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(render(), encoding="utf-8")
    else:
        sys.stdout.write(render())
