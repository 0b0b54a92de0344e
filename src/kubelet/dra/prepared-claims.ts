/**
 * Prepares the ResourceClaims of Pods: the drivers of the allocated devices make them usable and name them for the container runtime. A
 * claim that several Pods use is prepared once and released with the last of them. Messages are upstream's.
 */
import { claimReferenceOf, isReservedFor, whyNotForPod } from "../../api/core/v1/pod/claim-reference.ts";
import type { Container, EphemeralContainer, Pod, PodResourceClaim, ResourceStatus } from "../../api/generated/core/v1.ts";
import type { ResourceClaim } from "../../api/generated/resource.k8s.io/v1.ts";
import type { Clock } from "../../base/clock.ts";
import type { Client } from "../../client/client.ts";
import { resourceClaims } from "../../api/resource.k8s.io/v1/resource-claim.ts";
import type { ContainerRun } from "../contracts/container-run.ts";
import { DevicesError, type PodDevices } from "../contracts/pod-devices.ts";
import type { ClaimState, ClaimStates } from "./claim-states.ts";
import type { DeviceHealth, DeviceName } from "./device-health.ts";
import type { ClaimIdentity, DraDriver } from "./dra-driver.ts";
import { resourceHealth } from "./resource-health.ts";
import { isFor, usedRequests } from "./used-requests.ts";

export interface ClaimsObserver {
  /** All claims of a Pod were prepared or released, or not. */
  draOperation(operation: {
    readonly operation: "PrepareResources" | "UnprepareResources";
    readonly isFailed: boolean;
    readonly durationMs: number;
  }): void;
}

export interface PreparedClaimsOptions {
  readonly client: Pick<Client, "get">;
  readonly states: ClaimStates;
  /** As the drivers report it. */
  readonly health: Pick<DeviceHealth, "of">;
  readonly clock: Clock;
  /** Absent: operations are not counted. */
  readonly observer?: ClaimsObserver;
  /** Undefined if it is not registered. */
  driver(name: string): DraDriver | undefined;
  /** Adds CDI devices to the configuration of a container: by name, or resolved for a runtime that does not know them. */
  addCdiDevices(names: readonly string[], run: ContainerRun): Promise<ContainerRun>;
}

export class PreparedClaims implements PodDevices {
  readonly #options: PreparedClaimsOptions;
  /** Serialises work on each claim, by its key: two Pods may share one. */
  readonly #tails = new Map<string, Promise<unknown>>();

  constructor(options: PreparedClaimsOptions) {
    this.#options = options;
  }

