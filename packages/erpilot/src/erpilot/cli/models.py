"""From the name of a model to a client: which endpoint, whose key, what it costs.

Invariant: a key goes to the endpoint it was given for and to no other. A model that cannot be used is still a model:
it answers with the reason, so that the question is in the log and the session can be resumed with another one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from agent_core.config import Price
from agent_core.errors import ModelError, ModelErrorKind
from agent_core.messages import StreamEnd
from erpilot.shop.connection import PASSWORD_VARIABLE

from .config import Settings
from .tables import Provider, providers, table

if TYPE_CHECKING:
    from agent_core.messages import Message, ModelClient, ModelEvent, ToolSchema
    from agent_core.model.profile import ProfileStore

OFFLINE = "offline"
CUSTOM = "custom"
"""Provider name of an endpoint that is known by its address only."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A model that was chosen. ``problem`` says why it cannot be used, ``key_source`` where its key comes from."""

    name: str
    model: str
    base_url: str | None = None
    key: str | None = None
    key_source: str | None = None
    price: Price | None = None
    problem: tuple[ModelErrorKind, str, dict[str, object]] | None = None
    """Kind, key of the text, values of the text."""
    cache_marks: str = ""
    """Where the provider wants what it is to cache marked (see ``agent_core.model.Profile``)."""

    @property
    def offline(self) -> bool:
        """It is the built-in planner."""
        return self.model == OFFLINE and self.base_url is None and self.problem is None

    def __repr__(self) -> str:
        return f"Choice({self.name!r} at {self.base_url!r}, key={'set' if self.key else None})"


def choose(wanted: str | None, settings: Settings, environment: Mapping[str, str]) -> Choice:
    """The model named on the command line, else in the environment, else in the settings, else the offline one."""
    name = (wanted or environment.get("ERPILOT_MODEL", "").strip() or settings.model or OFFLINE).strip()
    if name == OFFLINE:
        return Choice(OFFLINE, OFFLINE, price=_FREE)
    prefix, colon, rest = name.partition(":")
    provider = providers().get(prefix) if colon and rest else None
    if provider is not None:
        return _at_provider(provider, rest, settings, environment)
    from_environment = environment.get("OPENAI_BASE_URL", "").strip().rstrip("/")
    if prefix == CUSTOM and colon:
        name = rest
    if base_url := from_environment or settings.base_url:
        return _at_address(name, base_url, bool(from_environment), settings, environment)
    configured = providers().get((settings.model or "").partition(":")[0])
    if configured is not None and not colon:
        return _at_provider(configured, name, settings, environment)
    known = ", ".join(providers())
    if colon:
        return Choice(name, name, problem=("model_not_found", "no_such_provider", {"provider": prefix, "known": known}))
    if name in table("prices.toml")["openai"] or name in providers()["openai"].models:
        return _at_provider(providers()["openai"], name, settings, environment)
    return Choice(name, name, problem=("model_not_found", "no_such_model", {"model": name, "known": known}))


def client_of(choice: Choice, sentence: str = "", profiles: ProfileStore | None = None) -> ModelClient:
    """A client for the choice. ``sentence``: what an unusable one answers; ``profiles``: what is known of endpoints."""
    if choice.problem is not None:
        return UnusableModel(choice.name, choice.problem[0], sentence)
    if choice.base_url is None:
        from erpilot.offline import OfflineModel

        return OfflineModel()
    from agent_core.model.client import OpenAIModel

    try:
        marks: Any = choice.cache_marks
        return OpenAIModel(
            choice.base_url, choice.key, choice.model, name=choice.name, profiles=profiles, cache_marks=marks
        )
    except ModelError as error:  # an address that is none
        return UnusableModel(choice.name, error.kind, error.message)


class UnusableModel:
    """Refuses every turn with one sentence, through the same boundary as a model that fails."""

    def __init__(self, name: str, kind: ModelErrorKind, sentence: str) -> None:
        self.name = name
        self._kind, self._sentence = kind, sentence

    async def stream_chat(
        self, messages: Sequence[Message], tools: Sequence[ToolSchema] = (), **options: Any
    ) -> AsyncIterator[ModelEvent]:
        """Raises ``ModelError``."""
        for _ in ():
            yield StreamEnd()  # never: it only makes this a stream
        raise ModelError(self._kind, self._sentence)


def known_secrets(settings: Settings, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Every key that this installation knows: none of them may stand in a log."""
    names = {provider.key_variable for provider in providers().values()} | {settings.key_variable, "OPENAI_API_KEY"}
    names |= {settings.shop.password_variable, PASSWORD_VARIABLE}
    keys = {environment.get(name, "").strip() for name in names if name} | {settings.key or ""}
    return tuple(sorted(keys - {""}))


def price_of(provider: str, model: str) -> Price | None:
    """The list price of a model; None when it is not known."""
    if provider in providers() and providers()[provider].local:
        return _FREE
    prices = table("prices.toml").get(provider)
    entry = prices.get(model) if isinstance(prices, dict) else None
    if not isinstance(prices, dict) or not isinstance(entry, dict):
        return None
    cached = entry.get("cached_input")
    return Price(
        input=Decimal(entry["input"]),
        output=Decimal(entry["output"]),
        cached_input=None if cached is None else Decimal(cached),
        currency=prices["currency"],
    )


def _at_provider(provider: Provider, model: str, settings: Settings, environment: Mapping[str, str]) -> Choice:
    base_url = provider.base_url
    if provider.name == "openai":  # the variable that every program for this API understands
        base_url = environment.get("OPENAI_BASE_URL", "").strip().rstrip("/") or base_url
    configured = (settings.model or "").partition(":")[0] == provider.name and base_url == provider.base_url
    key, source = _key(provider.key_variable, settings if configured else Settings(), environment)
    problem: tuple[ModelErrorKind, str, dict[str, object]] | None = None
    if key is None and provider.key_variable is not None and base_url == provider.base_url:
        problem = ("auth", "no_key", {"provider": provider.title, "variable": provider.key_variable})
    name = f"{provider.name}:{model}"
    marks = next((where for begins, where in provider.cache_marks.items() if model.startswith(begins)), "")
    return Choice(name, model, base_url, key, source, price_of(provider.name, model), problem, marks)


def _at_address(
    model: str, base_url: str, from_environment: bool, settings: Settings, environment: Mapping[str, str]
) -> Choice:
    """An endpoint known by its address: the key of the environment goes with the address of the environment."""
    if from_environment:
        key, source = _key("OPENAI_API_KEY", Settings(), environment)
    else:
        key, source = _key(None, settings, environment)
    owner = next((item for item in providers().values() if item.base_url == base_url), None)
    if owner is None:
        return Choice(f"{CUSTOM}:{model}", model, base_url, key, source)
    return Choice(f"{owner.name}:{model}", model, base_url, key, source, price_of(owner.name, model))


def _key(variable: str | None, settings: Settings, environment: Mapping[str, str]) -> tuple[str | None, str | None]:
    for name in (settings.key_variable, variable):
        if name and (key := environment.get(name, "").strip()):
            return key, name
    return (settings.key, "config.toml") if settings.key else (None, None)


_FREE = Price(input=Decimal(0), output=Decimal(0))
