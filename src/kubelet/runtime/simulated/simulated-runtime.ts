/**
 * The runtime of a node without real containers: its Pods follow scripts (script.ts), which come from rules of the cluster and annotations
 * of the Pods (pod-script.ts). It stores only operations and their timestamps; the state follows from these and the current time
 * (state.ts), and is recovered from the status of the Pods (recovery.ts).
 *
 * `watch` reports only scripted changes. A container that is ready as soon as it is started is so when `startContainer` resolves, without a
 * notification: the caller checks. One that exits as soon as it is started is reported.
 */
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { Clock } from "../../../base/clock.ts";
import {
  RuntimeError,
  type ContainerConfig,
  type ExecStreams,
  type Image,
  type LogLine,
  type ContainerStats,
  type LogOptions,
  type PodStats,
  type Runtime,
  type SandboxStatus,
  type UsageStats,
} from "../../contracts/runtime.ts";
import { Addresses, defaultPodCidr } from "./addresses.ts";
import type { Alarms } from "./alarms.ts";
import { SimulatedContainer, type ContainerOwner } from "./container.ts";
import { containerId, sandboxId } from "./identity.ts";
import { NodeUsage } from "./node-usage.ts";
import { checkScripts, containersOf, scriptFor } from "./pod-script.ts";
import { recoverPod, scriptOfPast } from "./recovery.ts";
import type { ImagePull } from "./settings.ts";
import type { Simulation } from "./simulation.ts";

/** Marks a Node whose Pods are simulated. */
export const SIMULATED_VERSION = "simulated://1.0.0";

export interface SimulatedRuntimeOptions {
  readonly simulation: Simulation;
  /** The node's name. */
  readonly node: string;
  /** The node's current `spec.podCIDRs`. While it is empty, Pods get addresses of `defaultPodCidr(nodeIndex)`. */
  readonly podCidrs?: () => readonly string[];
  /** Unique among the nodes of the cluster. Default 0. */
  readonly nodeIndex?: number;
  /** True if the machine was off since its Pods were last seen: their containers have exited. */
  readonly wasPoweredOff?: boolean;
}

export function simulatedRuntime(options: SimulatedRuntimeOptions): Runtime {
  return new SimulatedRuntime(options);
}

interface Sandbox {
  readonly id: string;
  readonly podUid: string;
  readonly namespace: string;
  readonly name: string;
  createdAtMs: number;
  state: "ready" | "not-ready";
  ips: readonly string[];
  /** Newest first. */
  containers: readonly SimulatedContainer[];
}

class SimulatedRuntime implements Runtime, ContainerOwner {
  readonly version = SIMULATED_VERSION;
  readonly probes = "runtime";
  readonly clock: Clock;
  readonly alarms: Alarms;
  readonly #simulation: Simulation;
  readonly #node: string;
  readonly #podCidrs: () => readonly string[];
  readonly #addresses = new Addresses();
  /** By its id, and by the uid of its Pod, which has one at most. */
  readonly #sandboxes = new Map<string, Sandbox>();
  readonly #sandboxOfPod = new Map<string, Sandbox>();
  readonly #containers = new Map<string, SimulatedContainer>();
  /** By id. */
  readonly #images = new Map<string, Image>();
  readonly #listeners = new Set<(podUid: string) => void>();
  /** Cancels image pulls in progress when the runtime stops. */
  readonly #pulls = new Set<() => void>();
  readonly #usage = new NodeUsage();
  readonly #wasPoweredOff: boolean;
  #isOver = false;

