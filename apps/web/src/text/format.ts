// Numbers, money and times as people read them.

import type { Usage } from "../protocol";
import type { Lang } from "../state/prefs";
import { isZero, rounded } from "./decimal";

const SIGNS: Record<string, string> = { CNY: "¥", USD: "$", EUR: "€", GBP: "£" };

/** Money with as many places as it takes to see it: "¥0.0042", "$1.20". */
export function money(amount: string, currency: string): string {
  const size = Math.abs(Number(amount));
  const places = size === 0 || size >= 1 ? 2 : size >= 0.01 ? 3 : size >= 0.0001 ? 5 : 7;
  const text = isZero(amount) ? "0" : rounded(amount, places);
  const sign = SIGNS[currency];
  const [minus, digits] = text.startsWith("-") ? ["-", text.slice(1)] : ["", text];
  return sign ? `${minus}${sign}${digits}` : `${minus}${digits} ${currency}`;
}

/** All currencies, never added together; null where nothing is known. */
export function moneys(costs: Readonly<Record<string, string>>): string | null {
  const entries = Object.entries(costs).filter(([, amount], _, all) => all.length === 1 || !isZero(amount));
  return entries.length ? entries.map(([currency, amount]) => money(amount, currency)).join(" + ") : null;
}

export function tokensOf(usage: Usage | null): number | null {
  if (!usage) return null;
  const { prompt_tokens: asked, completion_tokens: answered, total_tokens: total } = usage;
  if (asked == null && answered == null) return total ?? null;
  return (asked ?? 0) + (answered ?? 0);
}

/** 950, 12.3k, 1.2M */
export function count(n: number): string {
  if (n < 1000) return String(n);
  if (n < 10_000) return `${Math.floor(n / 1000)},${String(n % 1000).padStart(3, "0")}`;
  return n < 1_000_000 ? `${(n / 1000).toFixed(n < 100_000 ? 1 : 0)}k` : `${(n / 1_000_000).toFixed(1)}M`;
}

/** Seconds, as short as they can be told. */
export function seconds(s: number): string {
  if (s < 0.001) return "<1 ms";
  if (s < 1) return `${Math.round(s * 1000)} ms`;
  if (s < 60) return `${s.toFixed(s < 10 ? 1 : 0)} s`;
  const minutes = Math.floor(s / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(s % 60)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.round(hours / 24)} d`;
}

const FORMS = {
  clock: { hour: "2-digit", minute: "2-digit" },
  full: { dateStyle: "medium", timeStyle: "medium" },
  day: { month: "short", day: "numeric" },
  date: { year: "numeric", month: "short", day: "numeric" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;
const formats = new Map<string, Intl.DateTimeFormat>();

/** A time in words. To make a format takes a hundred times as long as to use it, so each is made once. */
function told(at: number, lang: Lang, form: keyof typeof FORMS): string {
  const key = `${lang} ${form}`;
  let format = formats.get(key);
  if (!format) {
    format = new Intl.DateTimeFormat(lang === "zh" ? "zh-CN" : "en-GB", FORMS[form]);
    formats.set(key, format);
  }
  return format.format(at * 1000);
}

/** The time of today, the day of this year, the date of older ones. */
export function moment(at: number, lang: Lang, now = Date.now()): string {
  const [then, today] = [new Date(at * 1000), new Date(now)];
  if (then.toDateString() === today.toDateString()) return clock(at, lang);
  return told(at, lang, then.getFullYear() === today.getFullYear() ? "day" : "date");
}

export const clock = (at: number, lang: Lang) => told(at, lang, "clock");

export const fullTime = (at: number, lang: Lang) => told(at, lang, "full");

/** One line of a text, cut at `limit` characters. */
export function oneLine(text: string, limit = 120): string {
  const flat = text
    .slice(0, limit * 4)
    .replace(/\s+/g, " ")
    .trim();
  return flat.length > limit ? `${flat.slice(0, limit)}…` : flat;
}
