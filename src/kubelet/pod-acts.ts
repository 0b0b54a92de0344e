/**
 * Does what a plan says, through the runtime, and tells people about it in upstream's words. What fails is remembered and told, never
 * thrown: the next plan sees to it. Only what leaves no other way (a container that does not end) rejects. Nobody waits for a start that
 * takes its time, nor for an image: it goes on by itself, and can be given up.
 */
import type { Container, EphemeralContainer, Pod } from "../api/generated/core/v1.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { EventRecorder, RecordedEvent } from "../client/events/event-recorder.ts";
import { GRACE_MIN_MS } from "./plan-end.ts";
import type { OwnMemory } from "./pod-memory.ts";
import type { ContainerRole, PodAction, StartAction } from "./pod-plan.ts";
import { runPreStop } from "./pre-stop.ts";
import { RuntimeError, type Runtime, type RuntimeContainer, type SandboxStatus } from "./runtime.ts";

export interface PodActsOptions {
  readonly runtime: Runtime;
  readonly recorder: EventRecorder;
  readonly memory: OwnMemory;
  readonly clock: Clock;
  readonly log: Logger;
  /** An image was pulled. */
  onImage(): void;
  /** A start that nobody waited for has come to its end, whichever. */
  onStart(): void;
}

/** One that is under way. */
interface Start {
  /** It is not wanted any more, and whatever comes of it is nobody's business. */
  isGivenUp: boolean;
  /** Resolves when it is given up. */
  readonly givenUp: Promise<void>;
  giveUp(): void;
  /** Of the container, once it is made. */
  id?: string;
}

type Stop = Extract<PodAction, { readonly do: "stop-containers" }>;

export class PodActs {
  readonly #options: PodActsOptions;
  /** Containers that were asked to end and have not yet. */
  readonly #stopping = new Set<string>();
  readonly #starts = new Set<Start>();

  constructor(options: PodActsOptions) {
    this.#options = options;
  }

