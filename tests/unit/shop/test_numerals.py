"""Chinese numerals are read as the numbers that they say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from erpilot.shop.numerals import in_digits


@pytest.mark.parametrize(
    ("written", "digits"),
    [
        ("半", "0.5"),
        ("一", "1"),
        ("两", "2"),
        ("十", "10"),
        ("十二", "12"),
        ("三十", "30"),
        ("三十二", "32"),
        ("一百零五", "105"),
        ("两百", "200"),
        ("两百五", "250"),
        ("二百五十", "250"),
        ("一千二", "1200"),
        ("三千零二十", "3020"),
        ("三十二箱", "32箱"),
        ("12", "12"),
        ("十二万", "十二万"),
        ("箱", "箱"),
        ("", ""),
    ],
)
def test_the_numeral_at_the_start_of_a_text_becomes_digits(written: str, digits: str) -> None:
    assert in_digits(written) == digits


@given(st.integers(1, 9999))
def test_every_chinese_numeral_below_ten_thousand_is_its_number(value: int) -> None:
    assert in_digits(_chinese(value)) == str(value)


def _chinese(value: int) -> str:
    words, skipped = "", False
    for unit, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, value = divmod(value, unit)
        if digit:
            words += ("零" if skipped and words else "") + "零一二三四五六七八九"[digit] + name
        skipped = digit == 0
    return words
