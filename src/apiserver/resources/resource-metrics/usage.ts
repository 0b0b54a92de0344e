/**
 * Resource usage between two samples of a node, as NodeMetrics and PodMetrics show it: CPU as the average of the window between the two,
 * memory as of the later one. What cannot be computed is missing, never guessed. Pure.
 */
import { formatQuantity, quantityOf, type Quantity } from "../../../api/machinery/quantity.ts";
import type { NodeSample, UsagePoint } from "./node-sample.ts";

export interface Usage {
  readonly atMs: number;
  readonly windowMs: number;
  readonly cpuNanocores: number;
  readonly memoryBytes: number;
}

export interface NodeUsage {
  readonly node?: Usage;
  /** By `<namespace>/<name>`, then by container. A Pod has all of its containers or is missing. */
  readonly pods: ReadonlyMap<string, ReadonlyMap<string, Usage>>;
}

/**
 * A container without an earlier sample is measured from its start, if that is at least this long ago: the first seconds of a program say
 * little about its load. metrics-server's value.
 */
const FRESH_WINDOW_MIN_MS = 10_000;

export function usageBetween(before: NodeSample | undefined, now: NodeSample): NodeUsage {
  const node = usageOf(before?.node, now.node);
  const pods = [...now.pods].flatMap(([pod, containers]) => {
    const used = containersBetween(before?.pods.get(pod), containers);
    return used === undefined ? [] : [[pod, used] as const];
  });
  return { ...(node === undefined ? {} : { node }), pods: new Map(pods) };
}

function containersBetween(
  before: ReadonlyMap<string, UsagePoint> | undefined,
  now: ReadonlyMap<string, UsagePoint>,
): ReadonlyMap<string, Usage> | undefined {
  const used = new Map<string, Usage>();
  for (const [name, point] of now) {
    const usage = usageOf(before?.get(name), point);
    if (usage === undefined) return undefined;
    used.set(name, usage);
  }
  return used.size === 0 ? undefined : used;
}

function usageOf(before: UsagePoint | undefined, now: UsagePoint | undefined): Usage | undefined {
  if (now === undefined) return undefined;
  const from = earlier(before, now);
  if (from === undefined) return undefined;
  const windowMs = now.atMs - from.atMs;
  // A counter that went back belongs to another container.
  if (windowMs <= 0 || now.cpuSeconds < from.cpuSeconds) return undefined;
  const cpuNanocores = Math.round(((now.cpuSeconds - from.cpuSeconds) * 1e12) / windowMs);
  return { atMs: now.atMs, windowMs, cpuNanocores, memoryBytes: now.memoryBytes };
}

/** The point from which CPU time is counted: the earlier sample of the same container, or its start. */
function earlier(before: UsagePoint | undefined, now: UsagePoint): Pick<UsagePoint, "atMs" | "cpuSeconds"> | undefined {
  const { startedAtMs } = now;
  const isSame = before !== undefined && (startedAtMs === undefined || startedAtMs <= before.atMs);
  if (isSame) return before;
  if (startedAtMs === undefined || now.atMs - startedAtMs < FRESH_WINDOW_MIN_MS) return undefined;
  return { atMs: startedAtMs, cpuSeconds: 0 };
}

/** In the units of metrics-server: `usage: {cpu: "12345678n", memory: "20480Ki"}`. */
export function quantitiesOf({ cpuNanocores, memoryBytes }: Usage): Readonly<Record<"cpu" | "memory", string>> {
  return { cpu: formatQuantity(nanocores(cpuNanocores)), memory: formatQuantity(quantityOf(Math.round(memoryBytes), "BinarySI")) };
}

function nanocores(amount: number): Quantity {
  return { ...quantityOf(amount), exponent: -9 };
}
