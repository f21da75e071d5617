"""Every limit of a run, and the content object that freezes what a run's decisions depend on.

Invariant: all of it is plain data. An ``Environment`` is stored by hash when a run starts, so the same log gives the
same decisions later, whatever the defaults have become.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal, get_args

from msgspec import Struct

from .events import Cost
from .messages import Usage
from .model.retry import RetryPolicy


class ContextPolicy(Struct, frozen=True, kw_only=True):
    """How much of a conversation reaches the model. Events are messages of people, of the model, and tool results."""

    budget_tokens: int = 24_000
    """Tokens of one request, tool schemas included. Nothing is left out before they are used up."""
    keep_recent: int = 20
    """Events that are neither summarised nor dropped, as long as the budget allows."""
    summarise_after: int = 30
    """Events up to which leaving old results out is tried before the oldest turns are summarised."""
    summarise_oldest: int = 10
    """Events that one summary takes, at least."""
    recall_top_k: int = 5
    """Fragments recalled for a question."""
    clip_share: float = 0.5
    """Largest part of the room for the conversation that a single message may take before it is clipped."""
    drop_to: float = 0.35
    """Part of the room for the conversation that a compaction goes down to, so that it happens rarely."""
    summary_share: float = 0.08
    """Largest part of the budget that a summary may take, and the same again for pinned facts."""


class Price(Struct, frozen=True, kw_only=True):
    """Money per million tokens. What is None costs as much as plain input."""

    input: Decimal
    output: Decimal
    cached_input: Decimal | None = None
    cache_write: Decimal | None = None
    currency: str = "USD"

    def cost(self, usage: Usage) -> Cost | None:
        """The price of one request; None when the counts that it needs were not reported."""
        if usage.prompt_tokens is None or usage.completion_tokens is None:
            return None
        cached = min(usage.cached_tokens or 0, usage.prompt_tokens)
        written = min(usage.cache_write_tokens or 0, usage.prompt_tokens - cached)
        plain = usage.prompt_tokens - cached - written
        amount = (
            plain * self.input
            + cached * (self.input if self.cached_input is None else self.cached_input)
            + written * (self.input if self.cache_write is None else self.cache_write)
            + usage.completion_tokens * self.output
        ) / 1_000_000
        return Cost(amount, self.currency)


Effect = Literal["deny", "ask", "allow"]
Scope = Literal["user", "project", "session"]


class Rule(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What somebody decided in advance about calls of certain tools. ``tool`` and ``target`` are shell patterns."""

    effect: Effect
    tool: str
    target: str | None = None
    scope: Scope = "user"
    reason: str | None = None
    """Told to the model when the call is denied."""

    def __post_init__(self) -> None:
        for name, known in (("effect", get_args(Effect)), ("scope", get_args(Scope))):
            if (value := getattr(self, name)) not in known:
                raise ValueError(f"a rule with the {name} {value!r}; it is one of {', '.join(known)}")


class LoopConfig(Struct, frozen=True, kw_only=True):
    """What an agent may do and how far it may go."""

    system_prompt: str = ""
    """First message of every request; never trimmed."""
    max_steps: int = 20
    """Model turns per run; failed ones are not counted."""
    max_calls_per_step: int = 10
    """Tool calls of one message that are run; the rest is answered with ``limit``."""
    max_calls: int = 50
    """Tool calls per run; later ones are answered with ``limit``."""
    max_calls_per_session: int | None = None
    """Tool calls per session, None: no limit."""
    max_tokens: int | None = 1_000_000
    """Reported tokens per run, prompt and completion together; None: no limit."""
    max_cost: Decimal | None = Decimal(2)
    """Money per run, in the currency of the model's price; None: no limit."""
    max_seconds: float | None = 900.0
    """Seconds per run, waiting for people not counted; None: no limit."""
    same_call_runs: int = 2
    """Identical calls with identical results that run; the next is answered with ``repeated_call``, the one after ends
    the run.
    """
    approval_seconds: float | None = 7 * 86_400.0
    """Seconds until an unanswered question expires; None: never."""
    auto_approve: tuple[Literal["WRITE"], ...] = ()
    """Tiers that run unasked (scripts). DANGEROUS cannot be among them."""
    rules: tuple[Rule, ...] = ()
    """Deny beats ask beats allow. ``allow`` lets a WRITE run unasked, never a DANGEROUS one."""
    private_data: bool = True
    """The READ tools see data that must not leave the house (see ``permission.leaks``)."""
    cache_seconds: float = 30.0
    """Seconds for which the result of a READ is used again; a write that touches it ends that at once. 0: never."""
    read_output: bool = True
    """Offer ``read_output``, with which the model pages through outputs that were cut."""
    answer_check: str | None = None
    """Name of what traces the figures of answers (see ``answers``), None: nothing does. The loop sets it."""
    options: dict[str, Any] = {}
    """Parameters sent with each request (temperature, seed, ...)."""
    context: ContextPolicy = ContextPolicy()
    retry: RetryPolicy = RetryPolicy()

    def __post_init__(self) -> None:
        if refused := sorted(set(self.auto_approve) - {"WRITE"}):
            raise ValueError(f"calls of the tier {refused[0]} cannot be approved in advance")


class ToolRules(Struct, frozen=True, omit_defaults=True):
    """What decisions need to know of a tool."""

    tier: Literal["READ", "WRITE", "DANGEROUS"] = "READ"
    repeatable: bool = True
    egress: bool = False
    untrusted: bool = False


class Environment(Struct, frozen=True):
    """Everything the decisions of a run depend on, as stored by hash. ``system`` and ``tool_set`` are hashes of
    contents.
    """

    config: LoopConfig
    model: str
    tools: dict[str, ToolRules]
    system: str
    tool_set: str | None
    tool_tokens: int = 0
    """Estimated tokens of the tool schemas."""
    price: Price | None = None
