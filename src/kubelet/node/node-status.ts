/**
 * Maintains the Node object of this kubelet: creates it or corrects an existing one, then writes its status when it changed, and otherwise
 * every five minutes. It is checked with each lease renewal, so that an idle node has a single timer. Events have upstream's messages. Not
 * here: the contents of a Node (node-object.ts), the lease (node-lease.ts).
 */
import type { Node } from "../../api/generated/core/v1.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { readyCondition } from "../../api/core/v1/node/health.ts";
import { causedBy, type Cause } from "../../api/machinery/cause.ts";
import { compareResourceVersions } from "../../api/machinery/resource-version.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { exponentialDelayMs } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import { deepEqual } from "../../base/deep.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { Client } from "../../client/client.ts";
import type { EventRecorder, RecordedEvent } from "../../client/events/event-recorder.ts";
import type { NodeFacts } from "./node-facts.ts";
import type { PressureCondition } from "../eviction/signals.ts";
import { changedPressures, hasStatusChanged, metadataPatch, newNode, nodeStatus, type NodeDescription } from "./node-object.ts";
import type { PodMachine } from "../contracts/pod-machine.ts";
import type { Image, Runtime } from "../contracts/runtime.ts";
import type { NodeFailures } from "./shared-failures.ts";

/** Upstream's --node-status-report-frequency. */
const REPORT_EVERY_MS = 300_000;
/** Attempts per status before the next heartbeat: another client may be writing at the same time. */
const TRIES_MAX = 5;
/** Upstream's backoff of registration attempts. */
const REGISTER_RETRY_DELAY = { minMs: 200, maxMs: 7_000 };
const REGISTER_FAILURE = "Cannot register the node";

/** Reasons with which the server rejects the Node for good. */
const FINAL_REASONS = ["Invalid", "BadRequest", "Forbidden"] as const;

export interface NodeStatusManagerOptions {
  readonly nodeName: string;
  readonly facts: NodeFacts;
  readonly client: Client;
  readonly runtime: Runtime;
  readonly machine?: Pick<PodMachine, "volumesInUse"> | undefined;
  readonly recorder: EventRecorder;
  /** The Node from an informer, if there is one. */
  readonly shownNode: () => Node | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly failures: NodeFailures;
}

export class NodeStatusManager {
  readonly #options: NodeStatusManagerOptions;
  /** The newest answer of the server. */
  #answered: Node | undefined;
  /** The version that was last found correct: it is not checked again. */
  #checked: Node | undefined;
  #reportAtMs = 0;
  #images: readonly Image[] = [];
  #areImagesOld = true;
  #isUnschedulable = false;
  #trouble: string | undefined;
  #pressure: readonly PressureCondition[] = [];
  /** The report that runs, and the one that begins after it. */
  #reporting: Promise<void> = Promise.resolve();
  #nextReport: Promise<void> | undefined;

  constructor(options: NodeStatusManagerOptions) {
    this.#options = options;
  }

