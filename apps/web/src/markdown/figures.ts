// Finds in a text the figures of an answer whose origin was checked. An answer may hold hundreds of them, so each piece of
// text is cut into words that look like figures, which are looked up.

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

const WORD = /[\dA-Za-z_.,-]+/g;
const ONE_WORD = /^[\dA-Za-z_.,-]+$/;

/** Figures are found as whole numbers: "12" is not found inside "3.12" or "120". null: there is nothing to find. */
export function finderOf({ figures, untraced }: Checked): Finder | null {
  const known = new Map<string, Figure | null>();
  for (const figure of figures) if (figure.text.trim() && !known.has(figure.text)) known.set(figure.text, figure);
  for (const text of untraced) if (text.trim()) known.set(text, null);
  if (known.size === 0) return null;
  /** Such as "12 月 4 日" or "8 折": few, so they are looked for one by one, the longest first. */
  const phrases = [...known.keys()].filter((text) => !ONE_WORD.test(text)).sort((a, b) => b.length - a.length);
  return (text) => {
    const found = [...phrasesIn(text, phrases), ...wordsIn(text, known)].sort((a, b) => a.from - b.from || b.to - a.to);
    const parts: Part[] = [];
    let at = 0;
    for (const { from, to } of found) {
      if (from < at) continue;
      if (from > at) parts.push({ text: text.slice(at, from) });
      const word = text.slice(from, to);
      parts.push({ text: word, figure: known.get(word) ?? null });
      at = to;
    }
    if (at < text.length) parts.push({ text: text.slice(at) });
    return parts;
  };
}

interface Place {
  from: number;
  to: number;
}

function* wordsIn(text: string, known: ReadonlyMap<string, unknown>): Generator<Place> {
  for (const match of text.matchAll(WORD)) {
    const word = match[0];
    const inner = word.replace(/^[.,-]+/, "");
    const bare = inner.replace(/[.,-]+$/, "");
    const from = match.index + word.length - inner.length;
    if (known.has(bare)) yield { from, to: from + bare.length };
    else if (known.has(word)) yield { from: match.index, to: match.index + word.length };
  }
}

function* phrasesIn(text: string, phrases: readonly string[]): Generator<Place> {
  for (const phrase of phrases) {
    for (let from = text.indexOf(phrase); from >= 0; from = text.indexOf(phrase, from + phrase.length)) {
      const to = from + phrase.length;
      const inside = /[\d.,]$/.test(text.slice(0, from)) && /^\d/.test(phrase);
      if (!inside && !(/\d$/.test(phrase) && /^\d/.test(text.slice(to)))) yield { from, to };
    }
  }
}
