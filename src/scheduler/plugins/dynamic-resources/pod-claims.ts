/** The ResourceClaims of a Pod, as its spec and status reference them. Why they cannot be used yet is reported in upstream's words. Pure. */
import type { Pod, PodResourceClaim } from "../../../api/generated/core/v1.ts";
import type { ResourceClaim } from "../../../api/generated/resource.k8s.io/v1.ts";
import type { DeviceView } from "../../framework/device-view.ts";

export type PodClaims = { readonly ok: true; readonly claims: readonly ResourceClaim[] } | { readonly ok: false; readonly problem: string };

export function podClaims(pod: Pod, view: Pick<DeviceView, "claim">): PodClaims {
  const claims: ResourceClaim[] = [];
  const { namespace = "", name: podName, uid } = pod.metadata;
  for (const entry of pod.spec?.resourceClaims ?? []) {
    const reference = referenceOf(pod, entry);
    if ("problem" in reference) return { ok: false, problem: reference.problem };
    if (reference.name === undefined) continue;
    const claim = view.claim(namespace, reference.name);
    if (claim === undefined) return { ok: false, problem: `resourceclaim "${reference.name}" not found` };
    if (claim.metadata.deletionTimestamp !== undefined)
      return { ok: false, problem: `resourceclaim ${JSON.stringify(reference.name)} is being deleted` };
    if (reference.isGenerated && !isControlledBy(claim, uid)) {
      const problem = `ResourceClaim ${namespace}/${reference.name} was not created for Pod ${namespace}/${podName} (Pod is not owner)`;
      return { ok: false, problem };
    }
    claims.push(claim);
  }
  return { ok: true, claims };
}

/** Without a name, nothing is needed for the entry. */
type Reference = { readonly name: string | undefined; readonly isGenerated: boolean } | { readonly problem: string };

function referenceOf({ metadata, status }: Pod, entry: PodResourceClaim): Reference {
  if (entry.resourceClaimName !== undefined) return { name: entry.resourceClaimName, isGenerated: false };
  const pod = `pod "${metadata.namespace ?? ""}/${metadata.name}"`;
  if (entry.resourceClaimTemplateName === undefined)
    return { problem: `${pod}, spec.resourceClaim ${JSON.stringify(entry.name)}: none of the supported fields are set` };
  const generated = status?.resourceClaimStatuses?.find(({ name }) => name === entry.name);
  if (generated === undefined) return { problem: `${pod}: ResourceClaim not created yet` };
  return { name: generated.resourceClaimName, isGenerated: true };
}

function isControlledBy({ metadata }: ResourceClaim, podUid: string | undefined): boolean {
  return metadata.ownerReferences?.some(({ uid, controller }) => controller === true && uid === podUid) === true;
}

export function isReservedFor({ status }: ResourceClaim, podUid: string): boolean {
  return status?.reservedFor?.some(({ uid }) => uid === podUid) === true;
}
