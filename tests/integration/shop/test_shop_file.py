"""The file of the embedded shop: seeding, opening, refusing."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import pytest

from erpilot.shop.embedded import schema
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.shop.errors import DamagedShop, Invalid, ShopError, Unauthenticated, Unavailable
from erpilot.shop.open import open_shop
from erpilot.shop.rights import RIGHTS, ROLES
from erpilot.shop.seed.build import ensure_shop
from erpilot.shop.seed.goods import ean13, load_goods


def dump(path: Path) -> list[str]:
    with sqlite3.connect(path) as connection:
        lines = [line for line in connection.iterdump() if "sqlite_stat" not in line]
    connection.close()
    return lines


def count(path: Path, query: str) -> int:
    connection = sqlite3.connect(path)
    try:
        (value,) = connection.execute(query).fetchone()
        return int(value)
    finally:
        connection.close()


def test_two_seedings_have_the_same_content(seeded: Path, tmp_path: Path) -> None:
    ensure_shop(tmp_path / "again.db", None)
    assert dump(tmp_path / "again.db") == dump(seeded)


def test_another_day_moves_every_date_and_nothing_else(seeded: Path, tmp_path: Path) -> None:
    ensure_shop(tmp_path / "later.db", date(2027, 3, 10))
    today = "(SELECT value FROM meta WHERE key = 'today')"
    dates = f"SELECT group_concat(julianday(date) - julianday({today}), ',') FROM document"
    rest = "SELECT group_concat(number || state || total || party_id, ',') FROM document"
    for query in (dates, rest):
        found = []
        for path in (seeded, tmp_path / "later.db"):
            connection = sqlite3.connect(path)
            found.append(connection.execute(query).fetchone())
            connection.close()
        assert found[0] == found[1]


def test_the_shop_is_as_large_and_as_varied_as_it_says(seeded: Path) -> None:
    assert count(seeded, "SELECT count(*) FROM product") > 400
    assert count(seeded, "SELECT count(DISTINCT category) FROM product") > 20
    assert count(seeded, "SELECT count(*) FROM document") > 350
    assert count(seeded, "SELECT count(*) FROM warehouse") == 2
    assert count(seeded, "SELECT count(DISTINCT state) FROM document WHERE kind = 'sale'") == 5
    assert count(seeded, "SELECT count(DISTINCT state) FROM document WHERE kind = 'purchase'") == 5
    assert count(seeded, "SELECT count(*) FROM document WHERE shipped = 'partial'") > 5
    assert count(seeded, "SELECT count(*) FROM document WHERE kind = 'return'") > 5
    assert count(seeded, "SELECT count(DISTINCT currency) FROM document") == 2


def test_the_ledger_never_ran_below_zero_and_nothing_is_reserved_that_is_not_there(seeded: Path) -> None:
    running = (
        "SELECT count(*) FROM (SELECT sum(qty) OVER (PARTITION BY product_id, warehouse ORDER BY at, id) AS level "
        "FROM move) WHERE level < 0"
    )
    assert count(seeded, running) == 0
    over = (
        "SELECT count(*) FROM (SELECT product_id, warehouse, sum(qty) AS held FROM reservation GROUP BY 1, 2) r "
        "WHERE held > (SELECT sum(qty) FROM move m WHERE m.product_id = r.product_id AND m.warehouse = r.warehouse)"
    )
    assert count(seeded, over) == 0


def test_every_delivery_of_a_document_is_in_the_ledger(seeded: Path) -> None:
    moved = (
        "SELECT count(*) FROM document d WHERE d.kind IN ('sale', 'purchase') AND "
        "(SELECT coalesce(sum(l.delivered * CAST(l.factor AS INTEGER)), 0) FROM line l WHERE l.document_id = d.id) <> "
        "(SELECT coalesce(sum(abs(m.qty)), 0) FROM move m WHERE m.document = d.number)"
    )
    assert count(seeded, moved) == 0


def test_totals_of_documents_are_those_of_their_lines(seeded: Path) -> None:
    wrong = (
        "SELECT count(*) FROM document d WHERE d.total <> (SELECT sum(amount) + CASE d.tax_included WHEN 1 THEN 0 "
        "ELSE sum(tax) END FROM line l WHERE l.document_id = d.id)"
    )
    assert count(seeded, wrong) == 0


def test_nothing_that_happened_is_dated_after_the_shops_day(seeded: Path) -> None:
    for table in ("document", "delivery", "payment"):
        assert count(seeded, f"SELECT count(*) FROM {table} WHERE date > '2026-11-30'") == 0


def test_no_number_is_stored_as_floating_point(seeded: Path) -> None:
    connection = sqlite3.connect(seeded)
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in (name for name in tables if not name.startswith("sqlite_")):
        for row in connection.execute(f"SELECT * FROM {table}"):
            assert not any(isinstance(value, float) for value in row), (table, row)
    connection.close()


def test_barcodes_are_valid_chinese_and_unique() -> None:
    barcodes = [unit.barcode for goods in load_goods() for unit in goods.product.units]
    assert len(barcodes) == len(set(barcodes))
    for code in barcodes:
        assert code is not None
        assert len(code) == 13
        assert 690 <= int(code[:3]) <= 699
        assert sum(int(digit) * (3 if at % 2 else 1) for at, digit in enumerate(code)) % 10 == 0
    assert ean13(1) != ean13(2)


def test_an_existing_shop_opens_at_once(seeded: Path) -> None:
    best = 1.0
    for _ in range(5):
        start = time.perf_counter()
        EmbeddedShop(seeded).close()
        best = min(best, time.perf_counter() - start)
    assert best < 0.05


def test_a_write_is_on_disk_before_it_is_acknowledged(seeded: Path) -> None:
    assert count(seeded, "SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'") == 1
    from erpilot.shop.embedded.database import connect

    connection = connect(seeded)
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    connection.close()


@pytest.mark.parametrize("content", [b"", b"not a database at all " * 100, b"SQLite format 3\x00" + b"\xff" * 4096])
def test_a_file_that_is_no_shop_is_refused_in_one_sentence_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "shop.db"
    path.write_bytes(content)
    with pytest.raises(DamagedShop) as refusal:
        open_shop(tmp_path)
    assert str(path) in refusal.value.message
    assert refusal.value.message.count(".") <= 3
    assert "Traceback" not in refusal.value.message
    assert path.read_bytes() == content


def test_a_shop_of_a_newer_version_is_refused_and_left_alone(seeded: Path, tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    path.write_bytes(seeded.read_bytes())
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    connection.close()
    before = dump(path)
    with pytest.raises(DamagedShop, match="newer Erpilot") as refusal:
        open_shop(tmp_path)
    assert refusal.value.hint == "Update Erpilot."
    assert dump(path) == before


async def _order_123(path: Path) -> None:
    shop = EmbeddedShop(path)
    try:
        await shop.get_order("123")
    finally:
        shop.close()


def test_damage_found_while_reading_is_said_in_one_sentence(seeded: Path, tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    content = bytearray(seeded.read_bytes())
    content[8192 : len(content) - 4096] = b"\xa5" * (len(content) - 12288)
    path.write_bytes(content)
    with pytest.raises(ShopError, match="is damaged"):
        asyncio.run(_order_123(path))


def test_a_folder_that_cannot_be_made_is_said_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Unavailable, match="cannot be made"):
        open_shop(tmp_path / "file" / "home")


SEED = "import sys, pathlib; from erpilot.shop.open import open_shop; open_shop(pathlib.Path(sys.argv[1])).close()"


def test_processes_that_seed_at_once_all_get_the_same_shop(seeded: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    running = [subprocess.Popen([sys.executable, "-c", SEED, str(home)]) for _ in range(3)]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert [path.name for path in home.iterdir()] == ["shop.db"]
    assert dump(home / "shop.db") == dump(seeded)


def test_a_seeding_that_was_killed_leaves_no_shop_and_the_next_one_makes_it(seeded: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    process = subprocess.Popen([sys.executable, "-c", SEED, str(home)])
    deadline = time.monotonic() + 30
    while not list(home.glob(".shop.db.*.new")) and time.monotonic() < deadline:
        time.sleep(0.002)
    process.kill()
    process.wait(30)
    assert not (home / "shop.db").exists()
    left = list(home.glob(".shop.db.*.new*"))
    assert left
    for each in left:
        os.utime(each, (0, 0))
    open_shop(home).close()
    assert [path.name for path in home.iterdir()] == ["shop.db"]
    assert dump(home / "shop.db") == dump(seeded)


def test_the_day_comes_from_the_argument_then_the_environment_then_the_file(
    seeded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop.db").write_bytes(seeded.read_bytes())

    def day(today: date | None = None) -> date:
        shop = open_shop(tmp_path, today)
        try:
            return shop.now().date()
        finally:
            shop.close()

    monkeypatch.delenv("ERPILOT_TODAY", raising=False)
    assert day() == date(2026, 11, 30)
    monkeypatch.setenv("ERPILOT_TODAY", "2026-12-24")
    assert day() == date(2026, 12, 24)
    assert day(date(2027, 1, 1)) == date(2027, 1, 1)
    monkeypatch.setenv("ERPILOT_TODAY", "tomorrow")
    with pytest.raises(Invalid, match="'tomorrow', which is not a date"):
        open_shop(tmp_path)


def test_the_shop_is_opened_as_a_person_with_the_rights_of_their_roles(
    seeded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop.db").write_bytes(seeded.read_bytes())

    def rights(person: str | None = None) -> frozenset[str]:
        shop = open_shop(tmp_path, person=person)
        try:
            return asyncio.run(shop.whoami()).rights
        finally:
            shop.close()

    monkeypatch.delenv("ERPILOT_PERSON", raising=False)
    assert rights() == frozenset(RIGHTS)
    assert rights("li") == ROLES["warehouse"]
    monkeypatch.setenv("ERPILOT_PERSON", "chen")
    assert rights() == ROLES["clerk"]
    with pytest.raises(Unauthenticated, match="'nobody' does not work in this shop") as caught:
        open_shop(tmp_path, person="nobody")
    assert "chen" in (caught.value.hint or "")


MAKE = """
import asyncio, pathlib, sys
from decimal import Decimal
from erpilot.shop.backend import LineWanted, QuotationDraft, Write
from erpilot.shop.embedded.shop import EmbeddedShop
from erpilot.shop.values import Quantity

async def main():
    shop = EmbeddedShop(pathlib.Path(sys.argv[1]))
    draft = QuotationDraft("C001", (LineWanted("PA4-70", Quantity(Decimal(3), "箱")),), Decimal(0), 7)
    for number in range(10):
        written = await shop.create_quotation(draft, write=Write(f"key-{number}", None))
        print(written.order.head.number, written.repeated)
    shop.close()

asyncio.run(main())
"""


def test_processes_that_repeat_each_others_keys_make_each_document_once(seeded: Path, tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    path.write_bytes(seeded.read_bytes())
    before = count(path, "SELECT count(*) FROM document")
    running = [
        subprocess.Popen([sys.executable, "-c", MAKE, str(path)], stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    said = [process.communicate(timeout=60)[0].splitlines() for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    assert count(path, "SELECT count(*) FROM document") == before + 10
    assert {len(lines) for lines in said} == {10}
    for lines in zip(*said, strict=True):
        assert len({line.split()[0] for line in lines}) == 1
        assert sorted(line.split()[1] for line in lines) == ["False", "True", "True"]
