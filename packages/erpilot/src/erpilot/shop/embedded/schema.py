"""The tables of the embedded shop, and the check that a file is one.

Invariant: amounts are integers of the smallest unit of their currency, quantities integers of a thousandth of their
unit, prices and rates decimal text: no floating point anywhere. Stock is only the sum of the ledger's moves. The
ledger and the history are only added to: triggers refuse the rest. A file of another version is refused, never touched.

``line``: ``amount`` and ``tax`` are of what was ordered; ``sold`` (base units), ``gross``, ``net`` and ``cost`` of what
was not cancelled, so that a report is a plain sum. ``settlement``: a part of a payment or of a credit note that settles
an invoice, or (``payment`` going out) pays a credit note. ``lines_before``: the rows of a draft before a change.
"""

from __future__ import annotations

import sqlite3
from decimal import Decimal

from ..errors import DamagedShop

APPLICATION_ID = 0x45525053
VERSION = 4
SCALE = 1000

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE counter (series TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE person (name TEXT PRIMARY KEY, roles TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE warehouse (code TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, position INTEGER NOT NULL);
CREATE TABLE product (
  id INTEGER PRIMARY KEY, sku TEXT NOT NULL UNIQUE COLLATE NOCASE, name TEXT NOT NULL, specification TEXT NOT NULL,
  category TEXT NOT NULL, tax_rate TEXT NOT NULL, list_price TEXT NOT NULL, currency TEXT NOT NULL,
  min_order INTEGER NOT NULL CHECK (min_order > 0), cost TEXT, active INTEGER NOT NULL, aliases TEXT NOT NULL,
  version INTEGER NOT NULL DEFAULT 1, stocked INTEGER NOT NULL DEFAULT 1);
CREATE INDEX product_category ON product (category);
CREATE TABLE unit (
  product_id INTEGER NOT NULL REFERENCES product, position INTEGER NOT NULL, name TEXT NOT NULL, factor TEXT NOT NULL,
  barcode TEXT UNIQUE, whole INTEGER NOT NULL,
  PRIMARY KEY (product_id, position), UNIQUE (product_id, name)) WITHOUT ROWID;
CREATE TABLE price_list (
  code TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, currency TEXT NOT NULL, tax_included INTEGER NOT NULL,
  taxed INTEGER NOT NULL, aliases TEXT NOT NULL, position INTEGER NOT NULL);
CREATE TABLE price (
  product_id INTEGER NOT NULL REFERENCES product, list TEXT NOT NULL REFERENCES price_list, valid_from TEXT NOT NULL,
  from_qty INTEGER NOT NULL, price TEXT NOT NULL, valid_until TEXT NOT NULL,
  PRIMARY KEY (product_id, list, valid_from, from_qty)) WITHOUT ROWID;
CREATE TABLE party (
  id TEXT PRIMARY KEY COLLATE NOCASE, role TEXT NOT NULL CHECK (role IN ('customer', 'supplier')), name TEXT NOT NULL,
  short_names TEXT NOT NULL, price_list TEXT NOT NULL REFERENCES price_list, currency TEXT NOT NULL,
  terms INTEGER NOT NULL, credit_limit INTEGER, contact TEXT, city TEXT, version INTEGER NOT NULL DEFAULT 1);
CREATE TABLE document (
  id INTEGER PRIMARY KEY, number TEXT NOT NULL UNIQUE, serial INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('quotation', 'sale', 'purchase', 'return')),
  party_id TEXT NOT NULL REFERENCES party, date TEXT NOT NULL, promised TEXT, valid_until TEXT,
  state TEXT NOT NULL CHECK (state IN ('draft', 'quoted', 'confirmed', 'in_progress', 'done', 'cancelled')),
  shipped TEXT NOT NULL, invoiced TEXT NOT NULL, currency TEXT NOT NULL, tax_included INTEGER NOT NULL,
  total INTEGER NOT NULL, warehouse TEXT NOT NULL REFERENCES warehouse, source TEXT, note TEXT,
  version INTEGER NOT NULL DEFAULT 1, created_by TEXT, created_at TEXT);
CREATE INDEX document_serial ON document (serial, kind);
CREATE INDEX document_date ON document (date, id);
CREATE INDEX document_party ON document (party_id, date);
CREATE INDEX document_open ON document (kind, state, promised);
CREATE INDEX document_kind ON document (kind, currency, total);
CREATE INDEX document_source ON document (source) WHERE source IS NOT NULL;
CREATE TABLE line (
  document_id INTEGER NOT NULL REFERENCES document, line INTEGER NOT NULL,
  product_id INTEGER NOT NULL REFERENCES product,
  name TEXT NOT NULL, specification TEXT NOT NULL, unit TEXT NOT NULL, factor TEXT NOT NULL, base_unit TEXT NOT NULL,
  ordered INTEGER NOT NULL CHECK (ordered > 0), delivered INTEGER NOT NULL DEFAULT 0 CHECK (delivered >= 0),
  returned INTEGER NOT NULL DEFAULT 0, cancelled INTEGER NOT NULL DEFAULT 0 CHECK (cancelled >= 0),
  invoiced INTEGER NOT NULL DEFAULT 0, unit_price TEXT NOT NULL, price_origin TEXT NOT NULL, discount TEXT NOT NULL,
  tax_rate TEXT NOT NULL, amount INTEGER NOT NULL, tax INTEGER NOT NULL,
  sold INTEGER NOT NULL, gross INTEGER NOT NULL, net INTEGER NOT NULL, cost INTEGER, PRIMARY KEY (document_id, line),
  CHECK (delivered + cancelled <= ordered), CHECK (returned BETWEEN 0 AND delivered)) WITHOUT ROWID;
CREATE INDEX line_product ON line (product_id, document_id);
CREATE INDEX line_open ON line (product_id, document_id) WHERE ordered > delivered + cancelled;
CREATE TABLE reservation (
  document_id INTEGER NOT NULL, line INTEGER NOT NULL, product_id INTEGER NOT NULL, warehouse TEXT NOT NULL,
  qty INTEGER NOT NULL CHECK (qty > 0), PRIMARY KEY (document_id, line)) WITHOUT ROWID;
CREATE INDEX reservation_product ON reservation (product_id, warehouse, qty);
CREATE TABLE move (
  id INTEGER PRIMARY KEY, product_id INTEGER NOT NULL, warehouse TEXT NOT NULL REFERENCES warehouse,
  qty INTEGER NOT NULL CHECK (qty <> 0), reason TEXT NOT NULL, document TEXT, at TEXT NOT NULL, by TEXT);
CREATE INDEX move_product ON move (product_id, warehouse, qty);
CREATE TABLE delivery (
  id INTEGER PRIMARY KEY, number TEXT NOT NULL UNIQUE, document_id INTEGER NOT NULL REFERENCES document,
  date TEXT NOT NULL, state TEXT NOT NULL, warehouse TEXT NOT NULL, carrier TEXT, tracking TEXT);
CREATE INDEX delivery_document ON delivery (document_id);
CREATE TABLE delivery_line (
  delivery_id INTEGER NOT NULL REFERENCES delivery, position INTEGER NOT NULL, product_id INTEGER NOT NULL,
  qty INTEGER NOT NULL, unit TEXT NOT NULL, PRIMARY KEY (delivery_id, position)) WITHOUT ROWID;
CREATE TABLE invoice (
  id INTEGER PRIMARY KEY, number TEXT NOT NULL UNIQUE, kind TEXT NOT NULL CHECK (kind IN ('invoice', 'credit_note')),
  role TEXT NOT NULL CHECK (role IN ('customer', 'supplier')), document_id INTEGER REFERENCES document,
  party_id TEXT NOT NULL REFERENCES party, date TEXT NOT NULL, due TEXT NOT NULL, currency TEXT NOT NULL,
  total INTEGER NOT NULL CHECK (total > 0), version INTEGER NOT NULL DEFAULT 1);
CREATE INDEX invoice_party ON invoice (party_id, due);
CREATE INDEX invoice_document ON invoice (document_id);
CREATE TABLE payment (
  number TEXT PRIMARY KEY, party_id TEXT NOT NULL REFERENCES party, document_id INTEGER REFERENCES document,
  direction TEXT NOT NULL CHECK (direction IN ('in', 'out')), date TEXT NOT NULL, method TEXT NOT NULL,
  amount INTEGER NOT NULL CHECK (amount > 0), currency TEXT NOT NULL, reference TEXT, source TEXT) WITHOUT ROWID;
CREATE INDEX payment_document ON payment (document_id);
CREATE INDEX payment_party ON payment (party_id, date);
CREATE INDEX payment_source ON payment (source) WHERE source IS NOT NULL;
CREATE TABLE settlement (
  id INTEGER PRIMARY KEY, invoice_id INTEGER NOT NULL REFERENCES invoice, payment TEXT REFERENCES payment,
  credit_id INTEGER REFERENCES invoice, amount INTEGER NOT NULL CHECK (amount > 0), date TEXT NOT NULL,
  CHECK ((payment IS NULL) <> (credit_id IS NULL)));
CREATE INDEX settlement_invoice ON settlement (invoice_id, amount, date);
CREATE INDEX settlement_payment ON settlement (payment) WHERE payment IS NOT NULL;
CREATE INDEX settlement_credit ON settlement (credit_id) WHERE credit_id IS NOT NULL;
CREATE TABLE offer (
  product_id INTEGER NOT NULL REFERENCES product, supplier TEXT NOT NULL REFERENCES party, unit TEXT NOT NULL,
  price TEXT NOT NULL, currency TEXT NOT NULL, min_qty INTEGER NOT NULL, pack INTEGER NOT NULL,
  lead_days INTEGER NOT NULL, PRIMARY KEY (product_id, supplier)) WITHOUT ROWID;
CREATE INDEX offer_supplier ON offer (supplier);
CREATE TABLE effect (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, verb TEXT NOT NULL, digest TEXT NOT NULL, number TEXT NOT NULL,
  linked TEXT NOT NULL, is_document INTEGER NOT NULL, undoable INTEGER NOT NULL, undoes TEXT UNIQUE, at TEXT NOT NULL,
  by TEXT, approved_by TEXT, reason TEXT);
CREATE INDEX effect_number ON effect (number);
CREATE TABLE change (
  effect_id INTEGER NOT NULL REFERENCES effect, position INTEGER NOT NULL, about TEXT NOT NULL, subject TEXT NOT NULL,
  field TEXT NOT NULL, before TEXT, after TEXT, PRIMARY KEY (effect_id, position)) WITHOUT ROWID;
CREATE INDEX change_about ON change (about, effect_id);
CREATE TABLE lines_before (key TEXT PRIMARY KEY, lines TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE link (number TEXT NOT NULL, effect_id INTEGER NOT NULL, PRIMARY KEY (number, effect_id)) WITHOUT ROWID;
CREATE TABLE gram (
  kind TEXT NOT NULL, gram TEXT NOT NULL, ref TEXT NOT NULL, PRIMARY KEY (kind, gram, ref)) WITHOUT ROWID;
"""
_KEPT = "".join(
    f"CREATE TRIGGER {table}_{act} BEFORE {act} ON {table} BEGIN "
    f"SELECT RAISE(ABORT, '{table} is only added to'); END;\n"
    for table in ("move", "effect", "change", "link")
    for act in ("UPDATE", "DELETE")
)


def create(connection: sqlite3.Connection) -> None:
    """Makes the tables in an empty file."""
    connection.executescript(
        f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};\n{_TABLES}{_KEPT}"
    )


def check(connection: sqlite3.Connection, path: str) -> None:
    """Raises ``DamagedShop`` unless the file is a shop of this version."""
    try:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION_ID:
            raise DamagedShop(
                f"The file {path} is not a shop of Erpilot.", hint="Move it away to start with a new shop."
            )
        if version > VERSION:
            raise DamagedShop(
                f"The shop in {path} was written by a newer Erpilot (version {version}, this one knows {VERSION}).",
                hint="Update Erpilot.",
            )
        if version < VERSION:
            raise DamagedShop(
                f"The shop in {path} was made by an older Erpilot (version {version}, this one knows {VERSION}).",
                hint="Move it away to start with a new shop.",
            )
        connection.execute("SELECT value FROM meta WHERE key = 'today'").fetchone()[0]
    except (sqlite3.DatabaseError, TypeError) as error:
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            raise
        raise damaged(path) from None


def damaged(path: str) -> DamagedShop:
    """The error for a file that SQLite cannot read as a shop."""
    return DamagedShop(f"The shop in {path} is damaged.", hint="Restore it from a copy, or move it away to start anew.")


def stored(quantity: Decimal) -> int:
    """A quantity as it is kept: thousandths."""
    return int(quantity * SCALE)


def quantity(value: int) -> Decimal:
    """The inverse of ``stored``, without trailing zeros."""
    whole, rest = divmod(value, SCALE)
    return Decimal(whole) if rest == 0 else Decimal(value) / SCALE
