// Finds in a text the figures of an answer whose origin was checked.

import type { Figure } from "../protocol";

export interface Checked {
  figures: readonly Figure[];
  untraced: readonly string[];
}

/** `figure`: null for one that came from nowhere, undefined for text around. */
export interface Part {
  text: string;
  figure?: Figure | null;
}

export type Finder = (text: string) => Part[];

/** Figures are found as whole numbers: "12" is not found inside "3.12" or "120". null: there is nothing to find. */
export function finderOf({ figures, untraced }: Checked): Finder | null {
  const known = new Map<string, Figure | null>();
  for (const figure of figures) if (figure.text.trim() && !known.has(figure.text)) known.set(figure.text, figure);
  for (const text of untraced) if (text.trim()) known.set(text, null);
  if (known.size === 0) return null;
  const texts = [...known.keys()].sort((a, b) => b.length - a.length);
  const any = texts.map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|");
  const pattern = new RegExp(`(?<![\\d.,A-Za-z_-])(?:${any})(?![\\dA-Za-z_]|[.,-]\\d)`, "g");
  return (text) => {
    const parts: Part[] = [];
    let from = 0;
    for (const match of text.matchAll(pattern)) {
      if (match.index > from) parts.push({ text: text.slice(from, match.index) });
      parts.push({ text: match[0], figure: known.get(match[0]) ?? null });
      from = match.index + match[0].length;
    }
    if (from < text.length) parts.push({ text: text.slice(from) });
    return parts;
  };
}
