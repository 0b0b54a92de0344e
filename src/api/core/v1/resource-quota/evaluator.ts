/**
 * The contract of quota evaluators, which compute the usage of objects of one kind. One file per kind, independent of each other;
 * evaluators.ts finds the one for a kind. Used by admission, which charges writes, and by the controller, which counts existing objects.
 */
import type { Pod, ScopedResourceSelectorRequirement } from "../../../generated/core/v1.ts";
import type { DeviceClass, ResourceClaim } from "../../../generated/resource.k8s.io/v1.ts";
import type { KubeObject } from "../../../machinery/object.ts";
import type { Amounts } from "./amounts.ts";

export interface QuotaEvaluator {
  readonly group: string;
  readonly plural: string;
  /** True if this operation can increase the usage. */
  handles(write: QuotaWrite): boolean;
  /** The names that objects of this kind use. */
  namesAmong(hard: Iterable<string>, surroundings: QuotaSurroundings): readonly string[];
  /** Absent: objects of this kind are in no scope. */
  isInScope?(object: KubeObject, scope: ScopedResourceSelectorRequirement): boolean;
  /** Required fields if a quota has these names, as upstream's message ("must specify cpu for: c"); undefined: all are set. */
  whatIsMissing?(object: KubeObject, names: readonly string[]): string | undefined;
  /** The usage of an object; also of names that no quota has. */
  usageOf(object: KubeObject, surroundings: QuotaSurroundings): Amounts;
}

export interface QuotaWrite {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly subresource: string;
  /** In the storage version, as all objects here. */
  readonly object: KubeObject;
  readonly oldObject?: KubeObject;
}

/** Inputs of an evaluation beside the object. */
export interface QuotaSurroundings {
  readonly nowMs: number;
  /** Of the cluster. */
  readonly deviceClasses: readonly DeviceClass[];
  /** Of the namespace in question. */
  readonly claims: readonly ResourceClaim[];
  podOf(name: string): Pod | undefined;
}

/** For kinds that need no more than the time. */
export function justNow(nowMs: number): QuotaSurroundings {
  return { nowMs, deviceClasses: [], claims: [], podOf: () => undefined };
}

/** "count/deployments.apps". */
export function countName(group: string, plural: string): string {
  return group === "" ? `count/${plural}` : `count/${plural}.${group}`;
}
