/** Usage and capacity in numbers: processors in cores, memory in bytes. Pure. */
import { parseQuantity, scaledValue } from "../../../api/machinery/quantity.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { field, objectsAt, textAt } from "../fields.ts";

export interface Amounts {
  readonly cpu: number;
  readonly memory: number;
}

export const NONE: Amounts = { cpu: 0, memory: 0 };

/** 0 for a missing or unreadable quantity. */
export function amountsOf(resources: unknown): Amounts {
  return { cpu: amount(textAt(resources, "cpu"), NANO), memory: amount(textAt(resources, "memory"), 0) };
}

/** Kubelets measure processors in nanocores. */
const NANO = -9;

/** Rounded up to the power of ten. */
function amount(text: string, exponent: number): number {
  if (text === "") return 0;
  try {
    return Number(scaledValue(parseQuantity(text), exponent)) / 10 ** -exponent;
  } catch {
    return 0;
  }
}

export function sum(all: readonly Amounts[]): Amounts {
  return all.reduce((total, one) => ({ cpu: total.cpu + one.cpu, memory: total.memory + one.memory }), NONE);
}

/** Of a NodeMetrics, or of all containers of a PodMetrics. */
export function usageOf(metrics: unknown): Amounts {
  const containers = objectsAt(metrics, "containers");
  return containers.length === 0 ? amountsOf(field(metrics, "usage")) : sum(containers.map(({ usage }) => amountsOf(usage)));
}

/** What the scheduler reserves for a Pod: of all containers together, or of the largest init container if that is more. */
export function podRequests(pod: KubeObject): Amounts {
  const requests = (container: unknown) => amountsOf(field(container, "resources", "requests"));
  const inits = objectsAt(pod, "spec", "initContainers");
  const isSidecar = (container: unknown) => textAt(container, "restartPolicy") === "Always";
  const running = sum([...objectsAt(pod, "spec", "containers"), ...inits.filter(isSidecar)].map(requests));
  const largest = inits.filter((container) => !isSidecar(container)).map(requests);
  const overhead = amountsOf(field(pod, "spec", "overhead"));
  return sum([
    {
      cpu: Math.max(running.cpu, ...largest.map(({ cpu }) => cpu)),
      memory: Math.max(running.memory, ...largest.map(({ memory }) => memory)),
    },
    overhead,
  ]);
}

export interface Allocation {
  readonly requests: Amounts;
  readonly pods: number;
}

/** By the name of the node. Finished Pods reserve nothing. */
export function allocations(pods: Iterable<KubeObject>): ReadonlyMap<string, Allocation> {
  const found = new Map<string, Allocation>();
  for (const pod of pods) {
    const node = textAt(pod, "spec", "nodeName");
    if (node === "" || ["Succeeded", "Failed"].includes(textAt(pod, "status", "phase"))) continue;
    const { requests, pods: count } = found.get(node) ?? { requests: NONE, pods: 0 };
    found.set(node, { requests: sum([requests, podRequests(pod)]), pods: count + 1 });
  }
  return found;
}

/** "250m", "1.5". */
export function cpuText(cores: number): string {
  return cores < 1 ? `${Math.round(cores * 1_000)}m` : String(Math.round(cores * 100) / 100);
}

const UNITS = ["B", "Ki", "Mi", "Gi", "Ti"];

/** "512 Mi". */
export function memoryText(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 2 ** (10 * power);
  return `${value >= 100 ? Math.round(value) : Math.round(value * 10) / 10} ${UNITS[power]}`;
}

export function percent(part: number, whole: number): number {
  return whole <= 0 ? 0 : Math.round((part / whole) * 100);
}
