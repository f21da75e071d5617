"""What to do next: the one decision that a fresh run, a resume after a crash and an answered approval all share.

Invariant: ``next_action`` is pure. Whatever needs the world is an action; its result comes back as an event.
"""

from __future__ import annotations

from msgspec import Struct

from . import events as ev
from .context.build import request_tokens
from .context.ladder import Summarise as Summarise
from .context.ladder import TooLarge, next_cut
from .model.wire import NOTHING
from .state import Call, Entry, Run, State
from .tools.faults import finished_with


class Idle(Struct, frozen=True):
    """No run is going on."""


class CallModel(Struct, frozen=True):
    """Send a request; not before ``not_before`` (Unix seconds)."""

    step: int
    attempt: int
    not_before: float | None = None


class SettleCalls(Struct, frozen=True):
    """Judge these calls: answer, ask a person, run, or run again what a crash left open."""

    call_ids: tuple[str, ...]


class Note(Struct, frozen=True):
    """Append these events: a decision that needs nothing of the world."""

    events: tuple[ev.DurableEvent, ...]


class CheckAnswer(Struct, frozen=True):
    """Trace the figures of the newest answer."""


class Finish(Struct, frozen=True):
    """End the run."""

    reason: ev.EndReason
    message: str | None = None


Action = Idle | CallModel | SettleCalls | Note | CheckAnswer | Summarise | Finish

NUDGES = {
    "empty_response": "[Your last answer was empty. Answer the question, or call a tool.]",
    "reasoning_only": "[Your last message held no answer, only reasoning. Give the answer.]",
    "announced_calls_missing": "[You announced a tool call but none arrived. Call the tool, or answer.]",
    "unfinished_text_call": "[Your last tool call was not complete. Call the tool again, or answer.]",
    "call_in_reasoning": "[Your tool call stood inside your reasoning and was not run. Call the tool, or answer.]",
}
"""Flags of an answer that is none, and what the model is told about it, once per run each."""
LAST_STEP = (
    "[No more calls: this is the last turn. Write the answer to the question now, in words, from the results above; say"
    " what is missing.]"
)
"""What the model is told before its last turn, where it has not answered yet."""


def next_action(state: State, now: float, system_prompt: str) -> Action:
    """The next action of the session's run; ``now`` in Unix seconds. ``system_prompt`` is the environment's content."""
    run = state.run
    if run is None or run.end is not None:
        return Idle()
    open_calls = state.open_calls()
    if open_calls and (run.interrupted or run.ending is not None or open_calls[0].status == "cut"):
        return Note(close_calls(state))
    if run.interrupted or run.ending is not None:
        if run.interrupted:
            return Finish("interrupted", "The run was interrupted.")
        return Finish("guard", f"The guard {run.ending} ended the run.")
    if ready := [call for call in open_calls if call.status != "asked" or _expired(call, now)]:
        return SettleCalls(tuple(call.call.id for call in ready))
    if waits(state, now):
        return Finish("awaiting_approval", "A person has to decide before the run goes on.")
    newest = state.entries[-1] if state.entries else None
    if newest is None:
        return Finish("error", "There is nothing to answer.")
    if newest.message.role == "assistant" and not newest.calls:
        return _after_answer(run, newest)
    if run.failure is not None:
        return Finish("model_error", run.failure)
    if (stop := _over_budget(run, now)) is not None:
        return stop
    if _is_last_step(run, newest):
        return _nudge(run, "last_step", LAST_STEP)
    environment = run.environment
    if run.attempt == 0 or run.overflowed:  # what is sent again is the same, unless it was too long
        match next_cut(state, environment.config.context, system_prompt, environment.tool_tokens):
            case ev.ContextCompacted() as compacted:
                return Note((compacted,))
            case Summarise() as summarise:
                return summarise
            case TooLarge() as found if run.overflowed:
                return Finish("budget", _too_long(run, found))
            case TooLarge() as found if _is_over(
                state, run, system_prompt
            ):  # else only what was learnt speaks against it
                return Finish("budget", _too_large(found))
    return CallModel(run.steps + 1, run.attempt + 1, run.retry_at)


def _is_over(state: State, run: Run, system_prompt: str) -> bool:
    """Whether the next request is over the budget itself, not only over what the endpoint was once found to take."""
    environment = run.environment
    tokens = request_tokens(state, system_prompt, environment.tool_tokens)
    return tokens > environment.config.context.budget_tokens


