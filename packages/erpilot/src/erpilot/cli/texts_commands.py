"""What the commands that list, show, compare and keep say, in English and Chinese, as data."""

from __future__ import annotations

COMMANDS: dict[str, tuple[str, str]] = {
    # --- lists ---
    "head_session": ("session", "会话"),
    "head_used": ("last used", "最近使用"),
    "head_events": ("events", "事件"),
    "head_state": ("state", "状态"),
    "head_question": ("first question", "第一个问题"),
    "state_running": ("not finished", "未结束"),
    "head_where": ("event", "事件"),
    "head_who": ("who", "谁"),
    "head_text": ("what stands there", "内容"),
    "nothing_found": ("Nothing was found for: {text}", "没有找到：{text}"),
    "sessions_more": (
        "{shown} of {total} sessions; all of them: erpilot sessions --all",
        "共 {total} 个会话，显示 {shown} 个；全部：erpilot sessions --all",
    ),
    "head_seq": ("event", "事件"),
    "head_at": ("time", "时间"),
    "head_type": ("type", "类型"),
    "head_what": ("what", "内容"),
    "show_session": ("session {session} · {count} events · {state}", "会话 {session} · {count} 个事件 · {state}"),
    "show_hint": (
        "One step in full: erpilot show {session} --step N · its request: erpilot show {session} --step N --prompt",
        "查看某一步：erpilot show {session} --step N · 它的请求：erpilot show {session} --step N --prompt",
    ),
    "context_title": (
        "The next request of session {session}: about {tokens} of {budget} tokens ({share}), before a new message",
        "会话 {session} 的下一次请求：约 {tokens} / {budget} 词元（{share}），不含新消息",
    ),
    "head_layer": ("layer", "层"),
    "head_tokens": ("tokens", "词元"),
    "head_why": ("why", "说明"),
    "head_begins": ("begins with", "开头"),
    "layer_system": ("system prompt", "系统提示"),
    "layer_tools": ("tools", "工具"),
    "layer_summary": ("what is older", "较早的内容"),
    "layer_recalled": ("recalled", "回忆"),
    "layer_recent": ("turn", "对话"),
    "why_system": ("always whole", "始终完整"),
    "why_tools": ("always whole", "始终完整"),
    "why_summary": ("the budget was used up; {count} pinned facts", "预算已用完；固定事实 {count} 条"),
    "why_recalled": ("{count} fragments that the message called for", "与该消息有关的片段 {count} 条"),
    "why_recent": ("in full", "完整"),
    "why_masked": ("{count} old results left out", "略去旧结果 {count} 条"),
    "why_clipped": ("{count} long texts cut", "截短 {count} 条"),
    "context_limited": (
        "The endpoint was found to take only about {tokens} tokens.",
        "模型服务实际只接受约 {tokens} 词元。",
    ),
    "context_pinned": ("pinned: {fact}", "固定事实：{fact}"),
    "more_facts": ("… and {count} more pinned facts", "……还有 {count} 条固定事实"),
    "context_doubts": (
        "{count} calls of unknown outcome stay in it until they are resolved (erpilot resolve).",
        "{count} 个结果未知的调用会一直保留，直到确认为止（erpilot resolve）。",
    ),
    "context_measured": (
        "Tokens are counted as {model} reported them.",
        "词元按 {model} 报告的用量折算。",
    ),
    "context_unmeasured": (
        "{model} has reported nothing yet: tokens are counted generously.",
        "{model} 尚未报告用量：词元按偏多估计。",
    ),
    "context_error": (
        "The last estimate was {estimated} tokens, {reported} were reported ({error}).",
        "上次估计 {estimated} 词元，实际 {reported}（{error}）。",
    ),
    "step_error": (
        "{reported} tokens were reported: the estimate was off by {error}",
        "实际 {reported} 词元：估计误差 {error}",
    ),
    "compacting": ("Summing up what is older … (Ctrl-C stops it)", "正在精简较早的内容……（Ctrl-C 停止）"),
    "nothing_to_compact": ("There is nothing to shorten yet.", "目前没有可以精简的内容。"),
    "chat_no_session": ("Nothing was said yet.", "还没有对话。"),
    "chat_commands": (
        "There is no command {command}. There are /context (what is in the next request) and /compact (shorten it).",
        "没有命令 {command}。可用命令：/context（下一次请求里有什么）、/compact（精简较早的内容）。",
    ),
    "no_such_step": (
        "Session {session} has steps 1 to {count}; {step} is not one of them.",
        "会话 {session} 有第 1 到 {count} 步，没有第 {step} 步。",
    ),
    "no_steps": ("Session {session} has no steps yet.", "会话 {session} 还没有步骤。"),
    "request_of_step": (
        "request of step {step}: {messages} messages, {size} bytes, about {tokens} tokens",
        "第 {step} 步的请求：{messages} 条消息，{size} 字节，约 {tokens} 词元",
    ),
    "request_frame": ("everything else of the request", "请求的其余部分"),
    "request_tools": ("tools offered: {names}", "提供的工具：{names}"),
    "prompt_escaped": (
        "{count} invisible characters are written as \\u escapes; apart from them these are the exact bytes.",
        "其中 {count} 个不可见字符写成了 \\u 转义，其余为确切的字节。",
    ),
    "content_missing": ("A part of the request is no longer in the store.", "请求的一部分已不在存储中。"),
    "forked": ("branched off {parent} at event {seq}", "从 {parent} 的事件 {seq} 分出"),
    "run_with": ("model {model}", "模型 {model}"),
    "run_resumed": ("goes on · model {model}", "继续 · 模型 {model}"),
    "torn": (
        "{count} line(s) of {path} were cut off and are left out: {lines}.",
        "{path} 有 {count} 行不完整，已略过：{lines}。",
    ),
    "trace_error": ("The run ended with an error: {why}.", "运行以错误结束：{why}。"),
    "replay_unfinished": ("The record ends here; the run was not finished.", "记录到此为止；运行没有结束。"),
    "next_step": ("— Enter: go on, q: stop —", "— 回车继续，q 退出 —"),
    "state_erased": ("erased", "已删除"),
    "event": ("event {seq}", "事件 {seq}"),
    # --- trust ---
    "no_grants": ("Nothing is allowed in advance in session {session}.", "会话 {session} 没有预先同意的操作。"),
    "head_grant": ("grant", "授权"),
    "head_tool": ("tool", "工具"),
    "head_until": ("until", "有效期至"),
    "head_by": ("given by", "授予人"),
    "head_limits": ("for what", "范围"),
    "until_revoked": ("revoked", "撤销为止"),
    "expired_at": ("expired {at}", "已于 {at} 过期"),
    "revoke_hint": ("End one: erpilot trust revoke GRANT {session}", "撤销：erpilot trust revoke 授权编号 {session}"),
    "revoked": (
        "{grant} ends; what it would have covered in session {session} is asked again.",
        "已撤销 {grant}；会话 {session} 里相应的操作会重新询问。",
    ),
    # --- branches ---
    "forked_hint": (
        "Session {child} goes on from event {seq} of {parent}; compare: erpilot diff {parent} {child}",
        "会话 {child} 从 {parent} 的事件 {seq} 继续；比较：erpilot diff {parent} {child}",
    ),
    "file_unreadable": ("{path} cannot be read: {why}.", "无法读取 {path}：{why}。"),
    "file_empty": ("{path} is empty.", "{path} 是空的。"),
    "rolled_back": (
        "The conversation of session {session} goes on from event {seq}; nothing was deleted.",
        "会话 {session} 的对话回到事件 {seq}；没有删除任何记录。",
    ),
    "plan_empty": ("Nothing was changed in the ERP since then.", "此后没有在 ERP 里做过更改。"),
    "plan": (
        "{count} change(s) made since then still stand in the ERP:",
        "此后在 ERP 里做的 {count} 项更改仍然有效：",
    ),
    "plan_undo": ("can be taken back by {call}", "可以这样撤销：{call}"),
    "plan_no_undo": ("cannot be taken back: {why}", "不能撤销：{why}"),
    "undo_question": (
        "Take {count} of them back? Each is shown and asked like any change.  y = yes   n = no",
        "要撤销其中 {count} 项吗？每一项都会显示并询问。  y = 是   n = 否",
    ),
    "undo_hint": (
        "Nothing was taken back. To do so: erpilot rollback {session} --to {seq} --undo",
        "没有撤销任何更改。需要时：erpilot rollback {session} --to {seq} --undo",
    ),
    "diff_common": ("Both share the events 1 to {seq}; from there:", "两者的事件 1 到 {seq} 相同；此后："),
    "diff_nothing_common": ("They have no event in common.", "两者没有共同的事件。"),
    "diff_equal": ("Nothing was said or done since.", "此后没有新的内容。"),
    "sum_since": ("since they parted", "分开之后"),
    "sum_difference": ("difference", "差"),
    "sum_steps": ("steps", "步数"),
    "sum_tokens": ("tokens", "词元"),
    "sum_cost": ("cost", "费用"),
    "sum_effects": ("changes in the ERP", "对 ERP 的更改"),
    "effect_only": ("only in {session}: {what}", "只在 {session}：{what}"),
    "effect_uncertain": ("outcome not known", "结果不明"),
    # --- verify ---
    "verify_intact": (
        "session {session}: {count} events, the chain holds · head {head}",
        "会话 {session}：{count} 个事件，哈希链完整 · 末尾 {head}",
    ),
    "verify_spans_erased": ("erased for good: events {events}", "已永久删除：事件 {events}"),
    "verify_spans_redacted": ("masked: events {events}", "已遮盖：事件 {events}"),
    "verify_anchored": ("It agrees with the head that was given.", "与给出的末尾一致。"),
    "verify_not_anchored": (
        "Without a head from outside it cannot be ruled out that the end was cut off; keep the head above"
        " somewhere else and give it with --against.",
        "没有外部保存的末尾，无法排除记录尾部被整段删除；请把上面的末尾另存，以后用 --against 核对。",
    ),
    "verify_erased": (
        "Its content is erased, so its decisions cannot be made anew.",
        "内容已删除，无法重新做一遍决定。",
    ),
    "verify_file": ("{path}", "{path}"),
    "verify_same": (
        "Today's code decides, does and says the same.",
        "现在的代码会做同样的决定、同样的操作，措辞也相同。",
    ),
    "verify_not_decided": ("Its decisions cannot be made anew: {why}", "无法重新做一遍决定：{why}"),
    "differs_decision": (
        "session {session}, event {seq}: another decision (- recorded, + now)",
        "会话 {session}，事件 {seq}：决定不同（- 记录，+ 现在）",
    ),
    "differs_effect": (
        "session {session}, event {seq}: another effect (- recorded, + now)",
        "会话 {session}，事件 {seq}：实际操作不同（- 记录，+ 现在）",
    ),
    "differs_rendering": (
        "session {session}, event {seq}: other words, the same decision (- recorded, + now)",
        "会话 {session}，事件 {seq}：决定相同，措辞不同（- 记录，+ 现在）",
    ),
    "verify_more": ("{count} more differences; all of them: --verbose", "还有 {count} 处差异；全部显示：--verbose"),
    "verify_accepted": ("{count} difference(s) were accepted before ({file}).", "{count} 处差异以前已接受（{file}）。"),
    "verify_kept": ("{count} difference(s) are accepted from now on ({file}).", "已接受 {count} 处差异（{file}）。"),
    "accept_question": (
        "Accept these differences from now on?  y = yes   n = no",
        "以后接受这些差异吗？  y = 是   n = 否",
    ),
    "accept_needs_file": (
        "--because goes with --accept FILE: where are the accepted differences kept?",
        "--because 需要与 --accept 文件 一起使用：已接受的差异存在哪里？",
    ),
    "against_one": (
        "--against names the head of one log; give that log alone.",
        "--against 只对应一个记录；请只给出那一个。",
    ),
    "bad_head": (
        "{head!r} is no head; write SEQ:HASH, as verify prints it.",
        "{head!r} 不是末尾；请写成 事件号:哈希，如 verify 所示。",
    ),
    "no_export": (
        "{path} is not an exported session (erpilot export writes one).",
        "{path} 不是导出的会话（用 erpilot export 导出）。",
    ),
    "no_exports": ("There is no exported session in {path}.", "{path} 里没有导出的会话。"),
    # --- keeping and moving ---
    "exported": (
        "Session {session}: {count} events, secrets masked · head {head}",
        "会话 {session}：{count} 个事件，密钥已遮盖 · 末尾 {head}",
    ),
    "exported_redacted": (
        "Session {session}: {count} events, secrets and personal data masked; read it before you share it\nhead {head}",
        "会话 {session}：{count} 个事件，密钥和个人信息已遮盖；转交之前请先看一遍\n末尾 {head}",
    ),
    "imported": (
        "Imported. See it: erpilot replay {session}",
        "已导入。查看：erpilot replay {session}",
    ),
    "import_conflict": (
        "Another session {session} is here already; it was left as it is.",
        "这里已有另一个会话 {session}，保持不变。",
    ),
    "path_taken": (
        "{path} is there already and something else; give another file.",
        "{path} 已存在且是其他文件；请换一个文件名。",
    ),
    "path_is_folder": ("{path} is a folder; give a file.", "{path} 是文件夹；请给出文件名。"),
    "path_unusable": ("{path} cannot be used: {why}.", "{path} 无法使用：{why}。"),
    "erase_warning": (
        "This removes for good what session {session} holds ({count} events): questions, answers, results. Only times,"
        " types and the chain stay. Exports and backups made before are not touched.",
        "将永久删除会话 {session} 的内容（{count} 个事件）：问题、回答和结果。只保留时间、类型和哈希链。"
        "以前的导出和备份不受影响。",
    ),
    "erase_heirs": (
        "Sessions forked from it lose what they inherited: {heirs}.",
        "从它分出的会话会失去继承的部分：{heirs}。",
    ),
    "erase_question": ("Erase session {session}?  y = yes   n = no", "删除会话 {session} 吗？  y = 是   n = 否"),
    "erased_now": (
        "Session {session} is erased; its chain of {count} events still verifies.",
        "会话 {session} 的内容已删除；{count} 个事件的哈希链仍然完整。",
    ),
    "needs_yes": ("There is nobody to ask here; if it is meant, add --yes.", "这里无法询问；确定要做请加 --yes。"),
    "left_as_it_was": ("Nothing was changed.", "没有做任何更改。"),
    "backed_up": (
        "{path} holds {names}, also the key if one is stored; keep it to yourself.",
        "{path} 包含 {names}，若保存过密钥也在其中；请妥善保管。",
    ),
    "backup_exists": ("{path} is there already; give another file.", "{path} 已存在；请换一个文件名。"),
    "backup_failed": ("The backup {path} could not be written: {why}.", "无法写入备份 {path}：{why}。"),
    "backup_unreadable": ("{path} is no backup that can be read: {why}.", "{path} 不是可读的备份：{why}。"),
    "backup_strange": (
        "{path} holds {member!r}, which no backup of ours does; nothing was restored.",
        "{path} 含有 {member!r}，不是本程序的备份；没有恢复任何内容。",
    ),
    "backup_damaged": (
        "{member} in {path} is damaged: {why}; nothing was restored.",
        "{path} 里的 {member} 已损坏：{why}；没有恢复任何内容。",
    ),
    "restore_warning": (
        "This replaces in {home}: {names}. What happened there since the backup is lost.",
        "将替换 {home} 里的 {names}；备份之后的内容会丢失。",
    ),
    "restore_question": ("Restore the backup?  y = yes   n = no", "恢复备份吗？  y = 是   n = 否"),
    "restore_failed": ("{home} could not be restored: {why}.", "无法恢复 {home}：{why}。"),
    "restored": ("{home} is as it was in the backup.", "{home} 已恢复为备份时的状态。"),
    "doctor_rules": ("rules", "规则"),
    "doctor_rules_none": ("none", "无"),
    # --- setup and doctor ---
    "setup_needs_terminal": (
        "setup asks questions and needs a terminal; in a script give --model (and --key-variable or --base-url).",
        "setup 需要在终端里提问；脚本中请给出 --model（以及 --key-variable 或 --base-url）。",
    ),
    "setup_intro": (
        "Which model should answer? Any endpoint that speaks the OpenAI chat API will do. Your questions and the shop's"
        " data that they need are sent to it; a local one keeps them on this machine.",
        "由哪个模型来回答？任何兼容 OpenAI 对话接口的服务都可以。问题和所需的店铺数据会发送给它；本地模型则不出本机。",
    ),
    "setup_choice_offline": (
        "no model: the offline planner, a few kinds of questions",
        "不用模型：离线规划器，只会几类问题",
    ),
    "setup_choice_custom": ("another address", "其他地址"),
    "setup_choice_local": ("on this machine, no key", "本机运行，无需密钥"),
    "setup_ask_provider": ("Number or name", "编号或名称"),
    "setup_ask_address": ("Address (ends in /v1, as a rule)", "接口地址（一般以 /v1 结尾）"),
    "setup_ask_model": ("Model", "模型"),
    "setup_ask_key": (
        "Key (not shown; Enter: use the variable {variable})",
        "密钥（不显示；直接回车则使用环境变量 {variable}）",
    ),
    "setup_ask_currency": ("Show costs in CNY or USD", "费用用 CNY 还是 USD 显示"),
    "setup_ask_save": ("Save it anyway? y / n", "仍要保存吗？y / n"),
    "setup_one_of": ("One of 1 to {count}, or a name from the list.", "请输入 1 到 {count}，或列表中的名称。"),
    "setup_testing": ("Testing {name} …", "正在测试 {name} ……"),
    "setup_works": ("It answers (in {seconds}).", "可以使用（{seconds}）。"),
    "setup_saved": (
        'Saved in {path}. Try it: erpilot ask "订单 123 里买了什么？"',
        '已保存到 {path}。试试：erpilot ask "订单 123 里买了什么？"',
    ),
    "setup_not_saved": (
        "Nothing was saved. To save it untested: --no-test",
        "没有保存。不测试直接保存：--no-test",
    ),
    "setup_prices": (
        "List prices as of {day}; providers change them, so costs are estimates.",
        "价格表截至 {day}；服务商会调价，费用仅供估算。",
    ),
    "doctor_home": ("data folder", "数据目录"),
    "doctor_config": ("settings", "设置"),
    "doctor_config_none": ("none (erpilot setup makes them)", "无（运行 erpilot setup 建立）"),
    "doctor_config_open": (
        "{path}: others on this machine can read it; run: chmod 600 {path}",
        "{path}：本机其他用户可读；请运行 chmod 600 {path}",
    ),
    "doctor_store": ("sessions", "会话"),
    "doctor_store_ok": ("{count} in {path}", "{count} 个，位于 {path}"),
    "doctor_shop": ("shop", "店铺"),
    "doctor_model": ("model", "模型"),
    "doctor_address": ("address", "地址"),
    "doctor_key": ("key", "密钥"),
    "doctor_key_from": ("set, from {source}", "已设置，来自 {source}"),
    "doctor_key_none": ("none", "无"),
    "doctor_price": ("price", "价格"),
    "doctor_price_per_million": (
        "{input} in, {output} out per million tokens (as of {day})",
        "每百万词元 入 {input}，出 {output}（截至 {day}）",
    ),
    "doctor_reached": ("reached", "连通"),
    "doctor_offline": (
        "offline planner, no language model (erpilot setup connects one)",
        "离线规划器，不是语言模型（用 erpilot setup 连接）",
    ),
    "doctor_not_asked": ("not tested (--no-test)", "未测试（--no-test）"),
    "doctor_version": ("version", "版本"),
}
