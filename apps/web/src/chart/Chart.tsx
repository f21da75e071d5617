// A chart of a report as a picture that a screen reader can be told, with its data one step away. Loaded when one is
// shown first.

import { useEffect, useMemo, useRef, useState } from "react";
import { Plain } from "../parts/Plain";
import { lang } from "../state/prefs";
import { useStore } from "../state/store";
import { columnName, titleText } from "../text/codes";
import { marked } from "../text/hidden";
import { useWords } from "../text/words";
import { Axes, Bars, Lines, Ring } from "./draw";
import type { Spec } from "./isChart";
import { layoutOf } from "./layout";
import { chartOf, type Datum, measureOf, text } from "./model";

export default function Chart({ spec }: { spec: Spec }) {
  const say = useWords();
  const language = useStore(lang);
  const model = useMemo(() => chartOf(spec), [spec]);
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(640);
  const [table, setTable] = useState(false);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const watch = new ResizeObserver(() => setWidth(Math.max(260, Math.round(element.clientWidth))));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const layout = useMemo(() => (model ? layoutOf(model, width) : null), [model, width]);
  const rows = model?.rows ?? (spec.data as { values?: Datum[] } | undefined)?.values ?? [];
  if (!model || !layout) {
    return (
      <div className="chart">
        <p className="faint">{say("chart_unknown")}</p>
        <DataTable rows={rows} />
      </div>
    );
  }
  const ring = model.marks[0]?.shape === "arc";
  const unit = model.marks[0] ? measureOf(model.marks[0], model.lying)?.title : "";
  const label = [model.title, ...model.names.slice(0, 40)].filter(Boolean).join(", ");
  return (
    <figure className="chart" ref={frame}>
      {model.title && (
        <figcaption>
          <Plain text={titleText(model.title, language)} />
          {unit && (
            <span className="faint">
              {" "}
              <Plain text={columnName(unit, language)} />
            </span>
          )}
        </figcaption>
      )}
      <svg
        role="img"
        aria-label={marked(label)}
        width={width}
        height={layout.height}
        viewBox={`0 0 ${width} ${layout.height}`}
      >
        {ring ? (
          <Ring model={model} layout={layout} />
        ) : (
          <>
            <Axes model={model} layout={layout} />
            {model.marks.map((mark, index) =>
              mark.shape === "bar" ? (
                <Bars key={index} model={model} mark={mark} layout={layout} layer={index} />
              ) : (
                <Lines key={index} model={model} mark={mark} layout={layout} layer={index} />
              ),
            )}
          </>
        )}
      </svg>
      {(model.series.length > 1 || ring) && (
        <ul className="legend">
          {(ring ? model.names : model.series).map((name, index) => (
            <li key={name}>
              <span className={`swatch series-${index % 8}`} aria-hidden />
              <Plain text={name} />
            </li>
          ))}
        </ul>
      )}
      <button type="button" className="link-button" aria-expanded={table} onClick={() => setTable(!table)}>
        {say("chart_as_table")}
      </button>
      {table && <DataTable rows={rows} />}
    </figure>
  );
}

function DataTable({ rows }: { rows: readonly Datum[] }) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <div className="table-scroll" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                <Plain text={name} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, 500).map((row, index) => (
            <tr key={index}>
              {columns.map((name) => (
                <td key={name}>
                  <Plain text={text(row[name])} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
