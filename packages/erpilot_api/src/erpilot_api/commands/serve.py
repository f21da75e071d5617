"""``erpilot serve``: the HTTP entrance and the page.

Invariant: importing this module loads no web framework, since help loads it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from erpilot.cli.problems import USAGE, Problem

if TYPE_CHECKING:
    from erpilot.cli.desk import Desk

HELP = {
    "serve": ("serve the page and the HTTP API", "提供网页和 HTTP 接口"),
    "serve_examples": (
        "Examples:\n"
        "  erpilot serve\n"
        "  erpilot serve --port 9000 --model deepseek:deepseek-chat\n"
        "  erpilot serve --host 0.0.0.0 --name shop.example.com\n\n"
        "It prints a link that lets one browser in, once. Further people: erpilot users --help",
        "例子：\n"
        "  erpilot serve\n"
        "  erpilot serve --port 9000 --model deepseek:deepseek-chat\n"
        "  erpilot serve --host 0.0.0.0 --name shop.example.com\n\n"
        "启动后会给出一个链接，只能让一个浏览器进来一次。给其他人：erpilot users --help",
    ),
    "opt_host": ("address to listen on (default 127.0.0.1)", "监听地址（默认 127.0.0.1）"),
    "opt_port": ("port to listen on, 0 for any that is free (default 8765)", "端口，0 表示任选空闲端口（默认 8765）"),
    "opt_name": (
        "name under which browsers reach this server, besides localhost; may be given several times",
        "浏览器访问本服务所用的主机名（除 localhost 外），可多次给出",
    ),
}
MESSAGES = {
    "serving": ("Serving at {address} (Ctrl-C stops).", "已在 {address} 提供服务（按 Ctrl-C 停止）。"),
    "serve_link": (
        "Open this link in your browser; it lets {user} in, once, within ten minutes:\n  {link}",
        "请在浏览器中打开这个链接：供 {user} 使用，十分钟内有效，只能用一次：\n  {link}",
    ),
    "serve_no_owner": (
        "No user is an owner, so no link is given; make one: erpilot users link NAME",
        "没有店主用户，因此没有链接；可以这样生成：erpilot users link 姓名",
    ),
    "serve_one_login": (
        "Everybody works in the ERP as its user {user}, with that user's rights: roles decide who sees which sessions "
        "and who approves.",
        "所有人都以 ERP 用户 {user} 的身份和权限工作；角色只决定谁能看哪些会话、谁能批准。",
    ),
    "serve_plain": (
        "Others on the network can read along: put a proxy with HTTPS in front of it.",
        "网络上的其他人可以偷看内容：请在前面加一个 HTTPS 反向代理。",
    ),
    "cannot_listen": (
        "{host} port {port} cannot be listened on: {why}. Choose another one: --port",
        "无法在 {host} 的端口 {port} 监听：{why}。请换一个端口：--port",
    ),
    "bad_port": ("{port} is no port: 0 to 65535.", "{port} 不是端口号：应为 0 到 65535。"),
    "serve_stopped": (
        "Stopped; what was going on goes on with the next start.",
        "已停止；未完成的会在下次启动时继续。",
    ),
    "users_unreadable": ("{path} cannot be used: {why}.", "{path} 无法使用：{why}。"),
    "bad_user_name": ("{name} cannot be the name of a user.", "{name} 不能作为用户名。"),
}
LOOPBACK = ("127.0.0.1", "localhost", "::1")


def arguments(parser: argparse.ArgumentParser, say: Callable[[str], str]) -> None:
    """Adds the command's arguments."""
    parser.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help=say("opt_host"))
    parser.add_argument("--port", type=int, default=8765, metavar="PORT", help=say("opt_port"))
    parser.add_argument("--name", action="append", default=[], metavar="HOST", help=say("opt_name"))
    parser.add_argument("--model", metavar="MODEL", help=say("opt_model"))
    parser.add_argument("--rule", action="append", default=[], metavar="RULE", help=say("opt_rule"))


def run(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    if not 0 <= parsed.port <= 65535:
        raise Problem(USAGE, "bad_port", port=parsed.port)
    return desk.run(_serve(desk, parsed))


async def _serve(desk: Desk, parsed: argparse.Namespace) -> int:
    from erpilot.cli.home import prepare_home

    from ..accounts import UserList
    from ..app import create_app
    from ..door import LOOPBACK as NAMES
    from ..opening import open_house
    from ..serving import Server, listen

    try:
        socket = listen(parsed.host, parsed.port)
    except OSError as error:
        why = error.strerror or str(error)
        raise Problem(USAGE, "cannot_listen", host=parsed.host, port=parsed.port, why=why) from None
    with socket:
        port = socket.getsockname()[1]
        name = parsed.name[0] if parsed.name else f"[{parsed.host}]" if ":" in parsed.host else parsed.host
        address = f"http://{'127.0.0.1' if name in ('0.0.0.0', '[::]') else name}:{port}"
        people = UserList(prepare_home(desk.home), desk.person)
        async with desk.open_store() as store, open_house(desk, parsed, store, people.access) as house:

            def started() -> None:
                say = desk.terminal.note
                say(desk.texts("serving", address=address))
                if parsed.host not in LOOPBACK:
                    say(desk.texts("serve_plain"), "wait")
                owner = next((user for user in house.access.users.values() if user.role == "owner"), None)
                if owner is None:
                    say(desk.texts("serve_no_owner"), "wait")
                else:
                    link = f"{address}/#code={house.access.code(owner.name)}"
                    say(desk.texts("serve_link", user=owner.name, link=link))

            app = create_app(house, hosts=(*NAMES, parsed.host, *parsed.name), users_changed=people.changed)
            await Server(app, house, started).serve(sockets=[socket])
    desk.terminal.note(desk.texts("serve_stopped"))
    return 0
