"""D3: whatever form a secret comes in, and wherever a stream cuts it, it does not get through."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core import events as ev
from agent_core.masking import MARK, NOTHING, Masker, Pending
from agent_core.messages import ModelEvent, ReasoningDelta, StreamEnd, TextDelta, TextWithdrawn, ToolCall
from agent_core.tools.registry import Registry
from agent_core.tools.tool import tool
from tests.support.generated import durable_events

KEY = 'sk-Zq8v/Kw+3"tru\\st=é'
DSN = "postgres://erp:p%40ss-w0rd!x@db.example:5432/shop"


def test_every_form_that_programs_put_a_secret_into_is_masked() -> None:
    masker = Masker([KEY])
    inner = json.dumps({"key": KEY}, ensure_ascii=False)
    forms = [
        KEY,
        f"key={quote(KEY, safe='')}&x=1",
        inner,
        json.dumps({"arguments": inner}, ensure_ascii=False),
        "Basic " + base64.b64encode(KEY.encode()).decode(),
        base64.urlsafe_b64encode(KEY.encode()).decode(),
    ]
    for form in forms:
        masked = masker.text(f"before {form} after")
        assert MARK in masked, form
        assert "Zq8v" not in masked
        assert masked.startswith("before ")
        assert masked.endswith(" after")
    assert json.loads(masker.text(inner)) == {"key": MARK}, "what was JSON stays JSON"


def test_the_password_of_an_address_and_the_lines_of_a_key_are_secrets_by_themselves() -> None:
    pem = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nshort\nAQEFAASCBKcwggSjAgEAAo\n"
    masker = Masker([DSN, pem])
    assert masker.text("login with p@ss-w0rd!x failed") == f"login with {MARK} failed"
    assert masker.text("line MIIEvQIBADANBgkqhkiG9w0 of it") == f"line {MARK} of it"
    assert masker.text(f"url {DSN}") == f"url {MARK}"
    assert masker.text("short") == "short"


def test_the_longest_secret_wins_and_too_short_ones_are_left_alone() -> None:
    masker = Masker(["secret-one", "secret-one-and-more", "abc", ""])
    assert masker.text("secret-one-and-more, secret-one, abc") == f"{MARK}, {MARK}, abc"
    assert not Masker(["abc", ""])
    assert not NOTHING


def test_nothing_is_touched_where_no_secret_is() -> None:
    event = ev.ToolCallFinished(call_id="c", index=0, tool="t", ok=True, content="7")
    assert Masker([KEY]).value(event) is event
    assert NOTHING.value(event) is event


@given(event=durable_events())
def test_a_masked_event_is_an_event_of_the_same_type(event: ev.DurableEvent) -> None:
    masker = Masker(["message", "completed", "approved", "charac", "text/plain"])
    masked = masker.value(event)
    assert type(masked) is type(event)
    assert masker.value(masked) == masked


def test_words_of_closed_sets_stay_what_they_are() -> None:
    end = ev.LoopEnd(run_id="completed", steps=1, completed=True, reason="completed", message="completed")
    masked = Masker(["completed"]).value(end)
    assert (masked.reason, masked.message, masked.run_id) == ("completed", MARK, MARK)


def test_strings_are_found_at_any_depth() -> None:
    call = ToolCall(id="c", name="t", arguments='{"k":"hunter22"}', extra={"a": [{"hunter22": ("hunter22", 1)}]})
    masked = Masker(["hunter22"]).value(ev.AssistantMessage(step=1, content="x", tool_calls=(call,)))
    assert "hunter22" not in repr(masked)
    assert masked.tool_calls[0].arguments == f'{{"k":"{MARK}"}}'


@given(
    secrets=st.lists(st.text("ab", min_size=6, max_size=9), min_size=1, max_size=3),
    pieces=st.lists(st.text("abc", max_size=7), max_size=12),
)
def test_a_stream_is_masked_as_its_whole_text_is_however_it_is_cut(secrets: list[str], pieces: list[str]) -> None:
    masker = Masker(secrets)
    pending = Pending(masker)
    said = [pending.take(piece) for piece in pieces]
    said.append(pending.end())
    assert "".join(said) == masker.text("".join(pieces))
    for text in ("".join(said[:end]) for end in range(len(said) + 1)):
        assert not any(secret in text for secret in secrets), "at no time anything of it is shown"


def test_text_that_cannot_be_a_beginning_is_not_held_back() -> None:
    pending = Pending(Masker(["secret-key"]))
    assert pending.take("the answer is 7 ") == "the answer is 7 "
    assert pending.take("secr") == ""
    assert pending.take("ets are kept") == "secrets are kept"


async def _streamed(*events: ModelEvent) -> list[ModelEvent]:
    async def source() -> AsyncIterator[ModelEvent]:
        for event in events:
            yield event

    return [event async for event in Masker(["hunter22"]).stream(source())]


async def test_deltas_of_text_and_reasoning_are_masked_apart_and_said_before_the_end() -> None:
    events = await _streamed(
        ReasoningDelta("so hun"),
        TextDelta("it is hunt"),
        ReasoningDelta("ter22"),
        TextDelta("er"),
        TextDelta("22!h"),
        StreamEnd(),
    )
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == f"it is {MARK}!h"
    assert "".join(event.text for event in events if isinstance(event, ReasoningDelta)) == f"so {MARK}"
    assert isinstance(events[-1], StreamEnd)


async def test_withdrawn_text_takes_what_was_held_back_along() -> None:
    events = await _streamed(
        TextDelta("hunt"), TextWithdrawn("again"), TextDelta("er22"), StreamEnd(refusal="no hunter22")
    )
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["er22"]
    assert isinstance(events[-1], StreamEnd)
    assert events[-1].refusal == f"no {MARK}"


@pytest.mark.parametrize("arguments", [f'{{"q":"{MARK}"}}', '{"q":"x \\u005bsecret\\u005d"}'])
def test_arguments_that_hold_a_mask_are_refused(arguments: str) -> None:
    @tool()
    def find(q: str) -> str:
        """Finds."""
        return q

    verdict = Registry([find]).judge(ToolCall(id="c", name="find", arguments=arguments))
    assert isinstance(verdict, ev.Fault)
    assert verdict.type == "validation"
