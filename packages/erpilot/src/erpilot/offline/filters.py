"""What the names of a report mean: a customer, a product, a category, whichever the shop calls so.

Invariant: a name counts only as what it is called exactly, or decided as; one that is several of these, or none, is
told, and the report is not made without it.
"""

from __future__ import annotations

from typing import Any

from .reading import place_of
from .turns import Result, Results, Step, chosen
from .wants import Want

_ROLES = ("customer", "product", "category")


def look_ups(want: Want) -> list[Step]:
    """The calls that tell what the names of a report are."""
    roles = [role for role in _ROLES if role in want.job.get("filters", ())]
    return [_look_up(role, name) for name in want.names for role in roles]


def _look_up(role: str, name: str) -> Step:
    if role == "category":
        return Step("find_products", {"category": name, "limit": 1})
    return Step("find_customers" if role == "customer" else "find_products", {"query": name})


def meant_by(want: Want, results: Results) -> tuple[dict[str, Any], list[tuple[str, Result]]]:
    """The places in the calls that the names fill, all of them as ``filters``, and as ``only`` how the answer calls
    them; or the sections that ask which is meant."""
    filters: dict[str, Any] = {}
    called: list[str] = []
    problems: list[tuple[str, Result]] = []
    for name in () if "name" in want.job else want.names:  # else the job itself says what a name is
        found = _roles_of(want, name, results)
        if len(found) != 1:
            problems.append(_asked_back(want, name, found, results))
            continue
        ((role, record),) = found.items()
        if role in filters:
            problems.append(("twice", {"name": name}))
        filters[role] = name if role == "category" else record.get("id") or record["sku"]
        called.append(" ".join(filter(None, (record["name"], record.get("specification")))))
    if place := place_of(want.text_of("place")):
        called.append(place)
        filters["warehouse"] = place
    return {"filters": filters, **filters} | ({"only": ", ".join(called)} if called else {}), problems


def _roles_of(want: Want, name: str, results: Results) -> dict[str, Result]:
    """What a name can be: a category of that name, else what a look-up decided on for good."""
    found: dict[str, Result] = {}
    for role in want.job["filters"]:
        if role not in _ROLES:
            continue
        result = results[_look_up(role, name).key]
        if role == "category":
            found |= {role: {"name": name}} if result.get("total_count") else {}
        elif (record := chosen(result)) is not None and record.get("match") != "fuzzy":
            found[role] = record
    return {"category": found["category"]} if "category" in found else found


def _asked_back(want: Want, name: str, found: dict[str, Result], results: Results) -> tuple[str, Result]:
    """The section that asks which record a name means, or says that nothing is called so."""
    for role in [each for each in _ROLES[:2] if each in want.job["filters"]]:
        step = _look_up(role, name)
        result = results[step.key]
        exact = any(each["match"] != "fuzzy" for each in result.get("candidates", ()))
        if exact and not found:
            return "offer", result | {"exact": True, "what": step.tool}
    return "unknown_name", {"name": name, "several": len(found) > 1}
