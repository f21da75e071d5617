"""Tools about customers and suppliers.

Invariant: a credit answer follows from the rule it names: limit, used, free, overdue; how to reach somebody is told
only to those who may see it.
"""

from __future__ import annotations

from agent_core.tools.tool import Tool

from ..shop.backend import ErpBackend
from . import shop_answers as answers
from . import shop_results as r
from .shop_arguments import Limit, Offset, Query
from .shop_kit import next_offset, reading
from .shop_resolve import answering, stamp


def party_tools(backend: ErpBackend) -> list[Tool]:
    @reading("customers")
    async def find_customers(query: Query, limit: Limit = 5, offset: Offset = 0) -> r.CustomerMatches:
        """Find customers by id, name or short name. `decided`: the first candidate alone is meant; else ask."""
        with answering():
            found = await backend.find_customers(query, limit=limit, offset=offset)
            following = next_offset(offset, len(found.hits), found.total_count)
            lists = await backend.price_lists()
            return answers.customer_matches(query, found, lists, following, stamp(backend.now()))

    return [find_customers]
