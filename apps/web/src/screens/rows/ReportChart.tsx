// The chart of a report: kept by the server beside the result, asked for when it is shown.

import { Suspense, useContext } from "react";
import { isChart } from "../../chart/isChart";
import type { Call } from "../../log/view";
import * as api from "../../net/api";
import { lazily } from "../../parts/lazily";
import type { ReportList } from "../../protocol";
import { SessionContext } from "../../state/context";
import { useLoaded } from "../../state/hooks";

const Chart = lazily(() => import("../../chart/Chart"));
const MEDIA_TYPE = "application/vnd.vegalite";

export function hasChart(call: Call): boolean {
  return call.artifacts.some((file) => file.media_type.startsWith(MEDIA_TYPE));
}

export function ReportChart({ call }: { call: Call }) {
  const { sessionId } = useContext(SessionContext);
  const { value } = useLoaded(`report ${sessionId} ${call.seq}`, () => chartsOf(sessionId, call.id));
  const place = <div className="chart-place" />;
  const chart = value?.reports.find((each) => each.call_id === call.id)?.chart;
  if (!value) return place;
  return isChart(chart) ? (
    <Suspense fallback={place}>
      <Chart spec={chart} />
    </Suspense>
  ) : null;
}

const known = new Map<string, Promise<ReportList>>();

/** The reports of a session, asked for once for each that is new. */
async function chartsOf(sessionId: string, callId: string): Promise<ReportList> {
  const kept = await known.get(sessionId)?.catch(() => undefined);
  if (kept?.reports.some((each) => each.call_id === callId)) return kept;
  const asked = api.reports(sessionId);
  known.set(sessionId, asked);
  return asked;
}
