"""Turns events into the values of a transcript, one by one.

Invariant: a function of the events and their order alone. A value stands where its first event stood and changes
in place.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Iterable

from .. import events as ev
from .transcript import AnyItem, Began, Ended, Opened, Question, Remark, Said, Step, Use


class TranscriptBuilder:
    """Takes the durable events of one session in order; ``items`` is the transcript so far."""

    def __init__(self, items: Iterable[AnyItem] = ()) -> None:
        self.items: list[AnyItem] = []
        self._touched: list[AnyItem] = []
        self._places: dict[tuple[type, int, int], int] = {}
        self._calls: dict[str, Use] = {}
        self._questions: dict[str, Question] = {}
        self._step: Step | None = None
        self._ordinal = 0
        for item in items:
            self.put(item)

    def add(self, item: ev.Recorded) -> list[AnyItem]:
        """Takes the next event and returns the values that it began or changed; none for what is not durable."""
        self._touched = []
        if item.seq is not None:
            self._take(item, item.seq)
        return self._touched

    def put(self, item: AnyItem) -> None:
        """Takes a value as another builder returned it: in the place of its earlier state, or as the next one."""
        key = _key(item)
        if key in self._places:
            self.items[self._places[key]] = item
        else:
            self._places[key] = len(self.items)
            self.items.append(item)
        self._remember(item)

    def _take(self, item: ev.Recorded, seq: int) -> None:
        event, at = item.event, item.at
        match event:
            case ev.SessionStarted(profile=profile, parent=parent):
                self._add(
                    Opened(
                        seq=seq,
                        session_id=item.session_id,
                        at=at,
                        profile=profile,
                        parent=parent.session_id if parent else None,
                        parent_seq=parent.seq if parent else None,
                    )
                )
            case ev.RunStarted():
                began = Began(
                    seq=seq,
                    run_id=event.run_id,
                    model=event.model,
                    by=event.by,
                    at=at,
                    resumed=bool(event.resumes),
                    environment=event.environment,
                )
                self._add(began)
            case ev.UserMessage() | ev.MessageQueued():
                self._said(seq, at, event)
            case ev.StepStarted():
                self._step_started(seq, event)
            case ev.ModelAttemptFailed(kind=kind, message=message):
                if (step := self._current()) is not None:
                    step.failures = (*step.failures, f"{kind}: {message}")
            case ev.AssistantMessage():
                self._answered(seq, event)
            case ev.StepEnd():
                if (step := self._current()) is not None:
                    step.outcome, step.usage = event.outcome, event.usage
                    if event.cost is not None:
                        step.amount, step.currency = event.cost.amount, event.cost.currency
            case ev.ApprovalRequested():
                self._asked(seq, event)
            case ev.ApprovalDecided():
                self._decided(event)
            case ev.ToolCallStarted(call_id=call_id, attempt=attempt):
                if (use := self._call(call_id)) is not None:
                    use.attempts = attempt
                    use.started_at = at if use.started_at is None else use.started_at
            case ev.ToolCallFinished():
                self._finished(at, event)
            case ev.LoopEnd():
                self._ended(seq, at, event)
            case _:
                self._remark(seq, event)

    def _said(self, seq: int, at: float, event: ev.UserMessage | ev.MessageQueued) -> None:
        text = "\n\n".join(part.text if isinstance(part, ev.TextPart) else f"[{part.name}]" for part in event.content)
        context = tuple((frozen.kind, frozen.text) for frozen in event.context)
        queued = isinstance(event, ev.MessageQueued)
        self._add(Said(seq=seq, author=event.author, text=text, at=at, context=context, queued=queued))

    def _step_started(self, seq: int, event: ev.StepStarted) -> None:
        if (
            self._step is not None
            and self._step.step == event.step
            and self._step.outcome is None
            and event.attempt > 1
        ):
            self._step.attempts = event.attempt
            self._touched.append(self._step)
            return
        self._add(Step(seq=seq, ordinal=self._ordinal + 1, step=event.step, attempts=event.attempt))

    def _answered(self, seq: int, event: ev.AssistantMessage) -> None:
        step = self._step
        if step is None or step.step != event.step or step.outcome is not None:
            step = Step(seq=seq, ordinal=self._ordinal + 1, step=event.step)
            self._add(step)
        else:
            self._touched.append(step)
        step.text, step.reasoning, step.refusal = event.content, event.reasoning, event.refusal
        step.finish_reason, step.duration = event.finish_reason, event.duration
        step.time_to_first_token, step.calls = event.time_to_first_token, tuple(call.id for call in event.tool_calls)
        for index, call in enumerate(event.tool_calls):
            arguments = call.arguments if call.raw_arguments is None else call.raw_arguments
            self._add(
                Use(seq=seq, call_id=call.id, step=step.ordinal, index=index, tool=call.name, arguments=arguments)
            )

    def _finished(self, at: float, event: ev.ToolCallFinished) -> None:
        use = self._call(event.call_id)
        if use is None:
            return
        use.ok, use.content, use.duration, use.cached = event.ok, event.content, event.duration, event.cached
        use.attempts, use.finished_at = event.attempts, at
        use.error = event.error.type if event.error is not None else None
        use.total = event.truncated.total if event.truncated is not None else None

    def _asked(self, seq: int, event: ev.ApprovalRequested) -> None:
        self._add(
            Question(
                seq=seq,
                call_id=event.call_id,
                tool=event.tool,
                tier=event.tier,
                arguments=event.arguments,
                preview=event.preview,
                digest=event.digest,
                target=event.target,
                why=event.why,
                offer=event.offer,
                deadline=event.deadline,
            )
        )

    def _decided(self, event: ev.ApprovalDecided) -> None:
        if (question := self._questions.get(event.call_id)) is not None:
            self._touched.append(question)
            question.decision, question.by, question.reason = event.decision, event.by, event.reason
            question.grant_id, question.edited = event.grant_id, event.arguments
            if event.arguments is not None and (use := self._call(event.call_id)) is not None:
                use.arguments = event.arguments

    def _ended(self, seq: int, at: float, event: ev.LoopEnd) -> None:
        ended = Ended(
            seq=seq,
            run_id=event.run_id,
            reason=event.reason,
            steps=event.steps,
            at=at,
            message=event.message,
            usage=event.usage,
        )
        if event.cost is not None:
            ended.amount, ended.currency = event.cost.amount, event.cost.currency
        self._add(ended)

    def _remark(self, seq: int, event: ev.AnyEvent) -> None:
        facts: dict[str, object | None]
        match event:
            case ev.GuardTripped():
                facts = {"guard": event.guard, "action": event.action, "calls": ", ".join(event.call_ids)}
            case ev.ContextCompacted():
                facts = {"how": event.kind, "from": event.from_seq, "to": event.to_seq, "summary": event.summary}
            case ev.SummaryFailed():
                facts = {"from": event.from_seq, "to": event.to_seq, "why": event.message}
            case ev.RunInterrupted():
                facts = {"by": event.by, "where": event.where}
            case ev.RolledBack():
                facts = {"to": event.to_seq, "by": event.by, "reason": event.reason}
            case ev.TrustGranted():
                facts = {"grant": event.grant_id, "tool": event.tool, "target": event.target, "by": event.by}
            case ev.TrustRevoked():
                facts = {"grant": event.grant_id, "by": event.by, "reason": event.reason}
            case ev.OutcomeResolved():
                facts = {"call": event.call_id, "outcome": event.outcome, "by": event.by}
            case ev.AnswerChecked():
                facts = {
                    "answer": event.answer_seq,
                    "figures": len(event.figures),
                    "untraced": ", ".join(event.untraced),
                }
            case ev.UnknownEvent():
                self._add(Remark(seq=seq, about=event.type))
                return
            case _:
                return
        kept = {name: str(value) for name, value in facts.items() if value not in (None, "")}
        self._add(Remark(seq=seq, about=type(event).__name__, facts=kept))

    def _add(self, item: AnyItem) -> None:
        self.put(item)
        self._touched.append(item)

    def _current(self) -> Step | None:
        if self._step is not None:
            self._touched.append(self._step)
        return self._step

    def _call(self, call_id: str) -> Use | None:
        use = self._calls.get(call_id)
        if use is not None:
            self._touched.append(use)
        return use

    def _remember(self, item: AnyItem) -> None:
        match item:
            case Step():
                self._step, self._ordinal = item, item.ordinal
            case Use():
                self._calls[item.call_id] = item
            case Question():
                self._questions[item.call_id] = item
            case Began():
                self._step = None
            case _:
                pass


def _key(item: AnyItem) -> tuple[type, int, int]:
    return type(item), item.seq, item.index if isinstance(item, Use) else 0


async def transcript_of_log(items: AsyncIterable[ev.Recorded]) -> list[AnyItem]:
    """The transcript of a session, from its events in order."""
    builder = TranscriptBuilder()
    async for item in items:
        builder.add(item)
    return builder.items
