import { describe, expect, it } from "vitest";
import { isChart } from "../src/chart/isChart";
import { layoutOf } from "../src/chart/layout";
import { chartOf, ticks } from "../src/chart/model";

const values = [
  { name: "一月", place: 0, series: "2026", value: 120 },
  { name: "一月", place: 0, series: "2025", value: 80 },
  { name: "二月", place: 1, series: "2026", value: "95.5" },
];
const report = {
  $schema: "https://vega.github.io/schema/vega-lite/v5.json",
  title: "2026-10",
  data: { values },
  mark: { type: "bar" },
  encoding: {
    y: { field: "name", type: "ordinal", sort: { field: "place", op: "min" }, title: null },
    x: { field: "value", type: "quantitative", title: "CNY" },
    color: { field: "series", type: "nominal", title: null },
    yOffset: { field: "series" },
    tooltip: [{ field: "name", type: "nominal" }],
  },
};

describe("a chart", () => {
  it("of a report has its names in their order, its series and its unit", () => {
    expect(isChart(report)).toBe(true);
    const model = chartOf(report);
    expect(model).toMatchObject({ title: "2026-10", lying: true, names: ["一月", "二月"], series: ["2026", "2025"] });
    expect(model?.stacked).toBe(false);
    expect(model?.marks[0]?.x?.title).toBe("CNY");
  });

  it("has an axis that covers every value, and zero where bars stand on it", () => {
    const model = chartOf(report);
    if (!model) throw new Error("no chart");
    const layout = layoutOf(model, 600);
    expect(layout.ticks[0]).toBeLessThanOrEqual(0);
    expect(layout.ticks.at(-1)).toBeGreaterThanOrEqual(120);
    expect(layout.value(120)).toBeLessThanOrEqual(layout.right);
    expect(layout.value(0)).toBeCloseTo(layout.left);
  });

  it("stacks where colours share a place, and then covers the sums", () => {
    const { yOffset: _, ...encoding } = report.encoding;
    const model = chartOf({ ...report, encoding });
    if (!model) throw new Error("no chart");
    expect(model.stacked).toBe(true);
    expect(layoutOf(model, 600).ticks.at(-1)).toBeGreaterThanOrEqual(200);
  });

  it("that says more than is understood is none, so that nothing wrong is drawn", () => {
    for (const more of [
      { transform: [{ filter: "datum.value > 1" }] },
      { mark: "geoshape" },
      { data: { url: "https://evil.example/data.json" } },
      { encoding: { ...report.encoding, x: { field: "value", aggregate: "mean", type: "quantitative" } } },
      { encoding: {} },
    ]) {
      expect(chartOf({ ...report, ...more }), JSON.stringify(more)).toBeNull();
    }
  });

  it("has round steps", () => {
    expect(ticks(0, 97)).toEqual([0, 20, 40, 60, 80, 100]);
    expect(ticks(-30, 60)[0]).toBeLessThanOrEqual(-30);
    expect(ticks(0, 0.7).at(-1)).toBeGreaterThanOrEqual(0.7);
  });
});
