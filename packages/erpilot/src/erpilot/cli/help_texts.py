"""The help of every command and option, in English and Chinese, as data.

Invariant: the two languages of a text stand side by side, so that neither is changed alone.
"""

from __future__ import annotations

HELP: dict[str, tuple[str, str]] = {
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
        "5 stopped by a guard, limit or budget, 6 storage, 7 driven by another process, 130 interrupted.",
        "例子：\n"
        '  erpilot ask "订单 123 里买了什么？现在还有货吗？报个价"\n'
        "  erpilot chat\n"
        "  erpilot replay last\n\n"
        "SESSION（会话）可以是编号、编号的开头几位，或 last（最近一个）。\n\n"
        "退出码：0 完成，1 意外错误，2 用法错误，3 等待批准，4 模型或网络，\n"
        "5 被保护、上限或预算停止，6 存储，7 正由其他进程运行，130 被中断。",
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
        "Examples:\n  erpilot chat\n  erpilot chat --session last --model deepseek:deepseek-chat",
        "例子：\n  erpilot chat\n  erpilot chat --session last --model deepseek:deepseek-chat",
    ),
    "sessions": ("list the sessions", "列出会话"),
    "sessions_examples": ("Example:\n  erpilot sessions --all", "例子：\n  erpilot sessions --all"),
    "show": ("look into a session, down to the bytes of a request", "查看一个会话，直到请求的每个字节"),
    "show_examples": (
        "Examples:\n"
        "  erpilot show last\n"
        "  erpilot show last --step 2\n"
        "  erpilot show last --step 2 --prompt > request.json",
        "例子：\n"
        "  erpilot show last\n"
        "  erpilot show last --step 2\n"
        "  erpilot show last --step 2 --prompt > request.json",
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
    "setup": ("choose the model, store the key, test the connection", "选择模型、保存密钥、测试连接"),
    "setup_examples": (
        "Examples:\n"
        "  erpilot setup\n"
        "  erpilot setup --model deepseek:deepseek-chat --key-variable DEEPSEEK_API_KEY\n"
        "  erpilot setup --model my-model --base-url http://127.0.0.1:8000/v1 --no-test\n"
        "  erpilot setup --model offline",
        "例子：\n"
        "  erpilot setup\n"
        "  erpilot setup --model deepseek:deepseek-chat --key-variable DEEPSEEK_API_KEY\n"
        "  erpilot setup --model my-model --base-url http://127.0.0.1:8000/v1 --no-test\n"
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
    "opt_step_by_step": ("wait for Enter after each step", "每一步之后等待回车"),
    "opt_call": ("the call; may be left out when only one waits", "调用编号；只有一个等待时可省略"),
    "opt_because": ("why; the assistant is told", "理由，会告诉助手"),
    "opt_all": ("all sessions, not only the last 20", "全部会话，而不只是最近 20 个"),
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
