// The parts of a chart as SVG. Colours come from classes, so that they follow light and dark.

import { marked } from "../text/hidden";
import { type Layout, lengthOf, short } from "./layout";
import { type ChartModel, type Datum, type Mark, measureOf, numberOf, text } from "./model";

export function Axes({ model, layout }: { model: ChartModel; layout: Layout }) {
  const { left, right, top, bottom } = layout;
  return (
    <g className="axes" aria-hidden>
      {layout.ticks.map((tick) => {
        const at = layout.value(tick);
        return model.lying ? (
          <g key={tick}>
            <line x1={at} x2={at} y1={top} y2={bottom} />
            <text x={at} y={bottom + 18} textAnchor="middle">
              {short(tick)}
            </text>
          </g>
        ) : (
          <g key={tick}>
            <line x1={left} x2={right} y1={at} y2={at} />
            <text x={left - 6} y={at + 4} textAnchor="end">
              {short(tick)}
            </text>
          </g>
        );
      })}
      {model.names.map((name, index) => {
        if (index % layout.every !== 0) return null;
        const { middle } = layout.band(name);
        return model.lying ? (
          <text key={name} x={left - 6} y={middle + 4} textAnchor="end">
            {cut(name, left / 7)}
          </text>
        ) : (
          <text key={name} x={middle} y={bottom + 18} textAnchor="middle">
            {marked(name)}
          </text>
        );
      })}
    </g>
  );
}

interface Part {
  model: ChartModel;
  mark: Mark;
  layout: Layout;
  layer: number;
}

export function Bars({ model, mark, layout, layer }: Part) {
  const measure = measureOf(mark, model.lying);
  const along = model.lying ? mark.y : mark.x;
  if (!measure || !along) return null;
  const sums = new Map<string, [number, number]>();
  const beside = mark.offset ? [...new Set(model.rows.map((row) => text(row[mark.offset?.name ?? ""])))] : null;
  return (
    <g>
      {model.rows.map((row, index) => {
        const n = numberOf(row, measure);
        if (n === null) return null;
        const name = text(row[along.name]);
        const { middle, size } = layout.band(name);
        let from = 0;
        if (model.stacked) {
          const sum = sums.get(name) ?? [0, 0];
          from = sum[n < 0 ? 0 : 1];
          sum[n < 0 ? 0 : 1] += n;
          sums.set(name, sum);
        }
        const [a, b] = [layout.value(from), layout.value(from + n)];
        const room = Math.min(size * 0.74, 56 * (beside?.length ?? 1));
        const thick = beside ? room / beside.length : Math.min(room, 44);
        const start = beside
          ? middle - room / 2 + thick * beside.indexOf(text(row[mark.offset?.name ?? ""]))
          : middle - thick / 2;
        const place = model.lying
          ? { x: Math.min(a, b), y: start, width: Math.abs(b - a), height: Math.max(1, thick - 1) }
          : { x: start, y: Math.min(a, b), width: Math.max(1, thick - 1), height: Math.abs(b - a) };
        return (
          <rect key={index} className={`fill series-${seriesOf(model, mark, row, layer)}`} rx={2} {...place}>
            <title>{told(model, mark, row, name)}</title>
          </rect>
        );
      })}
    </g>
  );
}

/** Lines, areas and points. */
export function Lines({ model, mark, layout, layer }: Part) {
  const measure = measureOf(mark, model.lying);
  const along = model.lying ? mark.y : mark.x;
  if (!measure || !along) return null;
  const groups = new Map<number, { x: number; y: number; base: number; row: Datum; name: string }[]>();
  const sums = new Map<string, number>();
  for (const row of model.rows) {
    const n = numberOf(row, measure);
    if (n === null) continue;
    const name = text(row[along.name]);
    const from = model.stacked && mark.shape === "area" ? (sums.get(name) ?? 0) : 0;
    sums.set(name, from + n);
    const { middle } = layout.band(name);
    const series = seriesOf(model, mark, row, layer);
    const point = { x: middle, y: layout.value(from + n), base: layout.value(from), row, name };
    groups.set(series, [...(groups.get(series) ?? []), point]);
  }
  return (
    <g>
      {[...groups].map(([series, points]) => {
        const ordered = [...points].sort((one, other) => one.x - other.x);
        const path = ordered.map((point, index) => `${index ? "L" : "M"}${point.x} ${point.y}`).join("");
        const back = [...ordered].reverse().map((point) => `L${point.x} ${point.base}`);
        return (
          <g key={series}>
            {mark.shape === "area" && <path className={`area series-${series}`} d={`${path}${back.join("")}Z`} />}
            {mark.shape !== "point" && <path className={`stroke series-${series}`} d={path} />}
            {ordered.map((point, index) => (
              <circle
                key={index}
                className={`fill series-${series}`}
                cx={point.x}
                cy={point.y}
                r={ordered.length > 60 ? 1.5 : 3}
              >
                <title>{told(model, mark, point.row, point.name)}</title>
              </circle>
            ))}
          </g>
        );
      })}
    </g>
  );
}

export function Ring({ model, layout }: { model: ChartModel; layout: Layout }) {
  const mark = model.marks[0];
  const [theta, color] = [mark?.theta, mark?.color];
  if (!mark || !theta || !color) return null;
  const numbers = model.rows.map((row) => Math.max(0, numberOf(row, theta) ?? 0));
  const total = numbers.reduce((sum, n) => sum + n, 0) || 1;
  const [cx, cy] = [layout.width / 2, layout.height / 2];
  const outer = Math.min(cx, cy) - 8;
  let turned = 0;
  return (
    <g>
      {model.rows.map((row, index) => {
        const [start, end] = [turned, turned + (numbers[index] ?? 0) / total];
        turned = end;
        const name = text(row[color.name]);
        return (
          <path
            key={index}
            className={`fill series-${model.names.indexOf(name) % 8}`}
            d={slice(cx, cy, outer, outer * 0.6, start, end)}
          >
            <title>{told(model, mark, row, name)}</title>
          </path>
        );
      })}
    </g>
  );
}

function slice(cx: number, cy: number, outer: number, inner: number, start: number, end: number): string {
  const stop = Math.min(end, start + 0.9999);
  const at = (turn: number, radius: number) => {
    const angle = (turn - 0.25) * 2 * Math.PI;
    return `${cx + radius * Math.cos(angle)} ${cy + radius * Math.sin(angle)}`;
  };
  const large = stop - start > 0.5 ? 1 : 0;
  return (
    `M${at(start, outer)}A${outer} ${outer} 0 ${large} 1 ${at(stop, outer)}` +
    `L${at(stop, inner)}A${inner} ${inner} 0 ${large} 0 ${at(start, inner)}Z`
  );
}

function seriesOf(model: ChartModel, mark: Mark, row: Datum, layer: number): number {
  return (mark.color ? Math.max(0, model.series.indexOf(text(row[mark.color.name]))) : layer) % 8;
}

function told(model: ChartModel, mark: Mark, row: Datum, name: string): string {
  const measure = measureOf(mark, model.lying);
  const series = mark.color && mark.shape !== "arc" ? ` · ${text(row[mark.color.name])}` : "";
  return marked(`${name}${series}: ${measure ? text(row[measure.name]) : ""}`);
}

function cut(name: string, letters: number): string {
  const shown = marked(name);
  if (lengthOf(shown) <= letters) return shown;
  let taken = "";
  for (const character of shown) {
    if (lengthOf(taken + character) > letters - 1) break;
    taken += character;
  }
  return `${taken}…`;
}
