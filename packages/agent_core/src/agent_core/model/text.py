"""The text of an answer as it comes in: what may be shown at once, what is reasoning, what has to wait.

Invariant: the pieces shown, joined after the last withdrawal, are the final text. Only what could still become a
reasoning tag or a tool call is held back; ordinary text passes through piece by piece.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain

from ..messages import ModelEvent, ReasoningDelta, TextDelta, TextWithdrawn
from .marks import begins, first_mark_at, inside_code, is_call_mark, is_stump, may_be_call, overlap
from .textcalls import Found
from .wire import clean

_THINKING = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "<|think|>": "<|/think|>",
    "[think]": "[/think]",
    "◁think▷": "◁/think▷",
}
_CLOSERS = tuple(closer for closer in _THINKING.values() if closer.startswith("<"))
_LONGEST_TAG = 16
_HARMONY = ("<|start|>", "<|channel|>")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SHORTEST_SNAPSHOT = 16
_MOST_QUOTED_MARKS = 64


class Snapshots:
    """Turns text that is sent again from the start in each chunk into what is new of it."""

    __slots__ = ("_repeating", "length", "pieces")

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.length = 0
        self._repeating = False

    def new(self, piece: str) -> str:
        """``piece``, or its new tail when it begins with all the (long enough) text so far."""
        length = self.length
        if len(piece) >= length and (self._repeating or length >= _SHORTEST_SNAPSHOT) and length:
            before = "".join(self.pieces)
            self.pieces = [before]
            if piece.startswith(before):
                self._repeating = True
                piece = piece[length:]
        if piece:
            self.pieces.append(piece)
            self.length += len(piece)
        return piece


class TextChannel:
    """``watch``: tools were offered, so text may turn out to be a call."""

    __slots__ = (
        "_channel",
        "_closer",
        "_content",
        "_drop_space",
        "_held",
        "_marked",
        "_orphan_allowed",
        "_out",
        "_quoted_marks",
        "_state",
        "_surrogate",
        "_watch",
        "reasoning",
    )

    def __init__(self, watch: bool, out: list[ModelEvent]) -> None:
        self._watch = watch
        self._out = out
        self._state = "start"
        self._closer = ""
        self._held = ""
        self._channel: list[str] = []  # what is held to the end
        self._content: list[str] = []  # what was shown, since the last withdrawal
        self._marked = False
        self._orphan_allowed = True
        self._drop_space = False
        self._quoted_marks = 0
        self._surrogate = ""
        self.reasoning: list[str] = []

    def add(self, piece: str) -> None:
        """Takes the next piece of content; what may be shown of it goes to ``out``."""
        if self._surrogate or (not piece.isascii() and _SURROGATE.search(piece)):
            piece = self._without_lone_surrogates(piece)
        if self._state == "plain" and not self._held and "<" not in piece and "[" not in piece:
            self._content.append(piece)
            self._out.append(TextDelta(text=piece))
            return
        self._take(piece)

    def close(self, find: Callable[[str], Found], may_call: bool) -> Found:
        """At the end of the stream: emits what was held back and answers with the final text and the calls in it.

        ``may_call``: no structured call came; else whole blocks are only taken out of the text.
        """
        if self._surrogate:
            self._surrogate = ""
            self._take("\ufffd")
        if self._state == "think":
            self._reason(self._held)
            self._held = ""
        shown = "".join(self._content)
        stump = self._held if is_stump(self._held) and self._watch and self._state == "plain" else ""
        full = f"{shown}{''.join(self._channel)}{'' if stump else self._held}"
        if self._orphan_allowed and self._channel:
            full = self._split_orphan(full)
            shown = "".join(self._content)
        if not self._marked and self._state == "plain":
            found = Found(full, [])
        else:
            found = find(full)
        if stump:
            found.unfinished = True
        if found.reasoning:
            self._reason(found.reasoning)
        final = found.text
        if final.startswith(shown):
            self._show(final[len(shown) :])
        elif not (shown.startswith(final) and not shown[len(final) :].strip()):
            self._out.append(TextWithdrawn(reason="tool call" if found.calls and may_call else "markup"))
            self._content.clear()
            self._show(final)
        return found

    def partial(self) -> str:
        """The text so far, for an error."""
        if self._state == "think":
            return "".join(self._content)
        return f"{''.join(self._content)}{''.join(self._channel)}{self._held}"

    # --- the states: start (nothing but blanks so far), plain, think, held (to the end) ---

    def _take(self, piece: str) -> None:
        while piece:
            match self._state:
                case "start":
                    piece = self._start(self._held + piece)
                case "think":
                    piece = self._inside(self._held + piece)
                case "held":
                    self._channel.append(piece)
                    return
                case _:
                    piece = self._plain(self._held + piece)

    def _start(self, text: str) -> str:
        """Decides what the answer begins with; gives back what is left to be taken in another state."""
        self._held = ""
        stripped = text.lstrip()
        lowered = stripped[:_LONGEST_TAG].lower()
        if not stripped:
            self._held = "" if self._drop_space else text
            return ""
        if self._orphan_allowed:
            for opener, closer in _THINKING.items():
                if lowered.startswith(opener):
                    self._state, self._closer = "think", closer
                    return stripped[len(opener) :].lstrip()
                if len(stripped) < len(opener) and opener.startswith(lowered):
                    self._held = text
                    return ""
        if self._drop_space:
            text = stripped
        maybe = may_be_call(stripped) if self._watch else "no"
        if maybe == "no":
            maybe = begins(lowered, _HARMONY)
        if maybe == "maybe":
            self._held = text
            return ""
        if maybe == "yes":
            self._state, self._marked = "held", True
            return text
        self._state = "plain"
        return text

    def _inside(self, text: str) -> str:
        self._held = ""
        end = text.lower().find(self._closer)
        if end >= 0:
            self._reason(text[:end])
            self._state, self._drop_space, self._orphan_allowed = "start", True, False
            return text[end + len(self._closer) :]
        keep = overlap(text.lower(), self._closer)
        self._reason(text[: len(text) - keep])
        self._held = text[len(text) - keep :] if keep else ""
        return ""

    def _plain(self, text: str) -> str:
        self._held = ""
        position = 0
        while True:
            candidate = first_mark_at(text, position)
            if candidate < 0:
                self._show(text)
                return ""
            rest = text[candidate : candidate + 64]
            at_end = candidate + len(rest) == len(text)
            verdict = "no"
            if self._orphan_allowed and rest[0] == "<" and self._starts_line(text[:candidate]):
                verdict = begins(rest.lower(), _CLOSERS)
                if verdict == "yes" and self._is_code(text[:candidate]):
                    self._quoted_marks += 1
                    self._orphan_allowed = self._quoted_marks < _MOST_QUOTED_MARKS
                    verdict = "no"
                elif verdict == "yes":
                    closer = next(one for one in _CLOSERS if rest.lower().startswith(one))
                    self._orphan(text[:candidate])
                    return text[candidate + len(closer) :]
            if verdict == "no" and self._watch:
                verdict = is_call_mark(rest)
                if verdict == "yes":
                    self._marked = True
                    if self._is_code(text[:candidate]):
                        self._quoted_marks += 1
                        self._watch = self._quoted_marks < _MOST_QUOTED_MARKS
                        verdict = "no"
                    else:
                        self._show(text[:candidate])
                        self._state = "held"
                        return text[candidate:]
            if verdict == "maybe" and at_end:
                self._show(text[:candidate])
                self._held = text[candidate:]
                return ""
            position = candidate + 1

    def _orphan(self, before: str) -> None:
        """A closing tag without an opening one: the text so far was reasoning."""
        text = "".join(self._content) + before
        if self._content:
            self._out.append(TextWithdrawn(reason="reasoning"))
        self._content.clear()
        self._reason(text)
        self._state, self._drop_space, self._orphan_allowed = "start", True, False

    def _split_orphan(self, full: str) -> str:
        for closer in _CLOSERS:
            tag = re.search(rf"^[ \t]*{re.escape(closer)}", full, re.MULTILINE | re.IGNORECASE)
            if tag is not None and not inside_code(full[: tag.start()]):
                if self._content:
                    self._out.append(TextWithdrawn(reason="reasoning"))
                self._content.clear()
                self._reason(full[: tag.start()])
                return full[tag.end() :].lstrip()
        return full

    # --- output ---

    def _show(self, text: str) -> None:
        if text:
            self._content.append(text)
            self._out.append(TextDelta(text=text))

    def _reason(self, text: str) -> None:
        if text:
            self.reasoning.append(text)
            self._out.append(ReasoningDelta(text=text))

    # --- looking back ---

    def _starts_line(self, before: str) -> bool:
        for piece in chain((before,), reversed(self._content)):
            line = piece[piece.rfind("\n") + 1 :]
            if line.strip():
                return False
            if len(line) < len(piece):
                return True
        return True

    def _is_code(self, before: str) -> bool:
        return inside_code("".join(self._content) + before)

    def _without_lone_surrogates(self, piece: str) -> str:
        """Joins halves of a surrogate pair that came in different pieces; what stays alone becomes U+FFFD."""
        piece = self._surrogate + piece
        self._surrogate = ""
        if "\ud800" <= piece[-1:] <= "\udbff":
            self._surrogate, piece = piece[-1], piece[:-1]
        cleaned = clean(piece)
        return cleaned if isinstance(cleaned, str) else ""
