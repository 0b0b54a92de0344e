/**
 * Allocates devices for claims, on one node after the other: which devices, with which configuration, and which nodes can use them. Pure: the same claims,
 * slices and allocated devices give the same result, except for the random identifiers of shares.
 */
import type { Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from "../../../../api/generated/core/v1.ts";
import type {
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceClass,
  DeviceRequestAllocationResult,
  ResourceClaim,
} from "../../../../api/generated/resource.k8s.io/v1.ts";
import { formatQuantity } from "../../../../api/machinery/quantity.ts";
import { consumedCapacity } from "./capacity.ts";
import { AllocationError, candidateOf, NodeAllocationError, type Candidate, type Pool } from "./model.ts";
import { selectsNode } from "./pools.ts";
import { areSameOnAllNodes, prepareClaims, type PreparedClaim, type PreparedRequest } from "./requests.ts";
import { search, type Chosen, type DeviceMatcher, type SearchContext, type SearchPosition } from "./search.ts";
import type { DeviceSelectors } from "./selectors.ts";

export interface AllocateOptions extends SearchContext {
  readonly claims: readonly ResourceClaim[];
  readonly selectors: DeviceSelectors;
  deviceClass(name: string): DeviceClass | undefined;
  /** A unique identifier of a share of a device: a UUID. */
  newShareId(): string;
}

/** For the claims of one decision, during which neither classes nor allocated devices change. */
export class ClaimAllocator {
  readonly #options: AllocateOptions;
  /** Set if they are the same for all nodes. */
  #prepared: readonly PreparedClaim[] | undefined;

  constructor(options: AllocateOptions) {
    this.#options = options;
  }

  /**
   * `pools`: those of the node. One result per claim; undefined if the node has too few devices. Throws an AllocationError if no node can
   * help, a NodeAllocationError if this one cannot for a reason worth reporting, and SearchSuspended with the position from which
   * another search continues (`from`).
   */
  allocateOn(node: Node, pools: readonly Pool[], from?: SearchPosition): readonly AllocationResult[] | undefined {
    const options = this.#options;
    const matcher = new Matcher(options, node, pools);
    const claims = this.#prepared ?? this.#prepare(matcher);
    const chosen = search({ claims, pools, matcher, context: options, from });
    if (chosen === undefined) {
      if (pools.some(({ invalidReason }) => invalidReason !== undefined))
        throw new NodeAllocationError("invalid resource pools were encountered");
      return undefined;
    }
    return claims.map((claim, index) => resultOf(claim, chosen[index] ?? [], node, () => options.newShareId()));
  }

  #prepare(matcher: Matcher): readonly PreparedClaim[] {
    const claims = prepareClaims(this.#options.claims, {
      deviceClass: (name) => this.#options.deviceClass(name),
      matching: (request, claimKey) => matcher.allOf(request, claimKey),
    });
    if (areSameOnAllNodes(claims)) this.#prepared = claims;
    return claims;
  }
}

/** Which devices of a node match a request, whatever else is allocated. */
class Matcher implements DeviceMatcher {
  readonly #options: AllocateOptions;
  readonly #node: Node;
  readonly #pools: readonly Pool[];

  constructor(options: AllocateOptions, node: Node, pools: readonly Pool[]) {
    this.#options = options;
    this.#node = node;
    this.#pools = pools;
  }

