/** Allocates the devices of a Pod's claims on one node, without writing anything. */
import type { AllocationResult, DeviceClass, ResourceClaim } from "../../../api/generated/resource.k8s.io/v1.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import type { Rejection } from "../../framework/plugin.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import { ClaimAllocator } from "./allocator/allocate.ts";
import { AvailableCounters } from "./allocator/counters.ts";
import { NodeAllocationError, SelectorsPending } from "./allocator/model.ts";
import { SearchSuspended } from "./allocator/search.ts";
import { DeviceSearches } from "./device-searches.ts";
import { isAllocated, type CycleState, type NodeAllocation } from "./cycle-claims.ts";
import type { DeviceLedger } from "./device-ledger.ts";
import { extendedRequests, type ExtendedRequests } from "./extended-resources.ts";

export interface NodeAllocatorOptions {
  readonly ledger: DeviceLedger;
  deviceClass(name: string): DeviceClass | undefined;
  newShareId(): string;
  /** Attempts a waiting Pod again. */
  activate(podUid: string): void;
  /** Of the monotonic clock. */
  nowMs(): number;
  runInBackground(work: Iterator<void>): void;
  /** Maximum time of the search for devices of one node, in all its parts; 0: any time. */
  readonly timeoutMs: number;
}

const CANNOT_ALLOCATE = rejection("cannot allocate all claims");
const SEARCHING = rejection("devices are being searched");
const CANNOT_REUSE = rejection("cannot schedule extended resource claim");

export class NodeAllocator {
  readonly #options: NodeAllocatorOptions;
  readonly #searches: DeviceSearches;

  constructor(options: NodeAllocatorOptions) {
    this.#options = options;
    this.#searches = new DeviceSearches(options);
  }

  /** Throws if no node can help, or the search takes too long: the attempt fails then. */
  allocateOn(state: CycleState, pod: PodInfo, node: NodeInfo): { readonly allocation: NodeAllocation } | { readonly rejection: Rejection } {
    const extended = extendedOn(state, pod, node);
    if ("reasons" in extended) return { rejection: extended };
    const entries = state.claims.filter((entry) => !isAllocated(entry) && (!entry.isExtended || extended.requests.length > 0));
    const claims = entries.map(({ claim, isExtended }) => (isExtended ? withRequests(claim, extended) : claim));
    const extendedClaim = claims[entries.findIndex(({ isExtended }) => isExtended)];
    if (claims.length === 0) return { allocation: { results: [], extendedClaim: undefined, mappings: [] } };
    const results = this.#allocate(claims, extendedClaim, state, node);
    if ("reasons" in results) return { rejection: results };
    const paired = entries.map((entry, index) => ({ entry, allocation: results[index] ?? {} }));
    return { allocation: { results: paired, extendedClaim, mappings: extended.mappings } };
  }

  /** The requests of the extended claim differ by node; all others are prepared once. */
  #allocatorFor(claims: readonly ResourceClaim[], extendedClaim: ResourceClaim | undefined, state: CycleState): ClaimAllocator {
    if (extendedClaim === undefined && state.ownAllocator !== undefined) return state.ownAllocator;
    const { ledger } = this.#options;
    const { counters, deadlineMs } = state;
    const allocator = new ClaimAllocator({
      ...{ claims, counters },
      allocated: ledger.allocated,
      selectors: ledger.selectors,
      deviceClass: (name) => this.#options.deviceClass(name),
      newShareId: () => this.#options.newShareId(),
      isOverdue: () => this.#options.nowMs() > deadlineMs,
    });
    if (extendedClaim === undefined) state.ownAllocator = allocator;
    return allocator;
  }

  #allocate(
    claims: readonly ResourceClaim[],
    extendedClaim: ResourceClaim | undefined,
    state: CycleState,
    { node, name }: NodeInfo,
  ): readonly AllocationResult[] | Rejection {
    const { podUid } = state;
    const earlier = this.#searches.take(podUid, name);
    if (earlier?.is === "running") return this.#undecided(state);
    if (earlier?.is === "failed") throw earlier.error;
    if (earlier?.is === "none") return CANNOT_ALLOCATE;
    const { inventory } = this.#options.ledger;
    try {
      const allocator = this.#allocatorFor(claims, extendedClaim, state);
      return allocator.allocateOn(node, inventory.poolsOf(node), earlier?.position) ?? CANNOT_ALLOCATE;
    } catch (error) {
      if (error instanceof NodeAllocationError) return rejection(error.message);
      if (error instanceof SelectorsPending) return this.#attemptedAgain(state, rejection(error.message));
      if (!(error instanceof SearchSuspended)) throw error;
      this.#searches.start({ podUid, node: name, position: error.position }, (from, isOverdue) =>
        this.#continued(claims, isOverdue).allocateOn(node, inventory.poolsOf(node), from),
      );
      return this.#undecided(state);
    }
  }

  /** With the devices that are allocated now. */
  #continued(claims: readonly ResourceClaim[], isOverdue: () => boolean): ClaimAllocator {
    const { ledger } = this.#options;
    const { allocated, selectors } = ledger;
    return new ClaimAllocator({
      ...{ claims, allocated, selectors, isOverdue },
      counters: new AvailableCounters((device) => allocated.isAllocated(device)),
      deviceClass: (name) => this.#options.deviceClass(name),
      newShareId: () => this.#options.newShareId(),
    });
  }

  #undecided(state: CycleState): Rejection {
    state.isWaitingForDevices = true;
    return SEARCHING;
  }

  #attemptedAgain(state: CycleState, pending: Rejection): Rejection {
    state.isWaitingForDevices = true;
    this.#options.ledger.selectors.whenEvaluated(state.podUid, () => this.#options.activate(state.podUid));
    return pending;
  }
}

const NO_REQUESTS: ExtendedRequests = { requests: [], mappings: [] };

/** The requests for resources that devices provide on this node: those that the node does not provide itself. */
function extendedOn({ claims, extended }: CycleState, { pod, requests }: PodInfo, { allocatable }: NodeInfo): ExtendedRequests | Rejection {
  const entry = claims.find(({ isExtended }) => isExtended);
  if (entry === undefined) return NO_REQUESTS;
  // It was created for another node; postFilter deletes it.
  if (entry.claim.spec.devices?.requests !== undefined) return CANNOT_REUSE;
  const classes = new Map<string, DeviceClass>();
  for (const [name, amount] of requests.scalars) {
    if (amount === 0) continue;
    const provided = allocatable.scalars.get(name);
    const byDevices = extended.get(name);
    if (byDevices !== undefined && (provided ?? 0) === 0) classes.set(name, byDevices.deviceClass);
    else if (provided === undefined) return rejection("cannot fit resource");
  }
  return classes.size === 0 ? NO_REQUESTS : extendedRequests(pod, classes);
}

function withRequests(claim: ResourceClaim, { requests }: ExtendedRequests): ResourceClaim {
  return { ...claim, spec: { ...claim.spec, devices: { ...claim.spec.devices, requests } } };
}

function rejection(reason: string): Rejection {
  return { reasons: [reason], resolvable: false };
}