  /** The newest known version; undefined if it does not exist. */
  get node(): Node | undefined {
    const shown = this.#options.shownNode();
    if (shown === undefined || this.#answered === undefined) return shown ?? this.#answered;
    const { uid, resourceVersion = "0" } = shown.metadata;
    // Another Node of this name: the informer is newer.
    if (uid !== this.#answered.metadata.uid) return shown;
    return compareResourceVersions(resourceVersion, this.#answered.metadata.resourceVersion ?? "0") >= 0 ? shown : this.#answered;
  }

  /** True while Pods cannot run; it is then checked more often. */
  get hasTrouble(): boolean {
    return this.#trouble !== undefined;
  }

  /** A changed pressure is written at once, so that no Pod is scheduled to the node. */
  setPressure(conditions: readonly PressureCondition[]): void {
    if (deepEqual(conditions, this.#pressure)) return;
    this.#pressure = conditions;
    this.#checked = undefined;
    // Never rejects.
    void this.reportVolumesInUse();
  }

  /** Images were pulled or removed: the next check lists them. */
  imagesChanged(): void {
    this.#areImagesOld = true;
  }

  /** Retries until the Node exists. Rejects only with the signal, or if the server rejects the Node as invalid. */
  async register(signal: AbortSignal): Promise<void> {
    const { clock, failures, nodeName } = this.#options;
    for (let attempt = 0; ; attempt++) {
      try {
        await this.#observeRuntime();
        await this.#tryRegister();
        failures.succeeded(REGISTER_FAILURE, nodeName);
        return;
      } catch (error) {
        signal.throwIfAborted();
        // Retrying does not help: the configuration of the node has to be changed.
        if (FINAL_REASONS.some((reason) => isReason(error, reason))) throw error;
        failures.failed(REGISTER_FAILURE, nodeName, error);
      }
      await clock.sleep(exponentialDelayMs(REGISTER_RETRY_DELAY, attempt), signal);
    }
  }

  /** Continues with the Node that the informer shows, as if this process had written it; false if it does not exist. */
  resume(): boolean {
    const node = this.#options.shownNode();
    if (node === undefined) return false;
    this.#answered = node;
    this.#isUnschedulable = node.spec?.unschedulable === true;
    this.#wasWritten({ isChange: true });
    return true;
  }

  /** Writes the status if it is due. Never rejects: the next heartbeat retries. */
  async sync(): Promise<void> {
    const { clock, log, nodeName } = this.#options;
    try {
      await this.#observeRuntime();
      const node = this.node;
      if (node !== undefined) this.#recordSchedulable(node);
      const isShown = this.#options.shownNode() !== undefined;
      const isSame = node === this.#checked && !this.#areImagesOld && !this.#haveVolumesChanged(node);
      if (isShown && isSame && clock.monotonic() < this.#reportAtMs) return;
      await this.#lookAtImages();
      await this.#write();
    } catch (error) {
      // The Node was deleted. As upstream, a kubelet registers only when it starts.
      if (isReason(error, "NotFound")) this.#answered = undefined;
      log.warn("Cannot write the status of the node", { node: nodeName, error });
    }
  }

  /** Writes the volumes in use; resolves with those that the Node shows now. Calls that arrive during a write share the next one. */
  async reportVolumesInUse(): Promise<readonly string[]> {
    this.#nextReport ??= this.#reporting.then(() => {
      this.#nextReport = undefined;
      this.#reporting = this.sync();
      return this.#reporting;
    });
    await this.#nextReport;
    return this.node?.status?.volumesInUse ?? [];
  }

  #haveVolumesChanged(node: Node | undefined): boolean {
    const used = this.#options.machine?.volumesInUse();
    return used !== undefined && !deepEqual(used, node?.status?.volumesInUse ?? []);
  }

  async #tryRegister(): Promise<void> {
    const { client, clock, nodeName } = this.#options;
    await this.#lookAtImages();
    try {
      const write = client.with({ cause: causeOf({ metadata: { name: nodeName } }, "Registering") });
      this.#answered = await write.create(nodes, newNode(this.#description(), clock.now()));
      this.#record("Starting", "Starting kubelet.");
      this.#recordConditions(undefined, this.#answered);
      this.#wasWritten({ isChange: true });
    } catch (error) {
      if (!isReason(error, "AlreadyExists")) throw error;
      await this.#takeOver();
    }
  }

  /** It exists: created by an earlier process of this kubelet or by another client. */
  async #takeOver(): Promise<void> {
    const { client, nodeName } = this.#options;
    const key = { name: nodeName };
    this.#answered = await client.get(nodes, key);
    const patch = metadataPatch(this.#answered, this.#description());
    if (patch !== undefined) {
      const write = client.with({ cause: causeOf(this.#answered, "Registering") });
      this.#answered = await write.patch(nodes, key, { type: "merge", value: patch });
    }
    this.#isUnschedulable = this.#answered.spec?.unschedulable === true;
    this.#record("Starting", "Starting kubelet.");
    this.#reportAtMs = 0;
    await this.#write();
  }

  /** Writes the status if it changed or is due. */
  async #write(): Promise<void> {
    const { client, clock, nodeName } = this.#options;
    for (let tries = 1; ; tries++) {
      // A Node that the informer does not show may have been deleted.
      const shown = tries === 1 && this.#options.shownNode() !== undefined ? this.node : undefined;
      const node = shown ?? (await client.get(nodes, { name: nodeName }));
      const status = nodeStatus(node.status, this.#description(), clock.now());
      const isChange = hasStatusChanged(node.status, status);
      if (!isChange && clock.monotonic() < this.#reportAtMs) {
        this.#checked = node;
        return;
      }
      try {
        this.#answered = await client.with({ cause: causeOf(node, "ReportingStatus") }).updateStatus(nodes, { ...node, status });
        this.#recordConditions(node, this.#answered);
        this.#wasWritten({ isChange });
        return;
      } catch (error) {
        if (!isReason(error, "Conflict") || tries === TRIES_MAX) throw error;
      }
    }
  }

  /** After a change the next report has jitter, so that nodes that changed together do not report together for good. */
  #wasWritten({ isChange }: { readonly isChange: boolean }): void {
    const { clock, random } = this.#options;
    const delay = isChange ? random.fraction() - 0.5 : 0;
    this.#reportAtMs = clock.monotonic() + REPORT_EVERY_MS * (1 + delay);
    this.#checked = this.#answered;
  }

  #description(): NodeDescription {
    const { nodeName, facts, runtime } = this.#options;
    const volumesInUse = this.#options.machine?.volumesInUse();
    const { version: runtimeVersion, features } = runtime;
    return {
      name: nodeName,
      facts,
      runtimeVersion,
      features,
      images: this.#images,
      trouble: this.#trouble,
      pressure: this.#pressure,
      volumesInUse,
    };
  }

  /** Keeps the known images if the runtime does not respond. */
  async #lookAtImages(): Promise<void> {
    if (!this.#areImagesOld || this.#trouble !== undefined) return;
    this.#areImagesOld = false;
    this.#images = await this.#options.runtime.images();
  }

  /** A runtime that does not respond makes the node not ready. */
  async #observeRuntime(): Promise<void> {
    const { runtime, log, nodeName } = this.#options;
    const [before, features] = [this.#trouble, runtime.features];
    try {
      await runtime.status("");
      this.#trouble = await runtime.notReadyReason?.();
    } catch (error) {
      // Upstream's message, which is constant; the error is logged.
      this.#trouble = "container runtime is down";
      if (before !== this.#trouble) log.warn("The container runtime does not respond", { node: nodeName, error });
    }
    if (before !== this.#trouble || !deepEqual(features, runtime.features)) this.#checked = undefined;
  }

  // ── events ────────────────────────────────────────────────────────────────────────────────────────

  #record(reason: string, message: string): void {
    this.record({ type: "Normal", reason, message });
  }

  /** An Event about the Node. */
  record(event: RecordedEvent): void {
    const { recorder, nodeName } = this.#options;
    // As upstream, the name serves as uid: events may be recorded before the Node exists.
    recorder.record({ apiVersion: "v1", kind: "Node", metadata: { name: nodeName, uid: nodeName } }, event);
  }

  #recordStatus(reason: string): void {
    this.#record(reason, `Node ${this.#options.nodeName} status is now: ${reason}`);
  }

  /** Records only changes; a new node records its conditions. */
  #recordConditions(before: Node | undefined, after: Node): void {
    if (before !== undefined) for (const reason of changedPressures(before, after)) this.#recordStatus(reason);
    const [was, is] = [before === undefined ? undefined : readyCondition(before)?.status, readyCondition(after)?.status];
    if (was === is) return;
    if (before === undefined) for (const reason of SUFFICIENT) this.#recordStatus(reason);
    this.#recordStatus(is === "True" ? "NodeReady" : "NodeNotReady");
  }

  #recordSchedulable({ spec }: Node): void {
    const isUnschedulable = spec?.unschedulable === true;
    if (isUnschedulable === this.#isUnschedulable) return;
    this.#isUnschedulable = isUnschedulable;
    this.#recordStatus(isUnschedulable ? "NodeNotSchedulable" : "NodeSchedulable");
  }
}

const SUFFICIENT = ["NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID"];

/** Cause of a write: the version of the Node that the kubelet decided on; none for a registration. */
function causeOf({ metadata }: Pick<Node, "metadata">, reason: string): Cause {
  return causedBy({ controller: "kubelet", reason, kind: nodes, object: { apiVersion: "v1", kind: "Node", metadata } });
}
