/**
 * The contract of whoever knows what objects of one kind take from a quota. One file per kind, strangers to each other; evaluators.ts
 * finds the one for a kind. Used by admission, which charges what is written, and by whoever counts what is there.
 */
import type { Pod, ScopedResourceSelectorRequirement } from "../../../generated/core/v1.ts";
import type { DeviceClass, ResourceClaim } from "../../../generated/resource.k8s.io/v1.ts";
import type { KubeObject } from "../../../machinery/object.ts";
import type { Amounts } from "./amounts.ts";

export interface QuotaEvaluator {
  readonly group: string;
  readonly plural: string;
  /** Whether a write of this sort can take something. */
  handles(write: QuotaWrite): boolean;
  /** Those of the names that objects of this kind take something of. */
  namesAmong(hard: Iterable<string>, surroundings: QuotaSurroundings): readonly string[];
  /** Absent: objects of this kind are in no scope at all. */
  isInScope?(object: KubeObject, scope: ScopedResourceSelectorRequirement): boolean;
  /** What an object must say if a quota has these names, in upstream's words ("must specify cpu for: c"); undefined: it says all. */
  whatIsMissing?(object: KubeObject, names: readonly string[]): string | undefined;
  /** What an object takes; also of names that no quota has. */
  usageOf(object: KubeObject, surroundings: QuotaSurroundings): Amounts;
}

export interface QuotaWrite {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly subresource: string;
  /** In the storage version, as all objects here. */
  readonly object: KubeObject;
  readonly oldObject?: KubeObject;
}

/** What an object takes can depend on more than the object. */
export interface QuotaSurroundings {
  readonly nowMs: number;
  /** Of the cluster. */
  readonly deviceClasses: readonly DeviceClass[];
  /** Of the namespace in question. */
  readonly claims: readonly ResourceClaim[];
  podOf(name: string): Pod | undefined;
}

/** For kinds that need to know no more than the time. */
export function justNow(nowMs: number): QuotaSurroundings {
  return { nowMs, deviceClasses: [], claims: [], podOf: () => undefined };
}

/** "count/deployments.apps". */
export function countName(group: string, plural: string): string {
  return group === "" ? `count/${plural}` : `count/${plural}.${group}`;
}
