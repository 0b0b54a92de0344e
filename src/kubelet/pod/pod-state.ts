/**
 * State of a Pod that the kubelet keeps between syncs because no other component has it: failures and their back-offs. After a restart it
 * is restored as far as possible (restore-state.ts).
 */
import type { Container, EphemeralContainer, Pod, ResourceRequirements } from "../../api/generated/core/v1.ts";
import { exponentialDelayMs } from "../../base/backoff.ts";
import type { PullFailure } from "../images/pull-back-off.ts";
import {
  BACK_OFF_MIN_MS,
  backOffUntilMs,
  grownBackOff,
  restartBackOff,
  restartedProgram,
  type RestartBackOff,
} from "./containers/back-off.ts";
import { PodNetworkError, type ImageProblem, type PodEviction } from "../contracts/pod-machine.ts";
import { RuntimeError } from "../contracts/runtime.ts";
import { usedVolumes } from "./used-volumes.ts";

/** Backoff of volume preparation. Upstream's values. */
const PREPARE_AGAIN = { minMs: 500, maxMs: 122_000 };

/** Delay after the runtime was unavailable: the attempt says nothing about its subject, so it is repeated soon. */
const AWAY_MS = 1_000;

/** Why a start failed, and when it may be retried. */
export interface StartFailure {
  readonly reason: string;
  readonly message: string;
  readonly retryAtMs: number;
}

/** Delay of a restart of all containers, because they were restarted before. */
export interface RestartAllBackOff {
  /** Name of the container that demanded it. */
  readonly source: string;
  readonly delayMs: number;
  readonly retryAtMs: number;
}

export interface PodMemory {
  /** Why the node evicts or rejects the Pod; undefined: it does not. */
  readonly eviction?: PodEviction | undefined;
  /** Restart back-off by container name. */
  readonly crashes: ReadonlyMap<string, RestartBackOff>;
  /**
   * Ids of containers that exited together with their sandbox before this kubelet started, as in a reboot: they do not count as crashes.
   */
  readonly endedBefore: ReadonlySet<string>;
  /** Containers that failed to start, by name. */
  readonly failures: ReadonlyMap<string, StartFailure>;
  /** Images that failed to be pulled. */
  readonly pulls: ReadonlyMap<string, PullFailure>;
  /** Images of volumes that are not available, by reference. */
  readonly volumeImages: ReadonlyMap<string, PullFailure>;
  /** Containers whose start is in progress, by name. */
  readonly starting: ReadonlySet<string>;
  /** Back-off of a restart of all containers; undefined: none applies. */
  readonly restartAll?: RestartAllBackOff | undefined;
  readonly sandboxRetryAtMs?: number | undefined;
  /** Id of the lost sandbox that was last reported. */
  readonly changedSandbox?: string | undefined;
  /** Whether the machine is prepared for the Pod. An ephemeral container may need another volume. */
  isPreparedFor(pod: Pod): boolean;
  /** True while a preparation is in progress. */
  readonly isPreparing: boolean;
  readonly prepareRetryAtMs?: number | undefined;
  /** Resources granted to containers, by id. Containers without an entry are not resized. */
  readonly granted: ReadonlyMap<string, ResourceRequirements>;
  /** Pod-level resources at that time, by the container's id: a container without a limit has that of its Pod. */
  readonly grantedAround: ReadonlyMap<string, ResourceRequirements>;
  /** Resources granted to the Pod as a whole; undefined: none yet. */
  readonly grantedPod?: ResourceRequirements | undefined;
  /** No resize is attempted before this time. */
  readonly resizeRetryAtMs?: number | undefined;
}

/** Mutable state of one Pod worker. */
export class PodWorkerMemory implements PodMemory {
  eviction: PodEviction | undefined;
  readonly crashes = new Map<string, RestartBackOff>();
  readonly endedBefore = new Set<string>();
  readonly failures = new Map<string, StartFailure>();
  readonly pulls = new Map<string, PullFailure>();
  readonly volumeImages = new Map<string, PullFailure>();
  readonly starting = new Set<string>();
  restartAll: RestartAllBackOff | undefined;
  sandboxRetryAtMs: number | undefined;
  changedSandbox: string | undefined;
  isPreparing = false;
  prepareRetryAtMs: number | undefined;
  readonly granted = new Map<string, ResourceRequirements>();
  readonly grantedAround = new Map<string, ResourceRequirements>();
  grantedPod: ResourceRequirements | undefined;
  resizeRetryAtMs: number | undefined;
  /** Error of the last resize. */
  resizeError: string | undefined;
  readonly #needsMachine: boolean;
  /** Names of prepared volumes; undefined: none was prepared. */
  #preparedVolumes: ReadonlySet<string> | undefined;
  #prepareFailures = 0;
  /** True once the machine holds nothing for the Pod any more. */
  isReleased = false;
  /** True once the state of an earlier kubelet process was restored (restore-state.ts). */
  isRestored = false;

