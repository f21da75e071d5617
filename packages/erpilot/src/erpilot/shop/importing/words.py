"""Words for what is wrong with a file and for the fields of its columns, in English and Chinese, as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Language = Literal["zh", "en"]


def sentence(code: str, values: Mapping[str, str], lang: Language) -> str:
    """What a problem says to a person."""
    english, chinese = PROBLEMS[code]
    return (chinese if lang == "zh" else english).format_map(values)


def field_name(code: str, lang: Language) -> str:
    """A field of a record."""
    english, chinese = FIELDS[code]
    return chinese if lang == "zh" else english


def kind_name(code: str, lang: Language) -> str:
    """What kind of records a file holds."""
    english, chinese = KINDS[code]
    return chinese if lang == "zh" else english


KINDS: dict[str, tuple[str, str]] = {
    "products": ("products", "商品"),
    "customers": ("customers", "客户"),
    "suppliers": ("suppliers", "供应商"),
    "stock": ("stock counts", "盘点库存"),
    "prices": ("prices", "价目表"),
    "orders": ("past orders", "历史订单"),
    "order_heads": ("past orders without lines", "历史订单（无明细）"),
    "order_lines": ("lines of past orders", "历史订单明细"),
}

FIELDS: dict[str, tuple[str, str]] = {
    "sku": ("code", "编码"),
    "barcode": ("barcode", "条码"),
    "name": ("name", "名称"),
    "specification": ("specification", "规格"),
    "category": ("category", "类别"),
    "unit": ("unit", "单位"),
    "pack_unit": ("pack unit", "大单位"),
    "pack_factor": ("units per pack", "装箱数"),
    "tax_rate": ("tax rate", "税率"),
    "list_price": ("list price", "零售价"),
    "cost": ("cost", "成本价"),
    "min_order": ("minimum order", "起订量"),
    "active": ("on sale", "在售"),
    "discontinued": ("discontinued", "停售"),
    "on_hand": ("quantity", "数量"),
    "warehouse": ("warehouse", "仓库"),
    "id": ("id", "编号"),
    "short_name": ("short name", "简称"),
    "contact": ("contact", "联系人"),
    "phone": ("phone", "电话"),
    "city": ("city", "城市"),
    "price_list": ("price list", "价目表"),
    "terms": ("payment days", "账期"),
    "credit_limit": ("credit limit", "信用额度"),
    "price": ("price", "价格"),
    "from_qty": ("from quantity", "起始数量"),
    "start": ("valid from", "生效日期"),
    "number": ("order number", "订单号"),
    "date": ("date", "日期"),
    "customer": ("customer", "客户"),
    "quantity": ("quantity", "数量"),
    "unit_price": ("unit price", "单价"),
    "discount": ("discount", "折扣"),
}

PROBLEMS: dict[str, tuple[str, str]] = {
    # --- the file
    "file_too_large": ("The file has {size}; at most {limit} can be read.", "文件有 {size}，最多只能读取 {limit}。"),
    "file_unreadable": ("The file {name} cannot be read: {why}.", "无法读取文件 {name}：{why}。"),
    "file_empty": ("The file is empty.", "文件是空的。"),
    "old_workbook": (
        "The file is of the old format .xls. Save it as .xlsx.",
        "文件是旧版 .xls 格式。请另存为 .xlsx。",
    ),
    "protected": (
        "The file is protected by a password. Save it as .xlsx without one.",
        "文件加了密码。请另存为不加密的 .xlsx。",
    ),
    "other_workbook": (
        "The file is a workbook of another kind (ODS or XLSB). Save it as .xlsx.",
        "文件是其他类型的工作簿（ODS 或 XLSB）。请另存为 .xlsx。",
    ),
    "other_kind": (
        "The file is {kind}, not a spreadsheet. Save the table as .xlsx or .csv.",
        "文件是 {kind}，不是电子表格。请把表格另存为 .xlsx 或 .csv。",
    ),
    "not_a_workbook": ("The file is no readable workbook: {why}.", "文件不是可读取的工作簿：{why}。"),
    "no_sheet": ("The workbook shows no sheet.", "工作簿里没有可见的工作表。"),
    "too_many_parts": ("The workbook has too many parts.", "工作簿的组成部分过多。"),
    "too_many_sheets": (
        "The workbook has {sheets} sheets; at most {limit} are looked through.",
        "工作簿有 {sheets} 张工作表，最多 {limit} 张。",
    ),
    "unpacks_too_large": (
        "The workbook unpacks to more than {limit}; that is no spreadsheet of a shop.",
        "工作簿解压后超过 {limit}，不像店铺的表格。",
    ),
    "too_many_rows": ("The sheet has {rows} rows; at most {limit} can be read.", "表格有 {rows} 行，最多 {limit} 行。"),
    "too_many_columns": (
        "The sheet has {columns} columns; at most {limit} can be read.",
        "表格有 {columns} 列，最多 {limit} 列。",
    ),
    "too_many_cells": (
        "The sheet reaches over more than {limit} cells. Delete the empty rows and columns at its end.",
        "表格范围超过 {limit} 个单元格。请删除末尾的空行空列。",
    ),
    "unclear_encoding": (
        "The encoding of the text is not clear. Save it as UTF-8, or name it: --encoding cp1252, gb18030, big5.",
        "无法确定文本的编码。请另存为 UTF-8，或指定编码：--encoding cp1252、gb18030、big5。",
    ),
    "no_such_encoding": ("There is no encoding {encoding}.", "没有编码 {encoding}。"),
    "wrong_encoding": (
        "The text is not in {encoding}. Name its encoding, or save it as UTF-8.",
        "文本不是 {encoding} 编码。请指定编码，或另存为 UTF-8。",
    ),
    "not_a_table": ("The file is no table of text.", "文件不是文本表格。"),
    "not_a_table_why": ("The file is no table of text: {why}.", "文件不是文本表格：{why}。"),
    "no_headings": (
        "No row of headings was found. A sheet needs headings such as: {examples}.",
        "没有找到标题行。表格需要有标题，例如：{examples}。",
    ),
    "no_such_sheet": ("There is no sheet {name}. There are: {known}.", "没有工作表 {name}。有：{known}。"),
    "which_sheet": (
        "Several sheets could be meant: {known}. Name one.",
        "有多张工作表都可以导入：{known}。请指定一张。",
    ),
    "heading_twice": (
        "The columns {first} and {column} are both taken for {field}; {column} is left out.",
        "{first} 列和 {column} 列都是{field}，{column} 列不导入。",
    ),
    "column_missing": ("There is no column for {field}.", "缺少{field}列。"),
    "no_such_column": ("There is no column {name} in the mapping's sheet.", "表格里没有 {name} 列。"),
    "no_such_field": ("There is no field {name}. There are: {known}.", "没有字段 {name}。有：{known}。"),
    # --- a cell
    "missing": ("{field} is missing.", "缺少{field}。"),
    "not_a_number": ("{text} is no number.", "{text} 不是数字。"),
    "not_an_amount": ("{text} is no amount of money.", "{text} 不是金额。"),
    "other_currency": (
        "{text} is an amount in {other}; {currency} is expected.",
        "{text} 是 {other} 金额，这里应为 {currency}。",
    ),
    "decimal_comma": (
        "{text} can be two numbers; write it as 1234.50.",
        "{text} 可能是两个数，请写成 1234.50。",
    ),
    "discount_two_meanings": (
        "{text} can be what is taken off or what is left; write it as 5% or 9.5折.",
        "{text} 可能是减去的部分，也可能是剩下的部分，请写成 5% 或 9.5折。",
    ),
    "formula_error": ("{text} is an error of the spreadsheet.", "{text} 是表格里的公式错误。"),
    "formula_without_value": (
        "The formula has no stored result. Open the file in a spreadsheet, save it, and import it again.",
        "公式没有保存结果。请用表格软件打开并保存文件后再导入。",
    ),
    "cell_too_many": (
        "The row has more cells than there are headings, from {text} on; a comma within a number splits it.",
        "该行的单元格比标题多（从 {text} 起），数字里的逗号会把它拆开。",
    ),
    "zero": ("{field} is zero.", "{field}为零。"),
    "not_a_rate": ("{text} is no rate.", "{text} 不是税率或比例。"),
    "not_yes_or_no": ("{text} is neither yes nor no.", "{text} 不是“是”或“否”。"),
    "not_a_date": ("{text} is no date.", "{text} 不是日期。"),
    "date_two_meanings": (
        "{text} can be two dates; write it as 2026-11-30.",
        "{text} 可能是两个日期，请写成 2026-11-30。",
    ),
    "code_lost_digits": (
        "{text} has lost digits in the spreadsheet; format the column as text and type the code again.",
        "{text} 在表格里已丢失位数，请把该列设为文本后重新输入。",
    ),
    "negative": ("{field} {text} is below zero.", "{field} {text} 小于零。"),
    "too_long": ("{field} has more than {limit} characters.", "{field}超过 {limit} 个字符。"),
    "too_precise": ("{field} {text} has more than {digits} decimal places.", "{field} {text} 的小数超过 {digits} 位。"),
    "too_much": ("{field} {text} is too much to be meant.", "{field} {text} 过大。"),
    # --- a row
    "duplicate": ("{key} stands in row {first} already.", "{key} 在第 {first} 行已经出现。"),
    "same_barcode": ("The barcode {text} is that of {other}.", "条码 {text} 已属于 {other}。"),
    "unknown_product": ("There is no product {text}.{nearest}", "没有商品 {text}。{nearest}"),
    "unknown_customer": ("There is no customer {text}.{nearest}", "没有客户 {text}。{nearest}"),
    "unknown_warehouse": ("There is no warehouse {text}. There are: {known}.", "没有仓库 {text}。有：{known}。"),
    "unknown_price_list": ("There is no price list {text}. There are: {known}.", "没有价目表 {text}。有：{known}。"),
    "unknown_unit": ("{sku} has no unit {text}. It has: {known}.", "{sku} 没有单位 {text}。有：{known}。"),
    "not_whole": ("{sku} is not kept in parts of a {unit}: {text}.", "{sku} 不能有零散的{unit}：{text}。"),
    "far_off": (
        "{field} {after} is far from {before}, as it is now.",
        "{field} {after} 与现在的 {before} 相差很大。",
    ),
    "below_cost": ("The price {text} is below the cost.", "价格 {text} 低于成本。"),
    "past_start": ("The start {text} is past.", "生效日期 {text} 已过。"),
    "order_exists": ("The order {text} exists already.", "订单 {text} 已经存在。"),
    "order_differs": (
        "The order {text} has another {field} in row {first}.",
        "订单 {text} 的{field}与第 {first} 行不同。",
    ),
    "unit_differs": (
        "{sku} is kept in {known}; the unit {text} of the file cannot replace it.",
        "{sku} 以{known}为单位，不能改为文件里的{text}。",
    ),
    "price_per_unit": (
        "The price is for a {text}, which {sku} does not have.",
        "价格按{text}计，而 {sku} 没有这个单位。",
    ),
    "below_reserved": (
        "{sku}: less would be on hand than the {text} that are reserved.",
        "{sku}：现有将少于已占用的 {text}。",
    ),
    "in_future": ("The date {text} is to come.", "日期 {text} 还没有到。"),
    "refused": ("{why}", "{why}"),
    "two_files": (
        "Two files are read together only where one holds past orders and the other their lines.",
        "只有“历史订单”和“订单明细”两个文件才能一起导入。",
    ),
    "no_head": ("The order {text} is not in the file of orders.", "订单文件里没有订单 {text}。"),
    "note_row": ("This looks like a note below the table and is left out.", "看起来是表格下方的备注，已略过。"),
    "like_another": (
        "{text} is much like {other}, which exists already; it is taken for another one.",
        "{text} 与已有的 {other} 很像，将作为另一条新建。",
    ),
    "sum_row": ("This looks like a row of sums and is left out.", "看起来是合计行，已略过。"),
    "no_price_anywhere": ("There is no price, and none is known.", "没有价格，系统里也没有。"),
}
