// What is a chart: a Vega-Lite specification with its data in it.

export type Spec = Record<string, unknown>;

export function isChart(value: unknown): value is Spec {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return false;
  const spec = value as Spec;
  const drawn = "mark" in spec ? "encoding" in spec : "layer" in spec;
  return drawn && (String(spec.$schema ?? "").includes("vega-lite") || "data" in spec);
}
