"""What is said while a run goes on, and when it asks a person, in English and Chinese, as data."""

from __future__ import annotations

RUNS: dict[str, tuple[str, str]] = {
    # --- a run ---
    "you": ("You", "你"),
    "withdrawn": ("[The text above is void; the answer begins anew.]", "[以上内容作废，重新回答。]"),
    "cut_off": (
        "[The answer above was cut off; what was unfinished is not kept.]",
        "[以上回答被中断，未完成的部分不会保留。]",
    ),
    "step_line": ("step {step}", "第 {step} 步"),
    "first_token": ("first token {seconds}", "首字 {seconds}"),
    "tokens": ("{total} tokens ({prompt} in, {completion} out)", "{total} 词元（入 {prompt}，出 {completion}）"),
    "tokens_cached": (
        "{total} tokens ({prompt} in, {cached} of them cached, {completion} out)",
        "{total} 词元（入 {prompt}，其中缓存 {cached}，出 {completion}）",
    ),
    "tokens_unknown": ("tokens unknown", "词元数未知"),
    "cost_unknown": ("cost unknown", "费用未知"),
    "cost_free": ("free", "免费"),
    "ended": ("{reason} · {steps} steps", "{reason} · {steps} 步"),
    "ended_one": ("{reason} · 1 step", "{reason} · 1 步"),
    "reason_completed": ("done", "完成"),
    "reason_max_steps": ("stopped: too many steps", "已停止：步数达到上限"),
    "reason_guard": ("stopped by a guard", "已停止：触发保护"),
    "reason_budget": ("stopped: a limit was reached", "已停止：达到限额"),
    "reason_interrupted": ("interrupted", "已中断"),
    "reason_awaiting_approval": ("waiting for approval", "等待批准"),
    "reason_model_error": ("the model failed", "模型出错"),
    "reason_error": ("failed", "出错"),
    "attempt_failed_again": (
        "The model failed ({kind}: {why}); trying again in {seconds}.",
        "模型出错（{kind}：{why}），{seconds}后重试。",
    ),
    "attempt_failed": ("The model failed ({kind}: {why}).", "模型出错（{kind}：{why}）。"),
    "cached": ("from the cache", "来自缓存"),
    "cut_output": ("shown in part, {total} characters in all", "部分内容，共 {total} 个字符"),
    "more": ("… ({count} more characters)", "……（还有 {count} 个字符）"),
    "running": ("unfinished", "未完成"),
    "remark_GuardTripped": ("Guard {guard}: {action}", "保护 {guard}：{action}"),
    "remark_ContextCompacted": (
        "Older messages were shortened for the model ({how}, events {from_} to {to}).",
        "较早的消息已为模型精简（{how}，事件 {from_} 到 {to}）。",
    ),
    "how_clipped": ("single long texts cut", "截短过长的单条内容"),
    "how_masked": ("old results left out", "略去旧的查询结果"),
    "how_summarised": ("summed up", "已作摘要"),
    "how_dropped": ("left out", "已略去"),
    "remark_SummaryFailed": (
        "Older messages could not be summed up (events {from_} to {to}): {why}",
        "较早的消息无法摘要（事件 {from_} 到 {to}）：{why}",
    ),
    "remark_RunInterrupted": ("Interrupted by {by}.", "被 {by} 中断。"),
    "remark_RolledBack": ("Rolled back to event {to} by {by}.", "{by} 回退到事件 {to}。"),
    "remark_other": ("{about} {facts}", "{about} {facts}"),
    "action_answered": ("the call was answered instead of run", "未执行，直接答复了该调用"),
    "action_warned": ("the model was told", "已提醒模型"),
    "action_ended": ("the run was ended", "结束了运行"),
    "recalled": ("came back from earlier in this conversation: {count}", "从本次对话早前想起：{count} 处"),
    "queued": ("(waiting for the run to end)", "（等待当前运行结束）"),
    "session_hint": (
        "Session {session} · see it again: erpilot replay {session}",
        "会话 {session} · 回放：erpilot replay {session}",
    ),
    "resume_hint": (
        "Nothing is lost. Go on: erpilot resume {session}",
        "内容都已保存。继续：erpilot resume {session}",
    ),
    "resume_model_hint": (
        "Nothing is lost. Go on: erpilot resume {session}, or with another model: … --model NAME",
        "内容都已保存。继续：erpilot resume {session}，或换一个模型：erpilot resume {session} --model 名称",
    ),
    "interrupting": ("Interrupting … (once more: at once)", "正在中断……（再按一次立即结束）"),
    "nothing_to_do": (
        "Session {session} is complete; there is nothing to go on with.",
        "会话 {session} 已经完成，没有可以继续的内容。",
    ),
    # --- approvals ---
    "wants": ("{tool} [{tier}] waits for your approval (call {call}).", "{tool} [{tier}] 等待批准（调用 {call}）。"),
    "arguments": ("exact arguments{count}", "确切的参数{count}"),
    "asked_by": ("asked for by: {record}", "来源记录：{record}"),
    "new_value": ("new", "新"),
    "quoted": ("“{text}”", "「{text}」"),
    "folded": (
        "{rows} more lines ({characters} characters) are folded: o opens the next ones. Yes counts once all are open.",
        "还有 {rows} 行（{characters} 个字符）没有显示：输入 o 继续展开。全部展开之后才能同意。",
    ),
    "why_tier": ("You are asked because this changes something.", "需要你决定：这会更改数据。"),
    "why_rule": ("You are asked because a rule says so.", "需要你决定：有规则要求询问。"),
    "why_egress": (
        "You are asked because text by outsiders was read, and this sends text out.",
        "需要你决定：之前读过外来文本，而这个操作会把文本发出去。",
    ),
    "why_changed": (
        "You are asked again: the records are no longer what you were shown before.",
        "需要重新决定：记录和之前给你看的已经不同。",
    ),
    "for_target": (" for {target}", "（对象：{target}）"),
    "question": (
        "Run {tool} [{tier}]{target}?  y = yes   n = no   n WORDS = no, and tell the assistant why   e = edit",
        "执行 {tool} [{tier}]{target} 吗？  y = 同意   n = 拒绝   n 理由 = 拒绝并告诉助手原因   e = 修改参数",
    ),
    "always": (
        "a = yes, and from now on run {tool} unasked {limits}, {until}.",
        "a = 同意，并且以后{limits} 的 {tool} 都照办，{until}。",
    ),
    "always_comma": (", ", "、"),
    "always_target": ("for {target}", "对{target}"),
    "always_same": ("with {name} {value}", "{name} 为{value}"),
    "always_most": ("up to {name} {most}", "{name}不超过 {most}"),
    "always_any": ("whatever it is about", "不论对象"),
    "always_hours": ("for {hours} hours", "{hours} 小时内"),
    "always_for_good": ("until you revoke it", "直到撤销为止"),
    "answer_clearly": (
        "Please answer y, n, e, a or o as offered; nothing else decides.",
        "请按提示回答 y、n、e、a 或 o；其他内容不作数。",
    ),
    "open_first": (
        "Not everything was shown yet: o opens the next lines; yes counts once all are open.",
        "还有内容没有显示：先用 o 展开，全部展开之后才能同意。",
    ),
    "no_offer": (
        "A call like this ({tier}) cannot be allowed in advance; answer this one.",
        "这类操作（{tier}）不能预先同意，请只回答这一次。",
    ),
    "edit_hint": (
        "Change the arguments and press Enter; Ctrl-C leaves them as they are. The result is shown and asked again.",
        "修改参数后按回车；Ctrl-C 放弃修改。修改后的内容会重新显示并再次询问。",
    ),
    "edit_left": ("Not changed.", "没有修改。"),
    "edit_unchanged": ("These are the same arguments.", "参数没有变化。"),
    "edit_wrong": ("That does not work: {why}", "这样不行：{why}"),
    "edit_no_editor": ("The editor {editor} cannot be started: {why}.", "无法启动编辑器 {editor}：{why}。"),
    "edited": ("is wanted otherwise by {by}, and asked again: {arguments}", "被 {by} 修改，将重新询问：{arguments}"),
    "decided_by_grant": ("ran unasked, allowed by {grant}", "按授权 {grant} 执行，没有再问"),
    "remark_TrustGranted": (
        "{by} allowed {tool} in advance {target} ({grant}).",
        "{by} 预先同意了 {tool} {target}（{grant}）。",
    ),
    "remark_TrustRevoked": ("{by} revoked {grant}.", "{by} 撤销了 {grant}。"),
    "remark_OutcomeResolved": ("Call {call}: {outcome}, says {by}.", "调用 {call}：{by} 确认{outcome}。"),
    "outcome_happened": ("it took effect", "已生效"),
    "outcome_did_not_happen": ("it took no effect", "没有生效"),
    "outcome_send_again": ("it is sent again", "再发一次"),
    "how_to_decide": (
        'Approve: erpilot approve {session} {call}\nDeny:    erpilot deny {session} {call} --because "…"',
        '批准：erpilot approve {session} {call}\n拒绝：erpilot deny {session} {call} --because "……"',
    ),
    "left_waiting": ("It keeps waiting; nothing was changed.", "仍在等待；没有做任何更改。"),
    "doubt": (
        "It is not known whether {tool}{target} took effect. It was begun {begun}:",
        "{tool}{target} 是否生效尚不清楚。开始于 {begun}：",
    ),
    "doubt_look": (
        "Look in the ERP whether it took effect; nothing is sent again by itself.",
        "请先在 ERP 里核对是否生效；系统不会自动重发。",
    ),
    "doubt_resolve": (
        "Then say what you found: erpilot resolve {session} {call} happened | did-not-happen | send-again",
        "核对后：erpilot resolve {session} {call} happened（已生效）、did-not-happen（没有）或 send-again（重发）",
    ),
    "no_doubt": (
        "Session {session} has no call whose outcome is unknown.",
        "会话 {session} 没有结果不明的操作。",
    ),
    "no_such_doubt": (
        "Call {call!r} of session {session} is none whose outcome is unknown. These are: {known}.",
        "会话 {session} 的调用 {call!r} 不是结果不明的操作。结果不明的有：{known}。",
    ),
    "queue_kept": ("(kept for after this run: {text})", "（已记下，本次运行结束后处理：{text}）"),
    "queue_left": (
        "Left for session {session}: it is answered after the run that is going on.",
        "已留给会话 {session}，当前运行结束后处理。",
    ),
    "queue_needs_session": (
        "--queue needs --session: which session is the message for?",
        "--queue 需要 --session：消息留给哪个会话？",
    ),
    "queue_no_run": (
        "No run of session {session} is going on; ask without --queue.",
        "会话 {session} 没有正在进行的运行；请去掉 --queue 直接提问。",
    ),
    "project_allows": (
        "{source} lets calls run unasked: {rules}. Delete what you did not write.",
        "{source} 允许一些操作不经询问：{rules}。不是你写的请删除。",
    ),
    "decided_approved": ("approved by {by}", "{by} 已批准"),
    "decided_denied": ("denied by {by}", "{by} 已拒绝"),
    "decided_expired": ("expired, nothing was run", "已过期，没有执行"),
    "decided_cancelled": ("cancelled by {by}", "{by} 已取消"),
    "undecided": ("waiting", "等待中"),
    "no_question": ("Session {session} waits for nothing.", "会话 {session} 没有等待批准的操作。"),
    "no_such_call": (
        "Session {session} does not wait for call {call!r}. Waiting: {known}.",
        "会话 {session} 没有等待调用 {call!r}。等待中的有：{known}。",
    ),
    # --- chat ---
    "chat_needs_terminal": (
        "chat needs a terminal; in a script use: erpilot ask",
        "chat 需要终端；脚本中请用 erpilot ask。",
    ),
    "chat_welcome": (
        "{model} · Ctrl-C interrupts an answer, Ctrl-D leaves.",
        "{model} · Ctrl-C 中断回答，Ctrl-D 退出。",
    ),
    "chat_goodbye": (
        "Session {session} · go on with it: erpilot chat --session {session}",
        "会话 {session} · 继续：erpilot chat --session {session}",
    ),
    "chat_how_to_leave": ("Ctrl-D leaves.", "按 Ctrl-D 退出。"),
}