  /** One after the other. Resolves with the starts that are still under way. */
  async perform(pod: Pod, actions: readonly PodAction[], sandbox: SandboxStatus | undefined): Promise<readonly Promise<void>[]> {
    const { runtime, onStart } = this.#options;
    let sandboxId = sandbox?.state === "ready" ? sandbox.id : undefined;
    const slow: Promise<void>[] = [];
    for (const action of actions) {
      switch (action.do) {
        case "run-sandbox":
          sandboxId = await this.#runSandbox(pod, action, sandbox);
          break;
        case "start-container":
          if (sandboxId !== undefined) {
            const start = this.#begin(pod, action, sandboxId);
            if (!(await this.#isQuick(start))) slow.push(start.then(onStart));
          }
          break;
        case "stop-containers":
          await this.#stop(pod, action);
          break;
        case "remove-container":
          await runtime.removeContainer(action.id);
          break;
        case "stop-sandbox":
          await runtime.stopSandbox(action.id);
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
    const { runtime, log } = this.#options;
    for (const id of this.#stopping) {
      runtime.stopContainer(id, graceMs).catch((error: unknown) => log.warn("Cannot stop a container", { container: id, error }));
    }
  }

  /** What is being started is not wanted any more, and what was made of it is not to run. */
  giveUpStarts(): void {
    const { runtime, log } = this.#options;
    for (const { id } of this.#forgetStarts()) {
      if (id === undefined) continue;
      runtime.stopContainer(id, 0).catch((error: unknown) => log.warn("Cannot stop a container", { container: id, error }));
    }
  }

  /** Nobody cares any more how they end. */
  forgetStarts(): void {
    this.#forgetStarts();
  }

  #forgetStarts(): readonly Start[] {
    const starts = [...this.#starts];
    this.#starts.clear();
    this.#options.memory.starting.clear();
    for (const start of starts) start.giveUp();
    return starts;
  }

  // ── starting ──────────────────────────────────────────────────────────────────────────────────────

  /** Never rejects. */
  async #begin(pod: Pod, action: StartAction, sandboxId: string): Promise<void> {
    const { memory } = this.#options;
    const start = newStart();
    this.#starts.add(start);
    memory.starting.add(action.container.name);
    await this.#start(pod, action, sandboxId, start);
    if (start.isGivenUp) return;
    this.#starts.delete(start);
    memory.starting.delete(action.container.name);
  }

  /** Whether it is over before anything else happens. */
  #isQuick(start: Promise<void>): Promise<boolean> {
    const later = new Promise<boolean>((resolve) => this.#options.clock.soon(() => resolve(false)));
    return Promise.race([start.then(() => true), later]);
  }

  async #runSandbox(pod: Pod, { isAgain }: { readonly isAgain: boolean }, old: SandboxStatus | undefined): Promise<string | undefined> {
    const { runtime, memory, clock } = this.#options;
    try {
      if (isAgain && old !== undefined) {
        this.#tell(pod, { type: "Normal", reason: "SandboxChanged", message: "Pod sandbox changed, it will be killed and re-created." });
        await runtime.stopSandbox(old.id);
      }
      const { id } = await runtime.runSandbox(pod);
      memory.sandboxRetryAtMs = undefined;
      return id;
    } catch (error) {
      memory.couldNotRunSandbox(clock.now());
      this.#tell(pod, { type: "Warning", reason: "FailedCreatePodSandBox", message: `Failed to create pod sandbox: ${messageOf(error)}` });
      return undefined;
    }
  }

  async #start(pod: Pod, action: StartAction, sandboxId: string, start: Start): Promise<void> {
    const { runtime, memory, clock } = this.#options;
    const { container, role, endedAtMs } = action;
    if (endedAtMs !== undefined) memory.restarts(container.name, { endedAtMs, nowMs: clock.now() });
    const imageId = action.madeId === undefined ? await this.#ensureImage(pod, action, start) : "";
    if (imageId === undefined || start.isGivenUp) return;
    let reason = "CreateContainerError";
    try {
      start.id = action.madeId ?? (await this.#create(pod, action, sandboxId, imageId));
      if (start.isGivenUp) return;
      reason = "RunContainerError";
      await runtime.startContainer(start.id);
      if (start.isGivenUp) return;
      this.#tellContainer(pod, container, role, { type: "Normal", reason: "Started", message: "Container started" });
      memory.started(container.name);
    } catch (error) {
      if (start.isGivenUp) return;
      const message = messageOf(error);
      memory.couldNotStart(container.name, { reason, message }, clock.now());
      this.#tellContainer(pod, container, role, { type: "Warning", reason: "Failed", message: `Error: ${message}` });
    }
  }

  async #create(pod: Pod, { container, role, attempt }: StartAction, sandboxId: string, imageId: string): Promise<string> {
    const id = await this.#options.runtime.createContainer(sandboxId, { pod, container, attempt, imageId });
    this.#tellContainer(pod, container, role, { type: "Normal", reason: "Created", message: "Container created" });
    return id;
  }

  /** Resolves with its id; undefined if it cannot be had now, or is not wanted any more. */
  async #ensureImage(pod: Pod, { container, role }: StartAction, start: Start): Promise<string | undefined> {
    const { runtime, memory, clock } = this.#options;
    const { image = "", imagePullPolicy = "IfNotPresent" } = container;
    const tell = (event: RecordedEvent): void => this.#tellContainer(pod, container, role, event);
    const present = imagePullPolicy === "Always" ? undefined : await runtime.imageStatus(image);
    if (present !== undefined) {
      tell({
        type: "Normal",
        reason: "Pulled",
        message: `Container image "${image}" already present on machine and can be accessed by the pod`,
      });
      return present.id;
    }
    if (imagePullPolicy === "Never") {
      const message = `Container image "${image}" is not present with pull policy of Never`;
      memory.couldNotStart(container.name, { reason: "ErrImageNeverPull", message }, clock.now());
      tell({ type: "Warning", reason: "ErrImageNeverPull", message });
      tell({ type: "Warning", reason: "Failed", message: "Error: ErrImageNeverPull" });
      return undefined;
    }
    return this.#pull(pod, image, tell, start);
  }