  async prepare(pod: Pod, signal: AbortSignal): Promise<void> {
    const entries = entriesOf(pod);
    if (entries.length === 0) return;
    try {
      await this.#observed("PrepareResources", async () => {
        const claims = await this.#claimsOf(pod, entries, signal);
        const keys = claims.map(({ metadata }) => `${metadata.namespace ?? ""}/${metadata.name}`);
        await this.#inTurn(keys, () => this.#prepareAll(pod, claims, signal));
      });
    } catch (error) {
      throw new DevicesError(`prepare dynamic resources: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }

  async withDevices(pod: Pod, container: Container | EphemeralContainer, run: ContainerRun): Promise<ContainerRun> {
    const names = this.#cdiDevices(pod, container);
    return names.length === 0 ? run : this.#options.addCdiDevices(names, run);
  }

  /** "vendor.example.com/gpu=gpu-0" */
  #cdiDevices(pod: Pod, container: Container | EphemeralContainer): readonly string[] {
    const names: string[] = [];
    for (const { claimName, request } of usedRequests(pod, container)) {
      const state = this.#options.states.get(pod.metadata.namespace ?? "", claimName);
      if (state === undefined) throw new Error(`ResourceClaim ${claimName} of the Pod is not prepared`);
      for (const device of Object.values(state.drivers).flat()) if (isFor(device, request)) names.push(...device.cdiDeviceIds);
    }
    return [...new Set(names)];
  }

  async release(podUid: string): Promise<void> {
    const used = this.#options.states.all().filter(({ podUids }) => podUids.includes(podUid));
    if (used.length === 0) return;
    const keys = used.map(({ namespace, name }) => `${namespace}/${name}`);
    try {
      await this.#observed("UnprepareResources", () => this.#inTurn(keys, () => this.#releaseAll(podUid)));
    } catch (error) {
      throw new Error(`unprepare dynamic resources: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }

  pods(): readonly string[] {
    return [...new Set(this.#options.states.all().flatMap(({ podUids }) => podUids))];
  }

  health(pod: Pod, container: Container): readonly ResourceStatus[] {
    const { states, health } = this.#options;
    return resourceHealth(pod, container, { claim: (name) => states.get(pod.metadata.namespace ?? "", name), health });
  }

  /** Uids of Pods with claims on any of these devices of a driver. */
  podsWith(driver: string, devices: readonly DeviceName[]): readonly string[] {
    const names = new Set(devices.map(({ poolName, deviceName }) => `${poolName}/${deviceName}`));
    const claims = this.#options.states
      .all()
      .filter((state) => (state.drivers[driver] ?? []).some(({ poolName, deviceName }) => names.has(`${poolName}/${deviceName}`)));
    return [...new Set(claims.flatMap(({ podUids }) => podUids))];
  }

  /** The drivers of each prepared claim. */
  driversInUse(): readonly (readonly string[])[] {
    return this.#options.states.all().flatMap(({ drivers, isPrepared }) => (isPrepared ? [Object.keys(drivers)] : []));
  }

  async #observed(operation: "PrepareResources" | "UnprepareResources", work: () => Promise<void>): Promise<void> {
    const { clock, observer } = this.#options;
    const startedMs = clock.monotonic();
    const ended = (isFailed: boolean): void => observer?.draOperation({ operation, isFailed, durationMs: clock.monotonic() - startedMs });
    try {
      await work();
    } catch (error) {
      ended(true);
      throw error;
    }
    ended(false);
  }

  /** After all earlier work on the same claims. */
  #inTurn<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const result = Promise.all(keys.map((key) => this.#tails.get(key) ?? Promise.resolve())).then(work);
    const tail = result
      .catch(() => undefined)
      .then(() => {
        for (const key of keys) if (this.#tails.get(key) === tail) this.#tails.delete(key);
      });
    for (const key of keys) this.#tails.set(key, tail);
    return result;
  }

  async #claimsOf(pod: Pod, entries: readonly PodResourceClaim[], signal: AbortSignal): Promise<readonly ResourceClaim[]> {
    const { namespace = "", name: podName, uid = "" } = pod.metadata;
    const claims: ResourceClaim[] = [];
    for (const entry of entries) {
      const reference = claimReferenceOf(pod, entry);
      if ("problem" in reference) throw new Error(reference.problem);
      if (reference.name === undefined) continue;
      const claim = await this.#fetch(namespace, reference.name, signal);
      const problem = reference.isGenerated ? whyNotForPod(claim, pod) : undefined;
      if (problem !== undefined) throw new Error(problem);
      if (!isReservedFor(claim, uid))
        throw new Error(`pod ${podName} (${uid}) is not allowed to use ResourceClaim ${reference.name} (${claim.metadata.uid ?? ""})`);
      if (claim.status?.allocation === undefined) throw new Error(`ResourceClaim ${reference.name}: claim ${reference.name} not allocated`);
      claims.push(claim);
    }
    return claims;
  }

  async #fetch(namespace: string, name: string, signal: AbortSignal): Promise<ResourceClaim> {
    try {
      return await this.#options.client.get(resourceClaims, { namespace, name }, { signal });
    } catch (error) {
      throw new Error(`fetch ResourceClaim ${name}: ${(error as Error).message}`, { cause: error });
    }
  }

  async #prepareAll(pod: Pod, claims: readonly ResourceClaim[], signal: AbortSignal): Promise<void> {
    const { states } = this.#options;
    const known = claims.map((claim) => this.#stateFor(claim, pod.metadata.uid ?? ""));
    const drivers = new Map(known.flatMap((state) => Object.keys(state.drivers)).map((name) => [name, this.#driver(name)]));
    // Before a driver is called: it must be released even if this process dies.
    await states.set(known);
    const prepared = new Map(known.filter(({ isPrepared }) => !isPrepared).map((state) => [state.uid, state]));
    for (const [driverName, driver] of drivers) {
      const batch = [...prepared.values()].filter((state) => driverName in state.drivers);
      if (batch.length === 0) continue;
      const answers = answersOf(
        "NodePrepareResources",
        batch,
        await driver.prepare(batch.map(identityOf), signal).catch(failedCall("NodePrepareResources")),
      );
      for (const [uid, { devices }] of answers) {
        const state = prepared.get(uid);
        if (state !== undefined) prepared.set(uid, { ...state, drivers: { ...state.drivers, [driverName]: devices } });
      }
    }
    if (prepared.size > 0) await states.set([...prepared.values()].map((state) => ({ ...state, isPrepared: true })));
  }

  #stateFor({ metadata, status }: ResourceClaim, podUid: string): ClaimState {
    const { namespace = "", name, uid = "" } = metadata;
    const known = this.#options.states.get(namespace, name);
    if (known !== undefined && known.uid !== uid)
      throw new Error(
        `old ResourceClaim with same name ${name} and different UID ${known.uid} still exists (previous pod force-deleted?!)`,
      );
    const podUids = [...new Set([...(known?.podUids ?? []), podUid])].toSorted();
    if (known !== undefined) return { ...known, podUids };
    const driverNames = (status?.allocation?.devices?.results ?? []).map(({ driver }) => driver);
    return { namespace, name, uid, podUids, drivers: Object.fromEntries(driverNames.map((driver) => [driver, []])), isPrepared: false };
  }

  #driver(name: string): DraDriver {
    const driver = this.#options.driver(name);
    if (driver === undefined) throw new Error(`DRA driver ${name} is not registered`);
    return driver;
  }

  async #releaseAll(podUid: string): Promise<void> {
    const { states } = this.#options;
    const used = states.all().filter(({ podUids }) => podUids.includes(podUid));
    const shared = used.filter(({ podUids }) => podUids.length > 1);
    if (shared.length > 0) await states.set(shared.map((state) => ({ ...state, podUids: state.podUids.filter((uid) => uid !== podUid) })));
    const last = used.filter(({ podUids }) => podUids.length === 1);
    for (const driverName of new Set(last.flatMap(({ drivers }) => Object.keys(drivers)))) {
      const batch = last.filter(({ drivers }) => driverName in drivers);
      const driver = this.#driver(driverName);
      answersOf("NodeUnprepareResources", batch, await driver.unprepare(batch.map(identityOf)).catch(failedCall("NodeUnprepareResources")));
    }
    if (last.length > 0) await states.delete(last);
  }
}

