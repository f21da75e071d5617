"""The offline model over the embedded shop: what it is asked, what it calls, what it answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from agent_core import events as ev
from agent_core.loop import AgentLoop
from erpilot.offline import OfflineModel
from erpilot.shop.open import open_shop
from erpilot.toolsets.shop import shop_tools
from tests.support.figures import figures, figures_from_nowhere

ORDER, PRODUCT, CUSTOMER, STOCK, PRICE = "get_order", "find_products", "find_customers", "check_stock", "get_price"
NOT_A_MODEL = re.compile("不是语言模型|no language model")


@dataclass(frozen=True)
class Turn:
    """What came of one message: calls by step, their results in the same order, the answer."""

    steps: list[list[tuple[str, dict[str, Any]]]]
    results: list[str]
    answer: str

    @property
    def tools(self) -> list[str]:
        return [name for step in self.steps for name, _ in step]

    def arguments(self, tool: str) -> dict[str, Any]:
        return next(arguments for step in self.steps for name, arguments in step if name == tool)


class Conversation:
    """Says one thing after another in one session."""

    def __init__(self, loop: AgentLoop) -> None:
        self._loop = loop
        self._session: str | None = None
        self.seen: list[str] = []

    async def say(self, text: str) -> Turn:
        steps: list[list[tuple[str, dict[str, Any]]]] = []
        done: dict[str, str] = {}
        answer, end = "", ""
        today = (ev.Frozen(kind="today", text="2026-11-30 Monday, Asia/Shanghai"),)
        async for item in self._loop.run(text, self._session, context=today):
            self._session = item.session_id
            match item.event:
                case ev.AssistantMessage(content=content, tool_calls=calls):
                    answer = content or ""
                    done |= dict.fromkeys((call.id for call in calls), "")
                    steps += [[(call.name, json.loads(call.arguments)) for call in calls]] if calls else []
                case ev.ToolCallFinished(call_id=call_id, content=content):
                    done[call_id] = content
                case ev.LoopEnd(reason=reason):
                    end = reason
        self.seen += [text, *done.values()]
        assert end == "completed"
        return Turn(steps, list(done.values()), answer)


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentLoop]:
    home: Path = tmp_path_factory.mktemp("shop")
    shop = open_shop(home, date(2026, 11, 30))
    yield AgentLoop(model=OfflineModel(), tools=shop_tools(shop))
    shop.close()


def answered(turn: Turn, conversation: Conversation) -> None:
    """The answer is one, in no figure invented."""
    assert not NOT_A_MODEL.search(turn.answer), turn.answer
    assert figures_from_nowhere(turn.answer, conversation.seen) == set()
    assert set(turn.tools) <= {ORDER, PRODUCT, CUSTOMER, STOCK, PRICE}


CONTENTS = [
    "订单 123 里买了什么？",
    "查一下 SO-2026-0123 的明细",
    "What is in order 123?",
    "Show me the lines of SO-2026-0123",
    "123号单买的啥",
    "123 号单里面都有哪些货",
    "#123",
    "123",
    "订单123",
    "订单１２３明细",
    "查询单号：123",
    "SO-2026-0123",
    "so-2026-0123 里有什么",
    "order 123 里有什么",
    "帮我看看 SO-2026-0123 都有什么货，谢谢",
    "麻烦查下123号订单的内容",
    "what did they buy in order 123?",
    "Hi, could you please show me the details of order #123? Thanks",
    "order no. 123",
    "What's in order 123",
    "what's the total of order 123",
    "order SO20260123",
]


@pytest.mark.parametrize("text", CONTENTS)
async def test_the_contents_of_an_order_are_read_and_told_whole(loop: AgentLoop, text: str) -> None:
    conversation = Conversation(loop)
    turn = await conversation.say(text)
    answered(turn, conversation)
    assert turn.tools == [ORDER]
    order = json.loads(turn.results[0])
    assert order["number"] == "SO-2026-0123"
    for line in order["lines"]:
        told = next(each for each in turn.answer.splitlines() if line["sku"] in each)
        assert all(line[key] in told for key in ("name", "specification", "ordered", "unit", "unit_price", "amount"))
    assert all(order[key] in turn.answer for key in ("number", "party", "date", "total", "tax"))
    english = re.search("[A-Za-z]{3}", text) and not re.search("[一-鿿]", text)
    assert ("tax included" if english else "含税") in turn.answer


ONE_GO = [
    "订单 123 里买了什么？现在还有货吗？报个价",
    "把 123 号单的货按现价重新报一遍，缺货的标出来",
    "What was in order 123, is it still in stock, and quote it again",
    "Re-quote order 123 at current prices and flag anything we cannot ship",
    "订单123有什么，还有库存吗，重新报价",
    "123 号单现在都有货吗？按现在的价格报一下",
    "SO-2026-0123 重新报个价，有没有货也看一下",
    "order 123: still in stock? current prices please",
    "quote order 123 again and tell me what is in stock",
    "订单 #123 还有货没？多少钱",
]


@pytest.mark.parametrize("text", ONE_GO)
async def test_order_stock_and_quote_in_one_go(loop: AgentLoop, text: str) -> None:
    conversation = Conversation(loop)
    turn = await conversation.say(text)
    answered(turn, conversation)
    assert [[name for name, _ in step] for step in turn.steps] == [[ORDER], [STOCK, PRICE]], (
        "the second step in parallel"
    )
    order, stock, price = map(json.loads, turn.results)
    assert turn.arguments(STOCK)["skus"] == [line["sku"] for line in order["lines"]]
    assert turn.arguments(PRICE)["customer"] == order["party_id"]
    internal, letter = re.split("可直接发给客户：|To be sent to the customer", turn.answer)
    for product in stock["products"]:
        told = internal.split(f"{product['sku']}", 2)[2].split("\n", 2)
        assert product["available"] in told[0]
        assert product["wanted"] in told[1]
        if not product["enough"]:
            assert product["shortage"] in told[1]
            assert product["complete_on"] in told[1]
            arrivals = [each for place in product["warehouses"] for each in place["arrivals"]]
            assert arrivals
            assert all(each["document"] in internal for each in arrivals)
    assert any(not product["enough"] for product in stock["products"])
    for line, old in zip(price["lines"], order["lines"], strict=True):
        told = (
            internal.split("现价" if "现价" in internal else "Current prices")[1].split(line["sku"])[1].split("\n")[0]
        )
        assert line["unit_price"] in told
        assert (old["unit_price"] != line["unit_price"]) == bool(re.search("有变动|: changed", told))
        assert line["amount"] in letter
    assert all(price[key] in letter for key in ("subtotal", "tax", "total", "valid_until"))
    for product in stock["products"]:
        # A figure of the stock may be in the text for the customer only if it is also a figure of the quote.
        inner = figures(" ".join(product[key] for key in ("on_hand", "reserved", "available", "shortage")))
        quoted = figures(json.dumps(price, ensure_ascii=False)) | figures(json.dumps(order, ensure_ascii=False))
        assert not (inner - quoted) & figures(letter)


STOCKS = [
    ("A4 纸还有多少？", ["PA4-70"]),
    ("小米8 黑色 64G 各个仓库的库存", ["201808270027002"]),
    ("How many boxes of A4 paper do we have?", ["PA4-70"]),
    ("Stock of the black 64G phone by warehouse", ["201808270027002"]),
    ("a4纸还有吗", ["PA4-70"]),
    ("可乐还剩几箱", ["BV-COLA-500"]),
    ("还有可乐吗", ["BV-COLA-500"]),
    ("有没有可乐", ["BV-COLA-500"]),
    ("现在可乐的库存情况", ["BV-COLA-500"]),
    ("how much A4 paper is left", ["PA4-70"]),
    ("is cola in stock?", ["BV-COLA-500"]),
    ("帮我 check 一下 A4 paper 的 stock", ["PA4-70"]),
    ("BV-COLA-500 库存", ["BV-COLA-500"]),
    ("6901234567892 还有多少", ["BV-COLA-500"]),
    ("保温杯的库存还有多少呀，急", ["HW-CUP-500"]),
    ("日式和风懒人沙发还有多少", ["LM1009024"]),
    ("“A4 纸”有货吗", ["PA4-70"]),
    ("cola available?", ["BV-COLA-500"]),
    ("你好，请问一下酱油还有货吗？谢谢", ["FD-SOY-500"]),
    ("A4 纸和胶带还有多少", ["PA4-70", "OF-TAPE-45"]),
    ("can you tell me the stock of soy sauce, tape and sprite", ["FD-SOY-500", "OF-TAPE-45", "BV-SPRI-500"]),
    ("我想知道咱们仓库里的雪碧还剩多少箱，谢谢啦", ["BV-SPRI-500"]),
    ("还有可乐么", ["BV-COLA-500"]),
    ("what's the stock of cola", ["BV-COLA-500"]),
]


@pytest.mark.parametrize(("text", "skus"), STOCKS)
async def test_stock_is_told_by_warehouse_in_four_numbers(loop: AgentLoop, text: str, skus: list[str]) -> None:
    conversation = Conversation(loop)
    turn = await conversation.say(text)
    answered(turn, conversation)
    assert set(turn.tools) == {PRODUCT, STOCK}
    told = [product for result in turn.results for product in json.loads(result).get("products", [])]
    assert [product["sku"] for product in told] == skus
    chinese = "可用" in turn.answer
    words = ("可用", "现有", "已占用", "在途") if chinese else ("available", "on hand", "reserved", "incoming")
    for product in told:
        head, *block = turn.answer[turn.answer.index(f"{product['sku']}") :].splitlines()
        assert turn.answer.index(product["name"]) < turn.answer.index(product["sku"])
        for record, line in [(product, head), *zip(product["warehouses"], _of_warehouses(product, block), strict=True)]:
            for word, key in zip(words, ("available", "on_hand", "reserved", "incoming"), strict=True):
                assert re.search(rf"{word} {record[key]}\b", line), (word, line)
        assert f"{product['available']} {product['base_unit']}" in head
    assert json.loads(turn.results[-1])["as_of"] in turn.answer


def _of_warehouses(product: dict[str, Any], block: list[str]) -> list[str]:
    names = [place["warehouse_name"] for place in product["warehouses"]]
    return [next(line for line in block if line.strip().startswith(name)) for name in names]


WANTED = [
    ("还有 30 箱可乐吗", "30 箱"),
    ("可乐 30 箱够不够", "30 箱"),
    ("可乐三十箱有货吗", "30 箱"),
    ("do we have 30 cases of cola?", "30 cases"),
    ("有３０箱可乐吗", "30 箱"),
]


@pytest.mark.parametrize(("text", "wanted"), WANTED)
async def test_a_wanted_quantity_is_checked_against_what_is_available(loop: AgentLoop, text: str, wanted: str) -> None:
    conversation = Conversation(loop)
    turn = await conversation.say(text)
    answered(turn, conversation)
    assert turn.arguments(STOCK) == {"skus": ["BV-COLA-500"], "quantities": [wanted]}
    product = json.loads(turn.results[-1])["products"][0]
    assert product["shortage"] in turn.answer
    assert "confirmed" in turn.answer or "未确认" in turn.answer


async def test_a_single_warehouse_is_told_alone_and_one_that_does_not_exist_is_said(loop: AgentLoop) -> None:
    for text, sku, place in (
        ("东门店 A4 纸库存", "PA4-70", "东门店"),
        ("总仓的可乐还有多少", "BV-COLA-500", "总仓"),
        ("stock of cola in the East shop", "BV-COLA-500", "东门店"),
    ):
        conversation = Conversation(loop)
        turn = await conversation.say(text)
        answered(turn, conversation)
        (product,) = json.loads(turn.results[-1])["products"]
        assert (product["sku"], [each["warehouse_name"] for each in product["warehouses"]]) == (sku, [place])
    turn = await Conversation(loop).say("西门店 A4 纸库存")
    assert "西门店" in turn.answer
    assert "东门店" in turn.answer, "the nearest are named"


async def test_each_warehouse_is_told_with_its_own_figures_only(loop: AgentLoop) -> None:
    turn = await Conversation(loop).say("可乐还有多少")
    product = json.loads(turn.results[-1])["products"][0]
    east = next(place for place in product["warehouses"] if "incoming_unconfirmed" not in place)
    line = next(each for each in turn.answer.splitlines() if each.strip().startswith(east["warehouse_name"]))
    assert product["incoming_unconfirmed"] not in line


PRICES: list[tuple[str, str | None, list[tuple[str, str]]]] = [
    ("给鑫源商行报 200 个保温杯，单价多少？", "C001", [("HW-CUP-500", "200")]),
    ("What is the unit price of 200 flasks for Xinyuan?", "C001", [("HW-CUP-500", "200")]),
    ("给鑫源商行报两百个保温杯，单价多少？", "C001", [("HW-CUP-500", "200")]),
    ("鑫源要三箱可乐，多少钱", "C001", [("BV-COLA-500", "3")]),
    ("鑫源买 200 个保温杯什么价", "C001", [("HW-CUP-500", "200")]),
    ("保温杯 200 个，鑫源什么价", "C001", [("HW-CUP-500", "200")]),
    ("保温杯 200 个给鑫源什么价", "C001", [("HW-CUP-500", "200")]),
    ("报价：鑫源，可乐 20 箱", "C001", [("BV-COLA-500", "20")]),
    ("给和泰报 5 箱可乐", "ZH013", [("BV-COLA-500", "5")]),
    ("quote 200 flasks for Xinyuan", "C001", [("HW-CUP-500", "200")]),
    ("How much are 20 cases of cola for Xinyuan Trading?", "C001", [("BV-COLA-500", "20")]),
    ("Xinyuan's price for 20 cases of cola", "C001", [("BV-COLA-500", "20")]),
    ("3 bottles of soy sauce to Chengnan, what price?", "C003", [("FD-SOY-500", "3")]),
    ("What does Xinyuan pay for 1,200 flasks?", "C001", [("HW-CUP-500", "1200")]),
    ("可乐一箱多少钱", None, [("BV-COLA-500", "1")]),
    ("酱油多少钱一箱", None, [("FD-SOY-500", "1")]),
    ("A4 纸怎么卖", None, [("PA4-70", "1")]),
    ("price of A4 paper", None, [("PA4-70", "1")]),
    ("可乐 20 箱、雪碧 10 箱多少钱", None, [("BV-COLA-500", "20"), ("BV-SPRI-500", "10")]),
]


@pytest.mark.parametrize(("text", "customer", "lines"), PRICES)
async def test_a_price_is_for_exactly_this_customer_and_quantity(
    loop: AgentLoop, text: str, customer: str | None, lines: list[tuple[str, str]]
) -> None:
    conversation = Conversation(loop)
    turn = await conversation.say(text)
    answered(turn, conversation)
    assert turn.arguments(PRICE).get("customer") == customer
    assert [(line["sku"], line["qty"]) for line in turn.arguments(PRICE)["lines"]] == lines
    report = json.loads(turn.results[-1])
    assert all(report[key] in turn.answer for key in ("price_list", "subtotal", "tax", "total", "valid_until", "as_of"))
    for line in report["lines"]:
        told = next(each for each in turn.answer.splitlines() if line["sku"] in each)
        assert all(
            line[key] in told for key in ("qty", "unit", "unit_price", "amount", "rule", "list_price", "min_qty")
        )
        if "next_tier" in line:
            assert line["next_tier"]["unit_price"] in told
    assert "含税" in turn.answer or "tax included" in turn.answer


@pytest.mark.parametrize(
    ("first", "then"),
    [("VIP 客户买 50 件什么价，含税吗？", "保温杯"), ("What does a VIP pay for 50 pieces, tax included?", "flasks")],
)
async def test_a_price_without_a_product_is_asked_about_and_then_given(loop: AgentLoop, first: str, then: str) -> None:
    conversation = Conversation(loop)
    turn = await conversation.say(first)
    assert turn.tools == []
    assert "哪个商品" in turn.answer or "Which product" in turn.answer
    turn = await conversation.say(then)
    answered(turn, conversation)
    assert turn.arguments(PRICE)["price_list"] == "vip"
    assert turn.arguments(PRICE)["lines"][0]["qty"] == "50"
    assert turn.arguments(PRICE)["lines"][0]["sku"] == "HW-CUP-500"


async def test_what_was_asked_back_is_answered_with_a_name_and_a_quantity(loop: AgentLoop) -> None:
    conversation = Conversation(loop)
    assert (await conversation.say("给鑫源报价")).tools == []
    turn = await conversation.say("保温杯 20 个")
    answered(turn, conversation)
    assert turn.arguments(PRICE) == {"lines": [{"sku": "HW-CUP-500", "qty": "20", "unit": "个"}], "customer": "C001"}


async def test_stock_and_price_of_one_product_are_read_side_by_side(loop: AgentLoop) -> None:
    conversation = Conversation(loop)
    turn = await conversation.say("A4 纸有货吗，多少钱")
    answered(turn, conversation)
    assert [[name for name, _ in step] for step in turn.steps] == [[PRODUCT], [STOCK, PRICE]]


async def test_two_orders_in_one_question_are_both_answered(loop: AgentLoop) -> None:
    for text in ("订单 123 和 124 都买了什么", "看一下 123、124 号订单的明细", "orders 123 and 124, please"):
        conversation = Conversation(loop)
        turn = await conversation.say(text)
        answered(turn, conversation)
        assert [[arguments["number"] for _, arguments in step] for step in turn.steps] == [["123", "124"]]


async def test_one_conversation_from_an_order_to_stock_to_a_quote(loop: AgentLoop) -> None:
    conversation = Conversation(loop)
    tools = []
    for text in ("订单 123 里买了什么？", "现在还有货吗？", "报个价", "那 124 呢", "订单 123 里有什么"):
        turn = await conversation.say(text)
        answered(turn, conversation)
        tools.append(turn.tools)
    assert tools == [[ORDER], [STOCK], [PRICE], [ORDER, PRICE], [ORDER]], "an order asked for again is read again"


async def test_one_conversation_from_stock_to_prices_for_customers(loop: AgentLoop) -> None:
    conversation = Conversation(loop)
    said = [
        ("A4 纸还有多少？", {"skus": ["PA4-70"]}),
        ("50 箱够吗", {"skus": ["PA4-70"], "quantities": ["50 箱"]}),
        ("那胶带呢", {"skus": ["OF-TAPE-45"]}),
        ("200 卷呢", {"skus": ["OF-TAPE-45"], "quantities": ["200 卷"]}),
        ("报个价", {"lines": [{"sku": "OF-TAPE-45", "qty": "200", "unit": "卷"}]}),
        ("给鑫源呢", {"lines": [{"sku": "OF-TAPE-45", "qty": "200", "unit": "卷"}], "customer": "C001"}),
        ("2 箱呢", {"lines": [{"sku": "OF-TAPE-45", "qty": "2", "unit": "箱"}], "customer": "C001"}),
        ("还有货吗", {"skus": ["OF-TAPE-45"], "quantities": ["2 箱"]}),
    ]
    for text, arguments in said:
        turn = await conversation.say(text)
        answered(turn, conversation)
        assert turn.steps[-1][-1][1] == arguments, text


async def test_one_conversation_in_english_from_a_price_to_another_customer(loop: AgentLoop) -> None:
    conversation = Conversation(loop)
    said = [
        (
            "What does Xinyuan pay for 20 cases of cola?",
            PRICE,
            {"sku": "BV-COLA-500", "qty": "20", "unit": "cases"},
            "C001",
        ),
        ("and sprite?", PRICE, {"sku": "BV-SPRI-500", "qty": "1"}, "C001"),
        ("40 cases?", PRICE, {"sku": "BV-SPRI-500", "qty": "40", "unit": "cases"}, "C001"),
        ("what about for Chengnan?", PRICE, {"sku": "BV-SPRI-500", "qty": "40", "unit": "cases"}, "C003"),
    ]
    for text, tool, line, customer in said:
        turn = await conversation.say(text)
        answered(turn, conversation)
        assert turn.arguments(tool) == {"lines": [line], "customer": customer}, text
    turn = await conversation.say("is that in stock?")
    assert turn.arguments(STOCK) == {"skus": ["BV-SPRI-500"], "quantities": ["40 cases"]}


async def test_an_order_for_another_customer_waits_until_it_is_known_which(loop: AgentLoop) -> None:
    conversation = Conversation(loop)
    await conversation.say("订单 123 里有什么")
    turn = await conversation.say("给世创报呢")
    assert turn.tools == [CUSTOMER]
    turn = await conversation.say("第一个")
    answered(turn, conversation)
    assert turn.arguments(PRICE)["customer"] == "ZH005"
    assert len(turn.arguments(PRICE)["lines"]) == 5


async def test_a_choice_among_several_is_offered_and_taken(loop: AgentLoop) -> None:
    for reply in ("第二个", "2", "世创科技", "ZH009"):
        conversation = Conversation(loop)
        turn = await conversation.say("给世创报 10 箱可乐")
        assert turn.tools == [PRODUCT, CUSTOMER], "no price for a customer who is not decided"
        assert "ZH005" in turn.answer
        assert "ZH009" in turn.answer
        turn = await conversation.say(reply)
        answered(turn, conversation)
        assert turn.arguments(PRICE)["customer"] == "ZH009"
    conversation = Conversation(loop)
    turn = await conversation.say("小米手机还有多少")
    assert turn.tools == [PRODUCT]
    assert turn.answer.count("2018082700") == 5
    turn = await conversation.say("小米8 黑色 32G")
    answered(turn, conversation)
    assert turn.arguments(STOCK)["skus"] == ["201808270027001"]


async def test_what_does_not_exist_is_said_with_the_nearest(loop: AgentLoop) -> None:
    for text, words in [
        ("订单 99999 里有什么", ["没有单据「99999」。最接近的：SO-20"]),
        ("What is in order 99999?", ['There is no document "99999". Nearest: SO-20']),
        ("有机酱油还有吗", ["没有找到商品「有机酱油」", "FD-SOY-500"]),
        ("对讲机还有吗", ["没有找到商品「对讲机」"]),
        ("Is unobtainium in stock?", ['no product "unobtainium"']),
        ("给不存在的公司报 10 个保温杯", ["没有找到客户「不存在的公司」"]),
        ("可乐还有多少桶", ["没有单位「桶」", "瓶, 箱 (= 24 瓶)"]),
        ("20 桶可乐多少钱", ["没有单位「桶」", "瓶, 箱 (= 24 瓶)"]),
        ("price of 3 reams of cola", ['has no unit "reams"', "箱 (= 24 瓶)"]),
        ("可乐 0.5 箱多少钱", ["数量不能是 0.5 箱"]),
        ("price of 0 cases of cola", ["the quantity cannot be 0 箱"]),
    ]:
        conversation = Conversation(loop)
        turn = await conversation.say(text)
        answered(turn, conversation)
        assert all(word in turn.answer for word in words), turn.answer
        assert "工具" not in turn.answer
        assert "The tool" not in turn.answer
        assert "合计" not in turn.answer
        assert "Total" not in turn.answer


async def test_a_purchase_is_shown_but_not_quoted(loop: AgentLoop) -> None:
    conversation = Conversation(loop)
    turn = await conversation.say("采购单 PO-2026-0045 里有什么，报个价")
    answered(turn, conversation)
    assert turn.tools == [ORDER]
    assert "不报价" in turn.answer


OTHER_JOBS = """
这款保温杯没货，有什么能代替的？
酱油缺货，同价位推荐两个
This flask is out of stock, what could replace it?
Suggest two soy sauces at a similar price
给鑫源的这单有没有亏？
Did we lose money on Xinyuan's order?
收到 INV-301 的尾款 1200，微信
Got the remaining 1,200 of INV-301 by WeChat
东仓可乐盘亏 3 箱，破损
East warehouse is 3 cases of cola short, broken
East shop is short of A4, send 10 boxes from main
5 cases came back, 3 can be sold again, 2 are damaged
""".strip().splitlines()

WRITES = """
报价单 Q-1008 客户同意了，转成订单
Q-1008 转订单，下周一发货
The customer accepted Q-1008, make it an order
Convert Q-1008 to an order, ship next Monday
照鑫源上次的单再来一单，可乐加到 30 箱
把 123 号单复制一份，去掉胶带
Repeat Xinyuan's last order but make cola 30 cases
Copy order 123 without the tape
Q-1008 的保温杯改成 150 个，单价 18
给 Q-1008 整单打 9 折
Change Q-1008 to 150 flasks at 18 each
Take 10% off the whole of Q-1008
123 号单先发 10 箱，剩下的留着
SO-88 把有货的先出库
Ship 10 cases of order 123 now and keep the rest open
Deliver whatever is in stock on SO-88
鑫源转了 8000，登记到最早的欠款
Xinyuan paid 8,000, apply it to the oldest invoices
把建议里的矿泉水和可乐下给宏达
给宏达下采购单：可乐 100 箱，下周五到
Order the suggested water and cola from Hongda
Purchase order to Hongda: 100 cases of cola, due next Friday
A4 纸盘点是 118 箱，系统 120，改一下
Counted 118 boxes of A4 paper, system says 120, correct it
从总仓调 20 箱可乐到东门店
东门店 A4 纸不够，从总仓补 10 箱
Move 20 cases of cola from main to the East shop
这是盘点表，导进去
把新价目表导入，先给我看看有什么问题
Here is the count sheet, import it
Import the new price list, show me the problems first
客户不要了，取消 123 号单
把 SO-88 剩下没发的取消
The customer does not want it, cancel order 123
Cancel what has not shipped on SO-88
123 号单的保温杯退 2 个，退款原路返回
客户退货 5 箱，3 箱可再卖，2 箱报损
Return 2 flasks from order 123 and refund to the original payment
所有饮料涨价 5%，下月 1 号生效
A4 纸批发价改成 19.8
Raise all drinks by 5% from the 1st of next month
Set the wholesale price of A4 paper to 19.80
麻烦帮我把订单 123 取消掉，顺便看看还有没有货
订单 123 里有什么？帮我删掉胶带那行
How much is A4 paper? Order 10 boxes
please cancel order 123 and tell me what is in it
""".strip().splitlines()

NONSENSE = """
订但 123 里有什么
wat is in order 123?
可乐20箱，50箱，100箱分别什么价
订单 123 里有什么，A4 纸还有多少
订单 123 还差多少没发
A4 纸有货么，来 20 箱
鑫源的地址
天气怎么样？
帮我写一首诗
What is the meaning of life?
asdf qwer
你好
谢谢
A4 纸
雪碧呢
What about it?
。。。
🙂
给我讲个笑话
2 + 2
SELECT * FROM orders
把鑫源的电话给我
""".strip().splitlines()


@pytest.mark.parametrize("text", [*OTHER_JOBS, *WRITES, *NONSENSE])
async def test_what_it_does_not_know_is_declined_without_a_call_or_a_figure(loop: AgentLoop, text: str) -> None:
    conversation = Conversation(loop)
    turn = await conversation.say(text)
    assert turn.tools == []
    assert NOT_A_MODEL.search(turn.answer)
    assert "OPENAI_BASE_URL" in turn.answer
    assert figures_from_nowhere(turn.answer, [text]) == set()


@pytest.mark.parametrize("text", WRITES)
async def test_a_change_is_left_to_a_real_model(loop: AgentLoop, text: str) -> None:
    turn = await Conversation(loop).say(text)
    assert "需要接入真正的模型" in turn.answer or "That needs a real model" in turn.answer


async def test_a_refused_message_does_not_lose_what_was_spoken_of(loop: AgentLoop) -> None:
    conversation = Conversation(loop)
    await conversation.say("订单 123 里买了什么？")
    await conversation.say("取消它")
    turn = await conversation.say("还有货吗")
    assert turn.tools == [STOCK]
