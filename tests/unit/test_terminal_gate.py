from __future__ import annotations

import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from erpilot.cli.gate import HIDDEN, Gate, escape_json, mark, mark_line
from erpilot.cli.terminal import Terminal

ESC, CSI, OSC_END = "\x1b", "\x9b", "\x07"
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
RAINBOW = "\U0001f3f3\ufe0f\u200d\U0001f308"
TONED = "\U0001f469\U0001f3fd\u200d\U0001f680"
KEYCAP = "1\ufe0f\u20e3"
PERSIAN = "می\u200cخواهم"
SINHALA = "\u0dc1\u0dca\u200d\u0dbb\u0dd3"

FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\u2060\ud800-\udfff\U000e0000-\U000e0fff]"
)

TRICKY = st.text(
    alphabet=st.sampled_from(
        [
            *"a1#*Zم خ中\n\t\r",
            *(chr(code) for code in range(0x20)),
            *(chr(code) for code in range(0x7F, 0xA0)),
            *"\u200b\u200c\u200d\u200e\u202e\u2066\u2069\u2028\ufe0e\ufe0f\ufeff\u20e3\u0dca\u0dbb\xad\ud83d\udc68",
            *"\U0001f468\U0001f3fd\U0001f308\U0001f3f3\u2764\U000e0041\U000e007f\U000e0100",
        ]
    ),
    max_size=30,
)


def through(pieces: list[str]) -> str:
    gate = Gate()
    return "".join(gate.feed(piece) for piece in pieces) + gate.close()


@given(TRICKY | st.text(), st.lists(st.integers(0, 30), max_size=6))
def test_a_text_cut_anywhere_is_marked_the_same(text: str, cuts: list[int]) -> None:
    places = sorted({min(cut, len(text)) for cut in cuts})
    pieces = [text[begin:end] for begin, end in zip([0, *places], [*places, len(text)], strict=True)]
    assert through(pieces) == mark(text)


@given(TRICKY | st.text())
def test_no_control_or_reordering_character_ever_leaves(text: str) -> None:
    assert FORBIDDEN.search(mark(text)) is None
    assert not {"\n", "\t"} & set(mark_line(text))


