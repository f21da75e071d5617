"""``python -m evals.conversation``: many look-ups in one conversation within a small window, and what came of them.

Invariant: as in ``real_model``: the loop, the prompt and the shop are the product's own, and exit code 0 however weak
the model is; 2 for a wrong use, 4 when the endpoint answered nothing at all.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
import tomllib
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from agent_core import events as ev
from agent_core.config import ContextPolicy, LoopConfig
from agent_core.errors import ModelError
from agent_core.loop import AgentLoop
from agent_core.messages import ModelClient
from agent_core.model.client import OpenAIModel
from agent_core.store.memory import MemoryStore
from erpilot.cli.models import Choice
from erpilot.cli.work import Bench
from erpilot.profiles import PROFILES
from erpilot.shop.open import open_shop

from .interview import Interview, note
from .marks import Marks, mark
from .questions import QUESTIONS, Question, QuestionFile, read_questions

CONVERSATION = Path(__file__).with_name("conversation.toml")
HEAD = (
    "turn",
    "facts",
    "from nowhere",
    "ended",
    "turns",
    "calls",
    "largest request",
    "estimated",
    "tokens in",
    "cached",
    "out",
    "compactions",
    "recalled",
    "seconds",
)


class Said(Struct):
    """What came of one message. Tokens of its largest request, as the endpoint counts them and as estimated."""

    interview: Interview
    marks: Marks | None = None
    reported: int = 0
    estimated: int = 0
    compactions: tuple[str, ...] = ()
    recalled: int = 0


def read_conversation(path: Path) -> tuple[QuestionFile, list[Question]]:
    """The day, and the questions in their order. Raises ``ValueError`` when the file cannot be used."""
    file = read_questions(QUESTIONS)
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8"))
        own = msgspec.convert(written.get("question", []), tuple[Question, ...])
        known = {question.id: question for question in (*file.question, *own)}
        return file, [known[name] for name in msgspec.convert(written["order"], list[str])]
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or error}.") from None
    except KeyError as error:
        raise ValueError(f"{path} names {error}, which is not there.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"{path} is no conversation: {error}.") from None


async def converse(
    questions: Sequence[Question], model: ModelClient, home: Path, file: QuestionFile, config: LoopConfig, needed: bool
) -> AsyncIterator[Said]:
    """Asks one question after another in one session. ``needed``: only the tools that the questions need."""
    profile, shop, store = PROFILES["shop"], open_shop(home, file.today), MemoryStore()
    wanted = {name for question in questions for need in question.needs for name in need.tools} | {"recall"}
    try:
        tools = [tool for tool in profile.tools(shop) if tool.name in wanted or not needed]
        config = msgspec.structs.replace(config, system_prompt=profile.system_prompt)
        loop = AgentLoop(model=model, tools=tools, store=store, config=config)
        context = Bench(loop, store, Choice(model.name, model.name), profile, shop).today()
        session_id: str | None = None
        for question in questions:
            said = Said(Interview(question, context=tuple(each.text for each in context)))
            began, begun = time.monotonic(), False
            async for item in loop.run(question.text, session_id, context=context):
                session_id = item.session_id
                begun = begun or isinstance(item.event, ev.UserMessage)
                if begun:
                    note(said.interview, item.event)
                    _note(said, item.event)
            said.interview.seconds = time.monotonic() - began
            said.marks = mark(said.interview)
            yield said
    finally:
        shop.close()


def _note(said: Said, event: ev.AnyEvent) -> None:
    match event:
        case ev.UserMessage(context=context):
            said.recalled = sum(each.kind == "recalled" for each in context)
            said.interview.context += tuple(each.text for each in context if each.kind == "recalled")
        case ev.StepStarted(estimated_tokens=tokens):
            said.estimated = max(said.estimated, tokens)
        case ev.StepEnd(usage=usage) if usage is not None:
            said.reported = max(said.reported, usage.prompt_tokens or 0)
        case ev.ContextCompacted(kind=kind):
            said.compactions += (kind,)


def row(said: Said) -> tuple[str, ...]:
    """One message as a row of the table."""
    found, marks, usage = said.interview, said.marks, said.interview.usage
    return (
        found.question.id,
        f"{marks.facts_found}/{marks.facts}" if marks and marks.facts else "-",
        str(len(marks.from_nowhere)) if marks else "-",
        found.reason,
        str(len(found.turns)),
        str(len(found.calls)),
        f"{said.reported:,}",
        f"{said.estimated:,}",
        f"{usage.prompt_tokens or 0:,}",
        f"{usage.cached_tokens or 0:,}",
        f"{usage.completion_tokens or 0:,}",
        ", ".join(said.compactions) or "-",
        str(said.recalled),
        f"{found.seconds:.0f}",
    )


def table(all_said: Sequence[Said]) -> str:
    """The whole table, with its sums."""
    usages = [said.interview.usage for said in all_said]
    marks = [said.marks for said in all_said if said.marks is not None]
    sums = (
        "**all**",
        f"{sum(each.facts_found for each in marks)}/{sum(each.facts for each in marks)}",
        str(sum(len(each.from_nowhere) for each in marks)),
        f"completed {sum(said.interview.reason == 'completed' for said in all_said)}/{len(all_said)}",
        str(sum(len(said.interview.turns) for said in all_said)),
        str(sum(len(said.interview.calls) for said in all_said)),
        f"{max((said.reported for said in all_said), default=0):,}",
        f"{max((said.estimated for said in all_said), default=0):,}",
        f"{sum(usage.prompt_tokens or 0 for usage in usages):,}",
        f"{sum(usage.cached_tokens or 0 for usage in usages):,}",
        f"{sum(usage.completion_tokens or 0 for usage in usages):,}",
        str(sum(len(said.compactions) for said in all_said)),
        str(sum(said.recalled for said in all_said)),
        f"{sum(said.interview.seconds for said in all_said):.0f}",
    )
    rows = [HEAD, tuple("---" for _ in HEAD), *map(row, all_said), sums]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code."""
    parsed = _parser().parse_args(arguments)
    try:
        file, questions = read_conversation(parsed.conversation)
        return asyncio.run(_run(parsed, file, questions))
    except (ValueError, ModelError) as error:
        print(error, file=sys.stderr)
        return 2


