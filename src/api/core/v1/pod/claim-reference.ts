/** Which ResourceClaim an entry of a Pod's `spec.resourceClaims` stands for. Problems are reported in upstream's words. Pure. */
import type { Pod, PodResourceClaim } from "../../../generated/core/v1.ts";
import type { ResourceClaim } from "../../../generated/resource.k8s.io/v1.ts";

/** Without a name, nothing is needed for the entry. `isGenerated`: it was created for the Pod, which must be its owner. */
export type ClaimReference = { readonly name: string | undefined; readonly isGenerated: boolean } | { readonly problem: string };

export function claimReferenceOf({ metadata, status }: Pod, entry: PodResourceClaim): ClaimReference {
  if (entry.resourceClaimName !== undefined) return { name: entry.resourceClaimName, isGenerated: false };
  const pod = `pod "${metadata.namespace ?? ""}/${metadata.name}"`;
  if (entry.resourceClaimTemplateName === undefined)
    return { problem: `${pod}, spec.resourceClaim ${JSON.stringify(entry.name)}: none of the supported fields are set` };
  const generated = status?.resourceClaimStatuses?.find(({ name }) => name === entry.name);
  if (generated === undefined) return { problem: `${pod}: ResourceClaim not created yet` };
  return { name: generated.resourceClaimName, isGenerated: true };
}

/** Undefined if the claim was created for the Pod. */
export function whyNotForPod({ metadata: claim }: ResourceClaim, { metadata: pod }: Pod): string | undefined {
  if (claim.ownerReferences?.some(({ uid, controller }) => controller === true && uid === pod.uid) === true) return undefined;
  const [claimKey, podKey] = [claim, pod].map(({ namespace = "", name }) => `${namespace}/${name}`);
  return `ResourceClaim ${claimKey} was not created for Pod ${podKey} (Pod is not owner)`;
}

export function isReservedFor({ status }: ResourceClaim, podUid: string): boolean {
  return status?.reservedFor?.some(({ uid }) => uid === podUid) === true;
}
