"""Everything the command line says to people, in Chinese and English, as data.

Invariant: each text exists in both languages with the same places to fill in.
"""

from __future__ import annotations

from .language import Lang


class Texts:
    """The texts of one language: ``texts("busy", session=…, holder=…)``."""

    def __init__(self, lang: Lang) -> None:
        self.lang: Lang = lang

    def __call__(self, key: str, /, **values: object) -> str:
        """The text with its places filled in; an unknown key is a programming error."""
        english, chinese = MESSAGES[key]
        return (chinese if self.lang == "zh" else english).format(**values)

    def get(self, key: str, otherwise: str) -> str:
        """A text that takes no values, or ``otherwise`` where there is none (codes of newer programs)."""
        return self(key) if key in MESSAGES else otherwise


MESSAGES: dict[str, tuple[str, str]] = {
    # --- what went wrong ---
    "unexpected": (
        "Unexpected error ({kind}): {why}. Run it again with --verbose to see the details.",
        "意外错误（{kind}）：{why}。加上 --verbose 再运行一次可以看到细节。",
    ),
    "usage": ("{why}\nSee: erpilot {command}--help", "{why}\n用法见：erpilot {command}--help"),
    "interrupted": ("Interrupted.", "已中断。"),
    "busy": (
        "Session {session} is being driven by {holder}. Wait for it to end, or interrupt it there.",
        "会话 {session} 正由 {holder} 运行。请等它结束，或在那边中断它。",
    ),
    "fenced": (
        "Another process took the session over: {why} What was recorded is kept.",
        "另一个进程接管了这个会话：{why} 已记录的内容都在。",
    ),
    "unknown_session": ("{why} See: erpilot sessions", "没有这个会话（{why}）。可用 erpilot sessions 查看。"),
    "no_such_session": (
        "There is no session {session!r}. See: erpilot sessions",
        "没有会话 {session!r}。可用 erpilot sessions 查看。",
    ),
    "no_sessions": ("There are no sessions yet. Begin one: erpilot ask …", "还没有会话。先提一个问题：erpilot ask …"),
    "ambiguous_session": (
        "{session!r} is the beginning of {count} sessions: {found}. Give more of it.",
        "有 {count} 个会话以 {session!r} 开头：{found}。请多写几位。",
    ),
    "damaged": (
        "{why} The log of session {session} cannot be trusted from event {seq} on; restore erpilot.db from a backup.",
        "{why} 会话 {session} 的记录从第 {seq} 个事件起不可信；请用备份恢复 erpilot.db。",
    ),
    "store_failed": ("Storage: {why}", "存储出错：{why}"),
    "model_failed": ("The model gave no answer: {why} {advice}", "模型没有给出回答：{why} {advice}"),
    "refused": ("Refused: {why}", "被拒绝：{why}"),
    "shop_failed": ("The shop: {why}", "店铺出错：{why}"),
    "home_unusable": (
        "The data folder {home} cannot be used: {why}. Set ERPILOT_HOME to a folder that you may write.",
        "数据目录 {home} 无法使用：{why}。请把 ERPILOT_HOME 设为可写的目录。",
    ),
    "config_unreadable": ("{path} cannot be read: {why}.", "无法读取 {path}：{why}。"),
    "config_not_toml": (
        "{path} is not valid TOML: {why}. Correct it, or run: erpilot setup",
        "{path} 不是有效的 TOML：{why}。请改正，或运行 erpilot setup。",
    ),
    "unknown_setting": (
        "{source} holds an unknown setting, {name!r}. Known: {known}.",
        "{source} 里有不认识的设置 {name!r}。可用的有：{known}。",
    ),
    "bad_setting": (
        "{source}: {value!r} is no value for {name}; expected something like {wanted}.",
        "{source}：{name} 的值 {value!r} 不对，应类似 {wanted}。",
    ),
    "trace_failed": ("{why}", "跟踪文件出错：{why}"),
    "trace_incomplete": ("The trace {path} is incomplete: {why}.", "跟踪文件 {path} 不完整：{why}。"),
    # --- questions that are refused ---
    "question_empty": ("The question is empty.", "问题是空的。"),
    "question_long": (
        "The question is longer than {limit} characters. Shorten it, or ask in parts.",
        "问题超过了 {limit} 个字符。请缩短，或分几次问。",
    ),
    "question_binary": (
        "The question is not text: {why}. Give it as UTF-8.",
        "问题不是文本：{why}。请使用 UTF-8 文本。",
    ),
    "why_utf8": ("byte {place} is not UTF-8", "第 {place} 个字节不是 UTF-8"),
    "why_nul": ("it holds a NUL character", "其中含有 NUL 字符"),
    "why_surrogate": ("it holds half of a character", "其中含有半个字符"),
    "stdin_is_terminal": (
        "Type the question and end with Ctrl-D on a line of its own.",
        "请输入问题，最后在空行按 Ctrl-D 结束。",
    ),
    # --- models ---
    "no_such_provider": (
        "There is no provider {provider!r}. Known: {known}. For another set OPENAI_BASE_URL, or run: erpilot setup.",
        "没有叫 {provider!r} 的模型服务商。已知的有：{known}。其他地址请设置 OPENAI_BASE_URL，或运行 erpilot setup。",
    ),
    "no_such_model": (
        "Where is model {model!r} to be had? Write provider:model (providers: {known}), or set OPENAI_BASE_URL.",
        "不知道模型 {model!r} 在哪里。请写成 服务商:模型（服务商：{known}），或设置 OPENAI_BASE_URL。",
    ),
    "no_key": (
        "There is no key for {provider}. Set {variable}, or run: erpilot setup.",
        "没有 {provider} 的密钥。请设置 {variable}，或运行 erpilot setup。",
    ),
    "advice_auth": ("Check the key (erpilot doctor).", "请检查密钥（erpilot doctor）。"),
    "advice_quota": ("The account has no credit left; top it up.", "账户额度用完了，请充值。"),
    "advice_rate_limit": ("Too many requests; wait a little.", "请求过于频繁，请稍等。"),
    "advice_overloaded": ("The endpoint is overloaded; try again later.", "模型服务过载，请稍后再试。"),
    "advice_server_error": ("The endpoint failed; try again later.", "模型服务出错，请稍后再试。"),
    "advice_context_overflow": (
        "The conversation is too long for this model; begin a new session or choose a larger model.",
        "对话超出了模型的长度；请开新会话，或换更大的模型。",
    ),
    "advice_unsupported_parameter": (
        "This model refuses a parameter; choose another model.",
        "模型不接受某个参数，请换一个模型。",
    ),
    "advice_invalid_request": (
        "The endpoint refuses the request; choose another model.",
        "模型服务拒绝了请求，请换一个模型。",
    ),
    "advice_tool_generation_failed": (
        "The model wrote no valid tool call; try again.",
        "模型没有写出有效的工具调用，请再试。",
    ),
    "advice_bad_response": ("Is the address an OpenAI-compatible API?", "请确认地址是 OpenAI 兼容接口。"),
    "advice_stream_error": ("The endpoint broke the answer off; try again.", "模型服务中断了回答，请再试。"),
    "advice_stream_truncated": ("The connection broke; try again.", "连接中断，请再试。"),
    "advice_empty_stream": ("The endpoint sent nothing; try again.", "模型服务没有返回内容，请再试。"),
    "advice_unreachable": (
        "Check the address, the network and whether the server runs (erpilot doctor).",
        "请检查地址、网络，以及服务是否在运行（erpilot doctor）。",
    ),
    "advice_timeout": ("The endpoint did not answer in time; check the network.", "模型服务没有及时响应，请检查网络。"),
    "advice_tls": ("The connection is not trusted; check address and certificate.", "连接不受信任，请检查地址和证书。"),
    "advice_model_not_found": ("Check the name of the model (erpilot doctor).", "请检查模型名称（erpilot doctor）。"),
    "offline_notice": (
        "No model is configured: the built-in offline planner answers. It is no language model and knows a few kinds of"
        " questions only. Connect a model: erpilot setup, or set OPENAI_BASE_URL, OPENAI_API_KEY and ERPILOT_MODEL.",
        "未配置模型：由内置的离线规划器回答。它不是语言模型，只会几类问题。"
        "连接模型：erpilot setup，或设置 OPENAI_BASE_URL、OPENAI_API_KEY 和 ERPILOT_MODEL。",
    ),
    "base_url_unused": (
        "OPENAI_BASE_URL is set but no model is named; set ERPILOT_MODEL or use --model.",
        "设置了 OPENAI_BASE_URL，但没有指定模型；请设置 ERPILOT_MODEL 或使用 --model。",
    ),
    "shop_first_use": ("First use: setting up the example shop …", "首次使用：正在建立示例店铺……"),
    "no_such_profile": (
        "There is no profile {profile!r}. Known: {known}.",
        "没有配置方案 {profile!r}。可用的有：{known}。",
    ),
    # --- a run ---
    "you": ("You", "你"),
    "withdrawn": ("[The text above is void; the answer begins anew.]", "[以上内容作废，重新回答。]"),
    "withdrawn_for_good": ("[The text above is void.]", "[以上内容作废。]"),
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
    "no_result": ("no result", "没有结果"),
    "running": ("unfinished", "未完成"),
    "remark_GuardTripped": ("Guard {guard}: {action}", "保护 {guard}：{action}"),
    "remark_ContextCompacted": (
        "Older messages were shortened for the model ({how}, events {from_} to {to}).",
        "较早的消息已为模型精简（{how}，事件 {from_} 到 {to}）。",
    ),
    "remark_RunInterrupted": ("Interrupted by {by}.", "被 {by} 中断。"),
    "remark_RolledBack": ("Rolled back to event {to} by {by}.", "{by} 回退到事件 {to}。"),
    "remark_other": ("{about} {facts}", "{about} {facts}"),
    "action_answered": ("the call was answered instead of run", "未执行，直接答复了该调用"),
    "action_warned": ("the model was told", "已提醒模型"),
    "action_ended": ("the run was ended", "结束了运行"),
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
    "arguments": ("exact arguments", "确切的参数"),
    "asked_by": ("asked for by: {record}", "来源记录：{record}"),
    "new_value": ("new", "新"),
    "question": (
        "Run {tool} [{tier}]?  y = yes   n = no   n REASON = no, and tell the assistant why",
        "执行 {tool} [{tier}] 吗？  y = 同意   n = 拒绝   n 理由 = 拒绝并告诉助手原因",
    ),
    "answer_y_or_n": ("Please answer y or n.", "请回答 y 或 n。"),
    "how_to_decide": (
        'Approve: erpilot approve {session} {call}\nDeny:    erpilot deny {session} {call} --because "…"',
        '批准：erpilot approve {session} {call}\n拒绝：erpilot deny {session} {call} --because "……"',
    ),
    "left_waiting": ("It keeps waiting; nothing was changed.", "仍在等待；没有做任何更改。"),
    "uncertain": (
        "It is not known whether a call took effect. Look in the shop, then tell the assistant:"
        ' erpilot ask --session {session} "…"',
        '有一个操作是否生效尚不清楚。请先在店里核对，再告诉助手：erpilot ask --session {session} "……"',
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
    # --- lists ---
    "head_session": ("session", "会话"),
    "head_used": ("last used", "最近使用"),
    "head_events": ("events", "事件"),
    "head_state": ("state", "状态"),
    "head_question": ("first question", "第一个问题"),
    "state_running": ("not finished", "未结束"),
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
