"""What is said about figures, reports, files that are imported and exported, and printed pages, in English and Chinese,
as data.
"""

from __future__ import annotations

SHOP: dict[str, tuple[str, str]] = {
    # --- figures of answers ---
    "untraced": (
        "⚠ No source was found for: {figures}. Check before you rely on it (erpilot show last --numbers).",
        "⚠ 以下数字没有查到出处：{figures}。使用前请核对（erpilot show last --numbers）。",
    ),
    "unchecked": (
        "The figures of this answer could not be checked.",
        "这条回答里的数字没有能够核对。",
    ),
    "numbers_of": (
        "Answer at event {seq}: {traced} figures traced, {untraced} without a source.",
        "事件 {seq} 的回答：{traced} 个数字有出处，{untraced} 个没有。",
    ),
    "no_numbers": (
        "No answer of session {session} has been checked.",
        "会话 {session} 还没有核对过的回答。",
    ),
    "head_figure": ("figure", "数字"),
    "head_source": ("from", "来源"),
    "head_how": ("how", "方式"),
    "source_none": ("✗ nowhere", "✗ 没有出处"),
    "source_question": ("what you said, or today's date", "你说的话，或今天的日期"),
    "how_read": ("as it stands there", "原样"),
    "how_question": ("repeated", "复述"),
    "how_percent": ("a share, as per cent", "比例换算成百分比"),
    "how_discount": ("a discount, as 折", "折扣换算"),
    "how_without_sign": ("without its sign", "去掉正负号"),
    "how_text": ("within a text", "文字中的数字"),
    "how_count": ("how many there are", "个数"),
    "how_rounded": ("rounded", "取整"),
    # --- import ---
    "import_failed": ("The file cannot be imported. {why}", "无法导入。{why}"),
    "import_no_path": ("Which file? erpilot import PATH", "导入哪个文件？erpilot import 路径"),
    "import_no_key": ("There is no import with the key {name!r}.", "没有键为 {name!r} 的导入。"),
    "import_map": ("{written!r} is not COLUMN=FIELD.", "{written!r} 不是“列=字段”的形式。"),
    "import_file": (
        "{kind}, sheet {sheet}, headings in row {row}:",
        "{kind}，工作表 {sheet}，标题在第 {row} 行：",
    ),
    "import_unused": ("(left out)", "（不导入）"),
    "import_mode_set": (
        "The quantities are taken for what is on hand now; --add adds them instead.",
        "数量作为现有库存；如需增加库存请加 --add。",
    ),
    "import_mode_add": ("The quantities are added to what is on hand.", "数量加到现有库存上。"),
    "import_counts": (
        "{rows} rows: {new} new, {changed} changed, {unchanged} the same already, {left_out} left out.",
        "共 {rows} 行：新增 {new}，修改 {changed}，无变化 {unchanged}，未导入 {left_out}。",
    ),
    "import_sum": ("Sum of {name}: {value}", "{name}合计：{value}"),
    "sum_orders": ("orders", "订单数"),
    "sum_amount": ("amount", "金额"),
    "import_more_changes": ("… and {count} more rows.", "……还有 {count} 行。"),
    "import_problems": ("{count} problems:", "{count} 处问题："),
    "import_more_problems": (
        "… and {count} more problems; --verbose shows them.",
        "……还有 {count} 处问题，加 --verbose 查看。",
    ),
    "import_all_wrong": (
        "Every row has an error; nothing can be brought in.",
        "每一行都有错误，没有可以导入的内容。",
    ),
    "import_nothing": ("There is nothing to change.", "没有需要更改的内容。"),
    "import_dry": (
        "Nothing was changed. The assistant knows the file as {handle}.",
        "没有做任何更改。助手可用 {handle} 找到这个文件。",
    ),
    "import_waits": (
        "Nothing was changed: there is no terminal to ask at. Apply it with --yes, or let the assistant do it with"
        " {handle}.",
        "没有做任何更改：没有可以询问的终端。加 --yes 导入，或让助手用 {handle} 导入。",
    ),
    "import_question": (
        "Apply {new} new and {changed} changed rows as one change?  y = yes   n = no",
        "把 {new} 行新增、{changed} 行修改作为一次更改导入吗？  y = 是   n = 否",
    ),
    "shop_imported": (
        "Imported as {number}: {new} new, {changed} changed. Take it back: erpilot import --undo {key}",
        "已导入 {number}：新增 {new}，修改 {changed}。撤销：erpilot import --undo {key}",
    ),
    "import_undo": (
        "Taking back {number} ({verb}, {count} changes) …",
        "正在撤销 {number}（{verb}，{count} 处更改）……",
    ),
    "import_undone": ("{number} is taken back.", "{number} 已撤销。"),
    "severity_error": ("left out", "未导入"),
    "severity_warning": ("look", "请留意"),
    "head_column": ("column", "列"),
    "head_heading": ("heading", "标题"),
    "head_field": ("taken for", "含义"),
    "head_record": ("record", "记录"),
    "head_changed": ("changed", "改动"),
    "head_before": ("before", "原值"),
    "head_after": ("after", "新值"),
    "head_row": ("row", "行"),
    "head_severity": ("what", "处理"),
    "head_problem": ("problem", "问题"),
    # --- reports ---
    "report_period": ("{first} to {last} ({days} days, {zone})", "{first} 至 {last}（{days} 天，{zone}）"),
    "report_compared": (
        "compared with {first} to {last} ({days} days)",
        "对比 {first} 至 {last}（{days} 天）",
    ),
    "report_rows": ("{shown} of {count} rows", "共 {count} 行，显示 {shown} 行"),
    "report_orders": ("{count} orders", "{count} 单"),
    "report_no_sales": ("Nothing was sold in these days: 0.", "这段时间没有销售：0。"),
    "report_incomplete": ("The period is not over yet.", "期间尚未结束。"),
    "report_change": (
        "before {before}, difference {difference}, change {change} %",
        "对比期 {before}，差额 {difference}，变化 {change} %",
    ),
    "report_without_cost": ("{count} rows without a cost", "{count} 行没有成本"),
    "report_definition": ("Counted: {definition}", "口径：{definition}"),
    "report_as_of": ("Read at {as_of}", "读取时间 {as_of}"),
    "report_age": ("overdue {age} days", "超期 {age} 天"),
    "report_ageing": (
        "invoices by their due day, as of the end of {day}; not due and overdue less unapplied is outstanding",
        "按发票到期日，截至 {day}；未到期加超期减未核销等于欠款",
    ),
    "report_comma": (", ", "、"),
    "state_of_confirmed": ("confirmed", "已确认"),
    "state_of_in_progress": ("in progress", "进行中"),
    "state_of_done": ("done", "已完成"),
    "report_sales_rule": (
        "orders that are {states}, by the date of the document; returns taken off on their own day; revenue with tax,"
        " net without",
        "状态为{states}的订单，按单据日期；退货在退货当天扣除；销售额含税，另列未税金额",
    ),
    "report_low_rule": (
        "available and coming does not last {days} days at the daily use of the last 30 days",
        "可用加在途按最近 30 天日均用量不够 {days} 天",
    ),
    "report_slow_rule": (
        "in stock, not sold for {days} days and no arrival in that time; value at today's cost",
        "有库存，{days} 天没有销售也没有到货；金额按当前成本",
    ),
    "report_value_rule": ("all positive stock at today's cost", "全部正库存，按当前成本"),
    "report_negative_rule": ("less than nothing on hand", "现有数小于零"),
    "report_quiet_rule": (
        "at least 3 orders in the 365 days before, none for {days} days; value: what was bought in that time",
        "之前 365 天至少 3 单，最近 {days} 天没有下单；金额为那段时间的购买额",
    ),
    "report_exported": ("{rows} rows in {path}", "已写入 {rows} 行：{path}"),
    # --- pages ---
    "printed": ("Written: {path}", "已生成：{path}"),
    "print_no_pdf": (
        'PDF needs the extra "pdf": pip install "erpilot[pdf]". The page as HTML needs nothing.',
        '生成 PDF 需要安装附加组件：pip install "erpilot[pdf]"。HTML 页面不需要。',
    ),
    "print_exists": ("{path} exists already; nothing was written.", "{path} 已经存在，没有写入。"),
    "print_failed": ("{path} cannot be written: {why}.", "无法写入 {path}：{why}。"),
}
