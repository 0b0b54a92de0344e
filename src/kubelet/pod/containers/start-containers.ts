/**
 * Starts containers: image, container, process, hook. What fails is remembered and told, never thrown: the next plan sees to it. Nobody
 * waits for a start that takes its time: it goes on by itself, and can be given up.
 */
import type { Container, EphemeralContainer, Pod } from "../../../api/generated/core/v1.ts";
import { NOT_NEEDED } from "../../../base/abort.ts";
import type { Logger } from "../../../base/logger.ts";
import { ensureImage, type ImageOptions, type Wanting } from "../../images/ensure-image.ts";
import { runHook } from "./lifecycle-hooks.ts";
import type { KubeletMetrics } from "../../kubelet-metrics.ts";
import { isMemoryDecreased, memoryDecreaseError } from "../../resize/memory-decrease.ts";
import { GRACE_MIN_MS, stopGraceMs } from "../plan/plan-termination.ts";
import { ContainerConfigError } from "../../contracts/pod-machine.ts";
import type { StartAction } from "../plan/pod-plan.ts";
import type { ContainerConfig, SandboxStatus } from "../../contracts/runtime.ts";
import { isRunning, newestContainer } from "./runtime-containers.ts";
import { definitionOf, messageOf, tellContainer } from "../pod-events.ts";

export interface ContainerStartsOptions extends ImageOptions {
  /** Of the node, for Pods in its network. */
  readonly hostIps: readonly string[];
  readonly log: Logger;
  /** Absent: nobody counts. */
  readonly metrics?: KubeletMetrics | undefined;
}

/** One that is under way. */
interface Start extends Wanting {
  /** It is not wanted any more, and whatever comes of it is nobody's business. */
  isGivenUp: boolean;
  giveUp(): void;
  /** Of the container, once it is made. */
  id?: string;
}

/** How far a start had come when it failed, as the container's state says it. */
type FailedStep = "CreateContainerConfigError" | "CreateContainerError" | "RunContainerError" | "PostStartHookError";

/** Upstream's words for them. */
const CONTAINER_TYPES = { init: "init_container", regular: "container", ephemeral: "ephemeral_container" } as const;

