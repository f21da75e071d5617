"""What the layer over Tryton adds to a read, against its own calls alone.

Invariant: the bare side sends the very requests of the read (written down while it ran once), over one kept session to
the same server in the same run, those side by side that the read sends side by side, and decodes every answer; turns of
both alternate, and the median of each counts.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import aiohttp

from bench.report import Line
from bench.shop_reads import SKUS, Read, _line
from erpilot.shop.backend import LineWanted, OrderFilter
from erpilot.shop.tryton.rpc import Rpc
from erpilot.shop.tryton.shop import TrytonShop
from erpilot.shop.values import Quantity
from tests.support.tryton.people import password
from tests.support.tryton.server import TrytonServer, tryton_server

Wave = list[tuple[str, bytes]]


def erp_reads(*, quick: bool) -> tuple[list[Line], list[dict[str, Any]]]:
    """The lines of the report, and every single measurement."""
    with tryton_server() as server:
        return asyncio.run(_measured(server, 10 if quick else 60))


def _reads(shop: TrytonShop) -> dict[str, Read]:
    wanted = [LineWanted(sku, Quantity(Decimal(3), "箱" if sku != "HW-CUP-500" else "个")) for sku in SKUS]
    return {
        "Tryton find_products by code": lambda: shop.find_products("PA4-70"),
        "Tryton find_products by name": lambda: shop.find_products("A4 纸"),
        "Tryton get_stock of 5 products": lambda: shop.get_stock(SKUS),
        "Tryton get_prices of 5 lines": lambda: shop.get_prices(wanted, customer_id="C001"),
        "Tryton find_customers": lambda: shop.find_customers("鑫源"),
        "Tryton get_order": lambda: shop.get_order("SO-2026-0123"),
        "Tryton list_orders": lambda: shop.list_orders(OrderFilter(kind="sale")),
        "Tryton get_account": lambda: shop.get_account("C001"),
    }


class _Recording(Rpc):
    """Writes down what is sent, and which of it while something else was under way."""

    waves: list[Wave]
    _under_way = 0

    async def _exchange(self, path: str, body: bytes, headers: Mapping[str, str], *, write: bool) -> tuple[int, bytes]:
        if not self._under_way:
            self.waves.append([])
        self.waves[-1].append((path, body))
        self._under_way += 1
        try:
            return await super()._exchange(path, body, headers, write=write)
        finally:
            self._under_way -= 1


async def _measured(server: TrytonServer, turns: int) -> tuple[list[Line], list[dict[str, Any]]]:
    rpc = _Recording(server.url, server.database, "owner", password("owner"), timeout=300)
    rpc.waves = []
    shop = TrytonShop(rpc)
    lines, raw = list[Line](), list[dict[str, Any]]()
    try:
        await shop.whoami()
        headers = {**rpc._headers, "Content-Type": "application/json"}
        async with aiohttp.ClientSession(headers=headers) as session:

            async def ask(path: str, body: bytes) -> object:
                async with session.post(server.url + path, data=body) as answer:
                    return json.loads(await answer.read())

            for name, read in _reads(shop).items():
                await read()  # what hardly ever changes is known now
                rpc.waves = []
                await read()
                waves = list(rpc.waves)
                ours, bare = list[float](), list[float]()
                for _ in range(turns):
                    await shop.whoami()  # rights that are asked for again do not count
                    began = time.perf_counter()
                    await read()
                    between = time.perf_counter()
                    for wave in waves:
                        await asyncio.gather(*(ask(path, body) for path, body in wave))
                    ours.append(between - began)
                    bare.append(time.perf_counter() - between)
                raw.append({"read": name, "requests": [len(wave) for wave in waves], "erpilot": ours, "bare": bare})
                lines.append(_line(name, statistics.median(ours) * 1000, statistics.median(bare) * 1000))
    finally:
        await shop.aclose()
    return lines, raw
