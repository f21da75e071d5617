from __future__ import annotations

import tomllib
from decimal import Decimal
from importlib import resources

import pytest

from agent_core.errors import ModelError
from agent_core.messages import Message, ModelClient, Usage
from agent_core.model import OpenAIModel
from erpilot.cli.config import Settings
from erpilot.cli.models import Choice, choose, client_of, price_of
from erpilot.cli.tables import prices_as_of, providers
from erpilot.cli.texts import MESSAGES

CONFIGURED = Settings(model="deepseek:deepseek-chat", key="sk-configured")


def test_with_nothing_configured_the_offline_planner_answers_for_free() -> None:
    choice = choose(None, Settings(), {})
    assert choice.offline
    assert choice.price is not None
    assert choice.price.cost(Usage(10, 10)) is not None


def test_the_command_line_wins_over_the_environment_and_that_over_the_settings() -> None:
    environment = {"ERPILOT_MODEL": "ollama:b"}
    assert choose("ollama:a", CONFIGURED, environment).name == "ollama:a"
    assert choose(None, CONFIGURED, environment).name == "ollama:b"
    assert choose(None, CONFIGURED, {}).name == "deepseek:deepseek-chat"


def test_a_key_goes_to_the_endpoint_it_was_given_for_and_to_no_other() -> None:
    assert choose(None, CONFIGURED, {}).key == "sk-configured"
    assert choose("moonshot:moonshot-v1-8k", CONFIGURED, {}).key is None
    assert choose("x", CONFIGURED, {"OPENAI_BASE_URL": "http://elsewhere/v1"}).key is None
    openai = Settings(model="openai:gpt-4o", key="sk-openai")
    assert choose(None, openai, {}).key == "sk-openai"
    assert choose(None, openai, {"OPENAI_BASE_URL": "http://elsewhere/v1"}).key is None
    assert choose("moonshot:m", Settings(), {"OPENAI_API_KEY": "sk-openai"}).key is None


def test_a_key_in_a_variable_is_used_and_its_source_named() -> None:
    choice = choose("deepseek:deepseek-chat", Settings(), {"DEEPSEEK_API_KEY": "sk-1"})
    assert (choice.key, choice.key_source, choice.problem) == ("sk-1", "DEEPSEEK_API_KEY", None)
    named = Settings(model="custom:m", base_url="http://h/v1", key_variable="MY_KEY")
    assert choose(None, named, {"MY_KEY": "sk-2"}).key == "sk-2"


def test_no_key_is_shown_when_a_choice_is_printed() -> None:
    assert "sk-configured" not in repr(choose(None, CONFIGURED, {}))
    assert "sk-configured" not in repr(CONFIGURED)


def test_names_with_colons_belong_to_the_provider_in_front() -> None:
    choice = choose("ollama:qwen2.5:7b", Settings(), {})
    assert (choice.model, choice.base_url) == ("qwen2.5:7b", providers()["ollama"].base_url)
    plain = choose("qwen2.5:7b", Settings(), {"OPENAI_BASE_URL": "http://h/v1/"})
    assert (plain.model, plain.base_url) == ("qwen2.5:7b", "http://h/v1")


def test_a_plain_name_means_the_configured_provider() -> None:
    assert choose("deepseek-reasoner", CONFIGURED, {}).name == "deepseek:deepseek-reasoner"


@pytest.mark.parametrize(
    ("name", "kind", "key"),
    [
        ("nosuch:model", "model_not_found", "no_such_provider"),
        ("nosuch", "model_not_found", "no_such_model"),
        ("deepseek:deepseek-chat", "auth", "no_key"),
    ],
)
async def test_a_model_that_cannot_be_used_answers_with_the_reason(name: str, kind: str, key: str) -> None:
    choice = choose(name, Settings(), {})
    assert choice.problem is not None
    assert choice.problem[:2] == (kind, key)
    sentence = MESSAGES[key][0].format(**choice.problem[2])
    client = client_of(choice, sentence)
    assert isinstance(client, ModelClient)
    with pytest.raises(ModelError) as caught:
        async for _ in client.stream_chat([Message("user", "hello")]):
            pass
    assert (caught.value.kind, caught.value.message) == (kind, sentence)
    assert not caught.value.retryable


def test_the_offline_planner_is_not_mistaken_for_a_broken_choice() -> None:
    assert not Choice("offline", "offline", problem=("auth", "no_key", {})).offline


def test_every_price_is_a_price_of_a_known_provider() -> None:
    table = tomllib.loads(resources.files("erpilot.cli").joinpath("prices.toml").read_text(encoding="utf-8"))
    for provider, models in table.items():
        if not isinstance(models, dict):
            continue
        assert provider in providers()
        for model in models:
            if model == "currency":
                continue
            price = price_of(provider, model)
            assert price is not None
            assert price.currency in ("CNY", "USD")
            assert 0 <= (price.cached_input or 0) <= price.input <= price.output
    assert prices_as_of() == table["as_of"]


def test_an_unknown_price_is_unknown_and_a_local_model_is_free() -> None:
    assert price_of("openai", "gpt-of-tomorrow") is None
    assert price_of("custom", "anything") is None
    free = price_of("ollama", "anything")
    assert free is not None
    assert free.cost(Usage(1000, 1000)).amount == Decimal(0)  # type: ignore[union-attr]


def test_only_models_that_want_their_cache_marked_are_sent_marks() -> None:
    environment = {"OPENROUTER_API_KEY": "sk-or"}
    marked = client_of(choose("openrouter:anthropic/claude-sonnet-4", Settings(), environment))
    plain = client_of(choose("openrouter:deepseek/deepseek-chat", Settings(), environment))
    assert isinstance(marked, OpenAIModel)
    assert isinstance(plain, OpenAIModel)
    assert '"cache_control":{"type":"ephemeral"}' in marked.frame(True)[2]
    assert "cache_control" not in "".join(plain.frame(True))
