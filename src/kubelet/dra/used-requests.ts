/** Requests of claims that containers use. Pure. */
import { claimReferenceOf } from "../../api/core/v1/pod/claim-reference.ts";
import type { Container, EphemeralContainer, Pod } from "../../api/generated/core/v1.ts";
import type { PreparedDevice } from "./dra-driver.ts";

export interface UsedRequest {
  readonly claimName: string;
  /** "": all of the claim. */
  readonly request: string;
}

/** The requests of claims that a container uses. */
export function* usedRequests(pod: Pod, container: Container | EphemeralContainer): Iterable<UsedRequest> {
  for (const { name, request = "" } of container.resources?.claims ?? []) {
    const entry = pod.spec?.resourceClaims?.find((each) => each.name === name);
    const reference = entry === undefined ? undefined : claimReferenceOf(pod, entry);
    if (reference === undefined || "problem" in reference || reference.name === undefined) continue;
    yield { claimName: reference.name, request };
  }
  const extended = pod.status?.extendedResourceClaimStatus;
  for (const { containerName, resourceName, requestName } of extended?.requestMappings ?? []) {
    if (containerName !== container.name || container.resources?.requests?.[resourceName] === undefined) continue;
    yield { claimName: extended?.resourceClaimName ?? "", request: requestName };
  }
}

/** A device may be for an alternative of the request: "gpu/large". */
export function isFor({ requestNames }: PreparedDevice, request: string): boolean {
  return request === "" || requestNames.length === 0 || requestNames.some((name) => name === request || name.startsWith(`${request}/`));
}
