"""How the values of a transcript read as lines: the same for a run that is going on and for one that is replayed.

Invariant: pure; nothing is printed here, and no text is shortened without saying so.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from agent_core.answers import FAILED

from .gate import mark_line
from .previews import preview_lines, rows
from .terminal import Style
from .texts import Texts

if TYPE_CHECKING:
    from agent_core.messages import Usage
    from agent_core.trace.transcript import Ended, Question, Remark, Said, Step, Use

    from .desk import Desk

SHORT = 200
"""Characters of a line's variable part, unless everything is wanted."""

Line = tuple[str, Style]


@dataclass(frozen=True, slots=True)
class Money:
    """How costs are shown: in which currency, at how many CNY per USD."""

    currency: str
    cny_per_usd: Decimal

    def text(self, amount: Decimal | None, currency: str | None, texts: Texts) -> str:
        """An amount as people read it; a converted one is marked as approximate."""
        if amount is None or currency is None:
            return texts("cost_unknown")
        if amount == 0:
            return texts("cost_free")
        about = ""
        if currency != self.currency and {currency, self.currency} == {"CNY", "USD"}:
            amount = amount * self.cny_per_usd if currency == "USD" else amount / self.cny_per_usd
            currency, about = self.currency, "≈"
        sign = {"CNY": "¥", "USD": "$"}.get(currency, f"{currency} ")
        digits = 2 if amount >= 1 else 4 if amount >= Decimal("0.001") else 6
        return f"{about}{sign}{amount:.{digits}f}"


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of one language. ``full``: nothing is shortened."""

    texts: Texts
    money: Money
    full: bool = False

    def tool(self, use: Use) -> list[Line]:
        """A call: name, key arguments, duration, what came of it."""
        outcome = ""
        style: Style = "tool"
        if use.ok is None:
            outcome = self.texts("running")
        elif use.ok:
            outcome = summary(use.content or "")
        else:
            style, outcome = "error", failure(use.content or "", use.error)
        facts = [seconds_text(use.duration)] if use.ok is not None else []
        if use.cached:
            facts.append(self.texts("cached"))
        if use.total is not None:
            facts.append(self.texts("cut_output", total=use.total))
        mark = "✓" if use.ok else "✗" if use.ok is False else "…"
        head = f"{mark} {mark_line(use.tool)}({self.cut(arguments_text(use.arguments))})"
        lines: list[Line] = [(" ".join(filter(None, (head, " · ".join(facts), "→", self.cut(outcome)))), style)]
        if self.full and use.content:
            lines += [(f"  {line}", style) for line in use.content.split("\n")]
        return lines

    def step(self, step: Step) -> list[Line]:
        """What a turn of the model took."""
        parts = [self.texts("step_line", step=step.step), *self._spent(step.usage, step.amount, step.currency)]
        if step.duration is not None:
            parts.append(seconds_text(step.duration))
        if step.time_to_first_token is not None and self.full:
            parts.append(self.texts("first_token", seconds=seconds_text(step.time_to_first_token)))
        return [(" · ".join(parts), "quiet")]

    def failures(self, step: Step) -> list[Line]:
        """Attempts that failed, in a replay."""
        split = [failed.partition(": ") for failed in step.failures]
        return [(self.texts("attempt_failed", kind=kind, why=self.cut(why)), "error") for kind, _, why in split]

    def reasoning(self, step: Step) -> list[Line]:
        """What the model thought, for those who want everything."""
        return [(f"  {line}", "quiet") for line in step.reasoning.split("\n")] if self.full and step.reasoning else []

    def ended(self, ended: Ended) -> list[Line]:
        """How a run ended and what it took in all."""
        reason = self.texts.get(f"reason_{ended.reason}", ended.reason)
        head = self.texts("ended_one" if ended.steps == 1 else "ended", reason=reason, steps=ended.steps)
        style: Style = {"completed": "quiet", "awaiting_approval": "wait"}.get(ended.reason, "error")  # type: ignore[assignment]
        spent = self._spent(ended.usage, ended.amount, ended.currency) if ended.steps else []
        lines: list[Line] = [(" · ".join([head, *spent]), style)]
        if ended.message and ended.reason not in ("completed", "awaiting_approval", "interrupted"):
            lines.append((mark_line(ended.message), style))
        return lines

    def preview(self, question: Question) -> list[Line]:
        """What a call would do, whole and quoted, so that none of it can pass for a question of ours."""
        return [(row, "wait") for row in rows(preview_lines(question, self.texts), None)]

    def wants(self, question: Question) -> Line:
        """Which call waits."""
        tool, call = mark_line(question.tool), mark_line(question.call_id)
        return self.texts("wants", tool=tool, tier=question.tier, call=call), "wait"

    def decision(self, question: Question) -> list[Line]:
        """What was decided, and by which grant where nobody was asked."""
        if question.decision is None:
            return [(f"  {self.texts('undecided')}", "wait")]
        if question.edited is not None:
            text = self.texts("edited", by=mark_line(question.by or ""), arguments=self.cut(question.edited))
            return [(f"{mark_line(question.tool)} {text}", "wait")]
        if question.grant_id is not None:
            text = self.texts("decided_by_grant", grant=mark_line(question.grant_id))
            return [(f"{mark_line(question.tool)} {text}", "wait")]
        text = self.texts(f"decided_{question.decision}", by=mark_line(question.by or ""))
        reason = f": {mark_line(question.reason)}" if question.reason else ""
        return [(f"{mark_line(question.tool)} {text}{reason}", "wait")]

    def recalled(self, said: Said) -> list[Line]:
        """What came back with a message of what was said earlier: how much, with ``full`` all of it."""
        texts = [text for kind, text in said.context if kind == "recalled"]
        if not texts:
            return []
        told: list[Line] = [(f"  {mark_line(text)}", "quiet") for text in texts] if self.full else []
        return [(self.texts("recalled", count=len(texts)), "quiet"), *told]

    def remark(self, remark: Remark) -> list[Line]:
        """Guards, compactions, interruptions and the like."""
        facts = {name: mark_line(value) for name, value in remark.facts.items()}
        if remark.about == "GuardTripped":
            action = self.texts.get(f"action_{facts.get('action')}", facts.get("action", ""))
            return [(self.texts("remark_GuardTripped", guard=facts.get("guard", ""), action=action), "wait")]
        if remark.about == "ContextCompacted":
            how, first, last = facts.get("how", ""), facts.get("from", ""), facts.get("to", "")
            how = self.texts.get(f"how_{how}", how)
            return [(self.texts("remark_ContextCompacted", how=how, from_=first, to=last), "quiet")]
        if remark.about == "SummaryFailed":
            why, first, last = facts.get("why", ""), facts.get("from", ""), facts.get("to", "")
            return [(self.texts("remark_SummaryFailed", why=why, from_=first, to=last), "wait")]
        if remark.about == "AnswerChecked":
            if "untraced" not in facts:
                return []
            if facts["untraced"] == FAILED:
                return [(self.texts("unchecked"), "wait")]
            return [(self.texts("untraced", figures=self.cut(facts["untraced"])), "wait")]
        if remark.about in ("RunInterrupted", "RolledBack"):
            return [(self.texts(f"remark_{remark.about}", by=facts.get("by", ""), to=facts.get("to", "")), "wait")]
        if remark.about in ("TrustGranted", "TrustRevoked", "OutcomeResolved"):
            told = {name: facts.get(name, "") for name in ("grant", "tool", "target", "by", "call")}
            told["outcome"] = self.texts.get(f"outcome_{facts.get('outcome')}", facts.get("outcome", ""))
            return [(self.texts(f"remark_{remark.about}", **told), "wait")]
        listed = " ".join(f"{name}={value}" for name, value in facts.items())
        return [(self.texts("remark_other", about=mark_line(remark.about), facts=self.cut(listed)).rstrip(), "quiet")]

    def cut(self, text: str) -> str:
        """One line of at most ``SHORT`` characters; what is left off is counted."""
        line = mark_line(text)
        if self.full or len(line) <= SHORT:
            return line
        return line[:SHORT] + self.texts("more", count=len(line) - SHORT)

    def _spent(self, usage: Usage | None, amount: Decimal | None, currency: str | None) -> list[str]:
        return [self._tokens(usage), self.money.text(amount, currency, self.texts)]

    def _tokens(self, usage: Usage | None) -> str:
        if usage is None or usage.prompt_tokens is None or usage.completion_tokens is None:
            return self.texts("tokens_unknown")
        total = usage.prompt_tokens + usage.completion_tokens
        counts = {
            "total": f"{total:,}",
            "prompt": f"{usage.prompt_tokens:,}",
            "completion": f"{usage.completion_tokens:,}",
        }
        if usage.cached_tokens:
            return self.texts("tokens_cached", cached=f"{usage.cached_tokens:,}", **counts)
        return self.texts("tokens", **counts)


def seconds_text(seconds: float) -> str:
    """``12 ms``, ``3.4 s``, ``2:05 min``."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)}:{int(seconds % 60):02} min"


