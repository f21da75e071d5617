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
}