  constructor({ simulation, node, podCidrs = () => [], nodeIndex = 0, wasPoweredOff = false }: SimulatedRuntimeOptions) {
    this.#wasPoweredOff = wasPoweredOff;
    this.clock = simulation.clock;
    this.alarms = simulation.alarms;
    this.#simulation = simulation;
    this.#node = node;
    this.#podCidrs = () => {
      const given = podCidrs();
      return given.length > 0 ? given : [defaultPodCidr(nodeIndex)];
    };
  }

  recover(pods: readonly Pod[]): void {
    for (const pod of pods) {
      const found = recoverPod(pod, this.#simulation.rules);
      if (found === undefined) continue;
      const sandbox = newSandbox(pod);
      sandbox.createdAtMs = found.createdAtMs;
      // Of two Pods with one address the second has lost its network, and gets another one when it is run again.
      if (found.isReady && this.#addresses.claim(found.ips)) {
        sandbox.ips = found.ips;
        sandbox.state = "ready";
      }
      sandbox.containers = found.containers.map(({ facts, script, life }) => new SimulatedContainer(facts, script, this, { life }));
      for (const { facts } of sandbox.containers) this.#keepImage(facts.image);
      for (const container of sandbox.containers) this.#containers.set(container.facts.id, container);
      this.#add(sandbox);
      if (this.#wasPoweredOff) this.#stop(sandbox);
    }
  }

  update(pod: Pod): void {
    const { containers = [] } = this.#sandboxOfPod.get(pod.metadata.uid ?? "") ?? {};
    for (const container of containers) container.follow(scriptOfPast(pod, container.facts, this.#simulation.rules));
  }

  // ── sandboxes ─────────────────────────────────────────────────────────────────────────────────────

  async list(): Promise<readonly SandboxStatus[]> {
    return Array.from(this.#sandboxes.values(), statusOf);
  }

  async status(podUid: string): Promise<SandboxStatus | undefined> {
    const sandbox = this.#sandboxOfPod.get(podUid);
    return sandbox && statusOf(sandbox);
  }

  /** A stopped sandbox becomes ready again and keeps its exited containers: so their attempts continue. */
  async runSandbox(pod: Pod): Promise<SandboxStatus> {
    this.#mustNotBeOver();
    const sandbox = this.#sandboxOfPod.get(uidOf(pod)) ?? newSandbox(pod);
    if (sandbox.state === "ready") return statusOf(sandbox);
    checkScripts(pod, this.#simulation.rules);
    if (pod.spec?.hostNetwork !== true) sandbox.ips = this.#addresses.take(this.#podCidrs());
    sandbox.createdAtMs = this.clock.now();
    sandbox.state = "ready";
    this.#add(sandbox);
    return statusOf(sandbox);
  }

  async stopSandbox(id: string): Promise<void> {
    const sandbox = this.#sandboxes.get(id);
    if (sandbox !== undefined) this.#stop(sandbox);
  }

  #stop(sandbox: Sandbox): void {
    for (const container of sandbox.containers) container.kill();
    this.#addresses.release(sandbox.ips);
    sandbox.ips = [];
    sandbox.state = "not-ready";
  }

  async removeSandbox(id: string): Promise<void> {
    const sandbox = this.#sandboxes.get(id);
    if (sandbox === undefined) return;
    await this.stopSandbox(id);
    for (const container of sandbox.containers) this.#forget(container);
    this.#sandboxes.delete(id);
    this.#sandboxOfPod.delete(sandbox.podUid);
  }

  #add(sandbox: Sandbox): void {
    this.#sandboxes.set(sandbox.id, sandbox);
    this.#sandboxOfPod.set(sandbox.podUid, sandbox);
  }

  // ── containers ────────────────────────────────────────────────────────────────────────────────────

  async createContainer(id: string, { pod, container: { name, image = "" }, attempt, imageId }: ContainerConfig): Promise<string> {
    this.#mustNotBeOver();
    const sandbox = this.#sandboxes.get(id);
    if (sandbox === undefined) throw new RuntimeError("NotFound", `Cannot create container ${name}: sandbox ${id} does not exist`);
    if (sandbox.state !== "ready") throw new RuntimeError("CannotRun", `Cannot create container ${name}: sandbox ${id} is stopped`);
    const { podUid } = sandbox;
    const known = sandbox.containers.find(({ facts }) => facts.name === name && facts.attempt === attempt);
    if (known !== undefined) return known.facts.id;
    const createdAtMs = this.clock.now();
    const facts = { id: containerId({ podUid, name, attempt, createdAtMs }), podUid, name, attempt, image, imageId, createdAtMs };
    const container = new SimulatedContainer(facts, scriptFor(pod, { name, image }, this.#simulation.rules), this);
    sandbox.containers = [container, ...sandbox.containers];
    this.#containers.set(facts.id, container);
    return facts.id;
  }

  async startContainer(id: string): Promise<void> {
    await this.#container(id, "start").start();
  }

  async stopContainer(id: string, graceMs: number): Promise<void> {
    await this.#containers.get(id)?.stop(graceMs);
  }

  async removeContainer(id: string): Promise<void> {
    const container = this.#containers.get(id);
    if (container === undefined) return;
    const sandbox = this.#sandboxOfPod.get(container.facts.podUid);
    if (sandbox !== undefined) sandbox.containers = sandbox.containers.filter((other) => other !== container);
    this.#forget(container);
  }

  async *logs(containerId: string, options: LogOptions, signal: AbortSignal): AsyncGenerator<LogLine> {
    yield* this.#container(containerId, "read the log of").logs(options, signal);
  }

  async exec(containerId: string, command: readonly string[], streams: ExecStreams, signal: AbortSignal): Promise<number> {
    return await this.#container(containerId, "run a command in").exec(command, streams, signal);
  }

  #container(id: string, action: string): SimulatedContainer {
    const container = this.#containers.get(id);
    if (container === undefined)
      throw new RuntimeError("NotFound", `Cannot ${action} container ${id}: it does not exist on node ${this.#node}`);
    return container;
  }

  #forget(container: SimulatedContainer): void {
    this.#containers.delete(container.facts.id);
    container.leave(new RuntimeError("NotFound", `Container ${container.facts.id} was removed`));
  }

  // ── resource usage ────────────────────────────────────────────────────────────────────────────────

  async stats(podUid?: string): Promise<readonly PodStats[]> {
    const sandbox = podUid === undefined ? undefined : this.#sandboxOfPod.get(podUid);
    const sandboxes = podUid === undefined ? [...this.#sandboxes.values()] : sandbox === undefined ? [] : [sandbox];
    return sandboxes.map((one) => ({ podUid: one.podUid, namespace: one.namespace, name: one.name, containers: runningStats(one) }));
  }

  async nodeStats(): Promise<UsageStats> {
    return this.#usage.at(this.clock.now(), [...this.#sandboxes.values()].flatMap(runningStats));
  }

  // ── images ────────────────────────────────────────────────────────────────────────────────────────

  async imageStatus(image: string): Promise<Image | undefined> {
    const id = this.#simulation.imageOf(image)?.id;
    return id === undefined ? undefined : this.#images.get(id);
  }

  async pullImage(image: string, pod: Pod): Promise<string> {
    this.#mustNotBeOver();
    const pull = this.#pullOf(image, pod);
    if (pull?.is === "fails") throw new RuntimeError("ImagePull", `Cannot pull image "${image}": ${pull.message}`);
    if (pull !== undefined && pull.durationMs > 0) await this.#pulling(pull.durationMs);
    const kept = this.#keepImage(image);
    if (kept === undefined)
      throw new RuntimeError("InvalidImage", `Cannot pull image "${image}": it should be a reference such as nginx:1.27`);
    return kept.id;
  }

  /** As defined by the first container of the Pod with this image. */
  #pullOf(image: string, pod: Pod): ImagePull | undefined {
    for (const container of containersOf(pod)) {
      if (this.#isSameImage(container.image, image)) return scriptFor(pod, container, this.#simulation.rules).imagePull;
    }
    return undefined;
  }

  /** Also if one of them got the default tag. */
  #isSameImage(a: string | undefined, b: string): boolean {
    if (a === undefined || a === b) return a === b;
    const id = this.#simulation.imageOf(a)?.id;
    return id !== undefined && id === this.#simulation.imageOf(b)?.id;
  }

  #pulling(durationMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const pulled = this.alarms.at(this.clock.now() + durationMs, () => {
        this.#pulls.delete(stop);
        resolve();
      });
      const stop = (): void => {
        this.alarms.cancel(pulled);
        reject(this.#overError());
      };
      this.#pulls.add(stop);
    });
  }

  #keepImage(reference: string): Image | undefined {
    const image = this.#simulation.imageOf(reference);
    if (image !== undefined) this.#images.set(image.id, image);
    return image;
  }

  async images(): Promise<readonly Image[]> {
    return [...this.#images.values()];
  }

  async removeImage(image: string): Promise<void> {
    const id = this.#simulation.imageOf(image)?.id;
    if (id !== undefined) this.#images.delete(id);
  }

  // ── scripted changes ──────────────────────────────────────────────────────────────────────────────

  watch(listener: (podUid: string) => void): Disposable {
    // A new function each time, so that a listener registered twice counts as two.
    const reported = (podUid: string): void => listener(podUid);
    this.#listeners.add(reported);
    return { [Symbol.dispose]: () => void this.#listeners.delete(reported) };
  }

  changed(podUid: string): void {
    for (const listener of this.#listeners) listener(podUid);
  }

  /** Stops all activity and rejects all waiters. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    this.#listeners.clear();
    for (const stop of this.#pulls) stop();
    this.#pulls.clear();
    for (const container of this.#containers.values()) container.leave(this.#overError());
  }

  #mustNotBeOver(): void {
    if (this.#isOver) throw this.#overError();
  }

  #overError(): RuntimeError {
    return new RuntimeError("Unavailable", `The simulated runtime of node ${this.#node} was stopped`);
  }
}

function runningStats({ containers }: Sandbox): readonly ContainerStats[] {
  return containers.flatMap((container) => container.stats() ?? []);
}

function uidOf({ metadata }: Pod): string {
  const { uid, namespace, name } = metadata;
  if (uid === undefined) throw new RuntimeError("CannotRun", `Cannot run Pod ${namespace}/${name}: it has no uid`);
  return uid;
}

function newSandbox(pod: Pod): Sandbox {
  const podUid = uidOf(pod);
  const { namespace = "", name } = pod.metadata;
  return { id: sandboxId(podUid), podUid, namespace, name, createdAtMs: 0, state: "not-ready", ips: [], containers: [] };
}

function statusOf({ containers, ...sandbox }: Sandbox): SandboxStatus {
  return { ...sandbox, containers: containers.map((container) => container.status()) };
}
