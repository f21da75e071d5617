"""``read_output``: lets the model page through an output of which it saw only the two ends.

Invariant: what it returns is cut from the recorded output, never made anew.
"""

from __future__ import annotations

from ..errors import ToolError
from .tool import Tool, ToolContext, tool

PAGE = 3000
"""Characters of one page."""


async def _read_output(call_id: str, offset: int = 0, *, ctx: ToolContext) -> str:
    """Reads on in a long tool output that was cut: up to 3000 characters from ``offset``."""
    whole = None if ctx.whole_output is None else await ctx.whole_output(call_id)
    if whole is None:
        raise ToolError(
            f"There is no cut output of a call {call_id!r}.",
            hint="Use the call id that the notice in the output names.",
            type="validation",
        )
    if not 0 <= offset < len(whole):
        raise ToolError(f"The output has the characters 0 to {len(whole) - 1}.", type="validation")
    page = whole[offset : offset + PAGE]
    following = offset + len(page)
    rest = f"; go on at offset {following}" if following < len(whole) else ""
    return f"{page}\n[characters {offset} to {following - 1} of {len(whole)}{rest}]"


READ_OUTPUT: Tool = tool(name="read_output", max_output=PAGE + 200, per_session=True)(_read_output)
