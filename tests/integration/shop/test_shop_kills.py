"""The process of the embedded shop is killed in the middle of its writes, again and again: one effect each, or none."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.shop.verbs.control import HistoryFilter
from tests.support.small_shop import make

ROUNDS = 12
WORK = f"""
import asyncio, pathlib, sys
from decimal import Decimal
from erpilot.shop.backend import LinePart, LineWanted, QuotationDraft, ReturnedPart, Write
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.shop.values import Money, Quantity
from erpilot.shop.verbs.money import PaymentDraft

async def main():
    shop = EmbeddedShop(pathlib.Path(sys.argv[1]))
    two, one = Quantity(Decimal(2), "个"), Quantity(Decimal(1), "个")
    for at in range({ROUNDS}):
        draft = QuotationDraft("K2", (LineWanted("AA-1", two),), Decimal(0), 7)
        quoted = await shop.create_quotation(draft, write=Write(f"q{{at}}", None))
        print("q", at, flush=True)
        sold = await shop.confirm_quotation(quoted.number, write=Write(f"c{{at}}", None, "1"))
        await shop.deliver_order(sold.number, (), write=Write(f"d{{at}}", None, "1"))
        print("d", at, flush=True)
        back = (ReturnedPart(1, one),)
        await shop.return_order(sold.number, back, reason="x", write=Write(f"r{{at}}", None, "2"))
        paid = PaymentDraft("K2", Money(Decimal(at + 1), "CNY"), "现金")
        await shop.record_payment(paid, write=Write(f"p{{at}}", None))
        print("p", at, flush=True)
    shop.close()

asyncio.run(main())
"""


def test_whatever_was_killed_the_same_keys_bring_it_to_the_same_end(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    make(path)
    for words in (1, 5, 9, 16):
        process = subprocess.Popen([sys.executable, "-c", WORK, str(path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for _ in range(words):
            process.stdout.readline()
        process.kill()
        process.wait(30)
        process.stdout.close()
        _whole(path)
    subprocess.run([sys.executable, "-c", WORK, str(path)], check=True, timeout=60, stdout=subprocess.DEVNULL)
    asyncio.run(_finished(path))


def _whole(path: Path) -> None:
    """No effect without its entry, no entry without its effect."""
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        for verb, table, condition in (
            ("create_quotation", "document", "kind = 'quotation'"),
            ("confirm_quotation", "document", "kind = 'sale'"),
            ("return_order", "document", "kind = 'return'"),
            ("deliver_order", "delivery", "1"),
            ("deliver_order", "invoice", "kind = 'invoice'"),
            ("return_order", "invoice", "kind = 'credit_note'"),
            ("record_payment", "payment", "1"),
        ):
            (entries,) = connection.execute("SELECT count(*) FROM effect WHERE verb = ?", (verb,)).fetchone()
            (effects,) = connection.execute(f"SELECT count(*) FROM {table} WHERE {condition}").fetchone()
            assert entries == effects, (verb, table)
    connection.close()


async def _finished(path: Path) -> None:
    _whole(path)
    shop = EmbeddedShop(path)
    try:
        assert (await shop.history(HistoryFilter(), limit=1)).total_count == 5 * ROUNDS
        (level,) = (await shop.get_stock(["AA-1"], warehouse="MAIN"))["AA-1"]
        assert level.on_hand == Decimal(60 - 2 * ROUNDS + ROUNDS)
        assert level.reserved == 0
        (balance,) = (await shop.list_receivables(party_id="K2")).parties
        assert balance.ageing.outstanding == (await shop.get_account("K2")).owed
    finally:
        shop.close()
