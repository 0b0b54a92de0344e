/**
 * API quantities as the scheduler's numbers: CPU in thousandths, everything else in units, rounded up. Parsed texts are cached, because a
 * cluster uses the same few over and over and parsing takes far longer than a lookup.
 */
import { isExtendedResource } from "../../api/core/v1/pod/validation/resources.ts";
import { isHugePages, readQuantity, type ResourceList } from "../../api/core/v1/pod/resource-list.ts";
import { quantityMilliValue, quantityToNumber } from "../../api/machinery/quantity.ts";
import { Lru } from "../../base/lru.ts";
import { NO_SCALARS, type Resources } from "./resources.ts";

/** More than a large cluster uses; invented amounts or names cannot fill the memory. */
const CACHED_MAX = 10_000;

const milliValues = new Lru<string, number>({ max: CACHED_MAX });
const wholeValues = new Lru<string, number>({ max: CACHED_MAX });
const scalarNames = new Lru<string, boolean>({ max: CACHED_MAX });

/** The amount that a text says of a resource. */
export function amountOf(name: string, text: string): number {
  const values = name === "cpu" ? milliValues : wholeValues;
  const known = values.get(text);
  if (known !== undefined) return known;
  const quantity = readQuantity(text);
  const amount = name === "cpu" ? quantityMilliValue(quantity) : quantityToNumber(quantity);
  values.set(text, amount);
  return amount;
}

/** Whether the scheduler counts it besides CPU, memory and storage: devices, huge pages, volumes, and names with a Kubernetes domain. */
export function isScalar(name: string): boolean {
  const known = scalarNames.get(name);
  if (known !== undefined) return known;
  const answer = isHugePages(name) || name.startsWith("attachable-volumes-") || name.includes("kubernetes.io/") || isExtendedResource(name);
  scalarNames.set(name, answer);
  return answer;
}

/** The counted resources of a list; others are omitted. */
export function resourcesOf(amounts: Iterable<readonly [string, number]>): Resources {
  let milliCpu = 0;
  let memoryBytes = 0;
  let ephemeralStorageBytes = 0;
  let scalars: Map<string, number> | undefined;
  for (const [name, amount] of amounts) {
    if (name === "cpu") milliCpu = amount;
    else if (name === "memory") memoryBytes = amount;
    else if (name === "ephemeral-storage") ephemeralStorageBytes = amount;
    else if (isScalar(name)) (scalars ??= new Map()).set(name, amount);
  }
  return { milliCpu, memoryBytes, ephemeralStorageBytes, scalars: scalars ?? NO_SCALARS };
}

export function* amountsOf(list: ResourceList | undefined): Iterable<readonly [string, number]> {
  for (const [name, text] of Object.entries(list ?? {})) yield [name, amountOf(name, text)];
}
