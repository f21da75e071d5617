// JSON laid out to be read, without going through numbers: "1.10" and digits that no float holds stay as they are.

/** The same JSON text with line breaks and two spaces an indent; text that is no JSON stays as it is. */
export function indented(json: string): string {
  try {
    JSON.parse(json);
  } catch {
    return json;
  }
  let out = "";
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at] as string;
    if (character === '"') {
      const end = endOfString(json, at);
      out += json.slice(at, end);
      at = end - 1;
    } else if (character === "{" || character === "[") {
      const next = json.slice(at + 1).match(/^\s*([}\]])/);
      if (next) {
        out += character + next[1];
        at += next[0].length;
      } else {
        depth += 1;
        out += `${character}\n${"  ".repeat(depth)}`;
      }
    } else if (character === "}" || character === "]") {
      depth -= 1;
      out += `\n${"  ".repeat(depth)}${character}`;
    } else if (character === ",") out += `,\n${"  ".repeat(depth)}`;
    else if (character === ":") out += ": ";
    else if (!/\s/.test(character)) out += character;
  }
  return out;
}

function endOfString(json: string, from: number): number {
  for (let at = from + 1; at < json.length; at += 1) {
    if (json[at] === "\\") at += 1;
    else if (json[at] === '"') return at + 1;
  }
  return json.length;
}

/** Why a text is no JSON object; null when it is one. */
export function notAnObject(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? null : "{ … }";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
