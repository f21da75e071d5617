// From a Vega-Lite specification to what is to be drawn. Covers what the reports of the shop use: bars (also stacked, side
// by side, lying), lines, areas, points and rings over values that stand in the specification. Invariant: null for
// anything else, never a chart that shows other numbers than the data.

import type { Spec } from "./isChart";

export type Datum = Record<string, unknown>;

export interface Mark {
  shape: "bar" | "line" | "area" | "point" | "arc";
  x: Field | null;
  y: Field | null;
  color: Field | null;
  offset: Field | null;
  theta: Field | null;
}

export interface Field {
  name: string;
  kind: "number" | "time" | "name";
  title: string;
}

export interface ChartModel {
  title: string;
  rows: Datum[];
  marks: Mark[];
  /** The bars lie: names on y, numbers on x. */
  lying: boolean;
  /** Names along the axis of names or times, in the order of the data. */
  names: string[];
  series: string[];
  stacked: boolean;
}

const SHAPES: Record<string, Mark["shape"]> = {
  bar: "bar",
  line: "line",
  trail: "line",
  area: "area",
  point: "point",
  circle: "point",
  square: "point",
  arc: "arc",
};

export function chartOf(spec: Spec): ChartModel | null {
  const rows = rowsOf(spec);
  if (!rows) return null;
  if (["transform", "facet", "repeat", "hconcat", "vconcat", "concat", "params"].some((key) => key in spec))
    return null;
  const layers = Array.isArray(spec.layer) ? (spec.layer as Spec[]) : [spec];
  const marks: Mark[] = [];
  for (const layer of layers) {
    const mark = markOf({ ...(spec.encoding as Spec), ...(layer.encoding as Spec) }, layer.mark);
    if (!mark) return null;
    marks.push(mark);
  }
  const first = marks[0];
  if (!first) return null;
  const lying = first.x?.kind === "number" && first.y !== null && first.y.kind !== "number";
  const along = first.shape === "arc" ? first.color : lying ? first.y : first.x;
  const measure = first.shape === "arc" ? first.theta : lying ? first.x : first.y;
  if (!along || measure?.kind !== "number") return null;
  if (marks.some((mark) => mark.shape !== "arc" && (lying ? mark.y : mark.x)?.name !== along.name)) return null;
  const color = marks.find((mark) => mark.color)?.color ?? null;
  const names = unique(rows.map((row) => text(row[along.name])));
  if (along.kind === "time") names.sort((a, b) => Date.parse(a) - Date.parse(b));
  return {
    title: titleOf(spec.title),
    rows,
    marks,
    lying,
    names,
    series: color
      ? unique(rows.map((row) => text(row[color.name])))
      : marks.map((mark) => measureOf(mark, lying)?.title ?? ""),
    stacked: color !== null && !first.offset && (first.shape === "bar" || first.shape === "area"),
  };
}

/** The field that says how much. */
export function measureOf(mark: Mark, lying: boolean): Field | null {
  return mark.shape === "arc" ? mark.theta : lying ? mark.x : mark.y;
}

/** The number of a row; null where there is none. Decimal text counts as a number. */
export function numberOf(row: Datum, field: Field): number | null {
  const value = row[field.name];
  if (value === null || value === undefined || value === "") return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

export function text(value: unknown): string {
  return value === null || value === undefined ? "–" : String(value);
}

/** Steps of an axis: round numbers that cover both ends. */
export function ticks(low: number, high: number, about = 5): number[] {
  if (low === high) return low === 0 ? [0, 1] : [Math.min(0, low), Math.max(0, high)];
  const rough = (high - low) / about;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * size).find((each) => each >= rough) ?? rough;
  const found: number[] = [];
  for (let at = Math.floor(low / step); at * step < high + step * 0.999; at += 1)
    found.push(Number((at * step).toPrecision(12)));
  return found;
}

function rowsOf(spec: Spec): Datum[] | null {
  const values = (spec.data as { values?: unknown } | undefined)?.values;
  if (!Array.isArray(values) || values.length === 0) return null;
  return values.every((row) => row !== null && typeof row === "object") ? (values as Datum[]) : null;
}

function markOf(encoding: Spec, mark: unknown): Mark | null {
  const name = typeof mark === "string" ? mark : (mark as { type?: unknown } | null)?.type;
  const shape = typeof name === "string" ? SHAPES[name] : undefined;
  if (!shape) return null;
  const [x, y, color, offset, theta] = ["x", "y", "color", "xOffset", "theta"].map((channel) =>
    fieldOf(encoding[channel]),
  );
  const lyingOffset = fieldOf(encoding.yOffset);
  if ([x, y, color, offset, theta, lyingOffset].includes(undefined)) return null;
  return {
    shape,
    x: x ?? null,
    y: y ?? null,
    color: color ?? null,
    offset: offset ?? lyingOffset ?? null,
    theta: theta ?? null,
  };
}

/** undefined: a channel that says more than a field. */
function fieldOf(channel: unknown): Field | null | undefined {
  if (channel === undefined || channel === null) return null;
  const { field, type, title, aggregate, bin, timeUnit, value } = channel as Record<string, unknown>;
  if (value !== undefined) return null;
  if (typeof field !== "string" || aggregate || bin || timeUnit) return undefined;
  const kind = type === "quantitative" ? "number" : type === "temporal" ? "time" : "name";
  return { name: field, kind, title: typeof title === "string" ? title : field };
}

function titleOf(title: unknown): string {
  if (typeof title === "string") return title;
  return String((title as { text?: unknown } | null | undefined)?.text ?? "");
}

function unique(values: string[]): string[] {
  return [...new Set(values)];
}
