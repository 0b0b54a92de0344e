/**
 * Resources of scoring plugins: their configuration, and their amounts by name. Upstream's rule: resources that only some nodes have count
 * only if the Pod requests them.
 */
import { isScalar } from "./amounts.ts";
import { INT64, listOf, structOf, TEXT } from "./read-arguments.ts";
import type { Resources } from "./resources.ts";

export interface ScoredResource {
  readonly name: string;
  /** Its weight among the others. */
  readonly weight: number;
  /** Whether only some nodes have it. */
  readonly isScalar: boolean;
}

/** As it is written. */
export interface ResourceSpec {
  readonly name?: string;
  readonly weight?: number;
}

export const RESOURCE_SPECS = listOf(structOf("ResourceSpec", { name: TEXT, weight: INT64 }));

/** If none are named. */
const DEFAULT_SPECS: readonly ResourceSpec[] = [{ name: "cpu" }, { name: "memory" }];

/** A weight of 0 means unset. */
export function scoredResources(written: readonly ResourceSpec[] = []): readonly ScoredResource[] {
  const specs = written.length === 0 ? DEFAULT_SPECS : written;
  return specs.map(({ name = "", weight = 0 }) => ({ name, weight: weight === 0 ? 1 : weight, isScalar: isScalar(name) }));
}

/** 0 if none exists. */
export function resourceAmount(resources: Resources, name: string): number {
  switch (name) {
    case "cpu":
      return resources.milliCpu;
    case "memory":
      return resources.memoryBytes;
    case "ephemeral-storage":
      return resources.ephemeralStorageBytes;
    default:
      return resources.scalars.get(name) ?? 0;
  }
}
