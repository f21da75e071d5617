// A result as people read it: rows as tables, records as pairs, anything else as text. Invariant: nothing of the value is
// left out without saying how much, and it can always be seen as it came.

import { Suspense, useMemo, useState } from "react";
import { isChart } from "../chart/isChart";
import { lang } from "../state/prefs";
import { useStore } from "../state/store";
import { columnName } from "../text/codes";
import { indented } from "../text/json";
import { useWords } from "../text/words";
import { lazily } from "./lazily";
import { Plain } from "./Plain";

const Chart = lazily(() => import("../chart/Chart"));
const FIRST_ROWS = 30;
const FIRST_CHARACTERS = 3000;

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export function Result({ content }: { content: string }) {
  const say = useWords();
  const [raw, setRaw] = useState(false);
  const { json, notices } = useMemo(() => withoutNotices(content), [content]);
  const value = useMemo(() => parsed(json), [json]);
  if (value === undefined) return <LongText text={content} />;
  return (
    <div className="result">
      <div className="result-switch">
        <button type="button" className="link-button" aria-pressed={raw} onClick={() => setRaw(!raw)}>
          {raw ? say("as_table") : say("raw")}
        </button>
      </div>
      {raw ? <LongText text={indented(json)} /> : <Value value={value} depth={0} />}
      {notices.map((notice) => (
        <p key={notice} className="faint small-text">
          <Plain text={notice} />
        </p>
      ))}
    </div>
  );
}

/** What the runtime tells the model behind a result, in brackets on lines of their own, stands apart from it. */
function withoutNotices(content: string): { json: string; notices: string[] } {
  const notices: string[] = [];
  let json = content;
  for (let match = NOTICE.exec(json); match; match = NOTICE.exec(json)) {
    notices.unshift(match[1] ?? "");
    json = json.slice(0, match.index);
  }
  return parsed(json) === undefined ? { json: content, notices: [] } : { json, notices };
}

const NOTICE = /\n\[([^\n]*)\]\s*$/;

/** undefined: no JSON object or array. */
export function parsed(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

export function LongText({ text, limit = FIRST_CHARACTERS }: { text: string; limit?: number }) {
  const say = useWords();
  const [whole, setWhole] = useState(text.length <= limit);
  return (
    <>
      <pre className="long-text" tabIndex={0}>
        <Plain text={whole ? text : `${text.slice(0, limit)}…`} />
      </pre>
      {!whole && (
        <button type="button" className="link-button" onClick={() => setWhole(true)}>
          {say("show_all", { n: text.length })}
        </button>
      )}
    </>
  );
}

function Value({ value, depth }: { value: Json; depth: number }) {
  if (isChart(value)) {
    return (
      <Suspense fallback={<div className="chart-place" />}>
        <Chart spec={value} />
      </Suspense>
    );
  }
  if (Array.isArray(value)) {
    return isRows(value) ? <Rows rows={value} depth={depth} /> : <span>{value.map(scalar).join(", ") || "[]"}</span>;
  }
  if (value !== null && typeof value === "object") return <Pairs record={value} depth={depth} />;
  return <Plain text={scalar(value)} />;
}

function Pairs({ record, depth }: { record: { [key: string]: Json }; depth: number }) {
  const language = useStore(lang);
  const entries = Object.entries(record);
  const simple = entries.filter(([, value]) => isScalar(value) || isList(value));
  const nested = entries.filter(([, value]) => !isScalar(value) && !isList(value) && !isEmpty(value));
  return (
    <div className="record">
      {simple.length > 0 && (
        <dl className="pairs">
          {simple.map(([name, value]) => (
            <div key={name}>
              <dt>
                <Plain text={columnName(name, language)} />
              </dt>
              <dd>
                <Plain text={isList(value) ? value.map(scalar).join(", ") : scalar(value)} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {nested.map(([name, value]) => (
        <details key={name} className="nested" open={depth === 0}>
          <summary>
            <Plain text={columnName(name, language)} />
            {Array.isArray(value) && <span className="faint"> · {value.length}</span>}
          </summary>
          <Value value={value} depth={depth + 1} />
        </details>
      ))}
    </div>
  );
}

function Rows({ rows, depth }: { rows: { [key: string]: Json }[]; depth: number }) {
  const say = useWords();
  const language = useStore(lang);
  const [whole, setWhole] = useState(rows.length <= FIRST_ROWS);
  const columns = useMemo(() => {
    const names = new Set(rows.slice(0, 200).flatMap((row) => Object.keys(row)));
    return [...names].filter((name) => rows.some((row) => !isEmpty(row[name] ?? null)));
  }, [rows]);
  return (
    <>
      <div className="table-scroll" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {columns.map((name) => (
                <th key={name} scope="col">
                  <Plain text={columnName(name, language)} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {(whole ? rows : rows.slice(0, FIRST_ROWS)).map((row, index) => (
              <tr key={index}>
                {columns.map((name) => (
                  <td key={name} className={isNumber(row[name] ?? null) ? "number" : undefined}>
                    <Cell value={row[name] ?? null} depth={depth} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {!whole && (
        <button type="button" className="link-button" onClick={() => setWhole(true)}>
          {say("show_all", { n: rows.length })}
        </button>
      )}
    </>
  );
}

function Cell({ value, depth }: { value: Json; depth: number }) {
  if (isScalar(value)) return <Plain text={scalar(value)} />;
  if (isEmpty(value)) return null;
  if (value !== null && !Array.isArray(value) && typeof value === "object") {
    return <Plain text={Object.values(value).filter(isScalar).map(scalar).join(" ")} />;
  }
  return (
    <details className="nested">
      <summary>{Array.isArray(value) ? value.length : "…"}</summary>
      <Value value={value} depth={depth + 1} />
    </details>
  );
}

function isScalar(value: Json): value is null | boolean | number | string {
  return value === null || typeof value !== "object";
}

function isEmpty(value: Json): boolean {
  if (value === null || value === "") return true;
  return typeof value === "object" && (Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0);
}

/** Plain values in a row, told as one. */
function isList(value: Json): value is Json[] {
  return Array.isArray(value) && value.length > 0 && value.every(isScalar);
}

function isRows(value: Json[]): value is { [key: string]: Json }[] {
  return value.length > 0 && value.every((row) => row !== null && typeof row === "object" && !Array.isArray(row));
}

function isNumber(value: Json): boolean {
  return typeof value === "number" || (typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value) && value.length < 16);
}

function scalar(value: Json): string {
  if (value === null) return "–";
  if (value === true) return "✓";
  if (value === false) return "✗";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