  isSelectable(request: Omit<PreparedRequest, "all" | "count">, slice: Candidate["slice"], deviceIndex: number): boolean {
    const { selectors, claims } = this.#options;
    const { deviceClass } = request;
    const { metadata } = claims[request.claimIndex] as ResourceClaim;
    if (!selectors.match(deviceClass.spec.selectors ?? [], slice, deviceIndex, `class ${deviceClass.metadata.name}`)) return false;
    if (!selectors.match(request.selectors, slice, deviceIndex, `claim ${metadata.namespace ?? ""}/${metadata.name}`)) return false;
    if (slice.spec.perDeviceNodeSelection !== true) return true;
    return selectsNode(slice.spec.devices?.[deviceIndex] ?? {}, this.#node);
  }

  /** "All" is only known if all pools are. */
  allOf(request: Omit<PreparedRequest, "all" | "count">, claimKey: string): readonly Candidate[] {
    const found: Candidate[] = [];
    const at = `claim ${claimKey}, request ${request.alternative ?? request.name}: asks for all devices, but resource pool`;
    for (const pool of this.#pools) {
      if (pool.isIncomplete) throw new AllocationError(`${at} ${pool.key} is currently being updated`);
      if (pool.invalidReason !== undefined) throw new AllocationError(`${at} ${pool.key} is currently invalid`);
      for (const slice of pool.slices) {
        for (const [index, device] of (slice.spec.devices ?? []).entries()) {
          if (!this.isSelectable(request, slice, index)) continue;
          const candidate = candidateOf(pool, slice, device);
          const used = this.#options.allocated.consumed(candidate.key);
          if (consumedCapacity(device, request.capacity, used) !== undefined) found.push(candidate);
        }
      }
    }
    return found;
  }
}

function resultOf(prepared: PreparedClaim, chosen: readonly Chosen[], node: Node, newShareId: () => string): AllocationResult {
  const results = chosen.map((device) => deviceResult(device, newShareId));
  const config = configOf(prepared, chosen);
  const nodeSelector = nodeSelectorOf(chosen, node.metadata.name);
  return {
    devices: { ...(results.length > 0 && { results }), ...(config.length > 0 && { config }) },
    ...(nodeSelector !== undefined && { nodeSelector }),
  };
}

function deviceResult({ request, candidate, share }: Chosen, newShareId: () => string): DeviceRequestAllocationResult {
  const { device, pool } = candidate;
  const { bindingConditions, bindingFailureConditions } = device;
  const consumed = share === undefined ? [] : [...share].map(([name, amount]) => [name, formatQuantity(amount)] as const);
  return {
    request: request.fullName,
    driver: pool.driver,
    pool: pool.name,
    device: device.name,
    ...(request.hasAdminAccess && { adminAccess: true }),
    ...(request.tolerations.length > 0 && { tolerations: request.tolerations }),
    ...(bindingConditions && { bindingConditions }),
    ...(bindingFailureConditions && { bindingFailureConditions }),
    ...(share !== undefined && { shareID: newShareId() }),
    ...(consumed.length > 0 && { consumedCapacity: Object.fromEntries(consumed) }),
  };
}

/** Configuration of classes, once per class, then that of the claim for the requests that were chosen. */
function configOf({ claim, requests }: PreparedClaim, chosen: readonly Chosen[]): readonly DeviceAllocationConfiguration[] {
  const selected = requests.map((alternatives, index) => {
    const used = chosen.find(({ request }) => request.requestIndex === index)?.request;
    return used ?? (alternatives[0] as PreparedRequest);
  });
  return [...classConfig(selected), ...claimConfig(claim, selected)];
}

function classConfig(selected: readonly PreparedRequest[]): readonly DeviceAllocationConfiguration[] {
  const requestsOf = new Map<DeviceClass, string[]>();
  for (const { deviceClass, fullName } of selected) {
    const names = requestsOf.get(deviceClass);
    if (names === undefined) requestsOf.set(deviceClass, [fullName]);
    else names.push(fullName);
  }
  return [...requestsOf].flatMap(([{ spec }, requests]) =>
    (spec.config ?? []).map((config) => ({ source: "FromClass" as const, requests, ...config })),
  );
}

function claimConfig({ spec }: ResourceClaim, selected: readonly PreparedRequest[]): readonly DeviceAllocationConfiguration[] {
  return (spec.devices?.config ?? []).flatMap((config) => {
    const entry = { source: "FromClaim" as const, ...config };
    const { requests = [] } = config;
    if (requests.length === 0) return [entry];
    return selected.filter(({ name, fullName }) => requests.includes(name) || requests.includes(fullName)).map(() => entry);
  });
}

/** Which nodes can use the devices: this one if any device belongs to it, otherwise what all devices require. Undefined: every node. */
function nodeSelectorOf(chosen: readonly Chosen[], nodeName: string): NodeSelector | undefined {
  const matchFields: NodeSelectorRequirement[] = [];
  const matchExpressions: NodeSelectorRequirement[] = [];
  for (const { candidate } of chosen) {
    const { slice, device } = candidate;
    const selection = slice.spec.perDeviceNodeSelection === true ? device : slice.spec;
    if (selection.nodeName !== undefined || device.bindsToNode === true) return onlyNode(nodeName);
    const [term, ...others] = selection.nodeSelector?.nodeSelectorTerms ?? [];
    if (others.length > 0) throw new AllocationError(`unsupported ResourceSlice.NodeSelector with ${1 + others.length} terms`);
    addMissing(matchFields, term?.matchFields ?? []);
    addMissing(matchExpressions, term?.matchExpressions ?? []);
  }
  if (matchFields.length + matchExpressions.length === 0) return undefined;
  const term: NodeSelectorTerm = {
    ...(matchExpressions.length > 0 && { matchExpressions }),
    ...(matchFields.length > 0 && { matchFields }),
  };
  return { nodeSelectorTerms: [term] };
}

function onlyNode(name: string): NodeSelector {
  return { nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: [name] }] }] };
}

function addMissing(to: NodeSelectorRequirement[], requirements: readonly NodeSelectorRequirement[]): void {
  for (const requirement of requirements) if (!to.some((known) => isSameRequirement(known, requirement))) to.push(requirement);
}

function isSameRequirement(a: NodeSelectorRequirement, b: NodeSelectorRequirement): boolean {
  const [some, others] = [new Set(a.values ?? []), new Set(b.values ?? [])];
  return a.key === b.key && a.operator === b.operator && some.size === others.size && [...some].every((value) => others.has(value));
}
