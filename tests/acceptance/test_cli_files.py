"""Files, reports and pages at the command line; figures without a source are marked where the answer is."""

from __future__ import annotations

from pathlib import Path

import pytest
from python_calamine import CalamineWorkbook

from tests.support import messy_books
from tests.support.cli import Ended, erpilot
from tests.support.model_server import Piece, model_server
from tests.support.screen import screen


def one(done: Ended) -> str:
    """The output of a command that went well."""
    assert done.code == 0, done.err
    return done.out


# --- figures


@pytest.mark.parametrize(("lang", "words"), [("en", "No source was found for"), ("zh", "没有查到出处")])
def test_a_figure_without_a_source_is_marked_where_the_answer_is_shown(home: Path, lang: str, words: str) -> None:
    turns: list[list[Piece]] = [[("check_stock", {"skus": ["PA4-70"]})], ["可用 485 包，上月卖了 987654 包。"]]
    with model_server(*turns) as server:
        asked = erpilot(home, "ask", "A4 纸还有多少？", "--lang", lang, settings=server.settings)
    assert asked.code == 0
    assert f"{words}" in asked.err
    marked = next(line for line in asked.err.splitlines() if words in line)
    assert "987654" in marked
    assert "485" not in marked
    replayed = one(erpilot(home, "replay", "last", "--lang", lang))
    assert marked in replayed
    listed = one(erpilot(home, "show", "last", "--numbers", "--lang", lang))
    assert "check_stock · products[0].available" in listed
    assert [line for line in listed.splitlines() if line.startswith("987654")]


def test_an_answer_that_the_tools_gave_has_no_mark(home: Path) -> None:
    asked = erpilot(home, "ask", "订单 123 里买了什么？现在还有货吗？报个价", "--lang", "zh")
    assert asked.code == 0
    assert "没有查到出处" not in asked.err
    assert "0 个没有" in one(erpilot(home, "show", "last", "--numbers", "--lang", "zh"))
    verified = erpilot(home, "verify", "last")
    assert verified.code == 0, verified.out + verified.err


# --- import


