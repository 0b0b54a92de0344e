/**
 * DynamicResources: a Pod with ResourceClaims is placed where its devices are, or where devices can be allocated for it; they are then
 * written to the claims before the Pod is bound. Between the decision and the write the devices count as taken.
 *
 * Upstream behaviour: kube-scheduler plugin "DynamicResources" of 1.36 with its default feature gates. Not here: claims of Pod groups,
 * attributes that are lists, and devices that provide node resources (off by default).
 */
import { isReservedFor } from "../../../api/core/v1/pod/claim-reference.ts";
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { ResourceClaim } from "../../../api/generated/resource.k8s.io/v1.ts";
import { newUid } from "../../../base/uuid.ts";
import { normalizeCounts } from "../../framework/normalize-scores.ts";
import type { NodeInfo } from "../../framework/node-info.ts";
import type {
  Plugin,
  PluginContext,
  PluginFactory,
  PostFilterAnswer,
  PreFilterAnswer,
  PreFlightAnswer,
  PreScoreAnswer,
  Rejection,
} from "../../framework/plugin.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import type { Snapshot } from "../../framework/snapshot.ts";
import { AvailableCounters } from "./allocator/counters.ts";
import { readDynamicResourcesArguments, type DynamicResourcesArguments } from "./arguments.ts";
import { isOverdue, readinessOf } from "./binding-conditions.ts";
import { CLAIM_FINALIZER, ClaimBinder } from "./claim-binding.ts";
import {
  alternativesScore,
  cycleClaim,
  hasAlternatives,
  isAllocated,
  type CycleClaim,
  type CycleState,
  type NodeAllocation,
} from "./cycle-claims.ts";
import { ledgerOf, type DeviceLedger } from "./device-ledger.ts";
import { isExtendedClaim, isUncreated, uncreatedClaim } from "./extended-resources.ts";
import { NodeAllocator } from "./node-allocator.ts";
import { podClaims } from "./pod-claims.ts";
import { retryRules } from "./retry-rules.ts";

const NAME = "DynamicResources";

/** Time of all searches of one attempt, which is synchronous: enough for thousands of nodes. What takes longer continues in the background. */
const SEARCH_HOLD_MAX_MS = 10;

const NOT_AVAILABLE = rejected("resourceclaim not available on the node");

export const dynamicResources: PluginFactory<DynamicResourcesArguments> = {
  name: NAME,
  readArguments: readDynamicResourcesArguments,
  make: (context, args) => new DynamicResources(context, args),
};

/** What a decided Pod has reserved, from reserve until it is bound or the attempt has failed. */
interface Reservation {
  readonly claims: readonly CycleClaim[];
  readonly allocation: NodeAllocation | undefined;
  /** The claim that was created for extended resources. */
  createdClaim?: ResourceClaim;
}

class DynamicResources implements Plugin<CycleState, CycleState> {
  readonly name = NAME;
  readonly retryOn;
  readonly #context: PluginContext;
  readonly #args: DynamicResourcesArguments;
  readonly #ledger: DeviceLedger;
  readonly #binder: ClaimBinder;
  readonly #allocator: NodeAllocator;
  readonly #random: PluginContext["random"];
  /** Of the cycle in progress; undefined if preFilter was not called in it. */
  #cycle: CycleState | undefined;
  /** By the uid of the Pod. */
  readonly #reservations = new Map<string, Reservation>();

