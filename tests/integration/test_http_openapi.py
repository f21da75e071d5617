"""The OpenAPI document is what the server does: requests made from it, right and wrong ones, get what it says."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jsonschema
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from agent_core.testing import MemoryStore, ScriptedModel
from erpilot_api.app import create_app
from tests.support.http_api import BOSS, Client, house_of, serving
from tests.support.loops import loop_over
from tests.support.trade import QUESTION, Ledger, business

CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
DOCUMENT: dict[str, Any] = json.loads(json.dumps(create_app(house_of(loop_over()[0])).openapi()))
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
OPERATIONS: dict[str, Any] = {found.ok().label: found.ok() for found in SCHEMA.get_all_operations()}  # type: ignore[union-attr]


@contextmanager
def _in_a_thread() -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    """A server in a thread: its address, the headers of its owner, and what exists in it."""
    ready, stop = threading.Event(), threading.Event()
    about: dict[str, Any] = {}

    async def main() -> None:
        model = ScriptedModel([business] * 100_000)
        loop, _ = loop_over(tools=Ledger().tools(), store=MemoryStore(), model=model)
        async with serving(house_of(loop)) as api:
            client = api.client(BOSS)
            session = str((await client.say(QUESTION))[0].data["session_id"])
            (asked,) = (await client.get("/api/approvals"))["approvals"]
            about.update(base=api.base, headers=client.headers())
            about["known"] = {"session_id": session, "call_id": asked["call_id"], "grant_id": "grant-1", "seq": "4"}
            ready.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=lambda: asyncio.run(main()))
    thread.start()
    try:
        assert ready.wait(120)
        yield about["base"], about["headers"], about["known"]
    finally:
        stop.set()
        thread.join(120)


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    with _in_a_thread() as about:
        yield about


@pytest.mark.parametrize("label", OPERATIONS)
def test_no_request_made_from_the_document_gets_a_5xx_or_an_answer_that_stands_not_in_it(
    label: str, server: tuple[str, dict[str, str], dict[str, str]]
) -> None:
    base, headers, known = server
    operation = OPERATIONS[label]
    names = {item["name"] for item in operation.definition.raw.get("parameters", ()) if item["in"] == "path"}
    about = {name: known[name] for name in names}
    modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    strategies = [operation.as_strategy(GenerationMode.POSITIVE, path_parameters=about)] if about else []
    strategies += [operation.as_strategy(mode) for mode in modes]

    @settings(
        max_examples=15,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=st.one_of(strategies))
    def ask(case: Any) -> None:
        if isinstance(case.query, dict) and case.query.get("follow") == "always":
            case.query["follow"] = "run"  # the other one never ends
        case.validate_response(case.call(base_url=base, headers=headers, timeout=120), checks=CHECKS)

    ask()


def test_every_operation_has_a_summary_a_description_and_examples_of_what_it_takes() -> None:
    for path, item in DOCUMENT["paths"].items():
        for operation in item.values():
            assert operation["summary"], path
            assert operation["description"], path
            assert operation["tags"], path
            for content in operation.get("requestBody", {}).get("content", {}).values():
                assert "example" in content, path
            for status, answer in operation["responses"].items():
                for kind, content in answer.get("content", {}).items():
                    assert "example" in content, (path, status)
                    if kind in ("application/json", "application/problem+json"):
                        schema = {**content["schema"], "components": DOCUMENT["components"]}
                        jsonschema.validate(content["example"], schema)
                assert answer["description"], (path, status)
                if status.startswith(("4", "5")):
                    assert list(answer["content"]) == ["application/problem+json"], (path, status)


def test_every_reference_of_the_document_leads_somewhere() -> None:
    named = DOCUMENT["components"]["schemas"]

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            if isinstance(target := value.get("$ref"), str):
                assert target.removeprefix("#/components/schemas/") in named, target
            for inner in value.values():
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    walk(DOCUMENT)


async def test_the_document_is_served_to_whoever_may_come_in() -> None:
    async with serving(house_of(loop_over()[0])) as api:
        client: Client = api.client()
        assert await client.get("/api/openapi.json") == DOCUMENT
