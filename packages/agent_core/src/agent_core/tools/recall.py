"""``recall``: lets the model look up what was said or found earlier in its conversation and is no longer shown to it.

Invariant: it reads the session's own log and nothing else, and gives back what stands there.
"""

from __future__ import annotations

from typing import Any

from ..context.recall import moment
from ..errors import ToolError
from .tool import Tool, ToolContext, tool

FOUND_AT_MOST = 8
_NOTHING = (
    "Nothing of this was said earlier in this conversation; recall finds no more. Write the answer from what stands"
    " above. Only if a figure is missing there, look it up with another tool."
)


async def _recall(query: str, *, ctx: ToolContext) -> dict[str, Any]:
    """Only for earlier parts of this conversation that are no longer shown: what was said or promised there. Give the
    words that stood there. It is no source of data: prices, stock and records come from the other tools.
    """
    if ctx.recall is None:
        raise ToolError("There is no log to look into.")
    if not query.strip():
        raise ToolError("The query is empty.", hint="Give names, numbers or words.", type="validation")
    found = await ctx.recall(query)
    passages = [
        {"event": one.seq, "at": moment(one.at), "by": one.name or one.speaker, "text": one.text} for one in found
    ]
    return {"found": passages} if passages else {"found": [], "note": _NOTHING}


RECALL: Tool = tool(name="recall", per_session=True)(_recall)
