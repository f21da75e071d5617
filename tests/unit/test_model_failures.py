"""What servers say when they refuse or fail, and what each of it means: the wordings of many vendors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent_core.model.failures import Endpoint, classify
from tests.support.streams import FIXTURES

SAID = [json.loads(line) for line in (FIXTURES / "refusals.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("said", SAID, ids=range(len(SAID)))
def test_a_refusal_is_understood(said: dict[str, Any]) -> None:
    error = classify(said["body"], Endpoint("https://host/v1", "m"), said["status"], {})
    understood = {"kind": error.kind, "retryable": error.retryable, "remedy": error.remedy, "param": error.param}
    assert understood == said["expect"], error.message
    assert error.message.startswith("The model endpoint https://host/v1 ")
    assert "\n" not in error.message


def test_the_other_name_of_a_parameter_is_told() -> None:
    body = {"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}
    assert classify(body, Endpoint(), 400, {}).replacement == "max_completion_tokens"
