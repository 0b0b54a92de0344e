/** The claims of one Pod during a cycle: what each needs, and what every examined node offers. */
import { NodeTerms } from "../../../api/core/v1/node/node-selector.ts";
import type { ContainerExtendedResourceRequest } from "../../../api/generated/core/v1.ts";
import type { AllocationResult, DeviceClass, ResourceClaim } from "../../../api/generated/resource.k8s.io/v1.ts";
import type { ClaimAllocator } from "./allocator/allocate.ts";
import type { AvailableCounters } from "./allocator/counters.ts";

export interface CycleClaim {
  readonly claim: ResourceClaim;
  readonly uid: string;
  /** For extended resources of the Pod: its requests differ by node. */
  readonly isExtended: boolean;
  /** Nodes that can use the allocated devices; undefined: all, or it is not allocated. */
  readonly nodes: NodeTerms | undefined;
}

/** What would be allocated on a node. */
export interface NodeAllocation {
  readonly results: readonly { readonly entry: CycleClaim; readonly allocation: AllocationResult }[];
  /** The claim for extended resources with its requests, if this node provides them by devices. */
  readonly extendedClaim: ResourceClaim | undefined;
  readonly mappings: readonly ContainerExtendedResourceRequest[];
}

export interface CycleState {
  readonly podUid: string;
  readonly claims: readonly CycleClaim[];
  /** Resources of the Pod that devices can provide, by name. */
  readonly extended: ReadonlyMap<string, { readonly amount: number; readonly deviceClass: DeviceClass }>;
  readonly counters: AvailableCounters;
  /** For the claims that are not allocated and have the same requests on all nodes: all but the one for extended resources. */
  ownAllocator: ClaimAllocator | undefined;
  /** When searching must end in this attempt, in milliseconds of the monotonic clock. */
  readonly deadlineMs: number;
  readonly allocations: Map<string, NodeAllocation>;
  /** Allocated claims that were unavailable on some node. */
  readonly unavailable: Set<CycleClaim>;
  /** The devices of some node are not known yet: the Pod is attempted again when selectors are evaluated, or a search has ended. */
  isWaitingForDevices: boolean;
}

export function cycleClaim(claim: ResourceClaim, isExtended: boolean): CycleClaim {
  const nodeSelector = claim.status?.allocation?.nodeSelector;
  return { claim, uid: claim.metadata.uid ?? "", isExtended, nodes: nodeSelector === undefined ? undefined : new NodeTerms(nodeSelector) };
}

export function isAllocated({ claim }: CycleClaim): boolean {
  return claim.status?.allocation !== undefined;
}

/** Every alternative has a rank; the earlier the better. API limit of `firstAvailable`. */
const ALTERNATIVES_MAX = 8;

export function hasAlternatives({ claims }: Pick<CycleState, "claims">): boolean {
  return claims.some(({ claim }) => claim.spec.devices?.requests?.some(({ firstAvailable = [] }) => firstAvailable.length > 0) === true);
}

/** Prefers nodes on which earlier alternatives are available. */
export function alternativesScore({ claims, allocations }: Pick<CycleState, "claims" | "allocations">, nodeName: string): number {
  const results = allocations.get(nodeName)?.results ?? [];
  let score = 0;
  for (const entry of claims) {
    const allocation = entry.claim.status?.allocation ?? results.find((result) => result.entry === entry)?.allocation;
    const chosen = new Set(allocation?.devices?.results?.map(({ request }) => request));
    for (const { name, firstAvailable = [] } of entry.claim.spec.devices?.requests ?? []) {
      for (const [index, alternative] of firstAvailable.entries()) {
        if (chosen.has(`${name}/${alternative.name}`)) score += ALTERNATIVES_MAX - index;
      }
    }
  }
  return score;
}
