// Which addresses in a text may be followed, and what they really are.

/** The host that a link leads to, in the form without look-alike letters; null for what is never followed. */
export function hostOf(address: string | null | undefined): string | null {
  if (!address) return null;
  try {
    const url = new URL(address);
    if (url.protocol === "mailto:") return url.pathname;
    return (url.protocol === "https:" || url.protocol === "http:") && url.hostname ? url.host : null;
  } catch {
    return null;
  }
}

/** Whether the text of a link says itself where it leads. */
export function tellsItself(text: string, address: string): boolean {
  const said = text.trim().replace(/\/$/, "");
  return said === address.replace(/\/$/, "") || said === hostOf(address);
}
