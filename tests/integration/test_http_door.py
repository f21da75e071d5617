"""What stands between a request and the handlers: host, origin, token, size, pace; and text that is none."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from erpilot_api.access import Access, User
from erpilot_api.pace import Paces
from tests.support.http_api import BOSS, KEY, KIM, USERS, Running, house_of, serving
from tests.support.loops import loop_over

EVERY_DOOR = [
    ("POST", "/api/chat/stream"),
    ("GET", "/api/sessions"),
    ("GET", "/api/approvals"),
    ("POST", "/api/sessions/261130-00000000/interrupt"),
    ("GET", "/api/sessions/261130-00000000/events"),
    ("GET", "/api/openapi.json"),
]


async def raw(api: Running, head: str, body: bytes = b"") -> tuple[int, bytes]:
    """Sends a request byte for byte, as no client library would."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(api.base.rsplit(":", 1)[1]))
    writer.write(head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body)
    answer = await reader.readuntil(b"\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return int(answer.split()[1]), answer


async def nothing_happened(api: Running) -> bool:
    """No event, no stream, no run."""
    return not await api.house.store.sessions() and not api.house.streams and not api.house.runs._drives


WRONG: list[tuple[dict[str, str], int]] = [
    ({"host": "evil.example"}, 421),
    ({"host": "127.0.0.1.evil.example:80"}, 421),
    ({"host": "user@localhost"}, 421),
    ({"origin": "https://evil.example"}, 403),
    ({"origin": "null"}, 403),
    ({"origin": "http://127.0.0.1:1"}, 403),
    ({"sec-fetch-site": "cross-site"}, 403),
    ({"sec-fetch-site": "same-site"}, 403),
]


@pytest.mark.parametrize(("method", "path"), EVERY_DOOR)
async def test_h1_the_wrong_host_or_origin_is_refused_before_any_handler_even_with_a_token(
    method: str, path: str
) -> None:
    async with serving(house_of(loop_over("hello")[0])) as api:
        body = {"message": "hi"} if method == "POST" else None
        for headers, status in WRONG:
            found, answer = await api.client().ask(method, path, body, headers=headers)
            assert found == status, headers
            assert answer["type"].startswith("urn:erpilot:problem:")
        assert await nothing_happened(api)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
@pytest.mark.parametrize("origin", [None, "https://evil.example"])
async def test_h1_bodies_that_a_foreign_page_could_send_are_refused(kind: str, origin: str | None) -> None:
    async with serving(house_of(loop_over("hello")[0])) as api:
        client = api.client()
        headers = client.headers({"content-type": kind, **({"origin": origin} if origin else {})})
        async with client.session.post(
            api.base + "/api/chat/stream", data=b'{"message":"hi"}', headers=headers
        ) as answer:
            assert answer.status == (403 if origin else 415)
        assert await nothing_happened(api)


@pytest.mark.parametrize(("method", "path"), EVERY_DOOR)
async def test_h1_without_a_valid_token_nothing_is_reached(method: str, path: str) -> None:
    async with serving(house_of(loop_over("hello")[0])) as api:
        client = api.client(None)
        token = api.house.access.token("boss")[0]
        body, mac = token.split(".")
        foreign = Access(b"another key of thirty-two bytes..", USERS).token("boss")[0]
        wrong = [
            "",
            "x",
            token[:-2] + "xx",
            f"{body}.",
            f".{mac}",
            foreign,
            api.house.access.code("boss"),
            "ä.ö",
            "é" * 50,
        ]
        said = {"message": "hi"} if method == "POST" else None
        asked: list[dict[str, str]] = [{}, *({"authorization": f"Bearer {each}"} for each in wrong)]
        asked += [{"cookie": f"erpilot={foreign}"}, {"cookie": "erpilot"}, {"authorization": f"Basic {token}"}]
        for headers in asked:
            status, answer = await client.ask(method, path, said, headers=headers)
            assert (status, answer["type"]) == (401, "urn:erpilot:problem:no-token"), headers
        for query in (f"?token={token}", f"?access_token={token}", f"?code={api.house.access.code('boss')}"):
            status, _ = await client.ask(method, path + query, said)
            assert status == 401
        assert await nothing_happened(api)


async def test_h1_no_host_or_two_of_them_are_refused() -> None:
    async with serving(house_of(loop_over("hello")[0])) as api:
        token = f"Authorization: Bearer {api.house.access.token('boss')[0]}"
        assert (await raw(api, f"GET /api/sessions HTTP/1.0\n{token}"))[0] == 421
        port = api.base.rsplit(":", 1)[1]
        status, _ = await raw(api, f"GET /api/sessions HTTP/1.1\nHost: 127.0.0.1:{port}\nHost: evil.example\n{token}")
        assert status in (400, 421)
        assert (await raw(api, f"GET /api/sessions HTTP/1.1\nHost: 127.0.0.1:{port}\n{token}"))[0] == 200


async def test_h1_no_token_and_no_code_reaches_a_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        async with serving(house_of(loop_over("hello")[0])) as api:
            client, code = api.client(None), api.house.access.code("boss")
            status, entered = await client.ask("POST", "/api/session", {"code": code})
            assert status == 200
            client.token = entered["token"]
            await client.say("hi")
            await client.ask("GET", f"/api/sessions?token={entered['token']}", headers={"authorization": ""})
    assert entered["token"] not in caplog.text
    assert code not in caplog.text


async def test_a_code_lets_one_browser_in_once_and_its_cookie_is_kept_from_scripts_and_other_sites() -> None:
    async with serving(house_of(loop_over("hello")[0])) as api:
        client, code = api.client(None), api.house.access.code("boss")
        async with client.session.post(
            api.base + "/api/session", json={"code": code}, headers={"origin": api.base}
        ) as answer:
            assert answer.status == 200
            assert (await answer.json())["me"]["role"] == "owner"
            cookie = answer.headers["set-cookie"]
        assert all(part in cookie for part in ("HttpOnly", "SameSite=Strict", "Path=/"))
        client.session.cookie_jar.clear()
        headers = {"cookie": cookie.partition(";")[0], "origin": api.base, "sec-fetch-site": "same-origin"}
        status, me = await client.ask("GET", "/api/session", headers=headers)
        assert (status, me["user"]) == (200, "boss")
        status, _ = await client.ask("DELETE", "/api/session", headers=headers)
        assert status == 204
        for spent in (code, code + "x", "x"):
            status, problem = await client.ask("POST", "/api/session", {"code": spent})
            assert (status, problem["type"]) == (401, "urn:erpilot:problem:wrong-code")


def test_codes_and_tokens_expire_and_codes_of_before_a_restart_do_not_hold() -> None:
    now = [1000.0]
    access = Access(KEY, USERS, clock=lambda: now[0])
    token, code = access.token("kim")[0], access.code("kim")
    assert access.user_of(token) == KIM
    now[0] += 601
    assert access.redeem(code) is None
    fresh = access.code("kim")
    now[0] += 1
    assert Access(KEY, USERS, clock=lambda: now[0]).redeem(fresh) is None
    assert access.redeem(fresh) == KIM
    assert access.redeem(fresh) is None
    assert access.user_of(code) is None
    assert Access(KEY, [BOSS], clock=lambda: now[0]).user_of(token) is None, "whoever was removed is out"
    now[0] += 31 * 24 * 3600
    assert access.user_of(token) is None


async def test_every_answer_forbids_other_origins_frames_and_sniffing() -> None:
    async with serving(house_of(loop_over("hello")[0])) as api:
        for path in ("/api/sessions", "/api/health", "/nothing", "/api/nothing"):
            async with api.client().session.get(api.base + path, headers=api.client().headers()) as answer:
                policy = answer.headers["content-security-policy"]
                assert "default-src 'none'" in policy
                assert "script-src 'self'" in policy
                assert "*" not in policy
                assert "unsafe" not in policy
                assert answer.headers["x-content-type-options"] == "nosniff"
                assert answer.headers["x-frame-options"] == "DENY"
                assert "access-control-allow-origin" not in answer.headers
                assert "server" not in answer.headers


async def test_the_page_needs_no_token_and_gets_the_same_policy(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><title>掌柜助手</title>", encoding="utf-8")
    (tmp_path / "assets/page-1f2e.js").write_text("export {}", encoding="utf-8")
    async with serving(house_of(loop_over()[0]), static=tmp_path) as api:
        client = api.client(None)
        for path, kept in (("/", "no-cache"), ("/assets/page-1f2e.js", "immutable")):
            async with client.session.get(api.base + path) as answer:
                assert answer.status == 200
                assert kept in answer.headers["cache-control"]
                assert "script-src 'self'" in answer.headers["content-security-policy"]
        for path in ("/../users.toml", "/assets/../../users.toml", "/%2e%2e/users.toml", "/nothing", "/assets/"):
            assert (await raw(api, f"GET {path} HTTP/1.1\nHost: {api.base.removeprefix('http://')}"))[0] == 404
        assert (await client.ask("GET", "/api/sessions"))[0] == 401
        assert (await client.ask("GET", "/", headers={"host": "evil.example"}))[0] == 421


@pytest.mark.parametrize(
    "request_head", ["nonsense", "GET / HTTP/1.1\nHost: a\nHost: b", "GET /\x00 HTTP/1.1\nHost: a"]
)
async def test_what_is_no_request_is_answered_with_a_problem_like_everything_else(request_head: str) -> None:
    async with serving(house_of(loop_over("hello")[0])) as api:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(api.base.rsplit(":", 1)[1]))
        writer.write(request_head.replace("\n", "\r\n").encode() + b"\r\n\r\n")
        head, _, said = (await reader.read()).partition(b"\r\n\r\n")
        writer.close()
        assert head.startswith(b"HTTP/1.1 400 ")
        assert b"content-type: application/problem+json" in head.lower()
        assert b"content-security-policy: default-src 'none'" in head.lower()
        assert b'"type":"urn:erpilot:problem:not-http"' in said


async def test_too_much_is_refused_declared_or_not() -> None:
    async with serving(house_of(loop_over("hello")[0])) as api:
        client = api.client()
        head = f"Host: {api.base.removeprefix('http://')}\nAuthorization: Bearer {client.token}"
        for length, wanted in (("10485760", 413), ("-1", 400), ("1e3", 400), ("9" * 30, 400)):
            declared = f"Content-Type: application/json\nContent-Length: {length}"
            status, _ = await raw(api, f"POST /api/chat/stream HTTP/1.1\n{head}\n{declared}")
            assert status == wanted

        async def pieces() -> Any:
            yield b'{"message":"'
            for _ in range(200):
                yield b"x" * 10_000
            yield b'"}'

        headers = client.headers({"content-type": "application/json"})
        async with client.session.post(api.base + "/api/chat/stream", data=pieces(), headers=headers) as answer:
            assert answer.status == 413
        assert await nothing_happened(api)


async def test_whoever_asks_too_often_is_told_when_to_come_back() -> None:
    now = [0.0]
    paces = Paces(burst=20, per_second=0.5, clock=lambda: now[0])
    async with serving(house_of(loop_over("hello")[0]), paces) as api:
        client = api.client()
        found = [(await client.ask("GET", "/api/session"))[0] for _ in range(25)]
        assert found == [200] * 20 + [429] * 5
        async with client.session.get(api.base + "/api/session", headers=client.headers()) as answer:
            assert answer.status == 429
            assert int(answer.headers["retry-after"]) == 2
        now[0] += 2
        assert [(await client.ask("GET", "/api/session"))[0] for _ in range(2)] == [200, 429]
        assert (await api.client(KIM).ask("GET", "/api/session"))[0] == 200, "others are not in the way"
        guesses = [(await api.client(None).ask("POST", "/api/session", {"code": "x"}))[0] for _ in range(4)]
        assert guesses == [401, 401, 429, 429], "codes are not to be guessed"


BAD_TEXT = [
    b'{"message":"\\ud800"}',
    b'{"message":"a\\u0000b"}',
    b'{"message":"\xff"}',
    b'{"message":"\xed\xa0\x80"}',
    b'{"message":""}',
    b'{"message":"  \\n "}',
    b'{"message":7}',
    b'{"message":null}',
    b'{"message":"hi","session":"x"}',
    b'{"message":"hi","client_message_id":"\\udfff"}',
    b'{"message":"hi","profile":"nobody"}',
    b'["message"]',
    b"{",
    b"",
    b"[" * 5000,
]


async def test_n1_text_that_is_none_is_refused_and_leaves_nothing_behind() -> None:
    async with serving(house_of(loop_over("hello")[0])) as api:
        client = api.client()
        headers = client.headers({"content-type": "application/json"})
        for body in BAD_TEXT:
            async with client.session.post(api.base + "/api/chat/stream", data=body, headers=headers) as answer:
                assert answer.status == 422, body
                problem = await answer.json()
            assert problem["type"].startswith("urn:erpilot:problem:")
            assert "Traceback" not in json.dumps(problem)
        assert await nothing_happened(api)


@pytest.mark.parametrize(
    "text",
    ["e\u0301" * 20_000, "👩‍👩‍👧", "\u202eabc", "\u200b", "\x1b[2J", "<script>", "a" * 99_999],
    ids=lambda text: ascii(text[:12]),
)
async def test_n1_strange_text_reads_back_unchanged_in_messages_and_names(text: str) -> None:
    async with serving(house_of(loop_over("hello")[0])) as api:
        client = api.client()
        message = "x" + text
        frames = await client.say(message)
        session = frames[0].data["session_id"]
        said = next(frame for frame in frames if frame.type == "UserMessage")
        assert said.data["event"]["content"] == [{"kind": "text", "text": message}]
        name = message[:150]
        status, changed = await client.ask("PATCH", f"/api/sessions/{session}", {"title": name})
        if "\x1b" in name:
            assert (status, changed["type"]) == (422, "urn:erpilot:problem:invalid")
        else:
            assert (status, changed["title"]) == (200, name)
        items = (await client.get(f"/api/sessions/{session}/replay"))["items"]
        assert next(item["text"] for item in items if item["kind"] == "user") == message
        assert (await client.ask("GET", f"/api/sessions/{session}/export"))[0] == 200
        await api.house.store.verify(session)


@pytest.mark.parametrize(
    "name", ["\ud800", "a\0b", "", "  ", "x" * 201, "a\nb", "a\tb", "\x1b[2J", "\x9b31m", "a\x7f", "a\u2028b"]
)
async def test_n1_names_that_are_none_are_refused(name: str) -> None:
    async with serving(house_of(loop_over("hello")[0])) as api:
        client = api.client()
        session = (await client.say("hi"))[0].data["session_id"]
        head = (await api.house.store.session(session)).head
        body = json.dumps({"title": name}).encode()
        headers = client.headers({"content-type": "application/json"})
        async with client.session.patch(f"{api.base}/api/sessions/{session}", data=body, headers=headers) as answer:
            assert answer.status == 422
        assert (await api.house.store.session(session)).head == head


async def test_n1_ids_that_are_none_are_not_found() -> None:
    async with serving(house_of(loop_over("hello")[0])) as api:
        port = api.base.rsplit(":", 1)[1]
        token = f"Authorization: Bearer {api.house.access.token('boss')[0]}"
        for path in ("%ff", "%ed%a0%80", "%00", "a%2Fb", "..%2f..%2fetc%2fpasswd", "x" * 3000):
            for rest in ("", "/events", "/replay"):
                status, _ = await raw(api, f"GET /api/sessions/{path}{rest} HTTP/1.1\nHost: 127.0.0.1:{port}\n{token}")
                assert status == 404, path


def test_whoever_may_come_in_is_told_apart_by_shop_and_role() -> None:
    wang = User("wang", "owner", "another shop")
    assert BOSS.sees("kim", None)
    assert BOSS.sees(None, None)
    assert not BOSS.sees("wang", "another shop")
    assert not wang.sees("boss", None)
    assert KIM.sees("kim", None)
    assert not KIM.sees("boss", None)
    assert not KIM.sees(None, None)
    assert not User("mei", "manager").sees(None, None)
