/**
 * Finds devices for all requests of all claims: the first complete solution of a depth-first search, in the order of pools, slices and
 * devices. Devices of one request are only tried in that order, since another order of the same devices is the same solution. A claim can
 * have 32 devices at most; an alternative that would exceed this is skipped without trying other devices.
 *
 * The search may be exponential in the number of requested devices. It can be suspended, and be resumed by another one: the decisions that
 * lead to where it was are its position, and a search that begins there repeats them first. It verifies each of them, so that devices
 * may have been allocated in the meantime.
 */
import type { Device, DeviceToleration } from "../../../../api/generated/resource.k8s.io/v1.ts";
import { tolerates } from "./taints.ts";
import type { AllocatedDevices } from "./allocated-devices.ts";
import { addAmounts, consumedCapacity, type Amounts } from "./capacity.ts";
import { CounterLedger, type AvailableCounters } from "./counters.ts";
import { AllocationError, candidateOf, ownCandidates, type Candidate, type DeviceKey, type Pool } from "./model.ts";
import { RESULTS_MAX, type PreparedClaim, type PreparedRequest } from "./requests.ts";

/** A device that was chosen for a request. */
export interface Chosen {
  readonly request: PreparedRequest;
  readonly candidate: Candidate;
  /** Set for a share of a device that allows several allocations. */
  readonly share: Amounts | undefined;
}

export interface DeviceMatcher {
  /** Whether selectors and node selection of the device match. */
  isSelectable(request: PreparedRequest, slice: Candidate["slice"], deviceIndex: number): boolean;
}

/** The same for all nodes. */
export interface SearchContext {
  readonly allocated: AllocatedDevices;
  readonly counters: AvailableCounters;
  /** Called now and then; true ends the search with SearchSuspended. */
  isOverdue(): boolean;
}

/** Which alternative of each request and which device was chosen, in the order of the search. */
export type SearchPosition = readonly number[];

/** The search took longer than it may. */
export class SearchSuspended extends Error {
  override readonly name = "SearchSuspended";
  readonly position: SearchPosition;

  constructor(position: SearchPosition) {
    super("the search takes too long");
    this.position = position;
  }
}

export interface SearchOptions {
  readonly claims: readonly PreparedClaim[];
  readonly pools: readonly Pool[];
  readonly matcher: DeviceMatcher;
  readonly context: SearchContext;
  /** Absent: the search begins with the first devices. */
  readonly from?: SearchPosition | undefined;
}

/** Chosen devices by claim; undefined if there is no solution. Throws SearchSuspended. */
export function search(options: SearchOptions): readonly (readonly Chosen[])[] | undefined {
  return new Search(options).run();
}

/** "too-many": the claim would exceed RESULTS_MAX, whichever devices are chosen. */
type Outcome = "found" | "none" | "too-many";

interface Location {
  readonly pool: number;
  readonly slice: number;
  readonly device: number;
}

const START: Location = { pool: 0, slice: 0, device: 0 };

/** Devices between two looks at the clock: about 0.1 ms. */
const STEPS_PER_CHECK = 1_024;

/** Limits of the API: devices of a slice, and far more slices than a pool has. */
const DEVICES_PER_SLICE = 256;
const SLICES_PER_POOL = 2 ** 20;

class Search {
  readonly #options: SearchOptions;
  readonly #chosen: Chosen[][];
  /** Exclusive devices that are being allocated, with the claims they are for: several only with admin access. */
  readonly #allocating = new Map<DeviceKey, number[]>();
  /** Shares that are being allocated. */
  readonly #sharing = new Map<DeviceKey, Amounts[]>();
  readonly #ledger: CounterLedger;
  /** The decisions so far. */
  readonly #position: number[] = [];
  /** Decisions that are repeated first. */
  #repeated: SearchPosition;
  #steps = 0;

  constructor(options: SearchOptions) {
    this.#options = options;
    this.#chosen = options.claims.map(() => []);
    this.#ledger = new CounterLedger(options.context.counters);
    this.#repeated = options.from ?? [];
  }

