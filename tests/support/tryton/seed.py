"""Fills an empty Tryton database with the example shop: the company, its books, its people, then goods and trade.

Invariant: everything goes through the server's own models and buttons, so the database is one that Tryton itself could
have come to; names, codes and numbers are those of the embedded example shop. Prices are without tax.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from erpilot.shop.errors import NeedsConfirmation
from erpilot.shop.seed.build import COMPANY
from erpilot.shop.seed.goods import Goods, load_goods
from erpilot.shop.seed.history import happen
from erpilot.shop.seed.parties import load_parties
from erpilot.shop.seed.trade import Trade
from erpilot.shop.tryton.rpc import Rpc

from . import seed_goods, seed_trade
from .people import PEOPLE, password

TAX_RATES = (Decimal("0.13"), Decimal("0.09"))
TERMS = (0, 15, 30, 45, 60)
CURRENCIES = (("CNY", "Renminbi", "¥", "156", "1"), ("USD", "US Dollar", "$", "840", "0.1408"))


@dataclass
class Books:
    """What the parts of the seed need of each other, by name: ids of records."""

    rpc: Rpc
    step: Callable[[str], None]
    trade: Trade
    goods: list[Goods]
    """Those that are taken over: the everyday ones, telephones and the like, and what was traded."""
    company: int = 0
    currency: dict[str, int] = field(default_factory=dict)
    account: dict[str, int] = field(default_factory=dict)
    tax: dict[Decimal, int] = field(default_factory=dict)
    term: dict[int, int] = field(default_factory=dict)
    warehouse: dict[str, int] = field(default_factory=dict)
    storage: dict[str, int] = field(default_factory=dict)
    price_list: dict[str, int] = field(default_factory=dict)
    party: dict[str, int] = field(default_factory=dict)
    address: dict[int, int] = field(default_factory=dict)
    product: dict[str, int] = field(default_factory=dict)
    unit: dict[tuple[str, str], int] = field(default_factory=dict)
    """By SKU and name."""

    async def create(self, model: str, records: list[dict[str, Any]]) -> list[int]:
        """New records; their ids."""
        ids: list[int] = []
        for at in range(0, len(records), 200):
            ids += await self.rpc.act(f"model.{model}.create", records[at : at + 200])
        return ids

    async def find(self, model: str, domain: list[Any], *fields: str) -> list[dict[str, Any]]:
        """Records that match."""
        return await self.rpc.search_read(model, domain, list(fields or ("id",)))

    async def one(self, model: str, *domain: Any) -> int:
        """The id of the only record that matches."""
        (row,) = await self.find(model, list(domain))
        return int(row["id"])

    async def press(self, model: str, button: str, ids: list[int]) -> None:
        """A button; what the server warns of is passed over."""
        while ids:
            try:
                await self.rpc.act(f"model.{model}.{button}", ids)
            except NeedsConfirmation as warning:
                await self.rpc.act("model.res.user.warning.skip", warning.token, False)
            else:
                return

    async def wizard(self, name: str, *steps: tuple[str, dict[str, Any]], **context: Any) -> None:
        """Goes through a wizard: (state, what is typed in before)."""
        session, _, _ = await self.rpc.act(f"wizard.{name}.create")
        data: dict[str, Any] = {}
        for state, typed in steps:
            data |= typed
            await self.rpc.act(f"wizard.{name}.execute", session, data, state, context=context)
        await self.rpc.act(f"wizard.{name}.delete", session)


async def fill(url: str, database: str, step: Callable[[str], None]) -> None:
    """Fills the database. The shop's day is today."""
    trade = Trade(load_goods(), load_parties(), dt.datetime.now(dt.UTC).date())
    happen(trade)
    async with Rpc(url, database, "admin", password("admin"), timeout=900) as rpc:
        orders = seed_trade.chosen(trade)
        traded = {line.sku for order in orders for line in order.lines}
        goods = [each for each in trade.goods if each.everyday or each.supplier == "S006" or each.product.sku in traded]
        books = Books(rpc, step, trade, goods)
        step("company and books")
        await _company(books)
        await _accounts(books)
        await _years(books)
        step("parties and goods")
        await seed_goods.parties(books)
        await seed_goods.goods(books)
        await seed_trade.happened(books, orders)
        step("people")
        await _people(books)


async def _company(books: Books) -> None:
    records = [
        {
            "name": name,
            "code": code,
            "symbol": symbol,
            "numeric_code": number,
            "digits": 2,
            "rounding": Decimal("0.01"),
            "rates": [("create", [{"date": dt.date(2020, 1, 1), "rate": Decimal(rate)}])],
        }
        for code, name, symbol, number, rate in CURRENCIES
    ]
    books.currency = dict(
        zip([each[0] for each in CURRENCIES], await books.create("currency.currency", records), strict=True)
    )
    (party,) = await books.create("party.party", [{"name": COMPANY.name, "code": "COMPANY"}])
    shop = {"party": party, "currency": books.currency[COMPANY.currency], "timezone": COMPANY.zone}
    (books.company,) = await books.create("company.company", [shop])
    await books.rpc.act(
        "model.res.user.write", [books.rpc.user_id], {"companies": [("add", [books.company])], "company": books.company}
    )
    books.rpc.context = await books.rpc.call("model.res.user.get_preferences", True)


