// State of parts that may leave the screen and come back, as rows of a long list do.

import { useCallback, useState } from "react";

const values = new Map<string, unknown>();

export function useKept<T>(key: string, initial: T): [T, (next: T) => void] {
  const [value, setValue] = useState<T>(() => (values.has(key) ? (values.get(key) as T) : initial));
  const set = useCallback(
    (next: T) => {
      values.set(key, next);
      setValue(next);
    },
    [key],
  );
  return [value, set];
}
