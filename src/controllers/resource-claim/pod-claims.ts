/** The claims of a Pod: which exist, and which must be created from a template. Pure. */
import type { Pod, PodResourceClaim, PodResourceClaimStatus } from "../../api/generated/core/v1.ts";
import type { ResourceClaim } from "../../api/generated/resource.k8s.io/v1.ts";
import { POD_CLAIM_ANNOTATION } from "./generated-claim.ts";

/** An entry of the Pod's `spec.resourceClaims`. */
export type PodClaim =
  /** Created by a user, or nothing is needed for it. */
  | { readonly is: "given" }
  /** Created for this Pod. */
  | { readonly is: "existing"; readonly claimName: string }
  | { readonly is: "missing"; readonly templateName: string };

/** `claims`: those that the Pod controls. */
export function podClaimOf(
  { status }: Pod,
  { name, resourceClaimTemplateName }: PodResourceClaim,
  claims: readonly ResourceClaim[],
): PodClaim {
  if (resourceClaimTemplateName === undefined) return { is: "given" };
  const recorded = status?.resourceClaimStatuses?.find((entry) => entry.name === name);
  if (recorded !== undefined && recorded.resourceClaimName === undefined) return { is: "given" };
  const { resourceClaimName: claimName = "" } = recorded ?? {};
  if (claims.some(({ metadata }) => metadata.name === claimName)) return { is: "existing", claimName };
  // Created, and then the process ended before the Pod's status was written.
  const created = claims.find(({ metadata }) => metadata.annotations?.[POD_CLAIM_ANNOTATION] === name);
  if (created !== undefined) return { is: "existing", claimName: created.metadata.name };
  return { is: "missing", templateName: resourceClaimTemplateName };
}

/** Whether the claim must be reserved for a Pod that has a node: the scheduler reserves for those that it places itself. */
export function needsReservation({ status }: ResourceClaim, { metadata }: Pod): boolean {
  return status?.allocation !== undefined && status.reservedFor?.some(({ uid }) => uid === metadata.uid) !== true;
}

/**
 * Unused claims of a Pod whose entry has another one: created twice, because the response to the first request was lost. `claims`: those
 * that the Pod controls.
 */
export function surplusClaims(statuses: readonly PodResourceClaimStatus[], claims: readonly ResourceClaim[]): readonly ResourceClaim[] {
  return claims.filter(({ metadata, status }) => {
    if (metadata.deletionTimestamp !== undefined || status?.allocation !== undefined) return false;
    const entry = statuses.find(({ name }) => name === metadata.annotations?.[POD_CLAIM_ANNOTATION]);
    return entry?.resourceClaimName !== undefined && entry.resourceClaimName !== metadata.name;
  });
}
