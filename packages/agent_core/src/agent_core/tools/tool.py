"""What a tool is: a function, its schema, its tier, and how careful the runtime has to be with it.

Invariant: everything the runtime decides about a call (ask, retry, run again after a crash) is declared here as data;
the function itself only does the work.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import Any, Literal, overload

from msgspec import Struct

from ..context.passages import Passage
from ..events import Preview
from ..messages import ToolSchema
from .schema import Arguments, arguments_from_schema, arguments_from_signature

_UNCHANGING = frozenset({str, int, float, bool, type(None), Decimal, date})
Progress = Callable[[str, float | None], None]


class Tier(StrEnum):
    """How much a call can change. READ runs, WRITE asks and can be trusted, DANGEROUS asks every time."""

    READ = "READ"
    WRITE = "WRITE"
    DANGEROUS = "DANGEROUS"


def silent(text: str, fraction: float | None = None) -> None:
    """Progress that nobody watches."""


MOST_ATTACHED = 2 * 1024 * 1024
"""Bytes of a file that a call leaves behind."""


def unkept(name: str, media_type: str, data: bytes) -> None:
    """A file that nobody keeps."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call may know of its surroundings. A parameter annotated with this type receives it."""

    session_id: str
    call_id: str
    idempotency_key: str
    """The same on every attempt of one call; made from the call's place in the log."""
    attempt: int = 1
    user: str | None = None
    tenant: str | None = None
    progress: Progress = silent
    """``progress(text, fraction)``: shown to people while the tool runs."""
    whole_output: Callable[[str], Awaitable[str | None]] | None = None
    """The whole output of an earlier call that the model saw only a part of."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of the records, as they were when somebody agreed; empty where nobody was asked."""
    approved_by: str | None = None
    """Who agreed."""
    recall: Callable[[str], Awaitable[list[Passage]]] | None = None
    """Finds what was said before in this session."""
    attach: Callable[[str, str, bytes], None] = unkept
    """``attach(name, media_type, data)`` leaves a small file with the result, for people and screens; the model does
    not read it. One of the same name takes the place of an earlier one.
    """


Previewer = Callable[..., Awaitable[Preview]]
Keys = Callable[..., Iterable[str]]


class Reconciled(Struct, frozen=True):
    """What the backend says of a call whose outcome is not known."""

    outcome: Literal["happened", "did_not_happen", "unknown"]
    content: Any = None
    """The result it had, when it happened."""


