"""``erpilot users``: who may come in over HTTP, links and tokens for them.

Invariant: importing this module loads no web framework, since help loads it. A token is shown once and kept nowhere.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from erpilot.cli.problems import USAGE, Problem

if TYPE_CHECKING:
    from erpilot.cli.desk import Desk

    from ..access import Access

ROLES = ("clerk", "warehouse", "buyer", "money", "manager", "owner")
HELP = {
    "users": ("who may use the page and the HTTP API", "谁可以使用网页和 HTTP 接口"),
    "users_examples": (
        "Examples:\n"
        "  erpilot users list\n"
        "  erpilot users add 小李 --role clerk\n"
        "  erpilot users link 小李          a link for a browser, ten minutes, once\n"
        "  erpilot users token 小李         a token for programs, thirty days\n"
        "  erpilot users remove 小李\n\n"
        "Staff asks, within the rights of the role; a manager sees everybody's sessions and approves writes; an owner\n"
        "approves everything.\n"
        "A server that is running learns of it within seconds.",
        "例子：\n"
        "  erpilot users list\n"
        "  erpilot users add 小李 --role clerk\n"
        "  erpilot users link 小李          给浏览器的链接，十分钟内有效，只能用一次\n"
        "  erpilot users token 小李         给程序的令牌，三十天有效\n"
        "  erpilot users remove 小李\n\n"
        "员工按角色的权限提问；经理（manager）可看所有人的会话并批准写操作；店主（owner）可批准一切。\n"
        "正在运行的服务几秒内就会知道。",
    ),
    "opt_users_action": ("list, add, remove, link or token", "list、add、remove、link 或 token"),
    "opt_user_name": ("name of the user", "用户名"),
    "opt_role": (
        "clerk, warehouse, buyer, money, manager or owner (default clerk)",
        "clerk 店员、warehouse 仓库、buyer 采购、money 财务、manager 经理或 owner 店主（默认 clerk）",
    ),
    "opt_tenant": (
        "whose shop the user belongs to, where one server serves several",
        "所属店铺（一台服务供多家店使用时）",
    ),
    "opt_address": ("address of the server in the link", "链接中的服务地址"),
}
MESSAGES = {
    "head_user": ("user", "用户"),
    "head_role": ("role", "角色"),
    "head_tenant": ("tenant", "店铺"),
    "users_name_missing": ("Which user? erpilot users {action} NAME", "哪个用户？erpilot users {action} 姓名"),
    "users_unknown": ("There is no user {name}. Known: {known}.", "没有用户 {name}。已有：{known}。"),
    "users_known": ("There is a user {name} already.", "已经有用户 {name}。"),
    "users_added": (
        "{name} was added as {role}. A link: erpilot users link {name}",
        "已添加 {name}，角色 {role}。生成链接：erpilot users link {name}",
    ),
    "users_removed": (
        "{name} was removed; their tokens do not hold any more.",
        "已删除 {name}，其令牌全部失效。",
    ),
    "users_last_owner": ("{name} is the only owner and stays.", "{name} 是唯一的店主，不能删除。"),
}


def arguments(parser: argparse.ArgumentParser, say: Callable[[str], str]) -> None:
    """Adds the command's arguments."""
    actions = ("list", "add", "remove", "link", "token")
    parser.add_argument("action", choices=actions, metavar="ACTION", help=say("opt_users_action"))
    parser.add_argument("name", nargs="?", metavar="NAME", help=say("opt_user_name"))
    parser.add_argument("--role", choices=ROLES, default="clerk", metavar="ROLE", help=say("opt_role"))
    parser.add_argument("--tenant", metavar="TENANT", help=say("opt_tenant"))
    parser.add_argument("--address", default="http://127.0.0.1:8765", metavar="URL", help=say("opt_address"))


def run(desk: Desk, parsed: argparse.Namespace) -> int:
    """Runs the command and returns its exit code."""
    from ..access import Access, User
    from ..accounts import check_name, read_users, signing_key, write_users

    users = {user.name: user for user in read_users(desk.home, desk.person)}
    if parsed.action == "list":
        head = [desk.texts(key) for key in ("head_user", "head_role", "head_tenant")]
        desk.terminal.table(head, [[user.name, user.role, user.tenant or ""] for user in users.values()])
        return 0
    if parsed.name is None:
        raise Problem(USAGE, "users_name_missing", action=parsed.action)
    name = check_name(parsed.name)
    if parsed.action == "add":
        if name in users:
            raise Problem(USAGE, "users_known", name=name)
        write_users(desk.home, [*users.values(), User(name, parsed.role, parsed.tenant)])
        desk.terminal.note(desk.texts("users_added", name=name, role=parsed.role))
        return 0
    if name not in users:
        raise Problem(USAGE, "users_unknown", name=name, known=", ".join(users))
    if parsed.action == "remove":
        if [user.name for user in users.values() if user.role == "owner"] == [name]:
            raise Problem(USAGE, "users_last_owner", name=name)
        write_users(desk.home, [user for user in users.values() if user.name != name])
        desk.terminal.note(desk.texts("users_removed", name=name))
        return 0
    desk.terminal.line(_way_in(parsed, Access(signing_key(desk.home), users.values()), name))
    return 0


def _way_in(parsed: argparse.Namespace, access: Access, name: str) -> str:
    if parsed.action == "token":
        return access.token(name)[0]
    return f"{parsed.address.rstrip('/')}/#code={access.code(name)}"