def _too_long(run: Run, found: TooLarge) -> str:
    advice = "Say it in less, or use" if found.question else "Use"
    return (
        f"The model's endpoint says that a request of about {run.estimated} tokens is too long, and no more of it can"
        f" be left out. {advice} a model that takes more."
    )


def _too_large(found: TooLarge) -> str:
    if found.room <= 1:
        return (
            f"The system prompt and the tools alone take about {found.fixed} tokens, so no message fits beside them."
            " Raise the limit, or use a model that takes more."
        )
    what = "The message" if found.question else "What the conversation cannot do without"
    return (
        f"{what} takes about {found.tokens} tokens, and there is room for {found.room}. Say it in less, or use a model"
        " that takes more."
    )


def waits(state: State, now: float) -> bool:
    """Whether only a person can bring the session on: a question is open, or the outcome of a call is not known."""
    open_calls = state.open_calls()
    if open_calls:
        return all(call.status == "asked" and not _expired(call, now) for call in open_calls)
    return any(call.status == "uncertain" for entry in state.entries[-1:] for call in entry.calls)


def close_calls(state: State) -> tuple[ev.ToolCallFinished, ...]:
    """Results for all open calls of a session whose conversation goes on without them."""
    return tuple(
        _close(call, state.run, _TAKEN_UP if call.status == "cut" else _STOPPED) for call in state.open_calls()
    )


def close_behind(earlier: State) -> tuple[ev.ToolCallFinished, ...]:
    """Results for the calls that are open at the point ``earlier`` from which the conversation is taken up."""
    return tuple(_close(call, earlier.run, _TAKEN_UP) for call in earlier.open_calls())


_STOPPED = (
    "The call was not carried out: the run was stopped before it.",
    "The call was started and then interrupted; whether it took effect is not known.",
)
_TAKEN_UP = (
    "The call was not carried out: the conversation was taken up from before it.",
    "The conversation was taken up from before the end of this call; it may have taken effect.",
)


def _close(call: Call, run: Run | None, words: tuple[str, str]) -> ev.ToolCallFinished:
    if call.may_have_happened(run):
        return finished_with(call, ev.Fault("uncertain", words[1], "Look the record up before you try again."))
    return finished_with(call, ev.Fault("cancelled", words[0]))


def _after_answer(run: Run, answer: Entry) -> Action:
    flag = next((flag for flag in run.flags if flag in NUDGES), None)
    if flag is None and (answer.message.content or "").strip() in ("", NOTHING):
        flag = "empty_response"
    if flag is None:
        if run.environment.config.answer_check is not None and run.checked != answer.seq:
            return CheckAnswer()
        cut = "The answer was cut off at the length limit of the model." if run.finish_reason == "length" else None
        return Finish("completed", cut)
    if flag in run.nudged:
        return Finish("model_error", f"The model gave no usable answer ({flag}).")
    if run.steps >= run.environment.config.max_steps:
        return Finish("max_steps", f"The limit of {run.environment.config.max_steps} steps was reached.")
    return _nudge(run, flag, NUDGES[flag])


def _is_last_step(run: Run, newest: Entry) -> bool:
    """Whether the model has its last turn of several left, only called tools so far, and has not been told."""
    most = run.environment.config.max_steps
    at_work = bool(newest.calls) and run.attempt == 0 and "last_step" not in run.nudged
    return at_work and most >= 2 and run.steps == most - 1


def _nudge(run: Run, guard: str, note: str) -> Note:
    return Note((ev.GuardTripped(guard=guard, action="warned", evidence={"step": run.steps, "note": note}),))


def _over_budget(run: Run, now: float) -> Finish | None:
    config = run.environment.config
    if run.steps >= config.max_steps:
        return Finish("max_steps", f"The limit of {config.max_steps} steps was reached.")
    spent = (run.usage.prompt_tokens or 0) + (run.usage.completion_tokens or 0)
    if config.max_tokens is not None and spent >= config.max_tokens:
        return Finish("budget", f"The limit of {config.max_tokens} tokens per run was reached ({spent} used).")
    if config.max_cost is not None and run.cost is not None and run.cost.amount >= config.max_cost:
        money = f"{config.max_cost} {run.cost.currency}"
        return Finish("budget", f"The limit of {money} per run was reached ({run.cost.amount:f} spent).")
    if config.max_seconds is not None and run.seconds(now) >= config.max_seconds:
        return Finish("budget", f"The limit of {config.max_seconds:g} seconds per run was reached.")
    return None


def _expired(call: Call, now: float) -> bool:
    return call.deadline is not None and now >= call.deadline
