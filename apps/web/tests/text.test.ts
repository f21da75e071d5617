// Texts by anybody: what may pass, what is marked, how it is cut.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { blocks, definitions } from "../src/markdown/blocks";
import { finderOf } from "../src/markdown/figures";
import { hostOf, tellsItself } from "../src/markdown/links";
import { fieldName, howToCheck, noticeText, valueText } from "../src/text/codes";
import { minus, plus, rounded } from "../src/text/decimal";
import { count, money, oneLine, seconds } from "../src/text/format";
import { hasHidden, marked, pieces } from "../src/text/hidden";
import { indented, notAnObject } from "../src/text/json";
import { WORDS } from "../src/text/wordlist";

describe("characters that cannot be seen", () => {
  it("are the same as those the runtime knows", () => {
    const source = readFileSync(
      join(import.meta.dirname, "../../../packages/agent_core/src/agent_core/hidden_text.py"),
      "utf8",
    );
    const literal = /_HIDDEN = \(\n([\s\S]*?)\n\)/.exec(source)?.[1] ?? "";
    const ranges = [...literal.matchAll(/"([^"]*)"/g)]
      .map((match) => match[1] ?? "")
      .join("")
      .replace(/\\x([0-9a-f]{2})/g, "\\u{$1}")
      .replace(/\\u([0-9a-f]{4})/g, "\\u{$1}")
      .replace(/\\U([0-9a-f]{8})/g, "\\u{$1}");
    const theirs = new RegExp(`^[${ranges}]$`, "u");
    const differ: string[] = [];
    for (let code = 0; code <= 0x10ffff; code += 1) {
      const character = String.fromCodePoint(code);
      if (theirs.test(character) !== hasHidden(character)) differ.push(code.toString(16));
    }
    expect(ranges.length).toBeGreaterThan(100);
    expect(differ).toEqual([]);
  });

  it("become marks with their code", () => {
    expect(pieces("a\u202eb")).toEqual([{ text: "a" }, { mark: "U+202E" }, { text: "b" }]);
    expect(marked("\u{e0041}x\u200b")).toBe("<U+E0041>x<U+200B>");
    expect(marked("a\u001bb\u007f")).toBe("a<U+001B>b<U+007F>");
    expect(marked("co\u00adop")).toBe("co<U+00AD>op");
    expect(marked("\ud800")).toBe("<U+D800>");
  });

  it("stay where emoji and scripts need them", () => {
    for (const text of ["👨‍👩‍👧", "❤️", "1️⃣", "می‌خواهم", "क्‍ष", "\ufeffhello", "a\r\nb", "行\n列\t格"]) {
      expect(marked(text)).toBe(text);
    }
    for (const text of ["a\u200db", "a\u200cb", "x\ufe0f", "end\u200d"]) expect(marked(text)).not.toBe(text);
  });
});

describe("Markdown that is being written", () => {
  const text = "# 头\n\n一段\n第二行\n\n- 甲\n\n- 乙\n  还是乙\n合计 7\n\n```py\na\n\nb\n```\n\n    code\n\n尾";

  it("is cut without loss, wherever it ends", () => {
    for (let end = 0; end <= text.length; end += 1)
      expect(blocks(text.slice(0, end)).join("")).toBe(text.slice(0, end));
  });

  it("keeps lists and fences whole, and ends a list where a line is not indented", () => {
    expect(blocks(text).map((block) => block.trim().split("\n")[0])).toEqual([
      "# 头",
      "一段",
      "- 甲",
      "合计 7",
      "```py",
      "尾",
    ]);
  });

  it("changes only its last block when a piece is added", () => {
    for (let end = 1; end < text.length; end += 1) {
      const [before, after] = [blocks(text.slice(0, end)), blocks(text.slice(0, end + 1))];
      const settled = before.slice(0, -1);
      expect(after.slice(0, Math.max(0, settled.length - 1))).toEqual(
        settled.slice(0, Math.max(0, settled.length - 1)),
      );
    }
  });

  it("knows the definitions of its links", () => {
    expect(definitions("see [a][1]\n\n[1]: https://a.example\n")).toBe("[1]: https://a.example");
  });
});

