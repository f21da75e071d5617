"""The forty jobs as executable cases: read from ``tests/jobs``, played on a shop, and judged.

A case names the phrasings of a job, the calls that do it (with values out of earlier results), the facts that a right
answer holds, and, of a write, what the shop says afterwards. Invariant: nothing is judged by the words of the case
alone: facts are values of the results of the tools that ran.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from agent_core import events as ev
from agent_core.loop import AgentLoop
from agent_core.messages import Message, ModelClient
from agent_core.testing import ScriptedModel
from agent_core.tools.execute import output_text
from agent_core.tools.tool import Tool, ToolContext

FOLDER = Path(__file__).parents[1] / "jobs"
TODAY = (ev.Frozen(kind="today", text="2026-11-30, Monday 周一, Asia/Shanghai"),)
LANGUAGES = ("zh", "en")
_PLACE = re.compile(r"\{([\w.*-]+)\}")


class Checked(NamedTuple):
    """What a reading tool has to say afterwards; ``backend``: only there, none: everywhere."""

    tool: str
    arguments: dict[str, Any]
    path: str
    value: Any
    backend: str | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One job. ``steps``: calls side by side, one list after the other; ``facts``: paths into results ("tool.path",
    "*" for every element, "?" behind what may be absent); ``after``: what the shop says once a write was agreed
    to; ``without``: backends that do not do it, and why."""

    id: str
    title: str
    tier: str
    planner: bool
    zh: tuple[str, ...]
    en: tuple[str, ...]
    steps: list[list[tuple[str, dict[str, Any]]]]
    facts: tuple[str, ...]
    after: tuple[Checked, ...] = ()
    without: Mapping[str, str] = field(default_factory=dict)
    backends: tuple[str, ...] = ("embedded",)
    sparse: tuple[str, ...] = ()
    """Backends whose example data hold nothing of the kind: there the lists are empty."""
    asks: tuple[str, ...] = ()
    """Phrasings that leave open what is meant: to these the planner answers with a question."""

    def phrasings(self, language: str) -> tuple[str, ...]:
        """What people say, in that language."""
        return self.zh if language == "zh" else self.en

    @property
    def tools(self) -> set[str]:
        """The tools of the script."""
        return {name for step in self.steps for name, _ in step}


@dataclass(slots=True)
class Played:
    """What came of one conversation: the calls in order, the newest result of each tool, all results, the answer."""

    said: str
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    results: dict[str, Any] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    errors: list[tuple[str, str]] = field(default_factory=list)
    asked: list[ev.ApprovalRequested] = field(default_factory=list)
    answer: str = ""
    end: str = ""
    session: str = ""


def jobs() -> list[Job]:
    """All cases, by number."""
    found = []
    for path in sorted(each for each in FOLDER.glob("*.toml") if each.stem != "worlds"):
        for name, case in tomllib.loads(path.read_text(encoding="utf-8")).items():
            found.append(_job(name, case))
    return sorted(found, key=lambda job: job.id)


def _job(name: str, case: dict[str, Any]) -> Job:
    return Job(
        name,
        case["title"],
        case["tier"],
        case.get("planner", False),
        tuple(case["zh"]),
        tuple(case["en"]),
        [[(tool, arguments) for tool, arguments in step] for step in case["steps"]],
        tuple(case["facts"]),
        tuple(
            Checked(tool, arguments, path, value, *backend)
            for tool, arguments, path, value, *backend in case.get("after", ())
        ),
        case.get("without", {}),
        tuple(case.get("backends", ("embedded",))),
        tuple(case.get("sparse", ())),
        tuple(case.get("asks", ())),
    )


def world(backend: str) -> dict[str, str]:
    """What the names in a case stand for in the data of a backend."""
    worlds: dict[str, dict[str, str]] = tomllib.loads((FOLDER / "worlds.toml").read_text(encoding="utf-8"))
    return worlds[backend]


def days(today: date) -> dict[str, str]:
    """Names of days in the cases, against the shop's day."""
    named = {f"in_{number}_days": str(today + timedelta(number)) for number in range(1, 15)}
    start = today.replace(day=1)
    before = (start - timedelta(1)).replace(day=1)
    elapsed = min(before + timedelta(today.day - 1), start - timedelta(1))
    return named | {
        "today": str(today),
        "year_start": str(today.replace(month=1, day=1)),
        "this_month": f"{start}..{today}",
        "month_before": f"{before}..{elapsed}",
    }