class Undo(Struct, frozen=True):
    """The call that takes back what another one did."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Tool:
    """A callable the model can ask for.

    ``timeout`` in seconds per attempt, ``idle_timeout`` in seconds without progress; ``max_output`` in characters
    that the model is given; ``retries`` after a ``timeout`` or ``execution`` error, only where ``idempotent`` (a READ
    always is). ``preview`` gets the same arguments as the function and says what it would change; ``target`` names
    the record a call is about, for grants and for the question.
    """

    name: str
    description: str
    arguments: Arguments
    handler: Callable[..., Any]
    tier: Tier = Tier.READ
    timeout: float = 30.0
    max_output: int = 4000
    retries: int = 1
    idempotent: bool = False
    egress: bool = False
    untrusted: bool = False
    idle_timeout: float | None = None
    preview: Previewer | None = None
    target: Callable[..., str | None] | None = None
    varies: tuple[str, ...] = ()
    """Arguments that a standing grant leaves free; all others are fixed to what the person saw."""
    versions: Callable[..., Awaitable[dict[str, str]]] | None = None
    """Versions of the records that a call changes: read with the preview, and again right before the call runs."""
    reads: Keys | None = None
    """Keys of the records that a call reads; None: not known."""
    writes: Keys | None = None
    """Keys of the records that a call writes; None: not known, so it may be any of its backend."""
    backend: str = ""
    """Whose records the keys name."""
    reconcile: Callable[..., Awaitable[Reconciled]] | None = None
    """Asks the backend what became of a call whose outcome is not known."""
    inverse: Callable[[dict[str, Any], str], Undo | None] | None = None
    """From the arguments and the result: the call that undoes it, or None when it cannot be undone."""
    per_session: bool = False
    """What it reads is the session's own, so its results serve no other session."""
    context_parameter: str | None = field(default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tier", Tier(self.tier))  # raises ValueError for what is no tier

    @property
    def repeatable(self) -> bool:
        """Running it twice with one key has one effect."""
        return self.tier is Tier.READ or self.idempotent

    @property
    def schema(self) -> ToolSchema:
        """What the model is told."""
        return ToolSchema(self.name, self.description, self.arguments.schema)

    def bind(self, values: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        """The keyword arguments for the function and for its companions (preview, versions, reconcile)."""
        own = self.own(values)
        return own if self.context_parameter is None else {**own, self.context_parameter: context}

    def own(self, values: dict[str, Any]) -> dict[str, Any]:
        """The arguments as the receiver's own: whatever it does to them, the next one gets what was judged."""
        return {name: value if type(value) in _UNCHANGING else copy.deepcopy(value) for name, value in values.items()}

    def with_preview(self, preview: Previewer) -> Tool:
        """The same tool with a preview of its effect."""
        return replace(self, preview=preview)

    @classmethod
    def from_schema(
        cls,
        name: str,
        description: str,
        schema: Mapping[str, Any],
        handler: Callable[..., Any],
        *,
        tier: Tier = Tier.READ,
        **settings: Any,
    ) -> Tool:
        """A tool from a JSON Schema; ``handler`` is called with the arguments by keyword (and the context, if it
        asks).
        """
        return cls(
            name,
            description,
            arguments_from_schema(name, schema, reading=Tier(tier) is Tier.READ),
            handler,
            tier=Tier(tier),
            context_parameter=_context_parameter(handler),
            **settings,
        )


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    tier: Tier = ...,
    name: str | None = ...,
    timeout: float = ...,
    max_output: int = ...,
    retries: int = ...,
    idempotent: bool = ...,
    egress: bool = ...,
    untrusted: bool = ...,
    idle_timeout: float | None = ...,
    preview: Previewer | None = ...,
    target: Callable[..., str | None] | None = ...,
    varies: tuple[str, ...] = ...,
    versions: Callable[..., Awaitable[dict[str, str]]] | None = ...,
    reads: Keys | None = ...,
    writes: Keys | None = ...,
    backend: str = ...,
    reconcile: Callable[..., Awaitable[Reconciled]] | None = ...,
    inverse: Callable[[dict[str, Any], str], Undo | None] | None = ...,
    per_session: bool = ...,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(function: Callable[..., Any] | None = None, /, *, name: str | None = None, **settings: Any) -> Any:
    """Makes a ``Tool`` of an annotated function; the docstring is what the model reads.

    >>> @tool(tier=Tier.READ, timeout=5)
    ... async def check_stock(skus: list[str], ctx: ToolContext) -> dict[str, int]:
    ...     '''On-hand stock by SKU.'''
    """

    def build(handler: Callable[..., Any]) -> Tool:
        described = inspect.getdoc(handler)
        if not described:
            raise TypeError(f"tool {handler.__name__!r} needs a docstring: it is what the model reads")
        context = _context_parameter(handler)
        title = name or handler.__name__
        reading = settings.get("tier", Tier.READ) == Tier.READ
        arguments = arguments_from_signature(title, handler, skip=context, reading=reading)
        return Tool(title, described, arguments, handler, context_parameter=context, **settings)

    return build if function is None else build(function)


def _context_parameter(handler: Callable[..., Any]) -> str | None:
    for parameter in inspect.signature(handler).parameters.values():
        annotation = parameter.annotation
        if annotation is ToolContext or (isinstance(annotation, str) and annotation.split(".")[-1] == "ToolContext"):
            return parameter.name
    return None