  /** `needsMachine`: volumes have to be mounted before anything runs. */
  constructor({ needsMachine = false }: { readonly needsMachine?: boolean } = {}) {
    this.#needsMachine = needsMachine;
  }

  isPreparedFor(pod: Pod): boolean {
    if (!this.#needsMachine) return true;
    const there = this.#preparedVolumes;
    return there !== undefined && usedVolumes(pod).every(({ name }) => there.has(name));
  }

  /** The container exited and is restarted: its back-off grows. */
  restarts(container: Container | EphemeralContainer, { endedAtMs, nowMs }: { readonly endedAtMs: number; readonly nowMs: number }): void {
    const grown = grownBackOff(restartBackOff(this.crashes, container), { eventMs: endedAtMs, nowMs });
    this.crashes.set(container.name, { ...grown, of: restartedProgram(container) });
  }

  /** A container demanded that all are restarted: the first time at once, then with its back-off. */
  restartsAll(
    container: Container | EphemeralContainer,
    { endedAtMs, nowMs }: { readonly endedAtMs: number; readonly nowMs: number },
  ): void {
    const source = container.name;
    const crash = restartBackOff(this.crashes, container);
    const retryAtMs = backOffUntilMs(crash, endedAtMs);
    this.restartAll = crash === undefined || retryAtMs === undefined ? undefined : { source, delayMs: crash.delayMs, retryAtMs };
    this.restarts(container, { endedAtMs, nowMs });
  }

  started(name: string): void {
    this.failures.delete(name);
  }

  couldNotStart(name: string, failure: Pick<StartFailure, "reason" | "message"> & { readonly error?: unknown }, nowMs: number): void {
    const { reason, message, error } = failure;
    this.failures.set(name, { reason, message, retryAtMs: nowMs + againAfterMs(error) });
  }

  couldNotPull(image: string, failure: Pick<StartFailure, "reason" | "message">, nowMs: number): void {
    this.pulls.set(image, grownPullFailure(this.pulls.get(image), failure, nowMs));
  }

  /** All other volumes are mounted. The time of the next preparation follows from the back-offs of the images. */
  couldNotHaveImages(problems: ReadonlyMap<string, ImageProblem>, nowMs: number): void {
    for (const [reference, problem] of problems)
      this.volumeImages.set(reference, grownPullFailure(this.volumeImages.get(reference), problem, nowMs));
    this.prepareRetryAtMs = undefined;
    this.#prepareFailures = 0;
  }

  prepared(pod: Pod): void {
    this.#preparedVolumes = new Set(usedVolumes(pod).map(({ name }) => name));
    this.grantedPod = pod.spec?.resources ?? {};
    this.volumeImages.clear();
    this.#prepareFailures = 0;
  }

  couldNotPrepare(nowMs: number): void {
    this.prepareRetryAtMs = nowMs + exponentialDelayMs(PREPARE_AGAIN, this.#prepareFailures++);
  }

  /** The Pod or an object that it refers to changed: failures that may be fixed by it are retried at once. */
  changed(): void {
    this.prepareRetryAtMs = undefined;
    for (const [name, { reason }] of this.failures) if (reason === "CreateContainerConfigError") this.failures.delete(name);
  }

  grants(id: string, { spec }: Pod, { resources }: Pick<Container, "resources">): void {
    this.granted.set(id, resources ?? {});
    this.grantedAround.set(id, spec?.resources ?? {});
  }

  forgetGranted(id: string): void {
    this.granted.delete(id);
    this.grantedAround.delete(id);
  }

  couldNotResize(message: string, nowMs: number): void {
    this.resizeError = message;
    this.resizeRetryAtMs = nowMs + BACK_OFF_MIN_MS;
  }

  /** The allocated resources changed: they are applied at once, and earlier errors no longer apply. */
  resizeBegins(): void {
    this.resizeError = undefined;
    this.resizeRetryAtMs = undefined;
  }

  couldNotRunSandbox(nowMs: number, error?: unknown): void {
    this.sandboxRetryAtMs = nowMs + againAfterMs(error);
  }
}

function grownPullFailure(
  before: PullFailure | undefined,
  { reason, message }: Pick<StartFailure, "reason" | "message">,
  nowMs: number,
): PullFailure {
  const backOff = grownBackOff(before?.backOff, { eventMs: nowMs, nowMs });
  return { backOff, error: `${reason}: ${message}`, message };
}

function againAfterMs(error: unknown): number {
  if (error instanceof PodNetworkError) return AWAY_MS;
  return error instanceof RuntimeError && error.reason === "Unavailable" ? AWAY_MS : BACK_OFF_MIN_MS;
}
