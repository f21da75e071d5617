// Language and colours, as this person chose them on this device.

import { store } from "./store";

export type Lang = "zh" | "en";
export type Theme = "auto" | "light" | "dark";

export const lang = store<Lang>(kept("lang", ["zh", "en"]) ?? (/^zh\b/i.test(navigator.language) ? "zh" : "en"));
export const theme = store<Theme>(kept("theme", ["auto", "light", "dark"]) ?? "auto");

/** Keeps the document and the device in step with both. */
export function applyPreferences(): void {
  const apply = () => {
    document.documentElement.lang = lang.get() === "zh" ? "zh-CN" : "en";
    if (theme.get() === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme.get();
  };
  apply();
  lang.subscribe(() => {
    keep("lang", lang.get());
    apply();
  });
  theme.subscribe(() => {
    keep("theme", theme.get());
    apply();
  });
}

function kept<T extends string>(name: string, values: readonly T[]): T | null {
  const value = recall(name);
  return values.find((each) => each === value) ?? null;
}

/** What was kept on this device; null where nothing was, or where keeping is forbidden. */
export function recall(name: string): string | null {
  try {
    return localStorage.getItem(`erpilot.${name}`);
  } catch {
    return null;
  }
}

/** Keeps a text on this device, where that is allowed; null forgets it. */
export function keep(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`erpilot.${name}`);
    else localStorage.setItem(`erpilot.${name}`, value);
  } catch {
    // Private windows may forbid it; the page works without.
  }
}
