"""The help of every command and option, in English and Chinese, as data.

Invariant: the two languages of a text stand side by side, so that neither is changed alone.
"""

from __future__ import annotations

from .help_shop import HELP_SHOP

HELP: dict[str, tuple[str, str]] = {
    **HELP_SHOP,
    "program": (
        "Ask your shop in plain Chinese or English, and act on it safely.",
        "掌柜助手：用中文或英文向你的店铺提问，并安全地办事。",
    ),
    "program_examples": (
        "Examples:\n"
        '  erpilot ask "What was in order 123, is it still in stock, and quote it again"\n'
        "  erpilot chat\n"
        "  erpilot replay last\n\n"
        "SESSION is an id, the unambiguous beginning of one, or `last`.\n\n"
        "Exit codes: 0 completed, 1 unexpected error, 2 usage, 3 waiting for approval, 4 model or network,\n"
        "5 stopped by a guard, limit or budget, 6 storage, integrity or a differing decision,\n"
        "7 driven by another process, 130 interrupted.",
        "例子：\n"
        '  erpilot ask "订单 123 里买了什么？现在还有货吗？报个价"\n'
        "  erpilot chat\n"
        "  erpilot replay last\n\n"
        "SESSION（会话）可以是编号、编号的开头几位，或 last（最近一个）。\n\n"
        "退出码：0 完成，1 意外错误，2 用法错误，3 等待批准，4 模型或网络，\n"
        "5 被保护、上限或预算停止，6 存储、完整性或决定不一致，7 正由其他进程运行，130 被中断。",
    ),
    "ask": ("ask one question", "提一个问题"),
    "ask_examples": (
        "Examples:\n"
        '  erpilot ask "How many boxes of A4 paper do we have?"\n'
        "  echo 订单 123 里买了什么？ | erpilot ask -\n"
        '  erpilot ask --session last "and the other warehouse?"\n'
        '  erpilot ask --json "…" > events.jsonl',
        "例子：\n"
        '  erpilot ask "A4 纸还有多少？"\n'
        "  echo 订单 123 里买了什么？ | erpilot ask -\n"
        '  erpilot ask --session last "那另一个仓库呢？"\n'
        '  erpilot ask --json "……" > events.jsonl',
    ),
    "chat": ("a conversation in the terminal", "在终端里对话"),
    "chat_examples": (
        "Examples:\n  erpilot chat\n  erpilot chat --session last --model deepseek:deepseek-chat\n\n"
        "In it: /context tells what is in the next request, /compact has what is older summed up.",
        "例子：\n  erpilot chat\n  erpilot chat --session last --model deepseek:deepseek-chat\n\n"
        "对话中：/context 查看下一次请求里有什么，/compact 精简较早的内容。",
    ),
    "sessions": ("list the sessions", "列出会话"),
    "sessions_examples": (
        'Examples:\n  erpilot sessions --all\n  erpilot sessions --search "price for Xinyuan"',
        '例子：\n  erpilot sessions --all\n  erpilot sessions --search "鑫源 保温杯"',
    ),
    "show": ("look into a session, down to the bytes of a request", "查看一个会话，直到请求的每个字节"),
    "show_examples": (
        "Examples:\n"
        "  erpilot show last\n"
        "  erpilot show last --step 2\n"
        "  erpilot show last --step 2 --prompt > request.json\n"
        "  erpilot show last --context\n"
        "  erpilot show last --numbers",
        "例子：\n"
        "  erpilot show last\n"
        "  erpilot show last --step 2\n"
        "  erpilot show last --step 2 --prompt > request.json\n"
        "  erpilot show last --context\n"
        "  erpilot show last --numbers",
    ),
    "replay": ("print a recorded conversation, from the log or a trace", "回放一段对话（来自记录或跟踪文件）"),
    "replay_examples": (
        "Examples:\n  erpilot replay last\n  erpilot replay run.jsonl --step-by-step\n\nNothing is run again.",
        "例子：\n  erpilot replay last\n  erpilot replay run.jsonl --step-by-step\n\n不会重新执行任何操作。",
    ),
    "resume": ("go on with a session that stopped", "继续一个停下的会话"),
    "resume_examples": (
        "Examples:\n  erpilot resume last\n  erpilot resume 2511 --model ollama:qwen2.5:7b",
        "例子：\n  erpilot resume last\n  erpilot resume 2511 --model ollama:qwen2.5:7b",
    ),
    "approve": ("approve a call that waits, and go on", "批准等待中的操作并继续"),
    "approve_examples": ("Example:\n  erpilot approve last call_1", "例子：\n  erpilot approve last call_1"),
    "deny": ("deny a call that waits, and go on", "拒绝等待中的操作并继续"),
    "deny_examples": (
        'Example:\n  erpilot deny last call_1 --because "the customer wants 150, not 200"',
        '例子：\n  erpilot deny last call_1 --because "客户要的是 150 个"',
    ),
    "resolve": ("say what became of a call of unknown outcome, and go on", "说明结果不明的操作究竟如何，并继续"),
    "resolve_examples": (
        "Examples:\n"
        "  erpilot resolve last call_1 happened\n"
        "  erpilot resolve last call_1 did-not-happen\n"
        "  erpilot resolve last call_1 send-again\n\n"
        "Look in the ERP first: `erpilot resume last` says what was attempted and where to look.",
        "例子：\n"
        "  erpilot resolve last call_1 happened（已生效）\n"
        "  erpilot resolve last call_1 did-not-happen（没有生效）\n"
        "  erpilot resolve last call_1 send-again（再发一次）\n\n"
        "请先在 ERP 里核对：erpilot resume last 会说明做过什么、到哪里查看。",
    ),
    "trust": ("what may run unasked: list, revoke", "哪些操作不再询问：列出、撤销"),
    "trust_examples": (
        "Examples:\n  erpilot trust list\n  erpilot trust revoke grant-1a2b3c4d last",
        "例子：\n  erpilot trust list\n  erpilot trust revoke grant-1a2b3c4d last",
    ),
    "trust_list": ("the standing grants of a session", "列出会话中的授权"),
    "trust_list_examples": ("Example:\n  erpilot trust list last", "例子：\n  erpilot trust list last"),
    "trust_revoke": ("end a standing grant", "撤销一项授权"),
    "trust_revoke_examples": (
        "Example:\n  erpilot trust revoke grant-1a2b3c4d last",
        "例子：\n  erpilot trust revoke grant-1a2b3c4d last",
    ),
    "fork": ("another way to go on from an event, as a session of its own", "从某个事件分出一个新会话"),
    "fork_examples": (
        "Examples:\n"
        "  erpilot fork last --at 12\n"
        '  erpilot fork last --at 2 --model ollama:qwen3 --say "and in boxes?"\n'
        "  erpilot fork last --at 2 --system prompt.txt\n\n"
        "Nothing is copied; open calls, approvals and trust are not inherited. Prints the new session.",
        "例子：\n"
        "  erpilot fork last --at 12\n"
        '  erpilot fork last --at 2 --model ollama:qwen3 --say "换成箱呢？"\n'
        "  erpilot fork last --at 2 --system prompt.txt\n\n"
        "不复制任何内容；未完成的操作、批准和授权不会继承。输出新会话的编号。",
    ),
    "diff": ("where two sessions part, side by side", "并排比较两个会话从哪里分开"),
    "diff_examples": ("Example:\n  erpilot diff 2511-a 2511-b", "例子：\n  erpilot diff 2511-a 2511-b"),
    "rollback": ("take a conversation back to an event", "把对话回退到某个事件"),
    "rollback_examples": (
        "Examples:\n"
        "  erpilot rollback last --to 12\n"
        "  erpilot rollback last --to 12 --undo\n\n"
        "The conversation goes back; what was changed in the ERP stays, and what can be taken back is offered.",
        "例子：\n"
        "  erpilot rollback last --to 12\n"
        "  erpilot rollback last --to 12 --undo\n\n"
        "只回退对话；ERP 里已做的更改仍在，能撤销的会列出并询问。",
    ),
    "verify": (
        "prove that a log is intact, and make its decisions anew with today's code",
        "证明记录完整，并用现在的代码重新做一遍决定",
    ),
    "verify_examples": (
        "Examples:\n"
        "  erpilot verify last\n"
        "  erpilot verify last --against 41:9f3c…\n"
        "  erpilot verify logs/ --accept logs/accepted.json\n\n"
        "PATH: an exported session, or a folder of them. Differences in rendering are told; in decisions or effects\n"
        "they end with exit code 6, until they are accepted.",
        "例子：\n"
        "  erpilot verify last\n"
        "  erpilot verify last --against 41:9f3c…\n"
        "  erpilot verify logs/ --accept logs/accepted.json\n\n"
        "PATH 可以是导出的会话文件或放着它们的文件夹。措辞上的差异只会列出；\n"
        "决定或实际操作上的差异在被接受之前以退出码 6 结束。",
    ),
    "export": ("a session as one file", "把会话导出为一个文件"),
    "export_examples": (
        "Examples:\n"
        "  erpilot export last\n"
        "  erpilot export last --until 20 --redact -o report.jsonl\n\n"
        "Secrets are masked always. The file is for import-session, replay and verify.",
        "例子：\n"
        "  erpilot export last\n"
        "  erpilot export last --until 20 --redact -o report.jsonl\n\n"
        "密钥总是会被遮盖。文件可用于 import-session、replay 和 verify。",
    ),
    "import-session": ("take an exported session into this home", "导入一个导出的会话"),
    "import-session_examples": (
        "Example:\n  erpilot import-session report.jsonl",
        "例子：\n  erpilot import-session report.jsonl",
    ),
    "trace": ("traces of sessions", "会话的跟踪记录"),
    "trace_examples": ("Example:\n  erpilot trace export last", "例子：\n  erpilot trace export last"),
    "trace_export": ("a session as a trace", "把会话写成跟踪文件"),
    "trace_export_examples": (
        "Example:\n  erpilot trace export last --format jsonl -o trace.jsonl",
        "例子：\n  erpilot trace export last --format jsonl -o trace.jsonl",
    ),
    "erase": ("remove what a session holds, for good", "永久删除一个会话的内容"),
    "erase_examples": (
        "Examples:\n  erpilot erase last\n  erpilot erase 2511-a --yes",
        "例子：\n  erpilot erase last\n  erpilot erase 2511-a --yes",
    ),
    "backup": ("a copy of the data folder, while it is in use", "备份数据目录，使用中也可以"),
    "backup_examples": ("Example:\n  erpilot backup monday.tar.gz", "例子：\n  erpilot backup monday.tar.gz"),
    "restore": ("put a backup in the place of the data", "用备份替换现有数据"),
    "restore_examples": ("Example:\n  erpilot restore monday.tar.gz", "例子：\n  erpilot restore monday.tar.gz"),
    "shop_options": ("the shop", "店铺"),
    "opt_shop": ("work with the built-in shop, or with one in Tryton", "使用内置店铺，或 Tryton 里的店铺"),
    "opt_shop_url": ("address of the Tryton server, such as https://erp.example:8000", "Tryton 服务器的地址"),
    "opt_shop_database": ("name of its database", "数据库的名称"),
    "opt_shop_user": ("your own user there; the rights are those of this user", "您自己的用户；权限即该用户的权限"),
    "opt_password_stdin": (
        "read the user's password from stdin and keep it in the keyring; else it is in $ERPILOT_TRYTON_PASSWORD",
        "从标准输入读取该用户的密码，存入系统密钥环；否则取自 $ERPILOT_TRYTON_PASSWORD",
    ),
    "setup": ("choose the model, store the key, test the connection", "选择模型、保存密钥、测试连接"),
    "setup_examples": (
        "Examples:\n"
        "  erpilot setup\n"
        "  erpilot setup --model deepseek:deepseek-chat --key-variable DEEPSEEK_API_KEY\n"
        "  erpilot setup --model my-model --base-url http://127.0.0.1:8000/v1 --no-test\n"
        "  erpilot setup --shop tryton --shop-url https://erp.example:8000 --shop-database shop --shop-user wang\n"
        "  erpilot setup --model offline",
        "例子：\n"
        "  erpilot setup\n"
        "  erpilot setup --model deepseek:deepseek-chat --key-variable DEEPSEEK_API_KEY\n"
        "  erpilot setup --model my-model --base-url http://127.0.0.1:8000/v1 --no-test\n"
        "  erpilot setup --shop tryton --shop-url https://erp.example:8000 --shop-database shop --shop-user wang\n"
        "  erpilot setup --model offline",
    ),
    "doctor": ("what is configured and what can be reached", "检查配置和连通情况"),
    "doctor_examples": ("Example:\n  erpilot doctor --no-test", "例子：\n  erpilot doctor --no-test"),
    # --- options ---
    "opt_help": ("show this help", "显示帮助"),
    "opt_version": ("show the version", "显示版本"),
    "opt_lang": ("language of what Erpilot says: zh or en (else by the locale)", "界面语言：zh 或 en（默认随系统）"),
    "opt_verbose": ("everything in full, and structured logs on stderr", "显示全部内容，并在 stderr 输出结构化日志"),
    "opt_session": ("go on with this session", "继续这个会话"),
    "opt_profile": ("what the assistant is set up for (default: shop)", "助手的配置方案（默认 shop）"),
    "opt_model": (
        "provider:model, offline, or a model at OPENAI_BASE_URL",
        "服务商:模型、offline，或 OPENAI_BASE_URL 处的模型",
    ),
    "opt_json": ("one recorded event a line on stdout, nothing else", "在 stdout 每行输出一个事件，别无其他"),
    "opt_approve": (
        "`write`: run writes unasked; never covers DANGEROUS",
        "write：普通写操作不再询问；绝不包括 DANGEROUS",
    ),
    "opt_trace": ("also write a JSONL trace to this file", "同时把 JSONL 跟踪写入该文件"),
    "opt_text": ("the question, or - to read it from stdin", "问题；- 表示从 stdin 读取"),
    "opt_session_argument": ("the session", "会话"),
    "opt_source": ("a session, or a JSONL trace file", "会话，或 JSONL 跟踪文件"),
    "opt_step": ("one step in full", "查看某一步的全部内容"),
    "opt_prompt": ("the exact request of the step (default: the last step)", "该步的确切请求（默认最后一步）"),
    "opt_context": (
        "what is in the next request, by layer: tokens, what was left out and why",
        "下一次请求里有什么：按层列出词元数、略去了什么、为什么",
    ),
    "opt_numbers": ("where each figure of the answers came from", "回答里每个数字的出处"),
    "opt_step_by_step": ("wait for Enter after each step", "每一步之后等待回车"),
    "opt_call": ("the call; may be left out when only one waits", "调用编号；只有一个等待时可省略"),
    "opt_because": ("why; the assistant is told", "理由，会告诉助手"),
    "opt_rule": (
        "`deny|ask|allow TOOL [TARGET]` for this session; may be repeated",
        "deny|ask|allow 工具 [对象]：只对本会话生效，可重复",
    ),
    "opt_queue": (
        "leave the message for a session whose run is going on",
        "会话正在运行时，把消息留给它，运行结束后再处理",
    ),
    "opt_uncertain_call": ("the call whose outcome is not known", "结果不明的调用编号"),
    "opt_outcome": ("what was found out", "核对的结果"),
    "opt_content": ("what the assistant is told as its result", "作为结果告诉助手的内容"),
    "opt_session_or_last": ("the session (default: last)", "会话（默认最近一个）"),
    "opt_grant": ("the grant, as `trust list` names it", "授权编号，见 trust list"),
    "opt_at": ("the event to go on from (erpilot show lists them)", "从哪个事件继续（erpilot show 可列出）"),
    "opt_system": ("a file with another system prompt", "另一份系统提示词的文件"),
    "opt_say": ("what to say there", "在那里说的话"),
    "opt_other_session": ("the other session", "另一个会话"),
    "opt_to": ("the event to go back to (erpilot show lists them)", "回退到哪个事件（erpilot show 可列出）"),
    "opt_why": ("why; kept in the log", "理由，会记入记录"),
    "opt_undo": (
        "also take back what was changed since; each change is asked",
        "同时撤销此后的更改；每一项都会询问",
    ),
    "opt_verify_source": ("a session, an exported one, or a folder of them", "会话、导出的文件，或放着它们的文件夹"),
    "opt_against": ("a head that was noted elsewhere: event and hash", "在别处记下的末尾：事件号和哈希"),
    "opt_accept": (
        "file of differences that somebody accepted; new ones are added with --because, or at the terminal",
        "已接受差异的文件；用 --because 或在终端确认后，新的差异会加入",
    ),
    "opt_accept_because": ("accept the differences found, for this reason", "以此理由接受发现的差异"),
    "opt_until": ("only the events up to this one", "只到这个事件为止"),
    "opt_redact": ("also mask what tells who people are", "同时遮盖个人信息"),
    "opt_output": ("the file to write (default: named after the session)", "写入的文件（默认以会话命名）"),
    "opt_export_file": ("a file written by erpilot export", "erpilot export 写出的文件"),
    "opt_format": ("form of the trace", "跟踪文件的格式"),
    "opt_yes": ("do not ask", "不再询问"),
    "opt_backup_file": ("the backup", "备份文件"),
    "opt_all": ("all sessions, not only the last 20", "全部会话，而不只是最近 20 个"),
    "opt_search": (
        "only sessions in which all these words stand together in one message or result, and where",
        "只列出某条消息或结果中同时含有这些词的会话，并指出位置",
    ),
    "opt_base_url": ("address of the API", "接口地址"),
    "opt_key_variable": ("environment variable that holds the key", "存放密钥的环境变量"),
    "opt_key_stdin": ("read the key from stdin and store it", "从 stdin 读取密钥并保存"),
    "opt_currency": ("CNY or USD: what costs are shown in", "CNY 或 USD：费用显示的货币"),
    "opt_exchange_rate": ("CNY per USD, for costs in the other currency", "美元兑人民币汇率，用于换算费用"),
    "opt_today": ("the day the built-in shop lives on, such as 2026-11-30", "内置店铺所在的日期，如 2026-11-30"),
    "opt_zone": ("time zone of the times shown, such as Asia/Shanghai", "显示时间的时区，如 Asia/Shanghai"),
    "opt_no_test": ("do not try the connection", "不测试连接"),
    # --- argparse's own words ---
    "usage": ("usage: ", "用法："),
    "arguments": ("arguments", "参数"),
    "options": ("options", "选项"),
    "commands": ("commands", "命令"),
}

COMPLAINTS: list[tuple[str, str]] = [
    (r"the following arguments are required: (.*)", r"缺少参数：\1"),
    (r"unrecognized arguments: (.*)", r"不认识的参数：\1"),
    (r"argument (.*): invalid choice: (.*) \(choose from (.*)\)", r"参数 \1 的值 \2 无效（可选：\3）"),
    (r"argument (.*): invalid (\w+) value: (.*)", r"参数 \1 的值 \3 无效"),
    (r"argument (.*): expected one argument", r"参数 \1 需要一个值"),
    (r"argument (.*): not allowed with argument (.*)", r"参数 \1 不能与 \2 同用"),
    (r"argument (.*): ignored explicit argument (.*)", r"参数 \1 不接受值 \2"),
    (r"ambiguous option: (.*) could match (.*)", r"选项 \1 有歧义：\2"),
]
"""What the parser complains about, and how to say it in Chinese."""