def test_an_import_is_shown_first_and_waits_for_a_person(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "商品.xlsx"
    messy_books.products(path)
    shown = erpilot(home, "import", str(path), "--lang", "zh")
    assert shown.code == 3
    assert "共 13 行：新增 5，修改 0，无变化 0，未导入 8。" in shown.out
    assert "第 5 行" in shown.out
    assert "重复" not in shown.out
    assert any(line.split()[:3] == ["14", "F", "未导入"] for line in shown.out.splitlines())
    assert "没有做任何更改" in shown.err
    assert one(erpilot(home, "import", str(path), "--dry-run")) == one(erpilot(home, "import", str(path), "--dry-run"))


def test_an_import_is_applied_when_the_person_says_yes_and_taken_back_by_its_key(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "goods.xlsx"
    messy_books.products(path)
    with screen(home, "import", str(path)) as person:
        person.ready_for("as one change?")
        person.type("y")
        assert person.end() == 0
    assert "Imported as IMP-" in person.text
    key = person.text.split("--undo ")[1].split()[0].strip()
    assert "There is nothing to change." in one(erpilot(home, "import", str(path)))
    assert "is taken back" in one(erpilot(home, "import", "--undo", key))
    assert "5 new" in one(erpilot(home, "import", str(path), "--yes"))


def test_an_import_that_is_not_agreed_to_changes_nothing(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "goods.xlsx"
    messy_books.products(path)
    with screen(home, "import", str(path)) as person:
        person.ready_for("as one change?")
        person.type("n")
        assert person.end() == 0
    assert erpilot(home, "import", str(path)).code == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["import"], "Which file?"),
        (["import", "none.csv"], "cannot be read"),
        (["import", "{csv}", "--map", "nonsense"], "is not COLUMN=FIELD"),
        (["import", "{csv}", "--map", "A=nonsense"], "There is no field nonsense"),
        (["import", "{csv}", "--kind", "orders"], "There is no column for"),
        (["import", "{csv}", "{csv}"], "Two files"),
        (["import", "--undo", "nothing"], "no import with the key"),
        (["report", "sales", "someday"], "no span of time"),
        (["report", "sales", "--customer", "查无此人"], "no customer"),
        (["print", "SO-2026-9999"], "SO-2026-9999"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(home: Path, tmp_path: Path, arguments: list[str], words: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text("编码,名称\nA,b\n", encoding="utf-8")
    done = erpilot(home, *(argument.replace("{csv}", str(path)) for argument in arguments))
    assert done.code in (2, 6)
    assert words in done.err
    assert "Traceback" not in done.err
    assert len(done.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("lang", "orders", "amount"),
    [("en", "Sum of orders: 3", "Sum of amount: 863.8800"), ("zh", "订单数合计: 3", "金额合计: 863.8800")],
)
def test_every_kind_of_file_is_shown_with_its_sums_and_the_fields_that_change(
    home: Path, tmp_path: Path, lang: str, orders: str, amount: str
) -> None:
    messy_books.past_orders(tmp_path / "sales.csv")
    shown = one(erpilot(home, "import", str(tmp_path / "sales.csv"), "--dry-run", "--lang", lang))
    messy_books.counts(tmp_path / "count.xlsx")
    counted = one(erpilot(home, "import", str(tmp_path / "count.xlsx"), "--dry-run", "--lang", lang))
    for text in (orders, amount):
        assert text.replace("：", ":").replace(" ", "") in shown.replace("：", ":").replace(" ", ""), shown
    assert any(
        line.split()[:2] == ["PA4-70@MAIN", "quantity" if lang == "en" else "数量"] for line in counted.splitlines()
    )


def test_a_file_in_which_every_row_is_wrong_ends_with_2_and_a_sentence(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("编码,新价格\nPA4-70,免费\nNO-SUCH,3\n", encoding="gbk")
    done = erpilot(home, "import", str(path), "--yes", "--lang", "en")
    assert done.code == 2
    assert "Every row has an error" in done.err
    assert "There is no product NO-SUCH" in done.out
    unknown = erpilot(home, "print", "NOPE", "--lang", "en")
    assert (unknown.code, "Traceback" in unknown.err) == (2, False)


def test_columns_can_be_named_and_left_out(home: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("代号,叫法,价\nZ-1,苹果,3\n", encoding="gbk")
    mapped = ["--kind", "products", "--map", "A=sku", "--map", "叫法=name", "--map", "C=-"]
    assert "1 rows: 1 new" in one(erpilot(home, "import", str(path), *mapped, "--yes"))
    assert "苹果" in one(erpilot(home, "ask", "Z-1 多少钱？"))


# --- reports


@pytest.mark.parametrize(
    ("lang", "words"), [("en", ["Counted:", "days, Asia/Shanghai"]), ("zh", ["口径：", "天，Asia/Shanghai"])]
)
def test_a_report_says_its_days_and_what_it_counted(home: Path, lang: str, words: list[str]) -> None:
    shown = one(erpilot(home, "report", "sales", "this_month", "--by", "product", "--top", "5", "--lang", lang))
    assert all(word in shown for word in words)
    assert "2026-11-01" in shown
    assert shown.count("█") > 20
    assert "5" in shown
    other = one(erpilot(home, "report", "stock", "low", "--lang", lang))
    assert words[0] in other


def test_a_report_is_written_into_the_folder_that_was_named(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    shown = one(erpilot(home, "report", "receivables", "--export", "xlsx", "-o", str(folder)))
    (path,) = folder.iterdir()
    assert str(path) in shown
    rows = CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python()
    assert f"{len(rows) - 1} rows in" in shown
    assert "of" in one(erpilot(home, "report", "quiet"))


# --- pages


def test_a_quotation_is_written_as_a_page_and_never_over_another(home: Path, tmp_path: Path) -> None:
    shown = one(erpilot(home, "print", "Q-1008", "--lang", "zh"))
    path = Path(shown.strip().split("：", 1)[1])
    assert "报价单" in path.read_text(encoding="utf-8")
    again = one(erpilot(home, "print", "Q-1008", "--lang", "zh"))
    assert again.strip().endswith("Q-1008-2.html")
    output = tmp_path / "q.pdf"
    one(erpilot(home, "print", "Q-1008", "-o", str(output)))
    assert output.read_bytes().startswith(b"%PDF-")
    refused = erpilot(home, "print", "Q-1008", "-o", str(output))
    assert refused.code == 2
    assert "exists already" in refused.err
