// Markdown as a tree: CommonMark with the tables, struck text and bare links of GitHub. HTML stays a node of its own
// kind, which the screen shows as text.

import type { Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmAutolinkLiteralFromMarkdown } from "mdast-util-gfm-autolink-literal";
import { gfmStrikethroughFromMarkdown } from "mdast-util-gfm-strikethrough";
import { gfmTableFromMarkdown } from "mdast-util-gfm-table";
import { gfmAutolinkLiteral } from "micromark-extension-gfm-autolink-literal";
import { gfmStrikethrough } from "micromark-extension-gfm-strikethrough";
import { gfmTable } from "micromark-extension-gfm-table";

const EXTENSIONS = {
  extensions: [gfmTable(), gfmStrikethrough(), gfmAutolinkLiteral()],
  mdastExtensions: [gfmTableFromMarkdown(), gfmStrikethroughFromMarkdown(), gfmAutolinkLiteralFromMarkdown()],
};

export function parse(text: string): Root {
  return plain(text) ?? parsed(text);
}

export function parsed(text: string): Root {
  return fromMarkdown(text, EXTENSIONS);
}

const MARKS = /[\\`*_~[\]<&@]|https?:|www\.|[\p{Cc}\ufffe\uffff]/iu;
const BEGINS = /^(?:[\s#>+\-=]|\d{1,9}[.)])/;

/** One line without a mark, as most of what is said is: its tree needs no parser, which takes a millisecond to begin. */
export function plain(text: string): Root | null {
  const line = text.replace(/ *(?:\n *)*$/, "");
  if (!line || MARKS.test(line) || BEGINS.test(line)) return null;
  return { type: "root", children: [{ type: "paragraph", children: [{ type: "text", value: line }] }] };
}