export class ContainerStarts {
  readonly #options: ContainerStartsOptions;
  readonly #starts = new Set<Start>();
  /** Also of those that were given up, until they are really over. */
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: ContainerStartsOptions) {
    this.#options = options;
  }

  /** Resolves when it is over, whichever way. Never rejects. */
  begin(pod: Pod, action: StartAction, sandbox: SandboxStatus): Promise<void> {
    const work = this.#begin(pod, action, sandbox).finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
    return work;
  }

  /** What is being started is not wanted any more, and what was made of it is not to run. */
  giveUp(): void {
    const { runtime, log } = this.#options;
    for (const { id } of this.#forget()) {
      if (id === undefined) continue;
      runtime.stopContainer(id, 0).catch((error: unknown) => log.warn("Cannot stop a container", { container: id, error }));
    }
  }

  /** Nobody cares any more how they end. */
  forget(): void {
    this.#forget();
  }

  /** Resolves when nothing more comes of any. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  #forget(): readonly Start[] {
    const starts = [...this.#starts];
    this.#starts.clear();
    this.#options.memory.starting.clear();
    for (const start of starts) start.giveUp();
    return starts;
  }

  async #begin(pod: Pod, action: StartAction, sandbox: SandboxStatus): Promise<void> {
    const { memory, metrics } = this.#options;
    const start = newStart();
    this.#starts.add(start);
    memory.starting.add(action.container.name);
    metrics?.containerBegun(CONTAINER_TYPES[definitionOf(pod, action.container.name).role]);
    await this.#start(pod, action, sandbox, start);
    if (start.isGivenUp) return;
    this.#starts.delete(start);
    memory.starting.delete(action.container.name);
  }

  async #start(pod: Pod, action: StartAction, sandbox: SandboxStatus, start: Start): Promise<void> {
    const { runtime, memory, clock, recorder } = this.#options;
    const { container, endedAtMs } = action;
    if (endedAtMs !== undefined) memory.restarts(container.name, { endedAtMs, nowMs: clock.now() });
    const imageId = action.madeId === undefined ? await ensureImage(pod, container, start, this.#options) : "";
    if (imageId === undefined || start.isGivenUp) return;
    let step: FailedStep = "CreateContainerError";
    try {
      start.id = action.madeId ?? (await this.#create(pod, action, sandbox, imageId));
      if (start.isGivenUp) return;
      step = "RunContainerError";
      await runtime.startContainer(start.id);
      if (start.isGivenUp) return;
      tellContainer(recorder, pod, container.name, { type: "Normal", reason: "Started", message: "Container started" });
      step = "PostStartHookError";
      await this.#runPostStart(pod, container, start.id, { sandbox, start });
      memory.started(container.name);
    } catch (error) {
      if (!start.isGivenUp) await this.#failed(pod, container, { step, id: start.id, error });
    }
  }

  async #failed(
    pod: Pod,
    { name }: Container | EphemeralContainer,
    { step, id, error }: { readonly step: FailedStep; readonly id: string | undefined; readonly error: unknown },
  ): Promise<void> {
    const { memory, clock, recorder } = this.#options;
    const message = messageOf(error);
    const reason = error instanceof ContainerConfigError ? "CreateContainerConfigError" : step;
    memory.couldNotStart(name, { reason, message, error }, clock.now());
    if (step !== "PostStartHookError" || id === undefined) {
      tellContainer(recorder, pod, name, { type: "Warning", reason: "Failed", message: `Error: ${message}` });
      return;
    }
    // What went wrong is not told: it may be secret.
    tellContainer(recorder, pod, name, { type: "Warning", reason: "FailedPostStartHook", message: "PostStartHook failed" });
    tellContainer(recorder, pod, name, { type: "Normal", reason: "Killing", message: "FailedPostStartHook" });
    await this.#kill(pod, id);
  }

  async #kill(pod: Pod, id: string): Promise<void> {
    const { runtime, log } = this.#options;
    try {
      await runtime.stopContainer(id, Math.max(GRACE_MIN_MS, stopGraceMs(pod)));
    } catch (error) {
      log.warn("Cannot stop a container whose hook failed", { container: id, error });
    }
  }

  async #create(pod: Pod, { container, attempt }: StartAction, sandbox: SandboxStatus, imageId: string): Promise<string> {
    const { runtime, memory, recorder } = this.#options;
    const config: ContainerConfig = { pod, container, attempt, imageId };
    const id = await runtime.createContainer(sandbox.id, { ...config, ...(await this.#runOf(config, sandbox)) });
    if (runtime.updateContainer !== undefined) memory.granted.set(id, container.resources ?? {});
    tellContainer(recorder, pod, container.name, { type: "Normal", reason: "Created", message: "Container created" });
    return id;
  }

  /** What it comes to on this machine, if there is one. */
  async #runOf(
    { pod, container, attempt, imageId }: ContainerConfig,
    sandbox: SandboxStatus,
  ): Promise<Pick<ContainerConfig, "run" | "sandboxRun">> {
    const { machine, hostIps } = this.#options;
    if (machine === undefined) return {};
    const podIps = pod.spec?.hostNetwork === true ? hostIps : sandbox.ips;
    const target = targetOf(container, sandbox);
    const place = { attempt, podIps, imageId, ...(target === undefined ? {} : { targetContainerId: target }) };
    const run = await machine.container(pod, container, place);
    return { run, sandboxRun: await machine.sandbox(pod) };
  }

  /** Gives a running container more or less to use. What fails is remembered. */
  async resize(pod: Pod, { id, container }: { readonly id: string; readonly container: Container }, sandbox: SandboxStatus): Promise<void> {
    const { runtime, memory, clock, log } = this.#options;
    const { attempt = 0, imageId = "" } = newestContainer(sandbox, container.name) ?? {};
    try {
      const { run } = await this.#runOf({ pod, container, attempt, imageId }, sandbox);
      if (run !== undefined) await this.#checkMemory(pod, { id, container, limitBytes: run.resources.memoryLimitBytes });
      // What holds it must not be smaller than it is, at no moment: one that grows comes second, one that shrinks first.
      await this.#resizePod(pod);
      if (run !== undefined) await runtime.updateContainer?.(id, run.resources);
      await this.#resizePod(pod);
      memory.granted.set(id, container.resources ?? {});
    } catch (error) {
      log.warn("Cannot resize a container", { pod: `${pod.metadata.namespace}/${pod.metadata.name}`, container: container.name, error });
      memory.couldNotResize(messageOf(error), clock.now());
    }
  }

  /** Rejects if it uses more than it is to have: some kernels would kill it, and none says so as well. */
  async #checkMemory(pod: Pod, { id, container, limitBytes }: MemoryLimit): Promise<void> {
    const { runtime, memory } = this.#options;
    const before = memory.granted.get(id)?.limits?.["memory"] ?? memory.grantedPod?.limits?.["memory"];
    if (!isMemoryDecreased(before, limitBytes)) return;
    const [stats] = (await runtime.stats?.(pod.metadata.uid)) ?? [];
    const usageBytes = stats?.containers.find((one) => one.id === id)?.memoryUsageBytes;
    const error = memoryDecreaseError({ name: container.name, limitBytes, usageBytes });
    if (error !== undefined) throw new Error(error);
  }

  /** The same for the Pod as a whole, once all of its containers are well. */
  async resizePod(pod: Pod): Promise<void> {
    const { machine, memory, clock, log } = this.#options;
    if (memory.resizeRetryAtMs !== undefined && memory.resizeRetryAtMs > clock.now()) return;
    try {
      await machine?.resize(pod);
      memory.grantedPod = pod.spec?.resources ?? {};
    } catch (error) {
      log.warn("Cannot resize a Pod", { pod: `${pod.metadata.namespace}/${pod.metadata.name}`, error });
      memory.couldNotResize(messageOf(error), clock.now());
    }
  }

  /** While another container still has more than the whole is to have, it fails: with that one it is tried again. */
  async #resizePod(pod: Pod): Promise<void> {
    const { machine, log } = this.#options;
    await machine?.resize(pod).catch((error: unknown) => log.debug("Cannot resize a Pod yet", { pod: pod.metadata.name, error }));
  }

  async #runPostStart(
    pod: Pod,
    container: Container | EphemeralContainer,
    containerId: string,
    { sandbox, start }: { readonly sandbox: SandboxStatus; readonly start: Start },
  ): Promise<void> {
    const { runtime, machine, clock, hostIps } = this.#options;
    const handler = container.lifecycle?.postStart;
    // Simulated containers have no hooks after their start.
    if (handler === undefined || runtime.probes !== "kubelet") return;
    const podIp = pod.spec?.hostNetwork === true ? hostIps[0] : sandbox.ips[0];
    await runHook(handler, { pod, container, containerId, podIp }, { runtime, actions: machine?.probes, clock }, start.signal());
  }
}

interface MemoryLimit {
  readonly id: string;
  readonly container: Container;
  readonly limitBytes: number | undefined;
}

/** Whom an ephemeral container looks into. */
function targetOf(container: Container | EphemeralContainer, sandbox: SandboxStatus): string | undefined {
  const name = "targetContainerName" in container ? (container.targetContainerName ?? "") : "";
  if (name === "") return undefined;
  const known = newestContainer(sandbox, name);
  if (known === undefined || !isRunning(known)) throw new ContainerConfigError(`unable to find target container ${name}`);
  return known.id;
}

function newStart(): Start {
  let resolve = (): void => undefined;
  const givenUp = new Promise<void>((done) => (resolve = done));
  // Made only for those that listen: most starts are over before anybody could give them up.
  let controller: AbortController | undefined;
  const start: Start = {
    isGivenUp: false,
    givenUp,
    giveUp() {
      start.isGivenUp = true;
      controller?.abort(NOT_NEEDED);
      resolve();
    },
    signal() {
      controller ??= new AbortController();
      if (start.isGivenUp) controller.abort(NOT_NEEDED);
      return controller.signal;
    },
  };
  return start;
}
