"""What can go wrong for a person, as one sentence in their language and an exit code.

Invariant: every exception that a command lets out becomes exactly one sentence here; none becomes a traceback.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .texts import Texts

COMPLETED, UNEXPECTED, USAGE, WAITING, MODEL, STOPPED, STORAGE, BUSY, INTERRUPTED = 0, 1, 2, 3, 4, 5, 6, 7, 130

EXIT_OF_REASON = {
    "completed": COMPLETED,
    "awaiting_approval": WAITING,
    "model_error": MODEL,
    "max_steps": STOPPED,
    "guard": STOPPED,
    "budget": STOPPED,
    "interrupted": INTERRUPTED,
    "error": UNEXPECTED,
}
"""How a run ended, as an exit code."""


class Problem(Exception):
    """Ends a command with ``code`` and the text ``key``."""

    def __init__(self, code: int, key: str, **values: object) -> None:
        super().__init__(key, values)
        self.code, self.key, self.values = code, key, values


def explain(error: BaseException, texts: Texts) -> tuple[int, str]:
    """The exit code and the sentence for whatever ended a command."""
    if isinstance(error, Problem):
        return error.code, texts(error.key, **error.values)
    from asyncio import CancelledError

    if isinstance(error, KeyboardInterrupt | CancelledError):
        return INTERRUPTED, texts("interrupted")
    return _explain_runtime(error, texts)


def _explain_runtime(error: BaseException, texts: Texts) -> tuple[int, str]:
    from agent_core import errors
    from agent_core.trace.jsonl import TraceError

    if isinstance(error, errors.Busy):
        return BUSY, texts("busy", session=error.session_id, holder=error.holder)
    if isinstance(error, errors.Fenced):
        return BUSY, texts("fenced", why=error)
    if isinstance(error, errors.UnknownSession):
        return USAGE, texts("unknown_session", why=error)
    if isinstance(error, errors.DamagedLog) and error.file is not None:
        return STORAGE, texts("damaged_file", path=error.file, seq=error.seq, why=error.why)
    if isinstance(error, errors.DamagedLog):
        return STORAGE, texts("damaged", session=error.session_id, seq=error.seq, why=error)
    if isinstance(error, errors.Erased):
        return STORAGE, texts("erased", session=error.session_id, seq=error.seq)
    if isinstance(error, errors.StoreError):
        return STORAGE, texts("store_failed", why=error)
    if isinstance(error, errors.ModelError):
        return MODEL, texts("model_failed", why=error.message, advice=texts(f"advice_{error.kind}"))
    if isinstance(error, TraceError):
        return STORAGE, texts("trace_failed", why=error)
    if isinstance(error, errors.Refused):
        return USAGE, texts("refused", why=error)
    return _explain_shop(error, texts)


def _explain_shop(error: BaseException, texts: Texts) -> tuple[int, str]:
    from erpilot.shop.errors import Invalid, NotFound, ShopError

    if isinstance(error, ShopError):
        sentence = error.message if error.hint is None else f"{error.message} {error.hint}"
        return USAGE if isinstance(error, Invalid | NotFound) else STORAGE, texts("shop_failed", why=sentence)
    return UNEXPECTED, texts("unexpected", kind=type(error).__name__, why=error)
