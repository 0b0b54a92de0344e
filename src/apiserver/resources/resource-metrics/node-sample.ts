/**
 * One scrape of a kubelet's `/metrics/resource`: cumulative CPU time and current memory of the node and of every container. Pure. Not here:
 * rates, which need two of them (usage.ts).
 */
import { parsePrometheusText } from "../../../base/metrics/parse-prometheus-text.ts";

/** One measured node or container. */
export interface UsagePoint {
  /** When the kubelet measured it. */
  readonly atMs: number;
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  /** Start of the container. */
  readonly startedAtMs?: number;
}

export interface NodeSample {
  /** When it was requested, by the server's clock. */
  readonly atMs: number;
  /** Absent: the kubelet does not report it. */
  readonly node?: UsagePoint;
  /** By `<namespace>/<name>`, then by container. */
  readonly pods: ReadonlyMap<string, ReadonlyMap<string, UsagePoint>>;
}

type Draft = { -readonly [M in keyof UsagePoint]?: UsagePoint[M] };

const NODE_CPU = "node_cpu_usage_seconds_total";
const NODE_MEMORY = "node_memory_working_set_bytes";
const CONTAINER_CPU = "container_cpu_usage_seconds_total";
const CONTAINER_MEMORY = "container_memory_working_set_bytes";
const CONTAINER_START = "container_start_time_seconds";

const ONLY: ReadonlySet<string> = new Set([NODE_CPU, NODE_MEMORY, CONTAINER_CPU, CONTAINER_MEMORY, CONTAINER_START]);

export function readNodeSample(page: string, nowMs: number): NodeSample {
  const node: Draft = {};
  const pods = new Map<string, Map<string, Draft>>();
  for (const { name, labels, value, atMs = nowMs } of parsePrometheusText(page, { only: ONLY })) {
    const isNode = name === NODE_CPU || name === NODE_MEMORY;
    const draft = isNode ? node : containerOf(pods, `${labels["namespace"]}/${labels["pod"]}`, labels["container"] ?? "");
    if (name === CONTAINER_START) draft.startedAtMs = value * 1_000;
    else if (name === NODE_CPU || name === CONTAINER_CPU) [draft.cpuSeconds, draft.atMs] = [value, atMs];
    else draft.memoryBytes = value;
  }
  const whole = pointOf(node);
  return { atMs: nowMs, ...(whole === undefined ? {} : { node: whole }), pods: new Map([...pods].map(([pod, of]) => [pod, pointsOf(of)])) };
}

function containerOf(pods: Map<string, Map<string, Draft>>, pod: string, container: string): Draft {
  const containers = pods.get(pod) ?? new Map<string, Draft>();
  pods.set(pod, containers);
  const draft = containers.get(container) ?? {};
  containers.set(container, draft);
  return draft;
}

function pointsOf(drafts: ReadonlyMap<string, Draft>): ReadonlyMap<string, UsagePoint> {
  return new Map(
    [...drafts].flatMap(([name, draft]) => {
      const point = pointOf(draft);
      return point === undefined ? [] : [[name, point] as const];
    }),
  );
}

/** Undefined unless both CPU and memory are known: half of a measurement would be read as zero. */
function pointOf({ atMs, cpuSeconds, memoryBytes, startedAtMs }: Draft): UsagePoint | undefined {
  if (atMs === undefined || cpuSeconds === undefined || memoryBytes === undefined) return undefined;
  return { atMs, cpuSeconds, memoryBytes, ...(startedAtMs === undefined ? {} : { startedAtMs }) };
}
