/**
 * Resource lists (`limits`, `requests`, `overhead`): classification of resource names, and sums over a Pod's containers. Amounts are parsed
 * through a cache of recent texts, because clusters use few different ones and parsing is not cheap.
 */
import { Lru } from "../../../../base/lru.ts";
import type { Container, PodSpec } from "../../../generated/core/v1.ts";
import { addQuantities, compareQuantities, parseQuantity, type Quantity } from "../../../machinery/quantity.ts";
import { isSidecar } from "./containers.ts";

export type ResourceList = Readonly<Record<string, string>>;

/** Cache size: more than a large cluster uses; a client that invents amounts cannot fill the memory. */
const CACHED_MAX = 10_000;
const cached = new Lru<string, Quantity>({ max: CACHED_MAX });

/** Parses an amount. The text has passed the decoder, which rejects malformed ones. */
export function readQuantity(text: string): Quantity {
  const known = cached.get(text);
  if (known !== undefined) return known;
  const quantity = parseQuantity(text);
  cached.set(text, quantity);
  return quantity;
}

const HUGE_PAGES = "hugepages-";

export function isHugePages(name: string): boolean {
  return name.startsWith(HUGE_PAGES);
}

/** "2Mi" of "hugepages-2Mi". */
export function hugePageSize(name: string): string {
  return name.slice(HUGE_PAGES.length);
}

/** A native resource: without a domain, or with one of Kubernetes. */
export function isNativeResource(name: string): boolean {
  return !name.includes("/") || name.includes("kubernetes.io/");
}

/** True if limits may exceed requests. */
export function isOvercommitAllowed(name: string): boolean {
  return isNativeResource(name) && !isHugePages(name);
}

/** Resources that are allowed at Pod level. */
export function isPodLevelResource(name: string): boolean {
  return name === "cpu" || name === "memory" || isHugePages(name);
}

/**
 * The peak demand of all containers: the regular ones and the sidecars run at the same time, and before that each init container in turn
 * beside the sidecars that have been started.
 */
export function aggregateOverContainers(spec: PodSpec, part: "requests" | "limits"): Map<string, Quantity> {
  const running = new Map<string, Quantity>();
  for (const container of spec.containers ?? []) addTo(running, listOf(container, part));
  const sidecars = new Map<string, Quantity>();
  const initPeak = new Map<string, Quantity>();
  for (const container of spec.initContainers ?? []) {
    const own = listOf(container, part);
    // Only the resources of this one can rise, so nothing else is compared.
    const turn = new Map(own.map(([name, quantity]) => [name, sumOf(sidecars.get(name), quantity)]));
    raiseTo(initPeak, turn);
    if (!isSidecar(container)) continue;
    addTo(running, own);
    addTo(sidecars, own);
  }
  raiseTo(running, initPeak);
  return running;
}

function listOf(container: Container, part: "requests" | "limits"): readonly (readonly [string, Quantity])[] {
  const list = container.resources?.[part];
  return list === undefined ? [] : Object.entries(list).map(([name, text]) => [name, readQuantity(text)] as const);
}

export function addTo(sums: Map<string, Quantity>, list: Iterable<readonly [string, Quantity]>): void {
  for (const [name, quantity] of list) sums.set(name, sumOf(sums.get(name), quantity));
}

function sumOf(sum: Quantity | undefined, quantity: Quantity): Quantity {
  return sum === undefined ? quantity : addQuantities(sum, quantity);
}

function raiseTo(peaks: Map<string, Quantity>, list: Iterable<readonly [string, Quantity]>): void {
  for (const [name, quantity] of list) {
    const peak = peaks.get(name);
    if (peak === undefined || compareQuantities(quantity, peak) > 0) peaks.set(name, quantity);
  }
}
