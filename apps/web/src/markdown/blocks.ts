// Cuts Markdown that is still being written into blocks, so that only the last one has to be read again when a piece is
// added. Invariant: the blocks joined give the text; a cut lies only where nothing goes on that began before it: at a blank
// line outside of lists, fences and indented parts, and where a line that is not indented follows a list. CommonMark would
// make that line a part of the last item, which nobody who writes a total under a list means.

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const LIST = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;

export function blocks(text: string): string[] {
  const found: string[] = [];
  let from = 0;
  let fence: string | null = null;
  let inList = false;
  let blank = false;
  let at = 0;
  while (at < text.length) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline + 1;
    const line = text.slice(at, end);
    if (fence !== null) {
      const match = FENCE.exec(line);
      if (match?.[1]?.startsWith(fence) && !line.slice(line.indexOf(match[1]) + match[1].length).trim()) fence = null;
      blank = false;
    } else if (!line.trim()) blank = true;
    else {
      const goesOn = inList && (LIST.test(line) || /^\s/.test(line));
      if ((blank || inList) && at > from && !goesOn && !(blank && /^( {4}|\t)/.test(line))) {
        found.push(text.slice(from, at));
        from = at;
        inList = false;
      }
      blank = false;
      if (LIST.test(line)) inList = true;
      const match = FENCE.exec(line);
      if (match?.[1]) fence = match[1];
    }
    at = end;
  }
  if (from < text.length) found.push(text.slice(from));
  return found;
}

/** Definitions of links (`[1]: https://…`), which hold for every block of a text. */
export function definitions(text: string): string {
  if (!text.includes("]:")) return "";
  return (text.match(/^ {0,3}\[[^\]\n]+\]:[^\n]+$/gm) ?? []).join("\n");
}
