/**
 * Starts containers: image, container, process, postStart hook. Failures are stored for the next plan and recorded as Events, never thrown.
 * A slow start continues in the background and can be cancelled.
 */
import type { Container, EphemeralContainer, Pod } from "../../../api/generated/core/v1.ts";
import { NOT_NEEDED } from "../../../base/abort.ts";
import type { Logger } from "../../../base/logger.ts";
import { ensureImage, type ImageOptions, type Wanting } from "../../images/ensure-image.ts";
import { runHook } from "./lifecycle-hooks.ts";
import type { KubeletMetrics } from "../../kubelet-metrics.ts";
import { isMemoryDecreased, memoryDecreaseError } from "../../resize/memory-decrease.ts";
import { GRACE_MIN_MS, stopGraceMs } from "../../shared/grace-period.ts";
import { ContainerConfigError, PodNetworkError } from "../../contracts/pod-machine.ts";
import type { StartAction } from "../plan/plan-contract.ts";
import type { ContainerConfig, SandboxStatus } from "../../contracts/runtime.ts";
import { isRunning, newestContainer } from "./runtime-containers.ts";
import { definitionOf, messageOf, recordContainerEvent } from "../pod-events.ts";

export interface ContainerStartsOptions extends ImageOptions {
  /** IPs of the node, for Pods with hostNetwork. */
  readonly hostIps: readonly string[];
  readonly log: Logger;
  /** Absent: no metrics are collected. */
  readonly metrics?: KubeletMetrics | undefined;
}

/** A start in progress. */
interface Start extends Wanting {
  /** Cancelled: its result is ignored. */
  isGivenUp: boolean;
  giveUp(): void;
  /** Id of the container, once it is created. */
  id?: string;
}

/** The step at which a start failed, as the reason of the container's waiting state. */
type FailedStep = "CreateContainerConfigError" | "CreateContainerError" | "RunContainerError" | "PostStartHookError";

/** Upstream's messages for them. */
const CONTAINER_TYPES = { init: "init_container", regular: "container", ephemeral: "ephemeral_container" } as const;

