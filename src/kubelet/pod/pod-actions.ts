/**
 * Performs the actions of a plan through the runtime and the machine, and records upstream's Events. Failures are stored for the next plan
 * and recorded, never thrown; only a container that cannot be stopped rejects. Slow work (volumes, an image, a start) continues in the
 * background and can be cancelled. Not here: starting containers (start-containers.ts), stopping them (stop-containers.ts).
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import { NOT_NEEDED } from "../../base/abort.ts";
import type { RecordedEvent } from "../../client/events/event-recorder.ts";
import { ContainerStarts, type ContainerStartsOptions } from "./containers/start-containers.ts";
import { ContainerStops } from "./containers/stop-containers.ts";
import { DevicesError } from "../contracts/pod-devices.ts";
import { ImageVolumesError, MountError, PodRejectedError } from "../contracts/pod-machine.ts";
import type { PodAction } from "./plan/plan-contract.ts";
import type { SandboxStatus } from "../contracts/runtime.ts";
import { definitionOf, messageOf, recordContainerEvent, recordImageProblem } from "./pod-events.ts";

export interface PodActionsOptions extends ContainerStartsOptions {
  /** Called when background work has settled. */
  onCompleted(): void;
  /** True while the Pod should run: this may change while containers are being stopped. */
  isDesired(): boolean;
}

/** Actions that are skipped for a Pod that terminates. */
const BEGINNINGS: ReadonlySet<PodAction["do"]> = new Set(["prepare", "run-sandbox", "start-container"]);

type ResetAction = Extract<PodAction, { readonly do: "reset-containers" }>;

const SANDBOX_CHANGED: RecordedEvent = {
  type: "Normal",
  reason: "SandboxChanged",
  message: "Pod sandbox changed, it will be killed and re-created.",
};

/** A preparation of volumes and directories in progress. */
interface Preparation {
  readonly stop: AbortController;
  readonly over: Promise<void>;
}

export class PodActions {
  readonly #options: PodActionsOptions;
  readonly #starts: ContainerStarts;
  readonly #stops: ContainerStops;
  #preparation: Preparation | undefined;
  #sandboxRun: Promise<unknown> | undefined;
  #isStopped = false;

  constructor(options: PodActionsOptions) {
    this.#options = options;
    this.#starts = new ContainerStarts(options);
    this.#stops = new ContainerStops(options);
  }

