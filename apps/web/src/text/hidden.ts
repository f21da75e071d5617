// Characters that people cannot see, or that make them see something else than is there, as visible marks. Invariant:
// what is drawn reorders and hides nothing; joiners stay where emoji and scripts need them. The same characters as in
// agent_core.hidden_text, which a test compares.

const HIDDEN_CLASS =
  "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad" +
  "\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f" +
  "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f" +
  "\\u3164\\ud800-\\udfff\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb\\ufffe\\uffff" +
  "\\u{13430}-\\u{13455}\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}";

const HIDDEN = new RegExp(`[${HIDDEN_CLASS}]`, "gu");
const ANY_HIDDEN = new RegExp(`[${HIDDEN_CLASS}]`, "u");
const PICTURE = /^\p{Extended_Pictographic}$/u;
const DRAWN = /^(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)$/u;
const ARABIC = /^\p{Script=Arabic}$/u;
const LETTER = /^\p{L}$/u;
/** Signs that take the vowel off a consonant; joiners behind them choose a shape. */
const VIRAMA = /^[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca\u1039\u17d2]$/u;

/** A run of text, or one character that is drawn as its mark. */
export type Piece = { text: string } | { mark: string };

export function hasHidden(text: string): boolean {
  return ANY_HIDDEN.test(text);
}

/** The text in pieces; the marks are the characters that may not pass. */
export function pieces(text: string): Piece[] {
  if (!hasHidden(text)) return text ? [{ text }] : [];
  const found: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const at = match.index;
    const character = match[0];
    const end = at + character.length;
    if (at === 0 && character === "\ufeff") continue;
    if (character === "\r" && text[end] === "\n") continue;
    if (belongs(character, charBefore(text, at), charAt(text, end))) continue;
    if (at > from) found.push({ text: text.slice(from, at) });
    found.push({ mark: markOf(character) });
    from = end;
  }
  if (from < text.length) found.push({ text: text.slice(from) });
  return found;
}

/** The whole text with marks in it, for where no element can be drawn (titles, names of files). */
export function marked(text: string): string {
  if (!hasHidden(text)) return text;
  return pieces(text)
    .map((piece) => ("text" in piece ? piece.text : `<${piece.mark}>`))
    .join("");
}

function markOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

function charAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? "" : String.fromCodePoint(code);
}

function charBefore(text: string, at: number): string {
  if (at === 0) return "";
  const unit = text.charCodeAt(at - 1);
  return unit >= 0xdc00 && unit <= 0xdfff && at > 1 ? text.slice(at - 2, at) : text.slice(at - 1, at);
}

/** Whether writing these neighbours takes this character. */
function belongs(character: string, before: string, after: string): boolean {
  if (character === "\ufe0f" && /^[0-9#*]$/.test(before)) return after === "\u20e3";
  if (character === "\ufe0e" || character === "\ufe0f") return PICTURE.test(before);
  if (character !== "\u200c" && character !== "\u200d") return false;
  if (!before || !after) return false;
  if (VIRAMA.test(before)) return LETTER.test(after);
  if (character === "\u200c") return ARABIC.test(before) && ARABIC.test(after);
  return DRAWN.test(before) && PICTURE.test(after);
}
