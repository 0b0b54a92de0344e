/** /debug/k8ts/history/timeline: when something was written, as far back as the store has it. Names no object: the path's permission suffices. */
import { formatMicroTime } from "../../../api/machinery/time.ts";
import { EXPLAIN_API_VERSION, type Timeline, type TimelinePoint } from "../../../explain/explain-api.ts";
import type { CauseRecord } from "../../framework/recording/causes.ts";
import type { HistoryDependencies } from "./history-request.ts";

/** More points than a slider has pixels are of no use. */
export const POINTS_MAX = 500;

export async function readTimeline({ server, causes }: HistoryDependencies): Promise<Timeline> {
  const newest = await server.store.currentRevision();
  const { compactedRevision } = await server.store.statistics();
  const kept = causes.list().filter(({ revision }) => revision >= Math.max(1, compactedRevision));
  return {
    kind: "Timeline",
    apiVersion: EXPLAIN_API_VERSION,
    metadata: { oldest: String(compactedRevision), newest: String(newest) },
    items: timelinePoints(kept),
  };
}

/** Each write is a point, or as many consecutive ones together that there are no more than POINTS_MAX. */
export function timelinePoints(records: readonly Pick<CauseRecord, "revision" | "timeMs">[]): readonly TimelinePoint[] {
  const ordered = records.toSorted((a, b) => a.revision - b.revision);
  const perPoint = Math.ceil(ordered.length / POINTS_MAX);
  const points: TimelinePoint[] = [];
  for (let start = 0; start < ordered.length; start += perPoint) {
    const group = ordered.slice(start, start + perPoint);
    const last = group.at(-1);
    if (last !== undefined) points.push({ revision: String(last.revision), time: formatMicroTime(last.timeMs), writes: group.length });
  }
  return points;
}
