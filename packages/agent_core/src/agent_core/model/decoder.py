"""Turns the body of one response into model events, or into the one error that it amounts to.

Invariant: the result depends on the bytes and on how the body ended, never on how it was cut into reads. A stream is
complete once a finish reason or ``[DONE]`` was seen; one that is not never yields a call.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from ..errors import ModelError, ModelErrorKind, Partial
from ..messages import ModelEvent, Usage
from . import finish
from .assembly import Assembly, Offer
from .failures import Endpoint, classify, not_a_completion, refused
from .jsontext import is_json_beginning
from .reasoning import SCALARS
from .sse import EventTooLarge, Payload, SseReader
from .usage import read_usage, reports_in

Ending = Literal["eof", "reset", "idle"]
"""How a body ended: cleanly, with a transport error, or by silence."""

_decode: Callable[[bytes], Any] = msgspec.json.Decoder().decode
_BOM = b"\xef\xbb\xbf"
_LARGEST_BODY = 64 * 1024 * 1024
_DONE = (b"[DONE]", b'"[DONE]"', b"DONE")
_CHOICE_KEYS = frozenset({"index", "delta", "finish_reason", "logprobs", "content_filter_results"})
_SSE_FIELD = re.compile(rb"\s*(?:data|event|id|retry|error)?:")


class Decoder:
    """Feed it the reads of a body, then ``finish``. Both give events; after each, look at ``failure`` and ``done``."""

    def __init__(
        self,
        offer: Offer | None = None,
        *,
        endpoint: Endpoint | None = None,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        choices: int = 1,
    ) -> None:
        self._offer = offer or Offer()
        self._endpoint = endpoint or Endpoint()
        self._status = status
        self._headers = {key.lower(): value for key, value in (headers or {}).items()}
        self._wanted = choices
        self._out: list[ModelEvent] = []
        self._sse = SseReader()
        self._head: bytes | None = b""
        self._body: list[bytes] | None = [] if status >= 400 else None
        self._size = 0
        self._first_bytes = b""
        self._inflate = _inflater(self._headers.get("content-encoding", ""))
        self._main = Assembly(self._offer, self._out)
        self._main_index: int | None = None
        self._others: dict[int, Assembly] = {}
        self._chunks = 0
        self._usage: Usage | None = None
        self._complete = False
        self.done = False
        """Nothing more needs to be read."""
        self.failure: ModelError | None = None
        """What the response amounts to instead of a message; ``done`` then."""

    def feed(self, data: bytes) -> list[ModelEvent]:
        """The events that ``data`` completes."""
        if self._inflate is not None:
            data = self._inflated(data)
        if not data or self.done:
            return []
        if self._head is not None:
            self._first_bytes += data[:300]
            data = self._begin(data)
        elif len(self._first_bytes) < 300:
            self._first_bytes += data[:300]
        if data and self._body is not None:
            self._collect(data)
        elif data:
            try:
                events = self._sse.feed(data)
            except EventTooLarge:
                self._fail("bad_response", "sent an endless event")
                events = []
            self._events(events)
        return self._taken()

    @property
    def saw_events(self) -> int:
        """How many chunks were read so far; an idle limit goes by them."""
        return self._chunks

    @property
    def complete(self) -> bool:
        """A finish reason or [DONE] was seen."""
        return self._complete

    def finish(self, ending: Ending) -> list[ModelEvent]:
        """What remains, and the end: calls and ``StreamEnd``, or ``failure``."""
        if self.failure is None and not (self.done and self._complete):
            if self._head:
                self._begin(b"", at_end=True)
            if self._body is not None:
                self._whole_body(b"".join(self._body), ending)
            else:
                for event in self._sse.finish():
                    if not self.done:
                        self._event(event, at_end=True)
        if self.failure is None:
            self._conclude(ending)
        return self._taken()

    # --- bytes ---

    def _begin(self, data: bytes, at_end: bool = False) -> bytes:
        """Looks at the first bytes: a byte order mark goes; JSON and HTML are read as a whole, whatever they are
        called."""
        head = (self._head or b"") + data
        if not at_end and len(head) < 3 and _BOM.startswith(head):
            self._head = head
            return b""
        head = head.removeprefix(_BOM)
        first = head.lstrip()[:1]
        if not first and not at_end:
            self._head = head
            return b""
        self._head = None
        if first in (b"{", b"[", b"<") and self._body is None:
            self._body = []
        if at_end and self._body is not None:
            self._collect(head)
        elif at_end:
            self._sse.feed(head)
        return head

    def _collect(self, data: bytes) -> None:
        assert self._body is not None
        self._body.append(data)
        self._size += len(data)
        if self._size > _LARGEST_BODY:
            self._fail("bad_response", "sent an endless body")

    def _inflated(self, data: bytes) -> bytes:
        assert self._inflate is not None
        try:
            plain: bytes = self._inflate.decompress(data)
            return plain
        except zlib.error:
            self._fail("bad_response", "sent a body that cannot be decompressed")
            return b""

    def _taken(self) -> list[ModelEvent]:
        events = self._out[:]
        self._out.clear()
        return events

    # --- events ---

    def _events(self, events: list[Payload]) -> None:
        add = self._main.delta
        for event in events:
            if type(event) is not bytes or event[:1] != b"{":
                self._event(event, at_end=False)
            else:
                try:
                    chunk = _decode(event)
                except (msgspec.MsgspecError, RecursionError):
                    self._event(event, at_end=False)
                else:
                    # The usual chunk, on the shortest way: one choice with a delta, in the middle of an answer.
                    choices = chunk.get("choices")
                    if type(choices) is list and len(choices) == 1 and "error" not in chunk and not chunk.get("usage"):
                        choice = choices[0]
                        if (
                            type(choice) is dict
                            and choice.get("index") == self._main_index is not None
                            and type(delta := choice.get("delta")) is dict
                            and not choice.get("finish_reason")
                            and "message" not in choice
                            and "usage" not in choice
                        ):
                            self._chunks += 1
                            add(delta)
                            continue
                    self._chunk(chunk)
            if self.done:
                return

    def _event(self, event: Payload, at_end: bool) -> None:
        name, data = (b"", event) if isinstance(event, bytes) else event
        data = data.strip()
        if data.upper() in _DONE:
            self._complete = self.done = True
            return
        if name == b"error" or name.endswith(b".error"):
            value = _tolerant(data)
            told = value if value is not None else data.decode("utf-8", "replace")
            self._refuse(told if not isinstance(told, list) else told[0] if told else "")
            return
        if not data.startswith((b"{", b"[")):
            return  # a heartbeat
        value = _tolerant(data)
        if value is not None:
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, dict) and not self.done:
                    self._chunk(one)
            return
        lines = [line.strip() for line in data.split(b"\n") if line.strip()]
        if len(lines) > 1 and (_tolerant(lines[0]) is not None or not lines[0].startswith((b"{", b"["))):
            for number, line in enumerate(lines):  # several events that no blank line kept apart
                if self.done:
                    return
                self._event(line, at_end and number == len(lines) - 1)
            return
        if not at_end:  # at the end it is a stump
            self._fail("stream_error", "sent an event that is not JSON", retryable=True)

    def _chunk(self, chunk: dict[str, Any]) -> None:
        error = chunk.get("error")
        choices = chunk.get("choices")
        if isinstance(choices, dict):
            choices = [choices]
        elif not isinstance(choices, list):
            choices = None
        if error or (not choices and _is_flat_error(chunk)):
            self._refuse(error if error else chunk, chunk)
            return
        if choices is not None:
            self._chunks += 1
            for choice in choices:
                if type(choice) is dict:
                    self._choice(choice)
        elif "usage" in chunk:
            self._chunks += 1
        usage = chunk.get("usage")
        if type(usage) is dict:
            self._usage = read_usage(usage, self._usage)
        elif not choices or self._complete or not _is_plain(choices):
            for report in reports_in(chunk, choices or []):
                self._usage = read_usage(report, self._usage)

    def _choice(self, choice: dict[str, Any]) -> None:
        index = choice.get("index")
        if type(index) is not int:
            index = int(index) if isinstance(index, str) and index.isdecimal() else 0
        if self._main_index is None:
            self._main_index = index if self._wanted == 1 else 0
        if index != self._main_index and self._wanted == 1 and self._main.is_silent and _speaks(choice):
            self._main_index = index  # only calls came so far: the text of the message is here
        if index == self._main_index:
            target = self._main
        elif self._wanted > 1:
            if index not in self._others:
                self._others[index] = Assembly(self._offer, [])
            target = self._others[index]
        else:
            self._merge(choice, index)
            return
        target.choice(choice)
        if target is self._main and target.raw_finish:
            self._complete = True

    def _merge(self, choice: dict[str, Any], index: int) -> None:
        """One choice was asked for, so another one is part of the same message: its calls are."""
        for key in ("delta", "message"):
            part = choice.get(key)
            calls = part.get("tool_calls") if isinstance(part, dict) else None
            for item in calls if isinstance(calls, list) else []:
                if isinstance(item, dict):
                    self._main.call(item, 1000 * index)
        reason = choice.get("finish_reason")
        if reason and isinstance(reason, str):
            self._complete = True
            self._main.raw_finish = self._main.raw_finish or reason

    # --- whole bodies ---

    def _whole_body(self, body: bytes, ending: Ending) -> None:
        text = body.decode("utf-8", "replace")
        value = _tolerant(body)
        if self._status >= 400:
            self._refuse(value if value is not None else text)
            return
        if isinstance(value, list) and value and isinstance(value[0], dict):
            value = value[0]
        if isinstance(value, dict):
            if isinstance(value.get("choices"), list) and not value.get("error"):
                self._chunk(value)
                self._complete = self._complete or ending == "eof"
            elif value.get("error") or any(key in value for key in ("message", "detail", "code", "msg", "errors")):
                self._refuse(value)
            else:
                self.failure = not_a_completion(self._endpoint, self._status, text)
            return
        lines = [line for line in body.split(b"\n") if line.strip()]
        if len(lines) > 1 and isinstance(_tolerant(lines[0]), dict):  # chunks, one a line, without the word data
            for number, line in enumerate(lines):
                if not self.done:
                    self._event(line.removeprefix(b"data:").strip(), at_end=number == len(lines) - 1)
        elif is_json_beginning(text) or (ending != "eof" and not text.lstrip().startswith("<")):
            self._chunks += 1  # a stump of a JSON answer: cut off
        else:
            self.failure = not_a_completion(self._endpoint, self._status, text)

    # --- the end ---

    def _conclude(self, ending: Ending) -> None:
        if not self._complete or not self._chunks:
            if ending == "idle" and not self.done:
                silent = (
                    "went silent in the middle of the answer" if self._chunks else "did not begin to answer in time"
                )
                self._fail("timeout", silent, retryable=True)
            elif self._chunks:
                self._fail("stream_truncated", "ended the answer before it was complete", retryable=True)
            elif self._first_bytes.strip() and not _SSE_FIELD.match(self._first_bytes.removeprefix(_BOM)):
                self.failure = not_a_completion(
                    self._endpoint, self._status, self._first_bytes.decode("utf-8", "replace")
                )
            else:
                self._fail("empty_stream", "answered with nothing at all", retryable=True)
            return
        if finish.meaning(self._main.raw_finish) == "failed":
            reason = self._main.raw_finish
            self._fail("stream_error", f"broke the answer off with the finish reason {reason!r}", retryable=True)
            return
        calls, end = self._main.end(self._usage)
        others = tuple(other.alternative(index) for index, other in sorted(self._others.items()))
        self._out.extend(calls)
        self._out.append(msgspec.structs.replace(end, other_choices=others) if others else end)
        self.done = True

    def _refuse(self, told: Any, around: dict[str, Any] | None = None) -> None:
        self._end_with(
            classify(told, self._endpoint, self._status, self._headers, around)
            if self._status < 400
            else refused(told, self._endpoint, self._status, self._headers)
        )

    def _fail(self, kind: ModelErrorKind, what: str, retryable: bool = False) -> None:
        self._end_with(ModelError(kind, f"{self._endpoint.shown} {what}.", retryable=retryable, status=self._status))

    def _end_with(self, error: ModelError) -> None:
        error.partial = Partial(
            text=self._main.channel.partial(), reasoning=self._main.reasoning(), tool_calls_started=self._main.started
        )
        self.failure = error
        self.done = True


def _is_plain(choices: list[Any]) -> bool:
    """Whether the choices hold nothing but deltas in the middle of an answer."""
    return all(type(one) is dict and not one.get("finish_reason") and one.keys() <= _CHOICE_KEYS for one in choices)


def _speaks(choice: dict[str, Any]) -> bool:
    """Whether the choice brings text or reasoning."""
    parts = (choice.get("delta"), choice.get("message"))
    return any(isinstance(part, dict) and any(part.get(key) for key in ("content", *SCALARS)) for part in parts)


def _is_flat_error(chunk: dict[str, Any]) -> bool:
    """An error object without the key ``error``."""
    if "choices" in chunk or "usage" in chunk:
        return False
    if "error" in (chunk.get("object"), chunk.get("type")):
        return True
    has_text = any(isinstance(chunk.get(key), str) and chunk[key] for key in ("message", "msg", "detail"))
    return has_text and any(chunk.get(key) for key in ("code", "status", "status_code", "type", "detail"))


def _tolerant(data: bytes) -> Any:
    """JSON that holds lone surrogates, raw control characters or broken UTF-8 as well; None when it is not JSON."""
    try:
        return _decode(data)
    except (msgspec.MsgspecError, RecursionError):
        pass
    try:
        return json.loads(data.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None


def _inflater(encoding: str) -> Any:
    encoding = encoding.strip().lower()
    if encoding in ("gzip", "x-gzip"):
        return zlib.decompressobj(16 + zlib.MAX_WBITS)
    return zlib.decompressobj() if encoding == "deflate" else None