@given(st.text(alphabet=st.characters(exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp", "Cn", "Co"))))
def test_ordinary_text_passes_unchanged(text: str) -> None:
    assert mark(text) == text or HIDDEN.search(text) is not None


@pytest.mark.parametrize(
    ("sequence", "shown"),
    [
        (f"{ESC}[31mred{ESC}[0m", "␛[31mred␛[0m"),
        (f"{ESC}]0;title{OSC_END}", "␛]0;title␇"),
        (f"{ESC}]8;;http://evil{ESC}\\link", "␛]8;;http://evil␛\\link"),
        (f"{ESC}]52;c;aGk=", "␛]52;c;aGk="),
        (f"{ESC}P1$q{ESC}\\", "␛P1$q␛\\"),
        (f"{ESC}_payload", "␛_payload"),
        (f"{CSI}2J", "<U+009B>2J"),
        ("\x90q\x9c", "<U+0090>q<U+009C>"),
        ("price 1\rprice 2", "price 1␍price 2"),
        ("ab\b\bcd\x7f\x00", "ab␈␈cd␡␀"),
        ("user\u202egpj.exe", "user<U+202E>gpj.exe"),
        ("a\u2066b\u2069\u200e\u061c", "a<U+2066>b<U+2069><U+200E><U+061C>"),
        ("A4\U000e0041\U000e007f", "A4<U+E0041><U+E007F>"),
        ("a\u200bb\u2060c\xadd", "a<U+200B>b<U+2060>c<U+00AD>d"),
        ("x\ufe01\U000e0101", "x<U+FE01><U+E0101>"),
        ("half \ud83d", "half <U+D83D>"),
        ("one\u2028two", "one<U+2028>two"),
    ],
)
def test_each_character_that_drives_a_terminal_becomes_a_mark(sequence: str, shown: str) -> None:
    assert mark(sequence) == shown
    assert through(list(sequence)) == shown


@pytest.mark.parametrize(
    "text", [FAMILY, RAINBOW, TONED, KEYCAP, PERSIAN, SINHALA, "\ufeff订单", "❤\ufe0f", "é", "a\u0301"]
)
def test_what_scripts_and_emoji_need_survives(text: str) -> None:
    assert mark(text) == text
    assert through(list(text)) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u200db", "a<U+200D>b"),
        ("\U0001f468\u200d", "\U0001f468<U+200D>"),
        ("\U0001f468\u200dx", "\U0001f468<U+200D>x"),
        ("a\u200cb", "a<U+200C>b"),
        ("\U0001f468\u200d\u200d\U0001f469", "\U0001f468<U+200D><U+200D>\U0001f469"),
        ("1\ufe0f2", "1<U+FE0F>2"),
        ("a\ufeffb", "a<U+FEFF>b"),
        ("\u200d", "<U+200D>"),
    ],
)
def test_a_joiner_without_a_reason_is_marked(text: str, shown: str) -> None:
    assert mark(text) == shown


def test_each_text_has_a_beginning_of_its_own() -> None:
    gate = Gate()
    assert gate.feed("\ufeffa") + gate.close() == "\ufeffa"
    assert gate.feed("\ufeffb") + gate.close() == "\ufeffb"


@given(st.dictionaries(TRICKY.filter(lambda text: not re.search("[\ud800-\udfff]", text)), st.text()))
def test_json_keeps_its_value_and_loses_what_a_terminal_acts_on(value: dict[str, str]) -> None:
    line = escape_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(line) == value
    assert HIDDEN.search(line) is None


class _Stream(io.StringIO):
    def __init__(self, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


def terminal(is_terminal: bool, **environment: str) -> tuple[Terminal, _Stream, _Stream]:
    out, err = _Stream(is_terminal), _Stream(is_terminal)
    return Terminal(out, err, environment), out, err


def test_a_sequence_cut_between_two_deltas_does_not_reach_the_screen() -> None:
    screen, out, _ = terminal(True)
    for piece in ("price ", ESC, "[2", "J ok", ESC):
        screen.stream(piece)
    screen.end_stream()
    assert out.getvalue() == "price ␛[2J ok␛\n"


def test_lines_beside_the_answer_begin_on_a_line_of_their_own() -> None:
    screen, out, err = terminal(False)
    screen.stream("Let me look")
    screen.note("get_order(…)")
    screen.stream("Done.\n")
    screen.note("2 steps")
    assert out.getvalue() == "Let me look\nDone.\n"
    assert err.getvalue() == "get_order(…)\n2 steps\n"


@pytest.mark.parametrize("style", ["tool", "error", "wait", "quiet"])
@pytest.mark.parametrize(
    ("is_terminal", "environment"), [(False, {}), (True, {"NO_COLOR": "1"}), (True, {"TERM": "dumb"})]
)
def test_pipes_and_those_who_want_none_get_no_colour(
    style: str, is_terminal: bool, environment: dict[str, str]
) -> None:
    screen, _, err = terminal(is_terminal, **environment)
    screen.note("text", style)  # type: ignore[arg-type]
    assert err.getvalue() == "text\n"


def test_colour_is_the_products_own_and_ends_with_each_line() -> None:
    screen, _, err = terminal(True, TERM="xterm")
    screen.note(f"first\nsecond {ESC}[0m", "error")
    assert err.getvalue() == "\x1b[31mfirst\x1b[0m\n\x1b[31msecond ␛[0m\x1b[0m\n"


def test_a_table_keeps_its_columns_under_wide_and_hostile_cells() -> None:
    screen, out, _ = terminal(False)
    screen.table(["a", "b"], [["订单", "x"], [f"{ESC}[2J\n", "y"]])
    rows = out.getvalue().splitlines()
    assert rows == ["a      b", "订单   x", "␛[2J␊  y"]
