// What is read without the parser is what the parser makes of it.

import type { Nodes } from "mdast";
import { expect, it } from "vitest";
import { blocks } from "../src/markdown/blocks";
import { parse, parsed, plain } from "../src/markdown/parse";

function bare(node: Nodes): unknown {
  const { position: _, ...rest } = node;
  return "children" in rest ? { ...rest, children: (rest.children as Nodes[]).map(bare) } : rest;
}

/** Numbers that look random and are the same each time. */
function* numbers(seed: number): Generator<number> {
  let state = seed;
  for (;;) {
    state = (state * 1664525 + 1013904223) % 2 ** 32;
    yield state;
  }
}

const PIECES = [
  ..." \n\t#>+-=*_~`[]()<>&@!|:;.,/\\1290aZ库存，。（）%¥\u00a0\u3000\u200b\u202e\u0000\u0085\ufeff😀",
  "  \n",
  "\n\n",
  "http://a.cn",
  "https:",
  "WWW.a.cn",
  "a@b.cn",
  "1. ",
  "12) ",
  "- ",
  "---",
  "===",
  "|-|",
  "&amp;",
  "&",
  "word ",
  "第 12 段：总仓还有 36 件，",
];

it("a line without marks is the paragraph that the parser would make", () => {
  const random = numbers(7);
  let short = 0;
  for (let round = 0; round < 3000; round += 1) {
    const length = 1 + ((random.next().value as number) % 6);
    let text = "";
    for (let piece = 0; piece < length; piece += 1) {
      text += PIECES[Math.floor(((random.next().value as number) / 2 ** 32) * PIECES.length)];
    }
    const quick = plain(text);
    if (quick === null) continue;
    short += 1;
    expect(quick, JSON.stringify(text)).toEqual(bare(parsed(text)));
  }
  expect(short).toBeGreaterThan(100);
});

it("most lines of an answer are such lines", () => {
  const answer =
    "总仓还有 36 件，东门店 12 件。\n\n合计 1,814.40 元（含税 13%），明天 9:30 前可以发货！\n\nIn stock: 48 bottles.\n";
  for (const block of blocks(answer)) {
    expect(plain(block)).not.toBeNull();
    expect(parse(block)).toEqual(bare(parsed(block)));
  }
});