  /** Performs them one after the other. Resolves with the work that is still in progress. */
  async perform(pod: Pod, actions: readonly PodAction[], sandbox: SandboxStatus | undefined): Promise<readonly Promise<void>[]> {
    const { runtime, machine, memory, recorder, onCompleted, isDesired: isWanted } = this.#options;
    let place = sandbox?.state === "ready" ? sandbox : undefined;
    const slow: Promise<void>[] = [];
    const unlessQuick = async (work: Promise<void>): Promise<void> => {
      if (!(await this.#isQuick(work))) slow.push(work.then(onCompleted));
    };
    for (const action of actions) {
      if (this.#isStopped || (BEGINNINGS.has(action.do) && !isWanted())) break;
      switch (action.do) {
        case "prepare":
          await unlessQuick(this.#prepare(pod));
          break;
        case "record-sandbox-changed":
          recorder.record(pod, SANDBOX_CHANGED);
          memory.changedSandbox = action.id;
          break;
        case "run-sandbox":
          place = await this.#runSandbox(pod);
          break;
        case "start-container":
          if (place !== undefined) await unlessQuick(this.#starts.begin(pod, action, place));
          break;
        case "stop-containers":
          await this.#stops.stop(pod, action, this.#addressOf(pod, sandbox));
          break;
        case "resize-container":
          if (place !== undefined) await this.#starts.resize(pod, action, place);
          break;
        case "resize-pod":
          await this.#starts.resizePod(pod);
          break;
        case "remove-container":
          await runtime.removeContainer(action.id);
          memory.forgetGranted(action.id);
          break;
        case "reset-containers":
          await this.#resetContainers(pod, action);
          break;
        case "stop-sandbox":
          await runtime.stopSandbox(action.id);
          await machine?.killProcesses(pod.metadata.uid ?? "");
          break;
        case "remove-sandbox":
          await runtime.removeSandbox(action.id);
          break;
      }
    }
    return slow;
  }

  /** Shortens the grace period of containers that are being stopped. */
  shortenGracePeriod(graceMs: number): void {
    this.#stops.shortenGracePeriod(graceMs);
  }

  /** Cancels starts in progress and stops containers that they created. */
  cancelStarts(): void {
    this.#preparation?.stop.abort(NOT_NEEDED);
    this.#starts.cancel();
  }

  /** Begins nothing more and ignores the results of work in progress. */
  stop(): void {
    this.#isStopped = true;
    this.#preparation?.stop.abort(NOT_NEEDED);
    this.#starts.forget();
  }

  /** Resolves when no work is in progress. */
  async settled(): Promise<void> {
    await Promise.all([this.#preparation?.over, this.#sandboxRun, this.#starts.settled()]);
  }

  /** Releases what the machine holds for a terminated Pod. */
  async release(podUid: string): Promise<void> {
    const { machine, memory } = this.#options;
    if (machine === undefined || memory.isReleased) return;
    // Objects that are still being created would be missed.
    await this.settled();
    await machine.release(podUid);
    memory.isReleased = true;
  }

  /** Starts in progress are cancelled; what they created is removed by the next plan. */
  async #resetContainers(pod: Pod, { others, sources }: ResetAction): Promise<void> {
    const { runtime, memory, recorder, clock } = this.#options;
    this.#starts.cancel();
    await this.#starts.settled();
    for (const { id, name, state } of [...others, ...sources]) {
      if (state.is === "running") {
        recordContainerEvent(recorder, pod, name, { type: "Normal", reason: "Killing", message: "killing" });
        await runtime.stopContainer(id, 0);
      }
      await runtime.removeContainer(id);
      memory.forgetGranted(id);
    }
    for (const { name, state } of sources.filter((source, index) => sources.findIndex((one) => one.name === source.name) === index))
      if (state.is === "exited")
        memory.restartsAll(definitionOf(pod, name).container, { endedAtMs: state.finishedAtMs, nowMs: clock.now() });
  }

  // ── sandbox ───────────────────────────────────────────────────────────────────────────────────────

  /** Never rejects. */
  #prepare(pod: Pod): Promise<void> {
    const { memory } = this.#options;
    const stop = new AbortController();
    memory.isPreparing = true;
    const over = this.#prepareOnce(pod, stop.signal).finally(() => {
      memory.isPreparing = false;
      if (this.#preparation?.stop === stop) this.#preparation = undefined;
    });
    this.#preparation = { stop, over };
    return over;
  }

  async #prepareOnce(pod: Pod, signal: AbortSignal): Promise<void> {
    const { machine, memory, clock, recorder } = this.#options;
    try {
      await machine?.prepare(pod, signal);
      if (!signal.aborted) memory.prepared(pod);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof PodRejectedError) {
        const { reason, message } = error;
        memory.eviction ??= { reason, message: `Pod was rejected: ${message}` };
        recorder.record(pod, { type: "Warning", reason, message });
        return;
      }
      if (error instanceof ImageVolumesError) {
        memory.couldNotHaveImages(error.problems, clock.now());
        for (const [reference, problem] of error.problems) recordImageProblem(recorder, pod, reference, problem);
        return;
      }
      memory.couldNotPrepare(clock.now());
      if (error instanceof DevicesError) {
        const note = `Failed to prepare dynamic resources: ${error.message}`;
        recorder.record(pod, { type: "Warning", reason: "FailedPrepareDynamicResources", message: note });
        return;
      }
      const message = error instanceof MountError ? error.message : `Unable to attach or mount volumes: ${messageOf(error)}`;
      recorder.record(pod, { type: "Warning", reason: "FailedMount", message });
    }
  }

  #runSandbox(pod: Pod): Promise<SandboxStatus | undefined> {
    const run = this.#runSandboxOnce(pod);
    this.#sandboxRun = run;
    return run;
  }

  async #runSandboxOnce(pod: Pod): Promise<SandboxStatus | undefined> {
    const { runtime, machine, memory, clock, recorder } = this.#options;
    try {
      const sandbox = machine === undefined ? await runtime.runSandbox(pod) : await runtime.runSandbox(pod, await machine.sandbox(pod));
      memory.sandboxRetryAtMs = undefined;
      return sandbox;
    } catch (error) {
      memory.couldNotRunSandbox(clock.now(), error);
      const message = `Failed to create pod sandbox: ${messageOf(error)}`;
      recorder.record(pod, { type: "Warning", reason: "FailedCreatePodSandBox", message });
      return undefined;
    }
  }

  #addressOf({ spec }: Pod, sandbox: SandboxStatus | undefined): string | undefined {
    return spec?.hostNetwork === true ? this.#options.hostIps[0] : sandbox?.ips[0];
  }

  /** Whether the work settles before the next macrotask. */
  #isQuick(work: Promise<void>): Promise<boolean> {
    const later = new Promise<boolean>((resolve) => this.#options.clock.soon(() => resolve(false)));
    return Promise.race([work.then(() => true), later]);
  }
}