  run(): readonly (readonly Chosen[])[] | undefined {
    const outcome = this.#claim(0);
    if (outcome === "too-many") throw new AllocationError("allocation max size exceeded");
    return outcome === "found" ? this.#chosen : undefined;
  }

  #claim(index: number): Outcome {
    return index >= this.#options.claims.length ? "found" : this.#request(index, 0);
  }

  #request(claimIndex: number, index: number): Outcome {
    this.#step();
    const alternatives = this.#options.claims[claimIndex]?.requests[index];
    if (alternatives === undefined) {
      // Not final: another choice for this claim may leave a smaller alternative to the next one.
      const outcome = this.#claim(claimIndex + 1);
      return outcome === "too-many" ? "none" : outcome;
    }
    const depth = this.#position.length;
    const first = this.#repeated[depth] ?? 0;
    // Of alternatives that an earlier search has tried it is not known why they failed.
    let worst: Outcome = first > 0 ? "none" : "too-many";
    for (let index = first; index < alternatives.length; index++) {
      this.#position.push(index);
      const outcome = this.#device(alternatives[index] as PreparedRequest, 0, START);
      if (outcome === "found") return outcome;
      if (outcome === "none") worst = outcome;
      this.#withdraw(depth);
    }
    return worst;
  }

  /** Decisions from here on lead nowhere. */
  #withdraw(depth: number): void {
    this.#position.length = depth;
    this.#repeated = [];
  }

  /** The next device of a request. */
  #device(request: PreparedRequest, index: number, start: Location): Outcome {
    this.#step();
    const { claimIndex, requestIndex, count, all } = request;
    if (all?.length === 0) return "none";
    if (index >= count) return this.#request(claimIndex, requestIndex + 1);
    if ((this.#chosen[claimIndex]?.length ?? 0) + count - index > RESULTS_MAX) return "too-many";
    if (all === undefined) return this.#anyDevice(request, index, start);
    const candidate = all[index];
    return candidate === undefined ? "none" : this.#with(request, candidate, () => this.#device(request, index + 1, START));
  }

  #anyDevice(request: PreparedRequest, index: number, after: Location): Outcome {
    const { pools } = this.#options;
    const repeated = this.#repeated[this.#position.length];
    const start = repeated === undefined ? after : locationOf(repeated);
    for (let at = start.pool; at < pools.length; at++) {
      const pool = pools[at] as Pool;
      if (pool.isIncomplete || pool.invalidReason !== undefined) continue;
      const isFirstPool = at === start.pool;
      for (let slice = isFirstPool ? start.slice : 0; slice < pool.slices.length; slice++) {
        const first = isFirstPool && slice === start.slice ? start.device : 0;
        const outcome = this.#inSlice(request, index, { pool: at, slice, device: first });
        if (outcome !== "none") return outcome;
      }
    }
    return "none";
  }

  #inSlice(request: PreparedRequest, index: number, from: Location): Outcome {
    const pool = this.#options.pools[from.pool] as Pool;
    const slice = pool.slices[from.slice] as Candidate["slice"];
    const devices = slice.spec.devices ?? [];
    const own = ownCandidates(pool, slice);
    const depth = this.#position.length;
    for (let device = from.device; device < devices.length; device++) {
      this.#step();
      const candidate = own?.[device] ?? candidateOf(pool, slice, devices[device] as Device);
      // Cheaper than selectors, and therefore first.
      if (this.#isInUse(request, candidate)) continue;
      if (!this.#options.matcher.isSelectable(request, slice, device)) continue;
      const next = { ...from, device: device + 1 };
      this.#position.push(numberOf(from, device));
      const outcome = this.#with(request, candidate, () => this.#device(request, index + 1, next));
      if (outcome !== "none") return outcome;
      this.#withdraw(depth);
    }
    return "none";
  }

  #isInUse({ hasAdminAccess, claimIndex }: PreparedRequest, { key }: Candidate): boolean {
    const users = this.#allocating.get(key);
    if (hasAdminAccess) return users?.includes(claimIndex) === true;
    return (users !== undefined && users.length > 0) || this.#options.context.allocated.isExclusive(key);
  }

  /** Continues with the device allocated; takes it back if that leads nowhere. */
  #with(request: PreparedRequest, candidate: Candidate, proceed: () => Outcome): Outcome {
    const { claims } = this.#options;
    const { allocated } = this.#options.context;
    const { key, device, pool } = candidate;
    if (this.#isInUse(request, candidate) || hasUntoleratedTaint(device, request.tolerations)) return "none";
    const isShared = device.allowMultipleAllocations === true;
    const shares = this.#sharing.get(key) ?? [];
    const others = shares.reduce<Amounts>((sum, share) => addAmounts(sum, share), new Map());
    const amounts = consumedCapacity(device, request.capacity, allocated.consumed(key), others);
    if (amounts === undefined) return "none";
    // The first share of a device has consumed its counters.
    const consumesCounters =
      device.consumesCounters !== undefined && !(isShared && (shares.length > 0 || allocated.consumed(key) !== undefined));
    if (consumesCounters && !this.#ledger.consume(pool, device)) return "none";
    const constraints = claims[request.claimIndex]?.constraints ?? [];
    const rejecting = constraints.findIndex((constraint) => !constraint.add(request, pool.driver, device));
    const added = rejecting < 0 ? constraints : constraints.slice(0, rejecting);
    let outcome: Outcome = "none";
    if (rejecting < 0) {
      this.#take(request, candidate, isShared ? amounts : undefined);
      outcome = proceed();
      if (outcome === "found") return outcome;
      this.#release(request, candidate, isShared);
    }
    for (const constraint of added) constraint.remove(request, pool.driver, device);
    if (consumesCounters) this.#ledger.release(pool, device);
    if (rejecting >= 0 && request.all !== undefined) throw this.#impossible(request, key);
    return outcome;
  }

  #take(request: PreparedRequest, candidate: Candidate, share: Amounts | undefined): void {
    const { key } = candidate;
    if (share === undefined) this.#allocating.set(key, [...(this.#allocating.get(key) ?? []), request.claimIndex]);
    else this.#sharing.set(key, [...(this.#sharing.get(key) ?? []), share]);
    this.#chosen[request.claimIndex]?.push({ request, candidate, share });
  }

  /** In the reverse order of `#take`. */
  #release({ claimIndex }: PreparedRequest, { key }: Candidate, isShared: boolean): void {
    this.#chosen[claimIndex]?.pop();
    if (isShared) this.#sharing.set(key, (this.#sharing.get(key) ?? []).slice(0, -1));
    else this.#allocating.set(key, (this.#allocating.get(key) ?? []).slice(0, -1));
  }

  #impossible({ claimIndex, alternative, name }: PreparedRequest, device: DeviceKey): AllocationError {
    const claim = this.#options.claims[claimIndex]?.key ?? "";
    const problem = `cannot add device ${device} because a claim constraint would not be satisfied`;
    return new AllocationError(`claim ${claim}, request ${alternative ?? name}: ${problem}`);
  }

  #step(): void {
    this.#steps++;
    if (this.#steps % STEPS_PER_CHECK === 0 && this.#options.context.isOverdue()) throw new SearchSuspended([...this.#position]);
  }
}

function numberOf({ pool, slice }: Location, device: number): number {
  return (pool * SLICES_PER_POOL + slice) * DEVICES_PER_SLICE + device;
}

function locationOf(number: number): Location {
  const slices = Math.floor(number / DEVICES_PER_SLICE);
  return { pool: Math.floor(slices / SLICES_PER_POOL), slice: slices % SLICES_PER_POOL, device: number % DEVICES_PER_SLICE };
}

/** Taints of other effects do not prevent allocation. */
function hasUntoleratedTaint({ taints = [] }: Device, tolerations: readonly DeviceToleration[]): boolean {
  return taints.some(
    (taint) =>
      (taint.effect === "NoExecute" || taint.effect === "NoSchedule") && !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
}