async def _accounts(books: Books) -> None:
    root = await books.one("account.account.template", ("parent", "=", None))
    chosen = {"account": {"company": books.company, "account_template": root}}
    await books.wizard("account.create_chart", ("account", {}), ("create_account", chosen))
    for kind in ("receivable", "payable", "revenue", "expense"):
        domain = [(f"type.{kind}", "=", True), ("closed", "!=", True), ("company", "=", books.company)]
        books.account[kind] = (await books.find("account.account", domain))[0]["id"]
    books.account["cash"] = await books.one("account.account", ("company", "=", books.company), ("code", "=", "1.1.1"))
    properties = {
        "company": books.company,
        "account_receivable": books.account["receivable"],
        "account_payable": books.account["payable"],
        "category_account_expense": books.account["expense"],
        "category_account_revenue": books.account["revenue"],
    }
    await books.wizard("account.create_chart", ("create_properties", {**chosen, "properties": properties}))
    on_sales = await books.one("account.account", ("company", "=", books.company), ("code", "=", "6.3.4"))
    taxes = [
        {
            "name": f"增值税 {rate * 100:.0f}%",
            "description": f"增值税 {rate * 100:.0f}%",
            "company": books.company,
            "type": "percentage",
            "rate": rate,
            "invoice_account": on_sales,
            "credit_note_account": on_sales,
        }
        for rate in TAX_RATES
    ]
    books.tax = dict(zip(TAX_RATES, await books.create("account.tax", taxes), strict=True))
    terms = [
        {
            "name": f"{days} 天" if days else "现款",
            "lines": [("create", [{"type": "remainder", "relativedeltas": [("create", [{"days": days}])]}])],
        }
        for days in TERMS
    ]
    books.term = dict(zip(TERMS, await books.create("account.invoice.payment_term", terms), strict=True))
    exchange = {"currency_exchange_debit_account": books.account["expense"]}
    exchange |= {"currency_exchange_credit_account": books.account["revenue"]}
    (other, *_) = await books.find("account.journal", [("code", "=", "EXC")])
    # Rounded by line, as every line that is shown; invoices come with the goods.
    settings = {**exchange, "currency_exchange_journal": other["id"], "tax_rounding": "line"}
    await books.rpc.act("model.account.configuration.write", [1], settings)
    await books.rpc.act("model.sale.configuration.write", [1], {"sale_invoice_method": "fulfillment"})
    (journal, *_) = await books.find("account.journal", [("type", "=", "cash")])
    cash = books.account["cash"]
    method = {"name": "银行转账", "company": books.company, "journal": journal["id"]}
    await books.create("account.invoice.payment.method", [{**method, "credit_account": cash, "debit_account": cash}])


async def _years(books: Books) -> None:
    kinds = {row["name"]: row["id"] for row in await books.find("ir.sequence.type", [], "name")}
    this = books.trade.today.year
    for year in range(this - 2, this + 2):
        common = {"company": books.company, "padding": 4}
        moves, invoices, credit_notes = await books.create(
            "ir.sequence.strict",
            [
                {**common, "name": f"Move {year}", "sequence_type": kinds["Account Move"], "prefix": f"{year}/"},
                {**common, "name": f"Invoice {year}", "sequence_type": kinds["Invoice"], "prefix": f"INV-{year}-"},
                {**common, "name": f"Credit note {year}", "sequence_type": kinds["Invoice"], "prefix": f"CN-{year}-"},
            ],
        )
        numbers = {
            "company": books.company,
            "out_invoice_sequence": invoices,
            "in_invoice_sequence": invoices,
            "out_credit_note_sequence": credit_notes,
            "in_credit_note_sequence": credit_notes,
        }
        fiscal = {
            "name": str(year),
            "company": books.company,
            "start_date": dt.date(year, 1, 1),
            "end_date": dt.date(year, 12, 31),
            "move_sequence": moves,
            "invoice_sequences": [("create", [numbers])],
        }
        (made,) = await books.create("account.fiscalyear", [fiscal])
        await books.rpc.act("model.account.fiscalyear.create_period", [made])


async def _people(books: Books) -> None:
    groups = {row["name"]: row["id"] for row in await books.find("res.group", [], "name")}
    costs, viewers = await books.create("res.group", [{"name": "Costs"}, {"name": "Viewers"}])
    groups |= {"Costs": costs, "Viewers": viewers}
    await _keep_to(books, "product.product", "cost_price", [costs])
    working = [groups[name] for name in ("Sales", "Stock", "Purchase", "Accounting")]
    await _keep_to(books, "party.address", "attn", working)
    readable = ("sale.sale", "sale.line", "account.invoice", "stock.move", "stock.shipment.out", "product.price_list")
    nothing = {"perm_read": False, "perm_write": False, "perm_create": False, "perm_delete": False}
    rights = [{**nothing, "model": name, "group": viewers, "perm_read": True} for name in readable]
    rights.append({**nothing, "model": "ir.model.log", "group": None})
    for name in ("Accounting", "Sales Administrator"):
        rights.append({**nothing, "model": "ir.model.log", "group": groups[name], "perm_read": True})
    await books.create("ir.model.access", rights)
    company = {"companies": [("add", [books.company])], "company": books.company}
    await books.create(
        "res.user",
        [
            {
                "name": f"{login} (tests)",
                "login": login,
                "password": password(login),
                "groups": [("add", [groups[name] for name in (groups if names == "all" else names)])],
                **company,
            }
            for login, names in PEOPLE.items()
        ],
    )
    await books.rpc.act("model.res.user.write", [books.rpc.user_id], {"groups": [("add", [costs])]})


async def _keep_to(books: Books, model: str, field: str, groups: list[int]) -> None:
    """Lets only these groups read a field."""
    nobody = {"model": model, "field": field, "group": None, "perm_read": False, "perm_write": False}
    some = [{"model": model, "field": field, "group": each, "perm_read": True, "perm_write": True} for each in groups]
    await books.create("ir.model.field.access", [nobody, *some])
