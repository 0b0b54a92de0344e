/** Usage over time as small charts, with the numbers as text. */
import { h, type JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { StatusError } from "../../../api/machinery/status-error.ts";
import { mayDo, type Attributes } from "../../data/access.ts";
import { findKind } from "../../data/kinds.ts";
import { linePath } from "../../data/usage/line-path.ts";
import { METRICS_GROUP, pollUsage } from "../../data/usage/poll-usage.ts";
import { UsageHistory, type Sample } from "../../data/usage/usage-history.ts";
import { percent } from "../../data/usage/usage.ts";
import type { Context } from "../views/view.ts";

export interface UsageState {
  readonly history: UsageHistory;
  /** Why there is no usage; undefined while it is read. */
  readonly problem?: string;
}

/** The path of a metrics resource, without a request to a server that has none or a user who may not read it. */
export function useUsage({ api, kinds, browser: { clock } }: Context, attributes: Attributes, path: string): UsageState {
  const history = useMemo(() => new UsageHistory(), [api, path]);
  const [state, setState] = useState<UsageState>({ history });
  useEffect(() => {
    const life = new AbortController();
    const changed = (error: StatusError | undefined) => setState({ history, ...(error === undefined ? {} : { problem: error.message }) });
    const run = async () => {
      if (findKind(kinds, attributes.resource, METRICS_GROUP) === undefined)
        return setState({ history, problem: "The cluster serves no usage (metrics.k8s.io)." });
      if (!(await mayDo(api, attributes).catch(() => true)))
        return setState({ history, problem: `You may not ${attributes.verb} the usage of ${attributes.resource}.` });
      if (!life.signal.aborted) await pollUsage({ api, clock, path, history, signal: life.signal, changed });
    };
    run().catch(() => undefined);
    return () => life.abort();
  }, [api, path]);
  return state.history === history ? state : { history };
}

const WIDTH = 160;
const HEIGHT = 36;
/** The time that a chart shows: as much as is known, between these. */
const SPAN_MIN_MS = 60_000;
const SPAN_MAX_MS = 10 * 60_000;

export interface ChartProps {
  readonly label: string;
  readonly samples: readonly Sample[];
  /** The top of the chart; 0: the largest sample. */
  readonly max: number;
  read(sample: Sample): number;
  write(value: number): string;
}

/** "250m of 4 (6 %)" with its line. */
export function UsageChart({ label, samples, max, read, write }: ChartProps): JSX.Element {
  const last = samples.at(-1);
  if (last === undefined) return h("span", { class: "count" }, "–");
  const top = max > 0 ? max : Math.max(...samples.map(read)) * 1.2;
  const text = max > 0 ? `${write(read(last))} of ${write(max)} (${percent(read(last), max)} %)` : write(read(last));
  const knownMs = last.atMs - (samples[0]?.atMs ?? last.atMs);
  const spanMs = Math.max(SPAN_MIN_MS, Math.min(SPAN_MAX_MS, knownMs));
  const paths = linePath(samples, read, { width: WIDTH, height: HEIGHT, max: top }, spanMs);
  const share = percent(read(last), top);
  const minutes = Math.round(spanMs / 60_000);
  return h(
    "span",
    { class: `usage ${max > 0 && share >= 90 ? "full" : ""}` },
    h(
      "svg",
      {
        viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
        width: WIDTH,
        height: HEIGHT,
        role: "img",
        "aria-label": `${label} of the last ${minutes === 1 ? "minute" : `${minutes} minutes`}, now ${text}`,
      },
      paths === undefined ? null : h("path", { class: "area", d: paths.area }),
      paths === undefined ? null : h("path", { class: "line", d: paths.line }),
    ),
    h("span", null, text),
  );
}
