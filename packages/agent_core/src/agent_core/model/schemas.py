"""JSON Schemas of tools as particular endpoints accept them.

Invariant: pure and deterministic; a reduced schema accepts at least whatever the full one accepts, since the tool
validates its arguments itself.
"""

from __future__ import annotations

from typing import Any

_MAPS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_PLAIN = ("type", "description", "enum", "properties", "required", "items")


def mentions_refs(node: Any) -> bool:
    """Whether a ``$ref`` stands anywhere in the schema."""
    if isinstance(node, dict):
        return isinstance(node.get("$ref"), str) or any(map(mentions_refs, node.values()))
    return isinstance(node, list) and any(map(mentions_refs, node))


def inline(schema: dict[str, Any]) -> dict[str, Any]:
    """Every ``$ref`` replaced by what it names; one inside itself, or to nowhere, by an open schema."""
    result = _inline(schema, schema, ())
    return {key: value for key, value in result.items() if key not in ("$defs", "definitions")}


def _inline(node: Any, root: dict[str, Any], within: tuple[str, ...], names: bool = False) -> Any:
    if isinstance(node, list):
        return [_inline(item, root, within) for item in node]
    if not isinstance(node, dict):
        return node
    reference = node.get("$ref")
    if isinstance(reference, str) and not names:
        target = None if reference in within else _target(reference, root)
        beside = {key: value for key, value in node.items() if key == "description"}
        if not isinstance(target, dict):
            return {"type": "object", **beside}
        return {**_inline(target, root, (*within, reference)), **beside}
    return {key: _inline(value, root, within, key in _MAPS and not names) for key, value in node.items()}


def _target(reference: str, root: dict[str, Any]) -> Any:
    if not reference.startswith("#/"):
        return None
    node: Any = root
    for part in reference[2:].split("/"):
        part = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(node, dict) or part not in node:
            return None
        node = node[part]
    return node


def simplify(schema: dict[str, Any]) -> dict[str, Any]:
    """Plain keywords only: type, description, enum, properties, required, items; a union becomes its first real
    branch."""
    return _simplify(inline(schema) if mentions_refs(schema) else schema)


def _simplify(node: Any) -> dict[str, Any]:
    if not isinstance(node, dict):
        return {"type": "object"} if node is True else {"type": "string"}
    for union in ("anyOf", "oneOf"):
        branches = node.get(union)
        if isinstance(branches, list):
            real = [branch for branch in branches if isinstance(branch, dict) and branch.get("type") != "null"]
            rest = {key: value for key, value in node.items() if key != union}
            if len(real) > 1 and any(_kind(branch) == "string" for branch in real):
                return _simplify({**rest, "type": "string"})
            return _simplify({**(real[0] if real else {"type": "string"}), **rest})
    if isinstance(parts := node.get("allOf"), list):
        merged: dict[str, Any] = {}
        for part in parts:
            if isinstance(part, dict):
                properties = {**merged.get("properties", {}), **part.get("properties", {})}
                required = [*merged.get("required", ()), *part.get("required", ())]
                merged.update(part)
                merged.update({"properties": properties} if properties else {})
                merged.update({"required": list(dict.fromkeys(required))} if required else {})
        return _simplify({**merged, **{key: value for key, value in node.items() if key != "allOf"}})
    node = dict(node)
    if "const" in node and "enum" not in node:
        node["enum"] = [node["const"]]
    node["type"] = _kind(node)
    if not (isinstance(node.get("enum"), list) and node["enum"] and all(isinstance(one, str) for one in node["enum"])):
        node.pop("enum", None)
    result: dict[str, Any] = {}
    for key in _PLAIN:
        if key not in node:
            continue
        value = node[key]
        if key == "properties":
            if isinstance(value, dict):
                result[key] = {name: _simplify(one) for name, one in value.items()}
        elif key == "items":
            result[key] = _simplify(value if not isinstance(value, list) else (value or [{"type": "string"}])[0])
        else:
            result[key] = value
    if result["type"] == "array":
        result.setdefault("items", {"type": "string"})
    if result["type"] == "object":
        result.setdefault("properties", {})
    return result


def _kind(node: dict[str, Any]) -> str:
    kind = node.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), None)
    if isinstance(kind, str):
        return kind
    if "properties" in node:
        return "object"
    if "items" in node:
        return "array"
    return "string"
