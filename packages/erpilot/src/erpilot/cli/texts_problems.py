"""What is said when something went wrong or is refused, in English and Chinese, as data."""

from __future__ import annotations

PROBLEMS: dict[str, tuple[str, str]] = {
    "needs_extra": (
        "erpilot {command} comes with an extra: pip install 'erpilot[{extra}]'",
        "erpilot {command} 需要另装一部分：pip install 'erpilot[{extra}]'",
    ),
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
    "damaged_file": (
        "{path} is damaged at event {seq}: {why}. Export the session again.",
        "{path} 在第 {seq} 个事件处已损坏：{why}。请重新导出该会话。",
    ),
    "erased": (
        "What session {session} held was erased for good; from event {seq} on only the chain is left.",
        "会话 {session} 的内容已被永久删除；从事件 {seq} 起只剩哈希链。",
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
    "shop_elsewhere": (
        "This command works on the built-in shop, and the settings name a shop in {backend}.",
        "这个命令只用于内置店铺，而设置里的店铺在 {backend}。",
    ),
    "unknown_setting": (
        "{source} holds an unknown setting, {name!r}. Known: {known}.",
        "{source} 里有不认识的设置 {name!r}。可用的有：{known}。",
    ),
    "bad_setting": (
        "{source}: {value!r} is no value for {name}; expected something like {wanted}.",
        "{source}：{name} 的值 {value!r} 不对，应类似 {wanted}。",
    ),
    "rules_no_list": (
        '{source}: rules is a list of texts such as "deny create_quotation".',
        '{source}：rules 应是列表，每项如 "deny create_quotation"。',
    ),
    "rules_not_toml": ("{path} is not valid TOML: {why}.", "{path} 不是有效的 TOML：{why}。"),
    "rule_effect": (
        "{source}: {effect!r} in {rule!r} is no effect of a rule. Known: {known}.",
        "{source}：规则 {rule!r} 里的 {effect!r} 不认识。可用的有：{known}。",
    ),
    "rule_unclear": (
        "{source}: {rule!r} is no rule. Write: deny|ask|allow TOOL [TARGET].",
        "{source}：{rule!r} 不是规则。请写成：deny|ask|allow 工具 [对象]。",
    ),
    "rule_no_tool": (
        "{source}: the rule {rule!r} holds for no tool; there is no {tool!r}. Known: {known}.",
        "{source}：规则 {rule!r} 没有对应的工具，没有 {tool!r}。可用的有：{known}。",
    ),
    "rules_conflict": ("These rules must not be used together: {why}", "这些规则不能一起使用：{why}"),
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
    "summary_model_unusable": (
        "The model that is set to sum up conversations (summary_model) cannot be used: {why}",
        "设置的摘要模型（summary_model）无法使用：{why}",
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
}
