// The page's words in the language that somebody chose.

import { type Lang, lang } from "../state/prefs";
import { useStore } from "../state/store";
import { WORDS } from "./wordlist";

export type Word = keyof typeof WORDS;
export type Say = (word: Word, values?: Record<string, string | number>) => string;

export function words(language: Lang): Say {
  const column = language === "zh" ? 0 : 1;
  return (word, values = {}) =>
    WORDS[word][column]
      .replace(/\{(\w+)\|([^|}]+)\|([^}]+)\}/g, (_, name: string, one: string, many: string) =>
        [values[name], String(values[name]) === "1" ? one : many].join(" "),
      )
      .replace(/\{(\w+)\}/g, (place, name: string) => String(values[name] ?? place));
}

export function useWords(): Say {
  return TEXTS[useStore(lang)];
}

const TEXTS: Record<Lang, Say> = { zh: words("zh"), en: words("en") };

/** The words for a code that may be one of a newer server. */
export function hasWord(code: string): code is Word {
  return Object.hasOwn(WORDS, code);
}