async def _run(parsed: argparse.Namespace, file: QuestionFile, questions: Sequence[Question]) -> int:
    config = LoopConfig(
        context=ContextPolicy(budget_tokens=parsed.window - parsed.answer),
        options={"max_tokens": parsed.answer},
        max_steps=parsed.max_steps,
        max_seconds=None,
    )
    all_said: list[Said] = []
    async with AsyncExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="erpilot-eval-")))
        key = os.environ.get("OPENAI_API_KEY") or None
        model = await stack.enter_async_context(
            OpenAIModel(parsed.base_url, key, parsed.model, idle_timeout=parsed.patience)
        )
        print(" | ".join(HEAD), file=sys.stderr)
        async for said in converse(questions, model, home, file, config, parsed.tools == "needed"):
            all_said.append(said)
            print(" | ".join(row(said)), file=sys.stderr, flush=True)
            if parsed.json is not None:
                whole: dict[str, Any] = {"model": parsed.model, "window": parsed.window, "said": all_said}
                parsed.json.write_bytes(msgspec.json.format(msgspec.json.encode(whole), indent=1) + b"\n")
    print(f"{parsed.model}, window {parsed.window:,}\n\n{table(all_said)}")
    if all(said.interview.reason == "model_error" for said in all_said):
        print(f"Nothing was answered: {all_said[-1].interview.message}", file=sys.stderr)
        return 4
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evals.conversation",
        description="Asks a real model one question after another in one conversation about the built-in shop, within "
        "a small window, and reports. A key is taken from OPENAI_API_KEY.",
    )
    parser.add_argument("--base-url", required=True, metavar="URL", help="an OpenAI-compatible endpoint, with /v1")
    parser.add_argument("--model", required=True, metavar="NAME", help="the model's name at the endpoint")
    parser.add_argument(
        "--conversation", type=Path, default=CONVERSATION, metavar="FILE", help="default: conversation.toml here"
    )
    parser.add_argument(
        "--window", type=int, default=8192, metavar="N", help="tokens of prompt and answer (default 8192)"
    )
    parser.add_argument(
        "--answer", type=int, default=700, metavar="N", help="tokens of them for an answer (default 700)"
    )
    parser.add_argument(
        "--tools",
        choices=("all", "needed"),
        default="all",
        help="the profile's tools, or those that are needed (and recall)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything here, after each turn anew")
    parser.add_argument("--max-steps", type=int, default=6, metavar="N", help="model turns per message (default 6)")
    parser.add_argument(
        "--patience", type=float, default=900.0, metavar="SECONDS", help="silence of the endpoint that is waited for"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
