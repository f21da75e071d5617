"""``recall``: lets the model look up what was said or found earlier in its conversation and is no longer shown to it.

Invariant: it reads the session's own log and nothing else, and gives back what stands there.
"""

from __future__ import annotations

from typing import Any

from ..context.recall import moment
from ..errors import ToolError
from .tool import Tool, ToolContext, tool

FOUND_AT_MOST = 8


async def _recall(query: str, *, ctx: ToolContext) -> dict[str, Any]:
    """Looks up what was said or found earlier in this conversation and is no longer shown: names, prices, promises,
    numbers of documents. Give the words that stood there. What it finds is as of then, not as of now."""
    if ctx.recall is None:
        raise ToolError("There is no log to look into.")
    if not query.strip():
        raise ToolError("The query is empty.", hint="Give names, numbers or words.", type="validation")
    found = await ctx.recall(query)
    passages = [
        {"event": one.seq, "at": moment(one.at), "by": one.name or one.speaker, "text": one.text} for one in found
    ]
    return {"found": passages} if passages else {"found": [], "note": "Nothing was said about this. Try other words."}


RECALL: Tool = tool(name="recall", per_session=True)(_recall)
