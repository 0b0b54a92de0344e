/** Names and ordinals of a StatefulSet's Pods: `<set>-<ordinal>`, from `spec.ordinals.start` on. Pure. */
import type { StatefulSet } from "../../api/generated/apps/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";

/** Greedy: the set's own name may end in a number, too. */
const NAME = /^(.*)-([0-9]+)$/s;
/** Higher numbers are no ordinals. */
const ORDINAL_MAX = 2 ** 31 - 1;

/** Name of the set that a Pod's name refers to, and the ordinal; undefined if the name has none. */
export function parsePodName(name: string): { readonly parent: string; readonly ordinal: number } | undefined {
  const [, parent = "", digits = ""] = NAME.exec(name) ?? [];
  const ordinal = Number(digits);
  return digits === "" || ordinal > ORDINAL_MAX ? undefined : { parent, ordinal };
}

export function podName({ metadata }: StatefulSet, ordinal: number): string {
  return `${metadata.name}-${ordinal}`;
}

/** Undefined for a Pod whose name is not one of a member of a StatefulSet. */
export function ordinalOf({ metadata }: Pod): number | undefined {
  return parsePodName(metadata.name)?.ordinal;
}

/** Only such Pods are adopted and kept. */
export function isMember({ metadata: { name } }: StatefulSet, pod: Pod): boolean {
  return NAME.exec(pod.metadata.name)?.[1] === name;
}

export function desiredReplicas({ spec }: StatefulSet): number {
  return spec?.replicas ?? 1;
}

export function firstOrdinal({ spec }: StatefulSet): number {
  return spec?.ordinals?.start ?? 0;
}

/** All ordinals that the set should have, ascending. */
export function desiredOrdinals(set: StatefulSet): readonly number[] {
  return Array.from({ length: desiredReplicas(set) }, (_, index) => firstOrdinal(set) + index);
}

/** False for a Pod that is scaled down. */
export function isDesired(set: StatefulSet, ordinal: number): boolean {
  return ordinal >= firstOrdinal(set) && ordinal < firstOrdinal(set) + desiredReplicas(set);
}
