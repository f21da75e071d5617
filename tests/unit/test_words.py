"""What a text is found by, and what a question looks up."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_core.context.words import LONGEST_WORD, MOST_ASKED, asked_words, needed_words, words_of

TEXTS = st.text(
    st.sampled_from("鑫源上次的价答应了多少こカ한aZé9０．.,-_/#'\"() \n，。？①㎡ßＳＯ\u200b\U00020000")
    | st.characters(),
    max_size=60,
)


def holds(there: str, asked: str) -> bool:
    """Whether a search for ``asked`` finds ``there``."""
    words = words_of(there)
    return all(any(words.issuperset(group) for group in need) for need in needed_words(asked))


@settings(max_examples=60, deadline=None)
@given(TEXTS)
@example("SO-2026-0123 ＳＯ－１２３ 1,200.50 a.b-c_d/e")
def test_a_text_is_found_by_every_word_that_it_asks_for(text: str) -> None:
    words = words_of(text)
    assert set(asked_words(text)) <= words
    assert holds(text, text)


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_words_are_plain_bounded_and_do_not_depend_on_case_or_width(text: str) -> None:
    words = words_of(text)
    assert not any(re.search(r"[\s\"'()*:^+,_-]", word) or len(word) > LONGEST_WORD for word in words)
    assert words_of(text.upper()) >= {word for word in words_of(text.lower()) if word.isascii()} or "ı" in text.lower()
    wide = "".join(chr(ord(one) + 0xFEE0) if one.isalnum() and one.isascii() else one for one in text)
    assert words_of(wide) == words


@pytest.mark.parametrize(
    ("there", "asked"),
    [
        ("promised", "promise"),
        ("Prices", "price"),
        ("deliveries", "delivery"),
        ("boxes", "box"),
        ("pricing", "priced"),
        ("1,200.50", "1200.5"),
        ("３８．５０", "38.5"),
        ("00123", "123"),
        ("SO-2026-0123", "so20260123"),
        ("SO-2026-0123", "0123"),
        ("sku:KT-1042-B", "kt 1042 b"),
        ("微信号yangliu77", "yangliu77"),
        ("保温杯", "温杯"),
        ("価格はカタログ", "カタログ"),
        ("가격은 얼마", "가격"),
        ("Crème brûlée", "CRÈME"),
    ],
)
def test_a_word_is_found_in_its_other_forms(there: str, asked: str) -> None:
    assert holds(there, asked)


@pytest.mark.parametrize(("there", "asked"), [("500", "50"), ("38.50", "8.5"), ("KT-1042", "104"), ("鑫源", "源鑫")])
def test_a_part_of_a_number_or_another_order_is_another_word(there: str, asked: str) -> None:
    assert not holds(there, asked)


def test_codes_count_most_and_little_words_nothing() -> None:
    asked = asked_words("What did I say about SO-2026-0123 and the price for 50? 上次答应鑫源的价是多少")
    assert asked["so20260123"] > asked["50"] > asked["pric"] > asked["的价"] > 0
    assert {"what", "did", "the", "for", "的", "是多", "多少"}.isdisjoint(asked)
    assert asked["鑫源"] == asked["答应"] == 1.0
    assert "价" in asked, "a character between two that say little is a word of its own"


def test_only_the_beginning_of_an_endless_question_is_looked_up() -> None:
    text = " ".join(f"word{chr(97 + number % 26)}{number}x" for number in range(1000))
    assert len(asked_words(text)) == MOST_ASKED
    assert len(needed_words(text)) == MOST_ASKED