def values_at(results: Mapping[str, Any], path: str) -> list[Any]:
    """The values under a path; none where there is nothing."""
    found: list[Any] = [results]
    for key in path.removesuffix("?").split("."):
        found = [each for value in found for each in _under(value, key)]
    return [each for each in found if each is not None]


def _under(value: Any, key: str) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values() if key == "*" else ([value[key]] if key in value else [])
    elif isinstance(value, list):
        yield from value if key == "*" else (value[int(key) : int(key) + 1] if key.isdigit() else [])


def filled(value: Any, names: Mapping[str, Any]) -> Any:
    """A part of a case with the values that its places stand for. Raises ``AssertionError`` for a place without one."""
    if isinstance(value, dict):
        return {key: filled(each, names) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, names) for each in value]
    if not isinstance(value, str):
        return value

    def put(place: re.Match[str]) -> str:
        found = values_at(names, place[1])
        assert len(found) == 1, f"{place[0]} stands for {found}"
        return str(found[0])

    return _PLACE.sub(put, value)


def script(job: Job, names: Mapping[str, str], language: str) -> ScriptedModel:
    """A model that makes the calls of the case, and answers with its facts."""

    def step(at: int) -> Any:
        def turn(messages: Sequence[Message]) -> Any:
            if '"error"' in (messages[-1].content or "")[:10]:
                return "好的，没有改动。" if language == "zh" else "All right, nothing was changed."
            known = dict(names) | _read(messages)
            return [(tool, filled(arguments, known)) for tool, arguments in job.steps[at]]

        return turn

    def answer(messages: Sequence[Message]) -> str:
        known = _read(messages)
        told = [str(value) for path in job.facts for value in values_at(known, path)]
        return ("结果：" if language == "zh" else "Result: ") + ", ".join(told)

    return ScriptedModel([*(step(at) for at in range(len(job.steps))), answer])


def _read(messages: Sequence[Message]) -> dict[str, Any]:
    """The newest result of each tool in a conversation."""
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    found: dict[str, Any] = {}
    for message in messages:
        if message.role == "tool" and message.tool_call_id in names:
            value = _json(message.content or "")
            if "error" not in value:
                found[names[message.tool_call_id]] = value
    return found


def _json(text: str) -> dict[str, Any]:
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


async def ask_tool(tools: Sequence[Tool], name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What a reading tool says right now."""
    tool = next(each for each in tools if each.name == name)
    values = tool.arguments.validate(arguments)
    if tool.context_parameter:
        values[tool.context_parameter] = ToolContext("checks", "check", "")
    return _json(output_text(await tool.handler(**values)))


async def play(
    model: ModelClient,
    tools: Sequence[Tool],
    said: str,
    *,
    agree: bool = True,
    by: str = "owner",
    context: Sequence[ev.Frozen] = TODAY,
) -> Played:
    """One question from its first call to its answer; what asks a person is agreed to, or refused."""
    loop = AgentLoop(model=model, tools=tools)
    played = Played(said)
    await _follow(played, loop.run(said, context=context, by=by, owner=by))
    while played.end == "awaiting_approval":
        state = await loop.state(played.session)
        for call in [call for call in state.open_calls() if call.status == "asked"]:
            await loop.decide(played.session, call.call.id, approve=agree, by="boss", reason=None if agree else "no")
        await _follow(played, loop.resume(played.session, by=by))
    return played


async def _follow(played: Played, items: Any) -> None:
    names: dict[str, str] = {}
    async for item in items:
        played.session = item.session_id
        match item.event:
            case ev.AssistantMessage(content=content, tool_calls=calls):
                played.answer = content or ""
                names |= {call.id: call.name for call in calls}
                played.calls += [(call.name, json.loads(call.arguments)) for call in calls]
            case ev.ApprovalRequested():
                played.asked.append(item.event)
            case ev.ToolCallFinished(tool=tool, ok=ok, content=content, error=error):
                played.texts.append(content)
                if ok:
                    played.results[tool] = _json(content)
                elif error is not None:
                    played.errors.append((tool, error.type))
            case ev.LoopEnd(reason=reason):
                played.end = reason
            case _:
                pass


def missing_facts(job: Job, played: Played) -> list[str]:
    """Facts of the case that no result holds."""
    return [path for path in job.facts if not path.endswith("?") and not values_at(played.results, path)]


def untold_facts(job: Job, played: Played) -> list[str]:
    """Facts of the results that the answer does not say."""
    untold = []
    for path in job.facts:
        for value in values_at(played.results, path):
            text = str(value)
            if text and not isinstance(value, (dict, list, bool)) and text not in played.answer:
                untold.append(f"{path} = {text}")
    return untold
