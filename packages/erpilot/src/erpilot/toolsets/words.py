"""Words for the codes in which tools describe what they would do: fields, titles, notices; in English and Chinese.

Invariant: plain data; a code without words is shown as it stands, never hidden.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Language = Literal["zh", "en"]


def title(code: str, lang: Language) -> str:
    """The heading of a preview."""
    return _one(TITLES, code, lang)


def field(code: str, lang: Language) -> str:
    """The name of a field or a measure; what follows a space in its code (a number, a currency) stays behind it."""
    base, _, rest = code.partition(" ")
    if base not in FIELDS or not rest:
        return _one(FIELDS, code, lang)
    return f"{_one(FIELDS, base, lang)} {rest}"


def notice(code: str, values: Mapping[str, str], lang: Language) -> str:
    """A sentence; for a code without words, the code and the values as they stand."""
    if code in NOTICES:
        try:
            return _one(NOTICES, code, lang).format_map(values)
        except KeyError:  # a newer program has more to say
            pass
    return " ".join([code, *(f"{name}={value}" for name, value in values.items())])


def how_to_check(tool: str, lang: Language) -> str | None:
    """Where to look whether a call of this tool took effect."""
    return _one(CHECKS, tool, lang) if tool in CHECKS else None


def _one(words: Mapping[str, tuple[str, str]], code: str, lang: Language) -> str:
    if code not in words:
        return code
    english, chinese = words[code]
    return chinese if lang == "zh" else english


TITLES: dict[str, tuple[str, str]] = {
    "new_quotation": ("New quotation", "新报价单"),
    "confirm_quotation": ("Turn into an order", "转成订单"),
    "new_order": ("New order", "新订单"),
    "change_draft": ("Change of a draft", "修改草稿"),
    "deliver_order": ("Delivery", "发货"),
    "cancel_order": ("Cancellation", "取消"),
    "return_order": ("Return of goods", "退货"),
    "record_payment": ("Payment received", "登记收款"),
    "refund": ("Refund", "退款"),
    "adjust_stock": ("Correction of stock", "库存调整"),
    "transfer_stock": ("Transfer between warehouses", "调拨"),
    "new_purchase": ("New purchase order", "新采购单"),
    "new_customer": ("New customer", "新客户"),
    "set_prices": ("Change of prices", "调价"),
    "undo_change": ("Take a change back", "撤销改动"),
    "apply_import": ("Import of a file", "导入文件"),
}

FIELDS: dict[str, tuple[str, str]] = {
    "customer": ("customer", "客户"),
    "supplier": ("supplier", "供应商"),
    "file": ("file", "文件"),
    "import_kind": ("holds", "内容"),
    "import_mode": ("quantities (set: what is on hand; add: what came)", "数量方式（set 为现有数，add 为增加数）"),
    "columns": ("columns", "列"),
    "rows": ("rows", "行数"),
    "rows_new": ("new", "新增"),
    "rows_changed": ("changed", "修改"),
    "rows_unchanged": ("the same already", "无变化"),
    "rows_left_out": ("left out because of errors", "有误未导入"),
    "sum_of": ("sum of", "合计"),
    "price_list": ("price list", "价目表"),
    "line": ("line", "明细"),
    "discount_percent": ("discount %", "折扣%"),
    "tax_included": ("tax (included)", "税额（已含）"),
    "tax_added": ("tax (added)", "税额（另加）"),
    "total": ("total", "合计"),
    "valid_until": ("valid until", "有效期至"),
    "note": ("note", "备注"),
    "state": ("state", "状态"),
    "qty": ("quantity", "数量"),
    "unit_price": ("unit price", "单价"),
    "amount": ("amount", "金额"),
    "price": ("price", "价格"),
    "promised": ("promised for", "承诺交期"),
    "expected": ("expected on", "预计到货"),
    "to_reserve": ("to be reserved", "将占用"),
    "reserved": ("reserved", "已占用"),
    "on_hand": ("on hand", "现有"),
    "difference": ("difference", "差异"),
    "value": ("value at cost", "按成本金额"),
    "leaves": ("leaves", "出库"),
    "still_open": ("still open", "未发"),
    "parcel": ("parcel", "物流"),
    "cancelled": ("cancelled", "已取消"),
    "comes_back": ("comes back", "退回"),
    "returned": ("returned", "已退"),
    "credit": ("credit", "贷项"),
    "credit_total": ("credit in all", "贷项合计"),
    "reason": ("reason", "原因"),
    "payment": ("payment", "收款"),
    "open": ("open", "未结"),
    "reference": ("reference", "流水号"),
    "again": ("another one, meant so", "确认再来一笔"),
    "source": ("source", "来源"),
    "refund": ("paid back", "退款额"),
    "method": ("method", "方式"),
    "moves": ("moves", "调拨数量"),
    "copied_from": ("copied from", "照抄自"),
    "name": ("name", "名称"),
    "short_names": ("short names", "简称"),
    "terms": ("terms (days)", "账期（天）"),
    "credit_limit": ("credit limit", "信用额度"),
    "contact": ("contact", "联系方式"),
    "city": ("city", "城市"),
    "prices_changed": ("prices that change", "改价条数"),
    "start": ("from", "生效日"),
    "rounding": ("rounded to", "取整到"),
    "takes_back": ("takes back", "撤销"),
}

NOTICES: dict[str, tuple[str, str]] = {
    "import_problem": ("Row {row} {column}: {problem}", "第 {row} 行 {column}：{problem_zh}"),
    "more_rows": (
        "{shown} of {count} rows that are new or change are shown.",
        "共有 {count} 行新增或修改，这里显示 {shown} 行。",
    ),
    "short": ("Short of {sku} {name}: {missing} missing, no date known.", "{sku} {name} 缺 {missing}，到货日期未知。"),
    "short_until": (
        "Short of {sku} {name}: {missing} missing, complete on {day}.",
        "{sku} {name} 缺 {missing}，{day} 可齐。",
    ),
    "below_minimum": ("{sku} {name}: less than the minimum of {minimum}.", "{sku} {name}：低于起订量 {minimum}。"),
    "concern_expired": ("The quotation was valid until {valid_until} only.", "报价单有效期到 {valid_until}，已过期。"),
    "concern_price_changed": (
        "{sku}: quoted at {quoted}, costs {current} now.",
        "{sku}：报价 {quoted}，现价 {current}。",
    ),
    "concern_short": ("Short of {sku}: {missing} cannot be reserved.", "{sku} 缺 {missing}，占用不了。"),
    "concern_credit": (
        "Past the credit limit of {limit}: {used} used, {total} more is {over} over.",
        "超出信用额度 {limit}：已用 {used}，再加 {total} 超 {over}。",
    ),
    "concern_overdue": ("{overdue} is overdue since {since}.", "逾期未付 {overdue}，最早 {since} 到期。"),
    "concern_discount": ("Past the discount limit of {limit}: {skus}.", "折扣超过上限 {limit}：{skus}。"),
    "concern_below_cost": ("Below cost: {skus}.", "低于成本：{skus}。"),
    "not_reserved": ("{sku}: only {reserved} is held for this order.", "{sku}：只为本单占用了 {reserved}。"),
    "was_paid": ("{paid} was paid already: the money needs a refund of its own.", "已收款 {paid}，需要另外退款。"),
    "linked": ("Linked documents: {numbers}.", "相关单据：{numbers}。"),
    "money_apart": (
        "This moves goods and makes a credit note; the money is paid back by a call of its own.",
        "这一步只退货并开贷项单，退款要另外批准。",
    ),
    "over_payment": ("More than is open: {credit} stays as a credit.", "多付的 {credit} 留作余额。"),
    "below_reserved": ("Less than the {reserved} that is reserved.", "低于已占用的 {reserved}。"),
    "stock_moved": (
        "The stock moved since the count: {then} then, {now} now.",
        "盘点后库存有变动：当时 {then}，现在 {now}。",
    ),
    "below_supplier_minimum": ("{sku}: {supplier} sells at least {minimum}.", "{sku}：{supplier} 起订 {minimum}。"),
    "cheaper_supplier": ("{sku}: {supplier} is cheaper, {price}.", "{sku}：{supplier} 更便宜，{price}。"),
    "similar_customers": ("Customers of nearly that name: {names}.", "名称相近的客户：{names}。"),
    "quotations_keep": ("Open quotations keep their prices.", "未成交的报价单价格不变。"),
    "below_cost": ("Below cost: {skus}.", "低于成本：{skus}。"),
    "more_changes": (
        "{shown} of {count} changes are shown; the others follow the same rule.",
        "共 {count} 项改动，列出 {shown} 项，其余同一规则。",
    ),
}

CHECKS: dict[str, tuple[str, str]] = {
    "create_quotation": (
        "Look for a quotation to this customer made at about that time; its lines must be those above.",
        "请查看这位客户在那个时间前后有没有新报价单，明细是否与上面一致。",
    ),
    "create_order": (
        "Look for an order of this customer made at about that time; its lines must be those above.",
        "请查看这位客户在那个时间前后有没有新订单，明细是否与上面一致。",
    ),
    "confirm_quotation": ("Look whether an order was made from this quotation.", "请查看这张报价单有没有转成订单。"),
    "update_draft": (
        "Look at the document: does it say what is above?",
        "请打开这张单据，看内容是否已经改成上面的样子。",
    ),
    "deliver_order": ("Look at the deliveries of this order.", "请查看这张订单的发货记录。"),
    "cancel_order": ("Look at the state of this document.", "请查看这张单据的状态。"),
    "return_order": (
        "Look for a return of this order made at about that time.",
        "请查看这张订单在那个时间前后有没有退货单。",
    ),
    "record_payment": (
        "Look for a payment of this customer, of this amount, at about that time.",
        "请查看这位客户在那个时间前后有没有这笔金额的收款。",
    ),
    "refund": ("Look whether this credit note or payment was paid out.", "请查看这张贷项单或收款有没有退出去。"),
    "adjust_stock": (
        "Look at the stock of this product in this warehouse, and at its history.",
        "请查看这个商品在这个仓库的库存和改动记录。",
    ),
    "transfer_stock": (
        "Look for a transfer between these warehouses at about that time.",
        "请查看这两个仓库在那个时间前后有没有调拨。",
    ),
    "create_purchase_order": (
        "Look for a purchase from this supplier made at about that time.",
        "请查看这家供应商在那个时间前后有没有新采购单。",
    ),
    "create_customer": ("Look for a customer of this name.", "请查找有没有这个名字的客户。"),
    "set_prices": ("Look at the prices of these products from that day on.", "请查看这些商品从那天起的价格。"),
    "undo_change": ("Look whether the record is as it was before.", "请查看这条记录是否已经恢复原样。"),
}