def arguments_text(arguments: str) -> str:
    """The arguments as ``name=value``; as they are, when they are no JSON object."""
    try:
        values = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
    if not isinstance(values, dict):
        return arguments
    return ", ".join(f"{name}={_compact(value)}" for name, value in values.items() if value is not None)


def summary(content: str) -> str:
    """A result in a line: plain values by name, lists and objects by their size."""
    try:
        values = json.loads(content)
    except (ValueError, RecursionError):
        return content
    if isinstance(values, list):
        return f"[{len(values)}]"
    if not isinstance(values, dict):
        return content
    sizes = [f"{name}[{len(value)}]" for name, value in values.items() if isinstance(value, list | dict)]
    plain = [f"{name}={_compact(value)}" for name, value in values.items() if not isinstance(value, list | dict | None)]
    return " ".join([*sizes, *plain]) or "{}"


def failure(content: str, kind: str | None) -> str:
    """A structured error in a line."""
    try:
        error = json.loads(content)["error"]
        return f"{error['type']}: {error['message']}"
    except (ValueError, KeyError, TypeError, RecursionError):
        return f"{kind}: {content}" if kind else content


def indent(text: str, first: str) -> str:
    """``first`` before the text, its further lines under each other."""
    lines = text.split("\n")
    return "\n".join([first + lines[0], *lines[1:]])


def _compact(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def join(lines: Sequence[Line]) -> str:
    """The texts alone."""
    return "\n".join(text for text, _ in lines)


def lines_of(desk: Desk) -> Lines:
    """How this person reads lines: language, currency, everything or the gist."""
    from .tables import default_exchange_rate

    settings = desk.settings
    currency = settings.currency or ("CNY" if desk.texts.lang == "zh" else "USD")
    return Lines(desk.texts, Money(currency, settings.exchange_rate or default_exchange_rate()), desk.verbose)
