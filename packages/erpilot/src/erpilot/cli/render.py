"""Shows a run while it goes on: the answer on stdout as it arrives, everything else on stderr, nothing twice.

Invariant: what was shown and turned out void is said to be void, where it was shown; the screen is only ever appended
to.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import msgspec

from agent_core import events as ev
from agent_core.messages import TextDelta, TextWithdrawn
from agent_core.trace.builder import TranscriptBuilder
from agent_core.trace.transcript import AnyItem, Ended, Question, Remark, Said, Step, Use

from .lines import Line, Lines, seconds_text
from .terminal import Terminal


class Renderer(Protocol):
    """Takes the items of a run in order."""

    def show(self, item: ev.Recorded) -> None:
        """The next item."""
        ...


class JsonRenderer:
    """One item a line on stdout, as JSON, and nothing else."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._encoder = msgspec.json.Encoder()

    def show(self, item: ev.Recorded) -> None:
        """The next item."""
        if isinstance(item.event, ev.UnknownEvent):
            raw = {**msgspec.to_builtins(item), "event": msgspec.Raw(item.event.payload)}
            self._terminal.json(self._encoder.encode(raw).decode())
        else:
            self._terminal.json(self._encoder.encode(item).decode())


class LiveRenderer:
    """Words for people. ``history``: the transcript of the session so far."""

    def __init__(self, terminal: Terminal, lines: Lines, history: Iterable[AnyItem] = ()) -> None:
        self._terminal, self._lines = terminal, lines
        self._builder = TranscriptBuilder(history)
        self._streamed: list[str] = []
        """The text of the current step that stands on the screen."""
        self._queued: set[str] = set()
        """Messages that came while a run went on: their turn is announced."""

    @property
    def items(self) -> list[AnyItem]:
        """The transcript so far."""
        return self._builder.items

    def show(self, item: ev.Recorded) -> None:
        """The next item."""
        touched = self._builder.add(item)
        match item.event:
            case TextDelta(text=text):
                self._streamed.append(text)
                self._terminal.stream(text)
            case TextWithdrawn():
                self._withdraw("withdrawn")
            case ev.AssistantMessage():
                self._finish_text(item.event)
            case ev.ModelAttemptFailed():
                self._attempt_failed(item.event)
            case ev.RunInterrupted():
                if self._streamed:
                    self._withdraw("cut_off")
                self._note_all(touched)
            case ev.StepEnd() | ev.ToolCallFinished() | ev.ApprovalDecided() | ev.LoopEnd():
                self._note_all(touched)
            case ev.MessageQueued(client_message_id=str() as name):
                self._queued.add(name)
            case ev.UserMessage(client_message_id=name) if name in self._queued:
                said = [value.text for value in touched if isinstance(value, Said)]
                self._note([(f"{self._lines.texts('you')}: {' '.join(said)}", "plain")])
                self._note_all(touched)
            case ev.UserMessage():
                self._note_all(touched)
            case ev.ToolProgress(text=text):
                if self._lines.full:
                    self._note([(self._lines.cut(text), "tool")])
            case _:
                self._note_all(value for value in touched if isinstance(value, Remark))

    def _finish_text(self, message: ev.AssistantMessage) -> None:
        """Closes the streamed text; a text that did not come in pieces, or came otherwise, is printed whole."""
        final = message.content or ("" if self._streamed else message.refusal) or ""
        if final and "".join(self._streamed) != final:
            if self._streamed:
                self._withdraw("withdrawn")
            self._terminal.stream(final)
        self._streamed = []
        self._terminal.end_stream()

    def _withdraw(self, key: str) -> None:
        if "".join(self._streamed).strip():
            self._terminal.line(self._lines.texts(key), "error")
        self._streamed = []

    def _attempt_failed(self, event: ev.ModelAttemptFailed) -> None:
        if event.wait is None:
            return  # the end of the run says it
        why, seconds = self._lines.cut(event.message.rstrip(".。")), seconds_text(event.wait)
        again = self._lines.texts("attempt_failed_again", kind=event.kind, why=why, seconds=seconds)
        self._note([(again, "error")])

    def _note_all(self, items: Iterable[AnyItem]) -> None:
        for item in items:
            match item:
                case Step():
                    self._note([*self._lines.reasoning(item), *self._lines.step(item)])
                case Use():
                    self._note(self._lines.tool(item))
                case Question():
                    self._note(self._lines.decision(item))
                case Remark():
                    self._note(self._lines.remark(item))
                case Said():
                    self._note(self._lines.recalled(item))
                case Ended():
                    self._note(self._lines.ended(item))
                case _:
                    pass

    def _note(self, lines: Iterable[Line]) -> None:
        for text, style in lines:
            self._terminal.note(text, style)


def waiting(items: Iterable[AnyItem]) -> list[Question]:
    """The questions of a transcript that nobody has answered, in the order they were asked."""
    listed = list(items)
    settled = {item.call_id for item in listed if isinstance(item, Use) and item.ok is not None}
    newest = {item.call_id: item for item in listed if isinstance(item, Question)}
    return [question for call, question in newest.items() if question.decision is None and call not in settled]
