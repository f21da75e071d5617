"""What people and programs ask of a session from outside its run: decide, resolve, revoke, interrupt, queue.

Invariant: each command is a function of the newest state that gives the events to append, or raises ``Refused`` in one
sentence; the caller appends them in the transaction that checks that state. Repeating a command is harmless.
"""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from . import events as ev
from .codec import decode, encode
from .errors import Malformed, Refused
from .state import Call, State, digest_parts
from .text import encodable

Outcome = Literal["happened", "did_not_happen", "send_again"]
LONGEST_TITLE = 200
"""Characters."""


def decision(
    state: State,
    call_id: str,
    *,
    approve: bool,
    by: str,
    now: float,
    reason: str | None = None,
    arguments: dict[str, Any] | None = None,
    always: bool = False,
    channel: str | None = None,
    digest: str | None = None,
) -> list[ev.DurableEvent]:
    """The answer to a question. ``arguments``: edited ones, which are asked again. ``always``: also takes the offer
    that came with the question. ``digest``: that of the question that the person saw, when it may have become another.
    """
    if not isinstance(approve, bool):
        raise Refused("An answer is yes or no: approve has to be True or False.")
    call = state.find_call(call_id)
    if call is None or call.status == "new":
        raise Refused(f"Session {state.session_id} has no question about call {call_id}.")
    if call.status == "cut":
        raise Refused(f"The conversation was taken up from before call {call_id}, so it does not run any more.")
    wanted = "approved" if approve else "denied"
    if call.status != "asked":
        if call.decision == wanted and arguments is None:
            return []
        raise Refused(f"Call {call_id} is decided already: {_standing(call)}.")
    if call.deadline is not None and now >= call.deadline:
        raise Refused(f"The question about call {call_id} has expired; it has to be asked again.")
    if digest is not None and call.digest != digest:
        raise Refused(f"Call {call_id} is asked with other arguments by now; look at the new question first.")
    if always and (not approve or call.offer is None):
        raise Refused(f"Call {call_id} cannot be allowed in advance; answer this one question.")
    if always and arguments is not None:
        raise Refused("Changed arguments are asked again; allow them in advance with the answer to that question.")
    said = None if reason is None else encodable(reason)
    edited = None if arguments is None else _json(arguments)
    decided = ev.ApprovalDecided(
        call_id=call_id,
        digest=call.digest or "",
        decision="approved" if approve else "denied",
        by=by,
        reason=said,
        arguments=edited,
        channel=channel,
    )
    if not always or call.offer is None:
        return [decided]
    grant = ev.TrustGranted(
        grant_id="grant-" + secrets.token_hex(4),
        tool=call.call.name,
        by=by,
        target=call.offer.target,
        limits=call.offer.limits,
        expires=None if call.offer.seconds is None else now + call.offer.seconds,
        origin=call_id,
    )
    return [decided, grant]


def resolution(
    state: State, call_id: str, outcome: Outcome, *, by: str, content: str | None = None
) -> list[ev.DurableEvent]:
    """What a person found out about a call whose outcome was not known."""
    call = state.find_doubted(call_id)
    if call is None:
        raise Refused(f"Session {state.session_id} has no call {call_id} whose outcome is unknown.")
    if call.status != "uncertain":
        if call.resolved == outcome:
            return []
        raise Refused(f"Call {call_id} is resolved already: {call.resolved}.")
    if outcome == "send_again" and call is not state.find_call(call_id):
        raise Refused(f"The conversation went on after call {call_id}; resolve it, and ask for it anew.")
    if content is None:
        content = _FOUND.get(outcome)
    found = None if content is None else encodable(content)
    return [ev.OutcomeResolved(call_id=call_id, outcome=outcome, by=by, content=found)]


_FOUND = {
    "happened": '{"outcome":"happened","note":"A person looked it up: the call took effect."}',
    "did_not_happen": '{"error":{"type":"cancelled","message":"A person looked it up: the call took no effect."}}',
}


def revocation(state: State, grant_id: str, *, by: str, reason: str | None = None) -> list[ev.DurableEvent]:
    """The end of a standing grant."""
    if grant_id not in state.grants:
        raise Refused(f"Session {state.session_id} has no grant {grant_id}.")
    return [ev.TrustRevoked(grant_id=grant_id, by=by, reason=reason)]


def interruption(state: State, *, by: str, where: str | None = None) -> list[ev.DurableEvent]:
    """Stops the run that is going on; nothing when there is none, or it is stopping."""
    run = state.run
    if run is None or run.end is not None or run.interrupted:
        return []
    return [ev.RunInterrupted(by=by, where=where)]


def queueing(state: State, queued: ev.MessageQueued) -> list[ev.DurableEvent]:
    """A message for the run that follows the one that is going on; nothing when it was sent before under its id."""
    known = state.said.get(queued.client_message_id or "")
    if known == digest_parts(queued.content):
        return []
    if known is not None:
        raise Refused(f"Another message was sent under the id {queued.client_message_id!r} before.")
    if not state.running:
        raise Refused(f"No run of session {state.session_id} is going on, so there is nothing to wait for.")
    return [queued]


def new_message_id() -> str:
    """Tells a queued message from every other one, also from one with the same words."""
    return "queued-" + secrets.token_hex(6)


def check_given(events: Sequence[ev.DurableEvent]) -> None:
    """Raises ``Refused`` for what somebody said that could not be stored, or not be read again: characters that are not
    text, values of another kind than they should be."""
    try:
        for event in events:
            decode(encode(event))
    except UnicodeEncodeError:
        raise Malformed("What was given holds characters that are not text.") from None
    except (ValueError, TypeError, OverflowError) as error:
        raise Malformed(f"A value has the wrong kind: {error}.") from None


def parts_of(content: str | Sequence[ev.Part]) -> tuple[ev.Part, ...]:
    """The parts of a message. Raises ``Malformed`` for one that says nothing, or holds characters that are no text."""
    parts = (ev.TextPart(content),) if isinstance(content, str) else tuple(content)
    text = "".join(part.text for part in parts if isinstance(part, ev.TextPart))
    if not parts or not (text.strip() or any(isinstance(part, ev.FilePart) for part in parts)):
        raise Malformed("The message is empty.")
    if encodable(text) != text or "\0" in text:
        raise Malformed("The message holds characters that are not text.")
    return parts


def check_title(title: str) -> None:
    """Raises ``Malformed`` for what cannot be the name of a session in a list: one line that can be read."""
    if not title.strip():
        raise Malformed("The title is empty.")
    if len(title) > LONGEST_TITLE:
        raise Malformed(f"The title has more than {LONGEST_TITLE} characters.")
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in title):
        raise Malformed("The title holds characters that do not belong into a line of text.")


def _json(arguments: dict[str, Any]) -> str:
    try:
        return msgspec.json.encode(arguments).decode()
    except (TypeError, ValueError, RecursionError):
        raise Refused("The changed arguments cannot be written as JSON.") from None


def _standing(call: Call) -> str:
    who = f" by {call.decided_by}" if call.decided_by else ""
    return f"{call.decision or call.status}{who}"