export class ContainerStarts {
  readonly #options: ContainerStartsOptions;
  readonly #starts = new Set<Start>();
  /** Includes cancelled starts until they have settled. */
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: ContainerStartsOptions) {
    this.#options = options;
  }

  /** Resolves when the start has settled. Never rejects. */
  begin(pod: Pod, action: StartAction, sandbox: SandboxStatus): Promise<void> {
    const work = this.#begin(pod, action, sandbox).finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
    return work;
  }

  /** Cancels all starts and stops containers that they created. */
  cancel(): void {
    const { runtime, log } = this.#options;
    for (const { id } of this.#forget()) {
      if (id === undefined) continue;
      runtime.stopContainer(id, 0).catch((error: unknown) => log.warn("Cannot stop a container", { container: id, error }));
    }
  }

  /** Ignores the results of all starts. */
  forget(): void {
    this.#forget();
  }

  /** Resolves when no start is in progress. */
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
    if (endedAtMs !== undefined) memory.restarts(container, { endedAtMs, nowMs: clock.now() });
    const imageId = action.madeId === undefined ? await ensureImage(pod, container, start, this.#options) : "";
    if (imageId === undefined || start.isGivenUp) return;
    let step: FailedStep = "CreateContainerError";
    try {
      start.id = action.madeId ?? (await this.#create(pod, action, sandbox, imageId));
      if (start.isGivenUp) return;
      step = "RunContainerError";
      await runtime.startContainer(start.id);
      if (start.isGivenUp) return;
      recordContainerEvent(recorder, pod, container.name, { type: "Normal", reason: "Started", message: "Container started" });
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
    if (error instanceof PodNetworkError) {
      memory.couldNotStart(name, { reason: "ContainerCreating", message, error }, clock.now());
      recorder.record(pod, { type: "Warning", reason: "FailedCreatePodSandBox", message: `Failed to create pod sandbox: ${message}` });
      return;
    }
    const reason = error instanceof ContainerConfigError ? "CreateContainerConfigError" : step;
    memory.couldNotStart(name, { reason, message, error }, clock.now());
    if (step !== "PostStartHookError" || id === undefined) {
      recordContainerEvent(recorder, pod, name, { type: "Warning", reason: "Failed", message: `Error: ${message}` });
      return;
    }
    // The Event omits the error: it may contain a secret.
    recordContainerEvent(recorder, pod, name, { type: "Warning", reason: "FailedPostStartHook", message: "PostStartHook failed" });
    recordContainerEvent(recorder, pod, name, { type: "Normal", reason: "Killing", message: "FailedPostStartHook" });
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
    // A resize may be the reason of the restart, and the kernel refuses a container with more processor time than its Pod.
    if (attempt > 0) await this.#resizePod(pod);
    const id = await runtime.createContainer(sandbox.id, { ...config, ...(await this.#runOf(config, sandbox)) });
    if (runtime.updateContainer !== undefined) memory.grants(id, pod, container);
    recordContainerEvent(recorder, pod, container.name, { type: "Normal", reason: "Created", message: "Container created" });
    return id;
  }

  /** Resolved configuration on this machine, if there is one. */
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

  /** Changes the resources of a running container. A failure is stored for the next plan. */
  async resize(pod: Pod, { id, container }: { readonly id: string; readonly container: Container }, sandbox: SandboxStatus): Promise<void> {
    const { runtime, memory, clock, log } = this.#options;
    const { attempt = 0, imageId = "" } = newestContainer(sandbox, container.name) ?? {};
    try {
      const { run } = await this.#runOf({ pod, container, attempt, imageId }, sandbox);
      if (run !== undefined) await this.#checkMemory(pod, { id, container, limitBytes: run.resources.memoryLimitBytes });
      // The Pod's cgroup must never be smaller than the container's: it grows before the container and shrinks after it.
      await this.#resizePod(pod);
      if (run !== undefined) await runtime.updateContainer?.(id, run.resources);
      await this.#resizePod(pod);
      memory.grants(id, pod, container);
    } catch (error) {
      log.warn("Cannot resize a container", { pod: `${pod.metadata.namespace}/${pod.metadata.name}`, container: container.name, error });
      memory.couldNotResize(messageOf(error), clock.now());
    }
  }

  /** Rejects if the container uses more memory than the new limit: some kernels would kill it, and none reports the reason as clearly. */
  async #checkMemory(pod: Pod, { id, container, limitBytes }: MemoryLimit): Promise<void> {
    const { runtime, memory } = this.#options;
    const before = memory.granted.get(id)?.limits?.["memory"] ?? memory.grantedPod?.limits?.["memory"];
    if (!isMemoryDecreased(before, limitBytes)) return;
    const [stats] = (await runtime.stats?.(pod.metadata.uid)) ?? [];
    const usageBytes = stats?.containers.find((one) => one.id === id)?.memoryUsageBytes;
    const error = memoryDecreaseError({ name: container.name, limitBytes, usageBytes });
    if (error !== undefined) throw new Error(error);
  }

  /** The same for the Pod as a whole, after all of its containers. */
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

  /** Fails while another container still exceeds the new Pod limit; retried with that container. */
  async #resizePod(pod: Pod): Promise<void> {
    const { machine, log } = this.#options;
    await machine?.resize(pod).catch((error: unknown) => log.debug("Cannot resize a Pod yet; retrying", { pod: pod.metadata.name, error }));
  }

  async #runPostStart(
    pod: Pod,
    container: Container | EphemeralContainer,
    containerId: string,
    { sandbox, start }: { readonly sandbox: SandboxStatus; readonly start: Start },
  ): Promise<void> {
    const { runtime, machine, clock, hostIps } = this.#options;
    const handler = container.lifecycle?.postStart;
    // Simulated containers have no postStart hooks.
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

/** Target container of an ephemeral container. */
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
  // Allocated on demand: most starts complete before they could be cancelled.
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
