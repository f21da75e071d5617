"""The help of the commands for files, reports and pages of the shop, in English and Chinese, as data."""

from __future__ import annotations

HELP_SHOP: dict[str, tuple[str, str]] = {
    "import": (
        "bring a spreadsheet into the shop: products, customers, suppliers, counts, prices, past orders",
        "把表格导入店铺：商品、客户、供应商、盘点、价目表、历史订单",
    ),
    "import_examples": (
        "Examples:\n"
        "  erpilot import products.xlsx --dry-run\n"
        "  erpilot import count.xlsx --sheet 东仓 --kind stock\n"
        "  erpilot import prices.csv --map D=price --map F=-\n"
        "  erpilot import orders.csv order_lines.csv\n"
        "  erpilot import --undo import-1a2b3c4d\n\n"
        "What the columns are taken for, and every problem by row and column, is shown first; nothing is\n"
        "changed before you agree. Rows with errors are left out. Without a terminal nothing is applied,\n"
        "unless --yes is given.",
        "例子：\n"
        "  erpilot import 商品.xlsx --dry-run\n"
        "  erpilot import 盘点表.xlsx --sheet 东仓 --kind stock\n"
        "  erpilot import 价目表.csv --map D=price --map F=-\n"
        "  erpilot import orders.csv order_lines.csv\n"
        "  erpilot import --undo import-1a2b3c4d\n\n"
        "先显示各列的含义和每一处问题（行、列），你同意之前不做任何更改。有误的行不导入。\n"
        "没有终端时不会导入，除非加上 --yes。",
    ),
    "opt_import_path": (
        "a file (.xlsx, .csv), or the two files of past orders",
        "文件（.xlsx、.csv），历史订单可以是两个文件",
    ),
    "opt_kind": (
        "products, customers, suppliers, stock, prices or orders (default: found out)",
        "products、customers、suppliers、stock、prices 或 orders（默认自动判断）",
    ),
    "opt_sheet": ("the sheet of the workbook", "工作表名称"),
    "opt_map": (
        "COLUMN=FIELD: what a column is, by its letters or heading; FIELD - leaves it out; may be repeated",
        "列=字段：指定某一列（字母或标题）的含义；字段写 - 表示不导入；可重复",
    ),
    "opt_encoding": ("of a CSV file (default: found out)", "CSV 文件的编码（默认自动判断）"),
    "opt_add": (
        "quantities are added to the stock (default: they are what is on hand)",
        "数量加到库存上（默认：数量就是现有库存）",
    ),
    "opt_dry_run": ("only show what it would do", "只显示，不导入"),
    "opt_import_yes": ("apply without asking", "不询问，直接导入"),
    "opt_undo_import": ("take an import back, by the key that it was given", "撤销一次导入（用导入时给出的键）"),
    "report": ("see sales, stock, receivables as tables and bars", "查看销售、库存、应收报表（表格和图）"),
    "report_examples": (
        "Examples:\n"
        "  erpilot report sales this_month --by product --top 10\n"
        "  erpilot report sales 2026-Q3 --by month --compare last_year\n"
        "  erpilot report stock slow --days 90\n"
        "  erpilot report receivables\n"
        "  erpilot report stock value --export xlsx\n\n"
        "Periods: today, yesterday, this_week, last_month, this_quarter, last_year, last_30_days, 2026-10, 2026-Q3,\n"
        "2026, 2026-10-01..2026-10-15. Days are those of the shop's time zone.",
        "例子：\n"
        "  erpilot report sales this_month --by product --top 10\n"
        "  erpilot report sales 2026-Q3 --by month --compare last_year\n"
        "  erpilot report stock slow --days 90\n"
        "  erpilot report receivables\n"
        "  erpilot report stock value --export xlsx\n\n"
        "期间：today、yesterday、this_week、last_month、this_quarter、last_year、last_30_days、2026-10、2026-Q3、\n"
        "2026、2026-10-01..2026-10-15。日期以店铺时区为准。",
    ),
    "report_sales": ("sales of a period", "某一期间的销售"),
    "report_sales_examples": (
        "Examples:\n  erpilot report sales yesterday\n  erpilot report sales this_year --by customer --measure margin",
        "例子：\n  erpilot report sales yesterday\n  erpilot report sales this_year --by customer --measure margin",
    ),
    "report_stock": (
        "stock that is low, slow, negative, or all with its value",
        "库存：不足、滞销、负数，或全部及金额",
    ),
    "report_stock_examples": (
        "Examples:\n  erpilot report stock low\n  erpilot report stock value --warehouse EAST",
        "例子：\n  erpilot report stock low\n  erpilot report stock value --warehouse EAST",
    ),
    "report_receivables": ("what customers owe, by age", "客户欠款，按账龄"),
    "report_receivables_examples": (
        "Examples:\n  erpilot report receivables\n  erpilot report receivables --overdue",
        "例子：\n  erpilot report receivables\n  erpilot report receivables --overdue",
    ),
    "report_quiet": ("regular customers who stopped buying", "久未下单的老客户"),
    "report_quiet_examples": (
        "Examples:\n  erpilot report quiet --days 60",
        "例子：\n  erpilot report quiet --days 60",
    ),
    "opt_period": ("the days (default: this_month)", "期间（默认 this_month）"),
    "opt_by": (
        "rows by day, week, month, quarter, product, category, customer, warehouse or order",
        "按 day、week、month、quarter、product、category、customer、warehouse 或 order 分组",
    ),
    "opt_measure": ("revenue, quantity, orders, average or margin", "revenue、quantity、orders、average 或 margin"),
    "opt_compare": ("previous, last_year or a period", "previous（上期）、last_year（去年同期）或某个期间"),
    "opt_top": ("so many rows", "前多少行"),
    "opt_customer": ("of this customer", "某个客户"),
    "opt_product": ("of this product", "某个商品"),
    "opt_category": ("of this category", "某个类别"),
    "opt_warehouse": ("of this warehouse", "某个仓库"),
    "opt_stock_kind": ("low, slow, value or negative", "low（不足）、slow（滞销）、value（金额）或 negative（负数）"),
    "opt_days": ("how many days the rule looks at", "规则所看的天数"),
    "opt_overdue": ("only what is overdue", "只看超期的"),
    "opt_export": ("write all rows into a file as well: xlsx or csv", "同时把全部行写入文件：xlsx 或 csv"),
    "opt_folder": (
        "the folder of the file (default: files in the data folder)",
        "文件所在的文件夹（默认数据目录下的 files）",
    ),
    "print": ("write a quotation or an order as a page to print", "把报价单或订单生成可打印的页面"),
    "print_examples": (
        "Examples:\n  erpilot print Q-1008\n  erpilot print Q-1008 --pdf\n  erpilot print SO-2026-0123 -o order.html",
        "例子：\n  erpilot print Q-1008\n  erpilot print Q-1008 --pdf\n  erpilot print SO-2026-0123 -o 订单.html",
    ),
    "opt_number": ("number of the document", "单据编号"),
    "opt_pdf": ("as PDF", "生成 PDF"),
    "opt_page": ("the file (default: files in the data folder)", "文件（默认数据目录下的 files）"),
}