function identityOf({ namespace, uid, name }: ClaimState): ClaimIdentity {
  return { namespace, uid, name };
}

function failedCall(method: string): (error: unknown) => never {
  return (error) => {
    throw new Error(`${method}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  };
}

/** Throws unless every claim of the batch succeeded. */
function answersOf<Answer extends { readonly error: string }>(
  method: string,
  batch: readonly ClaimState[],
  answers: ReadonlyMap<string, Answer>,
): ReadonlyMap<string, Answer> {
  for (const [uid, { error }] of answers) {
    const claim = batch.find((each) => each.uid === uid);
    if (claim === undefined) throw new Error(`${method} returned result for unknown claim UID ${uid}`);
    if (error !== "") throw new Error(`${method} failed for ResourceClaim ${claim.name}: ${error}`);
  }
  const skipped = batch.length - answers.size;
  if (skipped !== 0) throw new Error(`${method} skipped ${skipped} ResourceClaims`);
  return answers;
}

/** Those of the spec, and the claim for extended resources. */
function entriesOf({ spec, status }: Pod): readonly PodResourceClaim[] {
  const extended = status?.extendedResourceClaimStatus;
  const own = spec?.resourceClaims ?? [];
  return extended === undefined ? own : [...own, { name: "", resourceClaimName: extended.resourceClaimName }];
}
