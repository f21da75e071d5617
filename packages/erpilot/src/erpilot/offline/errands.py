"""From a job that is wanted to the calls that do it, and to what is told of their results.

Invariant: the calls are those of ``jobs.toml`` with what the question says in their places; a name is looked up first,
and where it is not decided the question goes back to the person. Figures of an answer are values of results.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from .filters import look_ups, meant_by
from .reading import WORDS
from .span import Span
from .turns import Result, Results, Step, chosen
from .wants import JOBS, Want, dimension_of, values_of

_LOOKED_UP = {"customer": "find_customers", "product": "find_products", "arriving": "find_products"}


def errands(want: Want, results: Results) -> list[Step]:
    """The calls known by now: first what names mean, then those of the job."""
    role = str(want.job.get("name", ""))
    found = [Step(_LOOKED_UP[role], {"query": name}) for name in want.names] if role in _LOOKED_UP else []
    found += [] if role else look_ups(want)
    found += [Step("find_products", {"category": name, "limit": 1}) for name in want.names if role == "arriving"]
    if any(step.key not in results for step in found):
        return found
    if any("category" in step.arguments and results[step.key].get("total_count") for step in found if role):
        return found
    values = values_of(want) | _spans(want)
    skus = list[str]()
    if "filters" in want.job:
        meant, problems = meant_by(want, results)
        if problems:
            return found
        values |= meant
    for step in found if role else ():
        if "category" in step.arguments:
            continue
        record = chosen(results[step.key])
        if record is None and role == "arriving":
            values["supplier"] = step.arguments["query"]
        elif record is None:
            return found
        else:
            values["customer" if role == "customer" else "sku"] = record.get("id") or record["sku"]
            skus.append(str(record.get("sku")))
    if "sku" in values:
        values |= {"skus": skus, "quantities": [" ".join(each).strip() for each in want.qtys]}
        values["lines"] = [
            {"sku": values["sku"], "qty": number} | ({"unit": unit} if unit else {}) for number, unit in want.qtys
        ]
    if role == "supplier" and want.names:
        values["supplier"] = want.names[0]
    if role:
        told = {key: values[key] for key in ("sku", "supplier") if key in values}
        values["filters"] = values.get("filters", {}) | told
    made = list[Step]()
    for call in want.job["calls"]:
        values |= _learnt(made, results)
        arguments = _filled(call, values)
        if arguments is None:
            continue
        step = Step(call["tool"], arguments)
        made.append(step)
        if step.key not in results and want.job.get("in_turn"):  # what follows depends on it
            break
    last = results.get(made[-1].key, {}) if made else {}
    if "export" in want.tags and "table" in last:
        made.append(exporting(want.text_of("export"), str(last["table"]), chinese=want.chinese))
    return [*found, *made]


def exporting(said: str, table: str, *, chinese: bool) -> Step:
    """The call that writes a table into a file."""
    form = "csv" if "csv" in said.casefold() else "xlsx"
    return Step("export_table", {"table": table, "format": form, "language": "zh" if chinese else "en"})


def _filled(call: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any] | None:
    """The arguments of a call; None where what it cannot do without is not known. A place without a value is left
    out."""
    arguments: dict[str, Any] = {}
    for name, value in call.items():
        if name == "tool":
            continue
        if name == "of":  # whatever the question narrows the report to
            arguments |= values.get("filters", {})
            continue
        place = value[0] if isinstance(value, list) else value
        if isinstance(place, str) and place.startswith("$"):
            known = values.get(place[1:])
            if known is None:
                if name in ("number", "skus", "sku", "order", "customer", "period") and place in _NEEDED:
                    return None
                continue
            arguments[name] = [known] if isinstance(value, list) else known
        else:
            arguments[name] = value
    return arguments


_NEEDED = ("$found", "$number", "$order_number", "$order_day", "$period")


def _learnt(made: list[Step], results: Results) -> dict[str, Any]:
    """What the results of earlier calls of the same job bring: the one order that was found, its day."""
    learnt: dict[str, Any] = {}
    for step in made:
        result = results.get(step.key, {})
        if step.tool == "find_orders" and result.get("total_count") == 1:
            learnt["found"] = result["orders"][0]["number"]
        if step.tool == "get_order" and "number" in result:
            day = date.fromisoformat(result["date"])
            learnt |= {"order_number": result["number"], "order_day": f"{day}..{day + timedelta(1)}"}
    return learnt


def _spans(want: Want) -> dict[str, Any]:
    """Periods as the reports take them, and what they are compared with: as many days as have gone by."""
    today, values = want.today, dict[str, Any]()
    if today is None:
        return values
    values["today"] = str(today)
    if want.when:
        span, other = want.when[0], want.when[1] if len(want.when) > 1 else None
        past = next((each for each in want.when if each.start <= today), None)
        coming = next((each for each in want.when if each.start > today), None)
        values["period"] = _period(span, today)
        if "compare" in want.tags:
            values["compared"] = _period(_against(span, other, today), today)
        if past is not None and past.kind == "days":
            values["past_days"] = (past.end - past.start).days + 1
        if coming is not None:
            values["cover"] = (coming.end - coming.start).days + 1
    if want.days is not None:
        values["past_days"] = want.days
    values |= {"by": dimension} if (dimension := dimension_of(want.tags, want.job)) else {}
    return values


def _period(span: Span, today: date) -> str:
    return f"{span.start}..{max(span.start, min(span.end, today))}"


def _against(span: Span, other: Span | None, today: date) -> Span:
    """What a span is compared with: so many days of the other one as have gone by of it; the year before when it is a
    part of one."""
    elapsed = Span(span.start, min(span.end, today), span.kind)
    if other is None:
        return elapsed.shifted(**({"months": 1} if span.kind == "month" else {"years": 1}))
    if other.kind == "year" and span.kind != "year":
        return elapsed.shifted(years=span.start.year - other.start.year)
    days = (elapsed.end - elapsed.start).days
    return Span(other.start, min(other.end, other.start + timedelta(days)), other.kind)


def said_of(want: Want, results: Results) -> list[tuple[str, Result]]:
    """Sections of the answer: a template of ``jobs.toml`` or ``words.toml`` and its values."""
    sections: list[tuple[str, Result]] = []
    steps, told = errands(want, results), Result()
    if want.job["say"] == "briefing":
        return [("briefing", _briefing(steps, results))]
    tool, say = "", want.job["say"]
    files: list[tuple[str, Result]] = []
    kinds = [
        step for step in steps if step.arguments.get("category") in want.names and want.job.get("name") == "arriving"
    ]
    if any(results[step.key].get("total_count") for step in kinds):
        return [("by_category", {"name": kinds[0].arguments["category"]})]
    steps = [step for step in steps if step not in kinds]
    if "filters" in want.job:
        meant, sections = meant_by(want, results)
        if sections:
            return sections
        steps = steps if "name" in want.job else [step for step in steps if step not in look_ups(want)]
        told |= meant
    for step in steps:
        result = results[step.key]
        looked_up = step.tool in _LOOKED_UP.values() and step.arguments.get("query") in want.names
        if looked_up and "error" not in result:
            record = chosen(result)
            if record is not None:
                told["record"] = record | {"discontinued": not record.get("active", True)}
            elif want.job.get("name") != "arriving":
                exact = any(each["match"] != "fuzzy" for each in result["candidates"])
                sections.append(("offer", result | {"exact": exact, "what": step.tool}))
        elif step.tool == "export_table" and "error" not in result:
            files.append(("exported", result))
        elif "error" in result:
            sections.append(("failed", {"step": step, "error": result["error"]}))
        else:
            told, tool = told | result, step.tool
            if not isinstance(say, str) and not want.job.get("in_turn"):
                sections.append((say[tool], _dressed(result)))
    if not sections:
        sections.append((say if isinstance(say, str) else say[tool], _dressed(told)))
    only = [("only", {"only": told["only"]})] if told.get("only") else []
    return [*only, *sections, *files]


def _briefing(steps: list[Step], results: Results) -> Result:
    """Five parts, each that could not be read named as missing."""
    parts = dict(zip(("sales_list", "orders_list", "low_list", "money_list", "approvals_list"), steps, strict=False))
    told: Result = {name: [] for name in parts} | {"missing_list": []}
    for name, step in parts.items():
        result = results[step.key]
        if "error" in result:
            told["missing_list"].append({"part": step.tool, "why": result["error"].get("message", "")})
        else:
            day = step.arguments.get("promised_before", "")
            told[name] = [_dressed(result) | {"day": day}]
    return told


def _dressed(value: Any) -> Any:
    """A result with what templates need besides: which lists are empty, texts of totals, both sides of a yes or no."""
    if isinstance(value, list):
        return [_dressed(each) for each in value]
    if not isinstance(value, dict):
        return value
    told = {key: _dressed(each) for key, each in value.items()}
    for key, each in value.items():
        if isinstance(each, list):
            told[f"no_{key}"] = not each
        if key in ("by_warehouse", "total", "overdue_by_age") and isinstance(each, dict):
            told[f"{key}_list"] = [{"name": name, "amount": amount} for name, amount in each.items()]
    if isinstance(value.get("total"), dict):
        told["total_text"] = ", ".join(f"{amount} {currency}" for currency, amount in value["total"].items())
    elif isinstance(value.get("total"), list) and value["total"] and "revenue" in value["total"][0]:
        told["total_text"] = ", ".join(f"{each['revenue']} {each['currency']}" for each in value["total"])
    if isinstance(value.get("overdue_by_age"), dict):
        told["ages"] = ", ".join(f"{name}: {amount}" for name, amount in value["overdue_by_age"].items())
    if "shipped" in value and "party" in value:
        told.setdefault("blocked_by", [])
        told["waits"] = bool(value.get("blocked_by"))
    if "confirmed" in value:
        told["unconfirmed"] = not value["confirmed"]
    if isinstance(credit := value.get("credit"), dict):
        told |= {"refused": not credit["allowed"], "no_terms": "no_terms" in credit["against"]}
        told["is_overdue"] = "overdue" in credit["against"]
    if "shortage" in value and "on_hand" in value:
        told["never"] = value["shortage"] != "0" and "complete_on" not in value
        told["too_late"] = value.get("enough_by_date") is False
    if "products" in value and "by_date" in value:  # the day is that of each product
        told["products"] = [each | {"by_date": value["by_date"]} for each in told["products"]]
    if isinstance(compared := value.get("compared"), dict):
        told["compared"] = compared | {"zero": "change_percent" not in compared}
    return told


TEMPLATES: Mapping[str, str] = WORDS["say"] | JOBS["say"]
