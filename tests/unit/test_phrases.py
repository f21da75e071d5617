"""Templates in two languages: marks, optional parts, records inside records, and values that look like templates."""

from __future__ import annotations

import pytest

from erpilot.phrases import told

TERMS = {"state": {"done": "已完成|done"}}


def test_marks_and_words_are_those_of_the_language() -> None:
    template = "<单|Order>「{no}」 ({state}), <合计|total>: {total}; <完|end>"
    values = {"no": "7", "state": "done", "total": "1,5"}
    assert told(template, values, TERMS, chinese=True) == "单「7」（已完成），合计：1,5；完"
    assert told(template, values, TERMS, chinese=False) == 'Order"7" (done), total: 1,5; end'


def test_a_part_goes_when_a_value_is_missing_or_a_condition_fails() -> None:
    template = "a[, b {b}][, some{?n}][, none{-n}]"
    assert told(template, {"b": "1", "n": "2"}, {}, chinese=False) == "a, b 1, some"
    assert told(template, {"n": "0"}, {}, chinese=False) == "a, none"
    assert told("[{gone}]\nrest", {}, {}, chinese=False) == "rest", "an empty line is left out"


def test_a_value_that_must_be_there_and_is_not_is_an_error() -> None:
    with pytest.raises(KeyError):
        told("{gone}", {}, {}, chinese=True)


def test_records_are_told_with_the_records_inside_them() -> None:
    values = {
        "places": [{"name": "A", "base_unit": "个", "lots": [{"qty": "1"}, {"qty": "2"}]}, {"name": "B", "lots": []}]
    }
    template = "places>{name}\nplaces>lots>- {qty}[ {base_unit}]\nend"
    assert told(template, values, {}, chinese=False) == "A\n- 1 个\n- 2 个\nB\nend"


def test_a_value_is_never_read_as_a_template() -> None:
    hostile = "x [{total}] <a|b>\nlines>{y}, (z)"
    assert told("{name}, {n}", {"name": hostile, "n": "1"}, {}, chinese=True) == "x [{total}] <a|b> lines>{y}, (z)，1"