  async #pull(pod: Pod, image: string, tell: (event: RecordedEvent) => void, start: Start): Promise<string | undefined> {
    const { runtime, memory, clock, onImage } = this.#options;
    const begunAtMs = clock.monotonic();
    tell({ type: "Normal", reason: "Pulling", message: `Pulling image "${image}"` });
    try {
      const id = await Promise.race([runtime.pullImage(image, pod), start.givenUp]);
      if (id === undefined || start.isGivenUp) return undefined;
      memory.pulls.delete(image);
      onImage();
      const took = formatDuration(clock.monotonic() - begunAtMs);
      const sizeBytes = (await runtime.imageStatus(image))?.sizeBytes ?? 0;
      const message = `Successfully pulled image "${image}" in ${took} (${took} including waiting). Image size: ${sizeBytes} bytes.`;
      tell({ type: "Normal", reason: "Pulled", message });
      return id;
    } catch (error) {
      if (start.isGivenUp) return undefined;
      const reason = error instanceof RuntimeError && error.reason === "InvalidImage" ? "InvalidImageName" : "ErrImagePull";
      memory.couldNotPull(image, { reason, message: messageOf(error) }, clock.now());
      tell({ type: "Warning", reason: "Failed", message: `Failed to pull image "${image}": ${messageOf(error)}` });
      tell({ type: "Warning", reason: "Failed", message: `Error: ${reason}` });
      return undefined;
    }
  }

  // ── stopping ──────────────────────────────────────────────────────────────────────────────────────

  async #stop(pod: Pod, { groups, graceMs, passedMs = 0, message }: Stop): Promise<void> {
    const { clock } = this.#options;
    const endAtMs = clock.monotonic() + graceMs;
    for (const { name } of groups.flat()) {
      const { container, role } = definitionOf(pod, name);
      this.#tellContainer(pod, container, role, { type: "Normal", reason: "Killing", message: message ?? `Stopping container ${name}` });
    }
    for (const group of groups) {
      const leftMs = () => Math.max(GRACE_MIN_MS, endAtMs - clock.monotonic());
      await Promise.all(group.map((running) => this.#stopOne(pod, running, { leftMs, passedMs })));
    }
  }

  async #stopOne(pod: Pod, running: RuntimeContainer, { leftMs, passedMs }: Patience): Promise<void> {
    const { runtime, clock, log } = this.#options;
    this.#stopping.add(running.id);
    try {
      await runPreStop(definitionOf(pod, running.name).container, running, { runtime, clock, log, withinMs: leftMs(), passedMs });
      await runtime.stopContainer(running.id, leftMs());
    } catch (error) {
      if (error instanceof RuntimeError && error.reason === "NotFound") return;
      this.#tell(pod, { type: "Warning", reason: "FailedKillPod", message: `error killing pod: ${messageOf(error)}` });
      throw error;
    } finally {
      this.#stopping.delete(running.id);
    }
  }

  // ── telling ───────────────────────────────────────────────────────────────────────────────────────

  tellBackOff(pod: Pod, name: string, reason: string): void {
    const { container, role } = definitionOf(pod, name);
    const { namespace = "", name: podName, uid = "" } = pod.metadata;
    if (reason === "ImagePullBackOff") {
      this.#tellContainer(pod, container, role, {
        type: "Normal",
        reason: "BackOff",
        message: `Back-off pulling image "${container.image ?? ""}"`,
      });
    } else if (reason === "CrashLoopBackOff") {
      const message = `Back-off restarting failed container ${name} in pod ${podName}_${namespace}(${uid})`;
      this.#tellContainer(pod, container, role, { type: "Warning", reason: "BackOff", message });
    }
  }

  #tell(pod: Pod, event: RecordedEvent): void {
    this.#options.recorder.record(pod, event);
  }

  #tellContainer(pod: Pod, { name }: { readonly name: string }, role: ContainerRole, event: RecordedEvent): void {
    this.#tell(pod, { ...event, fieldPath: `spec.${MEMBERS[role]}{${name}}` });
  }
}

interface Patience {
  readonly leftMs: () => number;
  /** Before this kubelet came. */
  readonly passedMs: number;
}

function newStart(): Start {
  let resolve = (): void => undefined;
  const givenUp = new Promise<void>((done) => (resolve = done));
  const giveUp = (): void => {
    start.isGivenUp = true;
    resolve();
  };
  const start: Start = { isGivenUp: false, givenUp, giveUp };
  return start;
}

const MEMBERS = { init: "initContainers", regular: "containers", ephemeral: "ephemeralContainers" } as const;

/** What the Pod says about a container; of one that it does not know any more, only the name. */
function definitionOf({ spec }: Pod, name: string): { readonly container: Container | EphemeralContainer; readonly role: ContainerRole } {
  for (const role of ["regular", "init", "ephemeral"] as const) {
    const container = spec?.[MEMBERS[role]]?.find((candidate) => candidate.name === name);
    if (container !== undefined) return { container, role };
  }
  return { container: { name }, role: "regular" };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** As Go writes it, in whole milliseconds: "250ms", "1.5s", "1m2.25s". */
function formatDuration(durationMs: number): string {
  const milliseconds = Math.floor(durationMs);
  if (milliseconds === 0) return "0s";
  if (milliseconds < 1000) return `${milliseconds}ms`;
  const minutes = Math.floor(milliseconds / 60_000);
  const seconds = `${(milliseconds % 60_000) / 1000}s`;
  return minutes === 0 ? seconds : `${minutes}m${seconds}`;
}
