// Where the parts of a chart stand, in pixels.

import { type ChartModel, measureOf, numberOf, text, ticks } from "./model";

export interface Layout {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
  ticks: number[];
  /** Pixels along the axis of numbers. */
  value(n: number): number;
  /** Middle and size of the band of a name. */
  band(name: string): { middle: number; size: number };
  /** Every so many names are written out. */
  every: number;
}

const WIDE = 7;

export function layoutOf(model: ChartModel, width: number): Layout {
  const [low, high] = rangeOf(model);
  const steps = ticks(low, high, model.lying && width < 420 ? 3 : 5);
  const [from, to] = [steps[0] ?? 0, steps[steps.length - 1] ?? 1];
  const longest = Math.max(...model.names.map(lengthOf), 1);
  const left = model.lying
    ? Math.min(width * 0.36, longest * WIDE + 12)
    : Math.max(...steps.map((step) => lengthOf(short(step)))) * WIDE + 12;
  const height = model.lying ? Math.max(120, model.names.length * 26 + 44) : width < 420 ? 220 : 280;
  const [right, top, bottom] = [width - 12, 10, height - 28];
  const size = (model.lying ? bottom - top : right - left) / Math.max(1, model.names.length);
  const places = new Map(model.names.map((name, index) => [name, index]));
  return {
    width,
    height,
    left,
    right,
    top,
    bottom,
    ticks: steps,
    value: (n) =>
      model.lying
        ? left + ((n - from) / (to - from || 1)) * (right - left)
        : bottom - ((n - from) / (to - from || 1)) * (bottom - top),
    band: (name) => ({ middle: (model.lying ? top : left) + ((places.get(name) ?? 0) + 0.5) * size, size }),
    every: model.lying ? 1 : Math.max(1, Math.ceil((longest * WIDE + 10) / size)),
  };
}

/** The least and the greatest number that is drawn; bars and areas begin at zero. */
function rangeOf(model: ChartModel): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const fromZero = model.marks.some((mark) => mark.shape === "bar" || mark.shape === "area");
  for (const mark of model.marks) {
    const measure = measureOf(mark, model.lying);
    const along = model.lying ? mark.y : mark.x;
    if (!measure) continue;
    const sums = new Map<string, [number, number]>();
    for (const row of model.rows) {
      const n = numberOf(row, measure);
      if (n === null) continue;
      if (model.stacked && along && (mark.shape === "bar" || mark.shape === "area")) {
        const sum = sums.get(text(row[along.name])) ?? [0, 0];
        sum[n < 0 ? 0 : 1] += n;
        sums.set(text(row[along.name]), sum);
      } else [low, high] = [Math.min(low, n), Math.max(high, n)];
    }
    for (const [below, above] of sums.values()) [low, high] = [Math.min(low, below), Math.max(high, above)];
  }
  if (low > high) return [0, 1];
  return fromZero ? [Math.min(0, low), Math.max(0, high)] : [low, high];
}

/** How wide a text is, in letters; a Chinese character is two. */
export function lengthOf(name: string): number {
  let n = 0;
  for (const character of name) n += (character.codePointAt(0) ?? 0) > 0x2e7f ? 2 : 1;
  return n;
}

/** 12000 as 12k, 3400000 as 3.4M. */
export function short(n: number): string {
  const size = Math.abs(n);
  if (size >= 1e6) return `${Number((n / 1e6).toFixed(2))}M`;
  if (size >= 1e4) return `${Number((n / 1e3).toFixed(1))}k`;
  return String(Number(n.toPrecision(6)));
}