describe("links", () => {
  it("lead to hosts that can be told, or nowhere", () => {
    expect(hostOf("https://shop.example:8443/a?b")).toBe("shop.example:8443");
    expect(hostOf("https://trusted.example@evil.example/")).toBe("evil.example");
    expect(hostOf("https://аpple.com/")).toBe("xn--pple-43d.com");
    for (const bad of [
      "javascript:alert(1)",
      "data:text/html,x",
      "JaVaScRiPt:1",
      "vbscript:x",
      "//evil",
      "/api",
      "file:///etc",
      "",
      "blob:https://a/b",
    ]) {
      expect(hostOf(bad), bad).toBeNull();
    }
  });

  it("whose words are another address do not tell where they lead", () => {
    expect(tellsItself("https://a.example", "https://a.example/")).toBe(true);
    expect(tellsItself("a.example", "https://a.example/path")).toBe(true);
    expect(tellsItself("https://bank.example", "https://evil.example")).toBe(false);
  });
});

describe("figures", () => {
  const figure = (text: string) => ({ text, call_id: "c1" });

  it("are found as whole numbers only", () => {
    const find = finderOf({ figures: [figure("12"), figure("1890.00")], untraced: ["7"] });
    const found = (text: string) =>
      find?.(text)
        .filter((part) => part.figure !== undefined)
        .map((part) => [part.text, part.figure?.call_id ?? null]);
    expect(found("12 箱 = 1890.00 元，约 7 天")).toEqual([
      ["12", "c1"],
      ["1890.00", "c1"],
      ["7", null],
    ]);
    expect(found("3.12, 120, 12.5, SO-12, 2026-12-04, A12")).toEqual([]);
    expect(found("共 12。")).toEqual([["12", "c1"]]);
    expect(
      find?.("12 and 12")
        .map((part) => part.text)
        .join(""),
    ).toBe("12 and 12");
  });
});

describe("numbers", () => {
  it("are added exactly", () => {
    expect(plus("0.1", "0.2")).toBe("0.3");
    expect(plus("1E-7", "0.00000012")).toBe("0.00000022");
    expect(minus("1", "1.005")).toBe("-0.005");
    expect(rounded("2.345", 2)).toBe("2.35");
    expect(rounded("-2.345", 2)).toBe("-2.35");
    expect(plus("9007199254740993", "1")).toBe("9007199254740994");
  });

  it("are told so that small ones can be seen", () => {
    expect(money("0.00421", "CNY")).toBe("¥0.00421");
    expect(money("12.5", "USD")).toBe("$12.50");
    expect(money("0", "CNY")).toBe("¥0");
    expect(money("-0.25", "CNY")).toBe("-¥0.250");
    expect(money("3", "CHF")).toBe("3.00 CHF");
    expect([count(950), count(12_345), count(1_200_000)]).toEqual(["950", "12.3k", "1.2M"]);
    expect([seconds(0.0001), seconds(0.25), seconds(3.14), seconds(75)]).toEqual([
      "<1 ms",
      "250 ms",
      "3.1 s",
      "1 min 15 s",
    ]);
    expect(oneLine("a\n b", 10)).toBe("a b");
  });

  it("in JSON stay as they were written", () => {
    const json = '{"a":1.10,"b":[12345678901234567890,{}],"c":"x\\"{,:"}';
    expect(indented(json)).toBe(
      '{\n  "a": 1.10,\n  "b": [\n    12345678901234567890,\n    {}\n  ],\n  "c": "x\\"{,:"\n}',
    );
    expect(JSON.stringify(JSON.parse(indented(json)))).toBe(JSON.stringify(JSON.parse(json)));
    expect(indented("not json")).toBe("not json");
    expect([notAnObject("{}"), notAnObject("[1]")]).toEqual([null, "{ … }"]);
    expect(notAnObject("{")).not.toBeNull();
  });
});

describe("codes of previews", () => {
  it("have the words of the command line, and stay as they are where there are none", () => {
    expect(fieldName("sum_of list_price", "zh")).toBe("合计 零售价");
    expect(fieldName("total CNY", "en")).toBe("total CNY");
    expect(fieldName("newer_field 3", "en")).toBe("newer_field 3");
    expect(valueText("import_kind", "products", "zh")).toBe("商品");
    expect(valueText("name", "products", "zh")).toBe("products");
    const problem = { row: "7", column: "E", problem: "no number", problem_zh: "不是数字" };
    expect(noticeText("import_problem", problem, "zh")).toBe("第 7 行 E：不是数字");
    expect(noticeText("constructor", { a: "1" }, "zh")).toBe("constructor a=1");
    expect(howToCheck("create_customer", "en")).toBe("Look for a customer of this name.");
    expect(howToCheck("send", "en")).toBeNull();
  });
});

it("every text is in both languages, with the same places", () => {
  for (const [name, [zh, en]] of Object.entries(WORDS)) {
    const places = (text: string) => [...text.matchAll(/\{(\w+)/g)].map((match) => match[1]).sort();
    expect(places(zh), name).toEqual(places(en));
    expect(zh && en, name).toBeTruthy();
  }
});
