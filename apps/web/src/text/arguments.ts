// Arguments of a call in a line.

/** The values of the arguments, the shortest way to tell two calls apart. */
export function summary(json: string): string {
  try {
    const value = JSON.parse(json) as Record<string, unknown>;
    return Object.values(value)
      .filter((each) => each !== null && each !== "")
      .map(flat)
      .join(" · ");
  } catch {
    return json;
  }
}

function flat(value: unknown): string {
  if (Array.isArray(value)) return value.map(flat).join(", ");
  if (value !== null && typeof value === "object") return Object.values(value).map(flat).join(" ");
  return String(value);
}
