"""What holds for every resource: HEAD beside GET, methods that are none, messages that say nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.http_api import house_of, serving
from tests.support.loops import loop_over


async def test_whatever_answers_get_answers_head_alike_without_a_body() -> None:
    async with serving(house_of(loop_over("hello")[0])) as api:
        client = api.client()
        session = (await client.say("hi"))[0].data["session_id"]
        own = f"/api/sessions/{session}"
        for path in (
            "/api/sessions",
            "/api/health",
            "/api/openapi.json",
            own,
            f"{own}/events?follow=always",
            f"{own}/export",
            f"{own}/interrupt",
            "/api/sessions/nobody",
            "/api/nothing",
        ):
            for token in (client, api.client(None)):
                async with client.session.head(api.base + path, headers=token.headers()) as head:
                    assert await head.read() == b""
                async with client.session.get(api.base + path, headers=token.headers()) as whole:
                    kept = ("content-type", "content-length", "allow", "www-authenticate", "content-security-policy")
                    assert head.status == whole.status, path
                    assert [head.headers.get(name) for name in kept] == [whole.headers.get(name) for name in kept]
        assert not api.house.streams


async def test_a_resource_says_so_when_it_has_no_such_method_whether_the_page_is_there_or_not(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<!doctype html>", encoding="utf-8")
    for static in (tmp_path, tmp_path / "nothing"):
        async with serving(house_of(loop_over()[0]), static=static) as api:
            for method, path in (
                ("GET", "/api/sessions/x/interrupt"),
                ("PUT", "/api/sessions"),
                ("DELETE", "/api/trust"),
            ):
                status, problem = await api.client().ask(method, path)
                assert (status, problem["type"]) == (405, "urn:erpilot:problem:wrong-method")
            assert (await api.client().ask("GET", "/api/nothing"))[0] == 404


@pytest.mark.parametrize("text", ["", " ", "\n\t \n", "\u3000"])
async def test_an_empty_message_is_told_as_such_whether_it_is_said_or_queued(text: str) -> None:
    async with serving(house_of(loop_over("hello")[0])) as api:
        client = api.client()
        session = (await client.say("hi"))[0].data["session_id"]
        for path, body in (
            ("/api/chat/stream", {"message": text}),
            ("/api/chat/stream", {"message": text, "session_id": session}),
            (f"/api/sessions/{session}/queue", {"message": text}),
        ):
            status, problem = await client.ask("POST", path, body)
            assert (status, problem["type"]) == (422, "urn:erpilot:problem:invalid")
            assert "message" in str(problem)
