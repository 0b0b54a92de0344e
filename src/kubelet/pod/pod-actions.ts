/**
 * Does what a plan says, through the runtime and the machine, and tells people about it in upstream's words. What fails is remembered and
 * told, never thrown: the next plan sees to it. Only what leaves no other way (a container that does not end) rejects. Nobody waits for
 * what takes its time (volumes, an image, a start): it goes on by itself, and can be given up.
 * Not here: starting containers (start-containers.ts), stopping them (stop-containers.ts).
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import { NOT_NEEDED } from "../../base/abort.ts";
import type { RecordedEvent } from "../../client/events/event-recorder.ts";
import { ContainerStarts, type ContainerStartsOptions } from "./containers/start-containers.ts";
import { ContainerStops } from "./containers/stop-containers.ts";
import { MountError } from "../contracts/pod-machine.ts";
import type { PodAction } from "./plan/pod-plan.ts";
import type { SandboxStatus } from "../contracts/runtime.ts";
import { messageOf } from "./pod-events.ts";

export interface PodActsOptions extends ContainerStartsOptions {
  /** Something that nobody waited for has come to its end, whichever. */
  onStart(): void;
  /** The Pod is still to run: while containers were waited for, that may have changed. */
  isWanted(): boolean;
}

/** What is not done any more for a Pod that is to end. */
const BEGINNINGS: ReadonlySet<PodAction["do"]> = new Set(["prepare", "run-sandbox", "start-container"]);

const SANDBOX_CHANGED: RecordedEvent = {
  type: "Normal",
  reason: "SandboxChanged",
  message: "Pod sandbox changed, it will be killed and re-created.",
};

/** Volumes and whatever else a Pod needs of the machine, on their way. */
interface Preparation {
  readonly stop: AbortController;
  readonly over: Promise<void>;
}

export class PodActs {
  readonly #options: PodActsOptions;
  readonly #starts: ContainerStarts;
  readonly #stops: ContainerStops;
  #preparation: Preparation | undefined;
  #sandboxRun: Promise<unknown> | undefined;
  #isStopped = false;

  constructor(options: PodActsOptions) {
    this.#options = options;
    this.#starts = new ContainerStarts(options);
    this.#stops = new ContainerStops(options);
  }

  /** One after the other. Resolves with what is still under way. */
  async perform(pod: Pod, actions: readonly PodAction[], sandbox: SandboxStatus | undefined): Promise<readonly Promise<void>[]> {
    const { runtime, machine, memory, recorder, onStart, isWanted } = this.#options;
    let place = sandbox?.state === "ready" ? sandbox : undefined;
    const slow: Promise<void>[] = [];
    const unlessQuick = async (work: Promise<void>): Promise<void> => {
      if (!(await this.#isQuick(work))) slow.push(work.then(onStart));
    };
    for (const action of actions) {
      if (this.#isStopped || (BEGINNINGS.has(action.do) && !isWanted())) break;
      switch (action.do) {
        case "prepare":
          await unlessQuick(this.#prepare(pod));
          break;
        case "tell-sandbox-changed":
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
          memory.granted.delete(action.id);
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

  /** Whoever waits for containers to end has less patience now. */
  hasten(graceMs: number): void {
    this.#stops.hasten(graceMs);
  }

  /** What is being started is not wanted any more, and what was made of it is not to run. */
  giveUpStarts(): void {
    this.#preparation?.stop.abort(NOT_NEEDED);
    this.#starts.giveUp();
  }

  /** Nothing more is begun, and nobody cares any more how it ends. */
  stop(): void {
    this.#isStopped = true;
    this.#preparation?.stop.abort(NOT_NEEDED);
    this.#starts.forget();
  }

  /** Resolves when nothing more comes of what was begun. */
  async settled(): Promise<void> {
    await Promise.all([this.#preparation?.over, this.#sandboxRun, this.#starts.settled()]);
  }

  /** Nothing of the Pod runs any more: what the machine has for it goes, too. */
  async release(podUid: string): Promise<void> {
    const { machine, memory } = this.#options;
    if (machine === undefined || memory.isReleased) return;
    // What is still being made could not be found.
    await this.settled();
    await machine.release(podUid);
    memory.isReleased = true;
  }

  // ── the Pod's place ───────────────────────────────────────────────────────────────────────────────

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
      memory.couldNotPrepare(clock.now());
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

  /** Whether it is over before anything else happens. */
  #isQuick(work: Promise<void>): Promise<boolean> {
    const later = new Promise<boolean>((resolve) => this.#options.clock.soon(() => resolve(false)));
    return Promise.race([work.then(() => true), later]);
  }
}
