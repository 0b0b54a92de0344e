/**
 * What the kubelet remembers about a Pod between two looks and can be had from nowhere else: what failed, and when it may be tried again.
 * When a kubelet starts anew it takes what it can from what the one before it told (restore-state.ts).
 */
import type { Pod, ResourceRequirements } from "../../api/generated/core/v1.ts";
import { exponentialDelayMs } from "../../base/backoff.ts";
import { BACK_OFF_MIN_MS, grownBackOff, type BackOff } from "./containers/back-off.ts";
import { RuntimeError } from "../contracts/runtime.ts";
import { usedVolumes } from "./used-volumes.ts";

/** Delays between attempts to have the volumes of a Pod there. Upstream's. */
const PREPARE_AGAIN = { minMs: 500, maxMs: 122_000 };

/** The runtime was away, which says nothing of what it was to do: that is tried again as soon as it may be back. */
const AWAY_MS = 1_000;

/** Why something could not be started, and from when on it may be tried again. */
export interface StartFailure {
  readonly reason: string;
  readonly message: string;
  readonly retryAtMs: number;
}

export interface PullFailure {
  readonly backOff: BackOff;
  /** "ErrImagePull: no such image". */
  readonly error: string;
  /** What the container's state says until the next look. */
  readonly message: string;
}

export interface PodMemory {
  /** How long a container that ends has to wait, by its name. */
  readonly crashes: ReadonlyMap<string, BackOff>;
  /** Ids of containers that had ended with their Pod's place when this kubelet came, as over a reboot: no crashes. */
  readonly endedBefore: ReadonlySet<string>;
  /** Containers that could not be started, by name. */
  readonly failures: ReadonlyMap<string, StartFailure>;
  /** Images that could not be had. */
  readonly pulls: ReadonlyMap<string, PullFailure>;
  /** Containers of which a start is under way, by name. */
  readonly starting: ReadonlySet<string>;
  readonly sandboxRetryAtMs?: number | undefined;
  /** The lost one of which was last told. */
  readonly changedSandbox?: string | undefined;
  /** What the Pod needs of the machine is there. A container that comes later may have it need more. */
  isPreparedFor(pod: Pod): boolean;
  /** … or on its way. */
  readonly isPreparing: boolean;
  readonly prepareRetryAtMs?: number | undefined;
  /** What containers were given to use, by id. Those that are not here are left as they are. */
  readonly granted: ReadonlyMap<string, ResourceRequirements>;
  /** … and what the Pod as a whole was. Undefined: nobody has given it anything yet. */
  readonly grantedPod?: ResourceRequirements | undefined;
  /** Until when no other change of that is tried. */
  readonly resizeRetryAtMs?: number | undefined;
}

/** The memory of one Pod's worker, while it lives. */
export class OwnMemory implements PodMemory {
  readonly crashes = new Map<string, BackOff>();
  readonly endedBefore = new Set<string>();
  readonly failures = new Map<string, StartFailure>();
  readonly pulls = new Map<string, PullFailure>();
  readonly starting = new Set<string>();
  sandboxRetryAtMs: number | undefined;
  changedSandbox: string | undefined;
  isPreparing = false;
  prepareRetryAtMs: number | undefined;
  readonly granted = new Map<string, ResourceRequirements>();
  grantedPod: ResourceRequirements | undefined;
  resizeRetryAtMs: number | undefined;
  /** What went wrong when it was tried last. */
  resizeError: string | undefined;
  readonly #needsMachine: boolean;
  /** Names of those that are there; undefined: nothing is. */
  #preparedVolumes: ReadonlySet<string> | undefined;
  #prepareFailures = 0;
  /** Of the machine, nothing is left to be given back. */
  isReleased = false;

  /** `needsMachine`: there are volumes to be mounted before anything runs. */
  constructor({ needsMachine = false }: { readonly needsMachine?: boolean } = {}) {
    this.#needsMachine = needsMachine;
  }

  isPreparedFor(pod: Pod): boolean {
    if (!this.#needsMachine) return true;
    const there = this.#preparedVolumes;
    return there !== undefined && usedVolumes(pod).every(({ name }) => there.has(name));
  }

  /** It ended and is started once more: the next time it has to wait longer. */
  restarts(name: string, { endedAtMs, nowMs }: { readonly endedAtMs: number; readonly nowMs: number }): void {
    this.crashes.set(name, grownBackOff(this.crashes.get(name), { eventMs: endedAtMs, nowMs }));
  }

  started(name: string): void {
    this.failures.delete(name);
  }

  couldNotStart(name: string, failure: Pick<StartFailure, "reason" | "message"> & { readonly error?: unknown }, nowMs: number): void {
    const { reason, message, error } = failure;
    this.failures.set(name, { reason, message, retryAtMs: nowMs + againAfterMs(error) });
  }

  couldNotPull(image: string, { reason, message }: Pick<StartFailure, "reason" | "message">, nowMs: number): void {
    const backOff = grownBackOff(this.pulls.get(image)?.backOff, { eventMs: nowMs, nowMs });
    this.pulls.set(image, { backOff, error: `${reason}: ${message}`, message });
  }

  prepared(pod: Pod): void {
    this.#preparedVolumes = new Set(usedVolumes(pod).map(({ name }) => name));
    this.grantedPod = pod.spec?.resources ?? {};
    this.#prepareFailures = 0;
  }

  couldNotPrepare(nowMs: number): void {
    this.prepareRetryAtMs = nowMs + exponentialDelayMs(PREPARE_AGAIN, this.#prepareFailures++);
  }

  /** What the Pod says or refers to has changed: what could not be had or made of it may be tried at once. */
  changed(): void {
    this.prepareRetryAtMs = undefined;
    for (const [name, { reason }] of this.failures) if (reason === "CreateContainerConfigError") this.failures.delete(name);
  }

  couldNotResize(message: string, nowMs: number): void {
    this.resizeError = message;
    this.resizeRetryAtMs = nowMs + BACK_OFF_MIN_MS;
  }

  /** It was allocated something else: that is tried at once, and what went wrong before says nothing of it. */
  resizeBegins(): void {
    this.resizeError = undefined;
    this.resizeRetryAtMs = undefined;
  }

  couldNotRunSandbox(nowMs: number, error?: unknown): void {
    this.sandboxRetryAtMs = nowMs + againAfterMs(error);
  }
}

function againAfterMs(error: unknown): number {
  return error instanceof RuntimeError && error.reason === "Unavailable" ? AWAY_MS : BACK_OFF_MIN_MS;
}
