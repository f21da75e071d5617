// A long list of lines of one height. Invariant: draws what can be seen and a little more, whatever the length.

import { type ReactNode, useEffect, useRef, useState } from "react";

interface Props {
  count: number;
  height: number;
  label: string;
  row(index: number): ReactNode;
  keyOf(index: number): string | number;
  /** The line to bring into sight. */
  show?: number | null;
}

const MORE = 8;

export function FixedList({ count, height, label, row, keyOf, show = null }: Props) {
  const box = useRef<HTMLUListElement>(null);
  const [seen, setSeen] = useState({ from: 0, to: 40 });
  const look = () => {
    const element = box.current;
    if (!element) return;
    const from = Math.max(0, Math.floor(element.scrollTop / height) - MORE);
    const to = Math.ceil((element.scrollTop + element.clientHeight) / height) + MORE;
    setSeen((old) => (old.from === from && old.to === to ? old : { from, to }));
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a list of another length may have scrolled
  useEffect(look, [count, height]);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const watch = new ResizeObserver(look);
    watch.observe(element);
    return () => watch.disconnect();
  });
  useEffect(() => {
    const element = box.current;
    if (!element || show === null || show < 0) return;
    const top = show * height;
    if (top < element.scrollTop || top + height > element.scrollTop + element.clientHeight) {
      element.scrollTop = Math.max(0, top - element.clientHeight / 2);
    }
  }, [show, height]);
  const to = Math.min(count, seen.to);
  const from = Math.min(seen.from, Math.max(0, to - 1));
  const lines = [];
  for (let index = from; index < to; index += 1) {
    lines.push(
      <li
        key={keyOf(index)}
        style={{ transform: `translateY(${index * height}px)`, height }}
        aria-setsize={count}
        aria-posinset={index + 1}
      >
        {row(index)}
      </li>,
    );
  }
  return (
    <ul className="fixed-list" ref={box} onScroll={look} tabIndex={0} aria-label={label}>
      <li className="fixed-list-space" style={{ height: count * height }} aria-hidden role="presentation" />
      {lines}
    </ul>
  );
}