  constructor(context: PluginContext, args: DynamicResourcesArguments) {
    const { devices } = context.cluster;
    this.#context = context;
    this.#args = args;
    this.retryOn = retryRules(devices);
    this.#ledger = ledgerOf(context);
    this.#binder = new ClaimBinder(context, this.#ledger);
    this.#random = context.random.derive(NAME);
    this.#allocator = new NodeAllocator({
      ledger: this.#ledger,
      deviceClass: (name) => devices.deviceClass(name),
      newShareId: () => newUid(this.#random),
      activate: (podUid) => context.activate(podUid),
      nowMs: () => context.clock.monotonic(),
      runInBackground: (work) => context.runInBackground(work),
      timeoutMs: args.filterTimeoutMs,
    });
  }

  preEnqueue(pod: Pod): Rejection | undefined {
    if (pod.spec?.resourceClaims === undefined) return undefined;
    const found = podClaims(pod, this.#context.cluster.devices);
    return found.ok ? undefined : rejected(found.problem);
  }

  preFilter(pod: PodInfo, snapshot: Snapshot): PreFilterAnswer<CycleState> {
    // Also if it is rejected here: postFilter distinguishes whether this was called.
    const empty = this.#newCycle(pod, [], new Map());
    this.#cycle = empty;
    const extended = this.#extendedResources(pod);
    if (pod.pod.spec?.resourceClaims === undefined && extended.size === 0) return { is: "skip" };
    const found = podClaims(pod.pod, this.#context.cluster.devices);
    if (!found.ok) return { is: "rejected", rejection: rejected(found.problem) };
    const claims = found.claims.map((claim) => cycleClaim(claim, false));
    if (extended.size > 0) claims.push(cycleClaim(this.#extendedClaim(pod), true));
    if (claims.length === 0) return { is: "skip" };
    for (const entry of claims) {
      const problem = this.#problemOf(entry);
      if (problem !== undefined) return { is: "rejected", rejection: rejected(problem) };
    }
    this.#ledger.inventory.trim(snapshot.nodes.length);
    this.#ledger.selectors.beginAttempt();
    const state = this.#newCycle(pod, claims, extended);
    this.#cycle = state;
    return { is: "ready", state };
  }

  filter(state: CycleState, pod: PodInfo, node: NodeInfo): Rejection | undefined {
    const unavailable = state.claims.filter((entry) => isAllocated(entry) && !this.#isUsableOn(entry, node));
    const answer = this.#allocator.allocateOn(state, pod, node);
    if ("rejection" in answer) return answer.rejection;
    if (unavailable.length > 0) {
      for (const entry of unavailable) state.unavailable.add(entry);
      return NOT_AVAILABLE;
    }
    state.allocations.set(node.name, answer.allocation);
    return undefined;
  }

  postFilter(pod: PodInfo): PostFilterAnswer {
    const state = this.#cycle?.podUid === pod.uid ? this.#cycle : undefined;
    this.#cycle = undefined;
    // Upstream's message when a plugin before this one rejected all nodes at preFilter: the state is missing.
    if (state === undefined) return { is: "none", message: "not found", clearsNomination: false, isFinal: true };
    if (state.claims.length === 0) return none("no new claims to deallocate");
    // No Pod is preempted before it is known whether another node has the devices.
    if (state.isWaitingForDevices) return { ...none(""), isFinal: true };
    const { devices } = this.#context.effects;
    for (const { claim, isExtended } of state.unavailable) {
      if (isExtended) continue;
      const { reservedFor = [], allocation: _deallocated, devices: _status, ...status } = claim.status ?? {};
      if (!reservedFor.every(({ uid }) => uid === pod.uid)) continue;
      const act = async (signal: AbortSignal): Promise<void> =>
        void (await devices.updateClaimStatus({ ...claim, status }, pod.pod, signal));
      return { ...none("deallocation of ResourceClaim completed"), act };
    }
    const created = state.claims.find(({ claim, isExtended }) => isExtended && !isUncreated(claim))?.claim;
    if (created === undefined) return none("still not schedulable");
    return { ...none("deletion of ResourceClaim completed"), act: (signal) => this.#deleteClaim(created, pod.pod, signal) };
  }

  preScore(pod: PodInfo): PreScoreAnswer<CycleState> {
    const state = this.#cycle;
    return state?.podUid === pod.uid && hasAlternatives(state) ? { is: "ready", state } : { is: "skip" };
  }

  score(state: CycleState, _pod: PodInfo, node: NodeInfo): number {
    return alternativesScore(state, node.name);
  }

  normalizeScores(_state: CycleState, _pod: PodInfo, scores: Float64Array): void {
    normalizeCounts(scores, { reverse: false });
  }

  reserve(pod: PodInfo, nodeName: string): Rejection | undefined {
    const state = this.#cycle?.podUid === pod.uid ? this.#cycle : undefined;
    this.#cycle = undefined;
    if (state === undefined || state.claims.length === 0) return undefined;
    const allocation = state.allocations.get(nodeName);
    if (allocation === undefined) throw new Error("claim allocation not found for node");
    for (const { entry, allocation: result } of allocation.results) this.#ledger.reserve(entry.uid, result);
    this.#reservations.set(pod.uid, { claims: state.claims, allocation });
    return undefined;
  }

  unreserve(pod: PodInfo): void {
    const reservation = this.#reservations.get(pod.uid);
    if (reservation === undefined) return;
    this.#reservations.delete(pod.uid);
    this.#releasePending(reservation);
    void this.#undo(reservation, pod).catch((error: unknown) =>
      this.#context.log.warn("Releasing the claims of a Pod failed; the ResourceClaim controller releases them", { pod: pod.key, error }),
    );
  }

  preBindPreFlight(pod: PodInfo): PreFlightAnswer {
    return this.#reservations.has(pod.uid) ? "parallel" : "skip";
  }

  async preBind(pod: PodInfo, nodeName: string, signal: AbortSignal): Promise<Rejection | undefined> {
    const reservation = this.#reservations.get(pod.uid);
    if (reservation === undefined) return undefined;
    const bound: ResourceClaim[] = [];
    for (const entry of reservation.claims) {
      const claim = isReservedFor(entry.claim, pod.uid) ? entry.claim : await this.#bindClaim(entry, reservation, pod, signal);
      if (claim !== undefined) bound.push(claim);
    }
    this.#releasePending(reservation);
    await this.#binder.conditions(bound, { pod: pod.pod, nodeName, timeoutMs: this.#args.bindingTimeoutMs, signal });
    return undefined;
  }

  postBind(pod: PodInfo): void {
    this.#reservations.delete(pod.uid);
  }

  #newCycle(pod: PodInfo, claims: readonly CycleClaim[], extended: CycleState["extended"]): CycleState {
    return {
      ...{ podUid: pod.uid, claims, extended, allocations: new Map(), unavailable: new Set() },
      isWaitingForDevices: false,
      ownAllocator: undefined,
      counters: new AvailableCounters((device) => this.#ledger.allocated.isAllocated(device)),
      deadlineMs: this.#context.clock.monotonic() + SEARCH_HOLD_MAX_MS,
    };
  }

  /** Resources that devices can provide. Hot path (called per Pod): most Pods request none. */
  #extendedResources({ requests }: PodInfo): CycleState["extended"] {
    if (requests.scalars.size === 0) return NO_RESOURCES;
    const extended = new Map<
      string,
      { amount: number; deviceClass: NonNullable<ReturnType<PluginContext["cluster"]["devices"]["deviceClass"]>> }
    >();
    for (const [name, amount] of requests.scalars) {
      const deviceClass = amount === 0 ? undefined : this.#context.cluster.devices.classOfResource(name);
      if (deviceClass !== undefined) extended.set(name, { amount, deviceClass });
    }
    return extended;
  }

  #extendedClaim({ pod, uid }: PodInfo): ResourceClaim {
    const existing = this.#context.cluster.devices.claimsOfPod(uid).find(isExtendedClaim);
    return existing ?? uncreatedClaim(pod, newUid(this.#random));
  }

  /** Why no node can help. */
  #problemOf(entry: CycleClaim): string | undefined {
    const { claim, uid, isExtended } = entry;
    if (isAllocated(entry)) return undefined;
    const key = `${claim.metadata.namespace ?? ""}/${claim.metadata.name}`;
    if (this.#ledger.isPending(uid)) return `resource claim ${key} is in the process of being allocated`;
    if (isExtended) return undefined;
    for (const { name, exactly, firstAvailable = [] } of claim.spec.devices?.requests ?? []) {
      if (exactly === undefined && firstAvailable.length === 0) return `resource claim ${key}, request ${name}: unknown request type`;
      const classes =
        exactly === undefined
          ? firstAvailable.map((each) => [`${name}/${each.name}`, each.deviceClassName])
          : [[name, exactly.deviceClassName]];
      for (const [request = "", className = ""] of classes) {
        if (this.#context.cluster.devices.deviceClass(className) === undefined)
          return `request ${request}: device class ${className} does not exist`;
      }
    }
    return undefined;
  }

  /** Whether an allocated claim can be used on a node, and its devices are or may become ready. */
  #isUsableOn({ claim, nodes }: CycleClaim, { node }: NodeInfo): boolean {
    if (nodes !== undefined && !nodes.matches(node)) return false;
    const readiness = readinessOf(claim);
    if (readiness.is === "failed") return false;
    return readiness.is === "ready" || !isOverdue(claim, this.#args.bindingTimeoutMs, this.#context.clock.now());
  }

  async #bindClaim(entry: CycleClaim, reservation: Reservation, pod: PodInfo, signal: AbortSignal): Promise<ResourceClaim | undefined> {
    const { allocation } = reservation;
    const result = allocation?.results.find((each) => each.entry === entry)?.allocation;
    if (!entry.isExtended) return this.#binder.bind(entry.claim, result, pod.pod, signal);
    // The node provides the resources itself.
    if (result === undefined || allocation?.extendedClaim === undefined) return undefined;
    const { devices } = this.#context.effects;
    let { claim } = entry;
    if (isUncreated(claim)) {
      const { name: _inMemory, uid: _local, ...metadata } = allocation.extendedClaim.metadata;
      claim = await devices.createClaim({ ...allocation.extendedClaim, metadata: { ...metadata, name: "" } }, pod.pod, signal);
      reservation.createdClaim = claim;
    }
    const bound = await this.#binder.bind(claim, result, pod.pod, signal);
    const status = { requestMappings: allocation.mappings, resourceClaimName: bound.metadata.name };
    await devices.setExtendedResourceClaim(pod.pod, status, signal);
    return bound;
  }

  #releasePending({ allocation }: Reservation): void {
    for (const { entry } of allocation?.results ?? []) this.#ledger.release(entry.uid);
  }

  async #undo({ claims, createdClaim }: Reservation, pod: PodInfo): Promise<void> {
    const { cluster, effects } = this.#context;
    const { signal } = new AbortController();
    for (const { claim, isExtended } of claims) {
      if (isExtended) continue;
      const current = cluster.devices.claim(claim.metadata.namespace ?? "", claim.metadata.name);
      if (current === undefined || current.metadata.uid !== claim.metadata.uid || !isReservedFor(current, pod.uid)) continue;
      await effects.devices.unreserveClaim(current, pod.pod, signal);
    }
    if (createdClaim !== undefined) await this.#deleteClaim(createdClaim, pod.pod, signal);
  }

  /** A claim that the scheduler created: no controller removes its finalizer while it is allocated. */
  async #deleteClaim(claim: ResourceClaim, pod: Pod, signal: AbortSignal): Promise<void> {
    const { cluster, effects } = this.#context;
    const { namespace = "", name, uid } = claim.metadata;
    const current = cluster.devices.claim(namespace, name);
    if (current === undefined || current.metadata.uid !== uid) return;
    const finalizers = current.metadata.finalizers?.filter((finalizer) => finalizer !== CLAIM_FINALIZER) ?? [];
    await effects.devices.updateClaim({ ...current, metadata: { ...current.metadata, finalizers } }, pod, signal);
    await effects.devices.deleteClaim(current, pod, signal);
  }
}

const NO_RESOURCES: CycleState["extended"] = new Map();

/** Removing Pods from a node does not help: their devices are released later, by the ResourceClaim controller. */
function rejected(reason: string): Rejection {
  return { reasons: [reason], resolvable: false };
}

function none(message: string): Extract<PostFilterAnswer, { readonly is: "none" }> {
  return { is: "none", message, clearsNomination: false };
}
