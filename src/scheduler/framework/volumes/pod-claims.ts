/** The claims that a Pod uses: by name, and those created for its ephemeral volumes. Messages are upstream's. */
import { volumeClaimName } from "../../../api/core/v1/pod/references.ts";
import type { PersistentVolumeClaim, Pod, Volume } from "../../../api/generated/core/v1.ts";

/** One volume of a Pod that uses a claim. */
export interface ClaimUse {
  readonly name: string;
  /** The claim is created for this Pod, with the Pod as its controller. */
  readonly isEphemeral: boolean;
}

const NONE: readonly never[] = Object.freeze([]);

/** In the order of the Pod's volumes; a claim may be used twice. Most Pods have none. */
export function claimUses({ metadata, spec }: Pod): readonly ClaimUse[] {
  let uses: ClaimUse[] | undefined;
  for (const volume of spec?.volumes ?? NONE) {
    const name = volumeClaimName(metadata.name, volume);
    if (name !== undefined) (uses ??= []).push({ name, isEphemeral: isEphemeral(volume) });
  }
  return uses ?? NONE;
}

/** Whether the claim is one of the Pod's. */
export function usesClaim(pod: Pod, { metadata }: PersistentVolumeClaim): boolean {
  if (pod.metadata.namespace !== metadata.namespace) return false;
  return claimUses(pod).some(({ name }) => name === metadata.name);
}

export function claimNotFound(name: string): string {
  return `persistentvolumeclaim ${JSON.stringify(name)} not found`;
}

/** Why a claim of the same name is not that of the Pod's ephemeral volume; undefined if it is. */
export function foreignClaim({ metadata: pod }: Pod, { metadata: claim }: PersistentVolumeClaim): string | undefined {
  const controller = claim.ownerReferences?.find((reference) => reference.controller === true);
  if (claim.namespace === pod.namespace && controller !== undefined && controller.uid === pod.uid) return undefined;
  return `PVC ${claim.namespace}/${claim.name} was not created for pod ${pod.namespace}/${pod.name} (pod is not owner)`;
}

function isEphemeral({ persistentVolumeClaim, ephemeral }: Volume): boolean {
  return persistentVolumeClaim === undefined && ephemeral !== undefined;
}
