"""Shortening says what it left out; what cannot be encoded is replaced before anything is stored."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_core.text import clip, encodable

_NOTICE = re.compile(
    r"\n\[\.\.\. (\d+) characters in all, (\d+) shown: the first (\d+) and the last (\d+).*? \.\.\.\]\n"
)


@given(st.text(st.characters(exclude_characters="[]", exclude_categories=["Cs"])), st.integers(0, 60))
def test_a_clipped_text_is_its_head_and_its_tail_and_the_true_size(text: str, keep: int) -> None:
    clipped = clip(text, keep)
    if len(text) <= keep:
        assert clipped is text
        return
    notice = _NOTICE.search(clipped)
    assert notice is not None
    total, shown, head, tail = map(int, notice.groups())
    assert (total, shown) == (len(text), keep)
    assert head + tail == keep
    assert tail == keep // 3
    assert clipped[: notice.start()] == text[:head]
    assert clipped[notice.end() :] == text[len(text) - tail :]


def test_two_thirds_of_what_is_kept_come_from_the_beginning() -> None:
    clipped = clip("a" * 5000 + "b" * 5000, 3000)
    assert clipped.startswith("a" * 2000 + "\n[... 10000 characters in all, 3000 shown")
    assert clipped.endswith("]\n" + "b" * 1000)


@given(st.text(st.characters()))
def test_every_text_can_be_encoded_afterwards(text: str) -> None:
    once = encodable(text)
    once.encode()
    assert encodable(once) == once


@given(st.text())
def test_text_that_can_be_encoded_already_stays_the_same_object(text: str) -> None:
    assert encodable(text) is text


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a\ud800b", "a\ufffdb"), ("\ud83d\ude00", "\U0001f600"), ("\udc00\ud800", "\ufffd\ufffd"), ("\ud800", "\ufffd")],
)
def test_lone_surrogates_are_replaced_and_halves_of_a_pair_joined(text: str, expected: str) -> None:
    assert encodable(text) == expected
