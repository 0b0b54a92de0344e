/** The ResourceClaims of a Pod, as its spec and status reference them. Why they cannot be used yet is reported in upstream's words. Pure. */
import { claimReferenceOf, whyNotForPod } from "../../../api/core/v1/pod/claim-reference.ts";
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { ResourceClaim } from "../../../api/generated/resource.k8s.io/v1.ts";
import type { DeviceView } from "../../framework/device-view.ts";

export type PodClaims = { readonly ok: true; readonly claims: readonly ResourceClaim[] } | { readonly ok: false; readonly problem: string };

export function podClaims(pod: Pod, view: Pick<DeviceView, "claim">): PodClaims {
  const claims: ResourceClaim[] = [];
  const { namespace = "" } = pod.metadata;
  for (const entry of pod.spec?.resourceClaims ?? []) {
    const reference = claimReferenceOf(pod, entry);
    if ("problem" in reference) return { ok: false, problem: reference.problem };
    if (reference.name === undefined) continue;
    const claim = view.claim(namespace, reference.name);
    if (claim === undefined) return { ok: false, problem: `resourceclaim "${reference.name}" not found` };
    if (claim.metadata.deletionTimestamp !== undefined)
      return { ok: false, problem: `resourceclaim ${JSON.stringify(reference.name)} is being deleted` };
    const problem = reference.isGenerated ? whyNotForPod(claim, pod) : undefined;
    if (problem !== undefined) return { ok: false, problem };
    claims.push(claim);
  }
  return { ok: true, claims };
}
