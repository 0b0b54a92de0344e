/**
 * Keeps the Node of this kubelet in the API: makes it, or sets right the one that is there, and then writes its status when something has
 * changed, and otherwise every five minutes. It looks when it is asked to (with each renewal of the lease), so that an idle node has one
 * timer and no more. Events in upstream's words. Not here: what a Node says (node-object.ts), the lease (node-lease.ts).
 */
import type { Node } from "../../api/generated/core/v1.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { readyCondition } from "../../api/core/v1/node/health.ts";
import { causedBy, type Cause } from "../../api/machinery/cause.ts";
import { compareResourceVersions } from "../../api/machinery/resource-version.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { exponentialDelayMs } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { Client } from "../../client/client.ts";
import type { EventRecorder } from "../../client/events/event-recorder.ts";
import type { NodeFacts } from "./node-facts.ts";
import { hasStatusChanged, metadataPatch, newNode, nodeStatus, type NodeDescription } from "./node-object.ts";
import type { Image, Runtime } from "../contracts/runtime.ts";
import type { Troubles } from "./shared-failures.ts";

/** Of upstream: --node-status-report-frequency. */
const REPORT_EVERY_MS = 300_000;
/** How often one status is tried before the next beat: somebody else may be writing at the same time. */
const TRIES_MAX = 5;
/** Upstream's delays between attempts to register. */
const REGISTER_AGAIN = { minMs: 200, maxMs: 7_000 };
const REGISTER_TROUBLE = "Cannot register the node";

/** Of a server that understood what it was asked and will not do it, however often. */
const FINAL_REASONS = ["Invalid", "BadRequest", "Forbidden"] as const;

export interface NodeKeeperOptions {
  readonly nodeName: string;
  readonly facts: NodeFacts;
  readonly client: Client;
  readonly runtime: Runtime;
  readonly recorder: EventRecorder;
  /** The Node as an informer shows it, if it does. */
  readonly shownNode: () => Node | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly troubles: Troubles;
}

export class NodeKeeper {
  readonly #options: NodeKeeperOptions;
  /** The newest that was answered. */
  #answered: Node | undefined;
  /** The one that was last found to be right: the same one is not looked at again. */
  #checked: Node | undefined;
  #reportAtMs = 0;
  #images: readonly Image[] = [];
  #areImagesOld = true;
  #isUnschedulable = false;
  #trouble: string | undefined;

  constructor(options: NodeKeeperOptions) {
    this.#options = options;
  }

  /** The newest that is known; undefined if it is not there, or not any more. */
  get node(): Node | undefined {
    const shown = this.#options.shownNode();
    if (shown === undefined || this.#answered === undefined) return shown ?? this.#answered;
    const { uid, resourceVersion = "0" } = shown.metadata;
    // Another one of this name: who shows it knows more.
    if (uid !== this.#answered.metadata.uid) return shown;
    return compareResourceVersions(resourceVersion, this.#answered.metadata.resourceVersion ?? "0") >= 0 ? shown : this.#answered;
  }

  /** Nothing can be run now, and somebody may be at work to change that. */
  get hasTrouble(): boolean {
    return this.#trouble !== undefined;
  }

  /** Images came or went: the next look tells which. */
  imagesChanged(): void {
    this.#areImagesOld = true;
  }

  /** Tries until it is there. Rejects only with the signal, or if the server finds that no such Node can be. */
  async register(signal: AbortSignal): Promise<void> {
    const { clock, troubles, nodeName } = this.#options;
    for (let failures = 0; ; failures++) {
      try {
        await this.#lookAtRuntime();
        await this.#tryRegister();
        troubles.succeeded(REGISTER_TROUBLE, nodeName);
        return;
      } catch (error) {
        signal.throwIfAborted();
        // What is wrong with it stays so: whoever said what the node is like is to be told.
        if (FINAL_REASONS.some((reason) => isReason(error, reason))) throw error;
        troubles.failed(REGISTER_TROUBLE, nodeName, error);
      }
      await clock.sleep(exponentialDelayMs(REGISTER_AGAIN, failures), signal);
    }
  }

  /** Writes the status if it is due. Never rejects: the next beat tries again. */
  async sync(): Promise<void> {
    const { clock, log, nodeName } = this.#options;
    try {
      await this.#lookAtRuntime();
      const node = this.node;
      if (node !== undefined) this.#tellSchedulable(node);
      const isShown = this.#options.shownNode() !== undefined;
      if (isShown && node === this.#checked && !this.#areImagesOld && clock.monotonic() < this.#reportAtMs) return;
      await this.#lookAtImages();
      await this.#write();
    } catch (error) {
      // Somebody deleted it. As upstream, a kubelet registers when it starts, and whoever wants the node back starts it again.
      if (isReason(error, "NotFound")) this.#answered = undefined;
      log.warn("Cannot write the status of the node", { node: nodeName, error });
    }
  }

  async #tryRegister(): Promise<void> {
    const { client, clock, nodeName } = this.#options;
    await this.#lookAtImages();
    try {
      const write = client.with({ cause: causeOf({ metadata: { name: nodeName } }, "Registering") });
      this.#answered = await write.create(nodes, newNode(this.#description(), clock.now()));
      this.#tell("Starting", "Starting kubelet.");
      this.#tellConditions(undefined, this.#answered);
      this.#wasWritten({ isChange: true });
    } catch (error) {
      if (!isReason(error, "AlreadyExists")) throw error;
      await this.#takeOver();
    }
  }

  /** There is one, made by this kubelet in an earlier life or by somebody else. */
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
    this.#tell("Starting", "Starting kubelet.");
    this.#reportAtMs = 0;
    await this.#write();
  }

  /** If it has changed, or is due. */
  async #write(): Promise<void> {
    const { client, clock, nodeName } = this.#options;
    for (let tries = 1; ; tries++) {
      // What is not shown may be gone.
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
        this.#tellConditions(node, this.#answered);
        this.#wasWritten({ isChange });
        return;
      } catch (error) {
        if (!isReason(error, "Conflict") || tries === TRIES_MAX) throw error;
      }
    }
  }

  /** After a change the next report comes at a time by chance, so that nodes that changed together do not report together for ever. */
  #wasWritten({ isChange }: { readonly isChange: boolean }): void {
    const { clock, random } = this.#options;
    const delay = isChange ? random.fraction() - 0.5 : 0;
    this.#reportAtMs = clock.monotonic() + REPORT_EVERY_MS * (1 + delay);
    this.#checked = this.#answered;
  }

  #description(): NodeDescription {
    const { nodeName, facts, runtime } = this.#options;
    return { name: nodeName, facts, runtimeVersion: runtime.version, images: this.#images, trouble: this.#trouble };
  }

  /** Of a runtime that does not answer, those that it had. */
  async #lookAtImages(): Promise<void> {
    if (!this.#areImagesOld || this.#trouble !== undefined) return;
    this.#areImagesOld = false;
    this.#images = await this.#options.runtime.images();
  }

  /** A runtime that does not answer makes the node not ready. */
  async #lookAtRuntime(): Promise<void> {
    const { runtime, log, nodeName } = this.#options;
    const before = this.#trouble;
    try {
      await runtime.status("");
      this.#trouble = await runtime.notReadyReason?.();
    } catch (error) {
      // Upstream's words, which stay the same while it is so; what else there is to know is for the log.
      this.#trouble = "container runtime is down";
      if (before !== this.#trouble) log.warn("The container runtime does not answer", { node: nodeName, error });
    }
    if (before !== this.#trouble) this.#checked = undefined;
  }

  // ── what people are told ──────────────────────────────────────────────────────────────────────────

  #tell(reason: string, message: string): void {
    const { recorder, nodeName } = this.#options;
    // As upstream: the uid is the name, since events may be told before the Node is there.
    recorder.record({ apiVersion: "v1", kind: "Node", metadata: { name: nodeName, uid: nodeName } }, { type: "Normal", reason, message });
  }

  #tellStatus(reason: string): void {
    this.#tell(reason, `Node ${this.#options.nodeName} status is now: ${reason}`);
  }

  /** Only what changed; a node that is new tells what it has. */
  #tellConditions(before: Node | undefined, after: Node): void {
    const [was, is] = [before === undefined ? undefined : readyCondition(before)?.status, readyCondition(after)?.status];
    if (was === is) return;
    if (before === undefined) for (const reason of SUFFICIENT) this.#tellStatus(reason);
    this.#tellStatus(is === "True" ? "NodeReady" : "NodeNotReady");
  }

  #tellSchedulable({ spec }: Node): void {
    const isUnschedulable = spec?.unschedulable === true;
    if (isUnschedulable === this.#isUnschedulable) return;
    this.#isUnschedulable = isUnschedulable;
    this.#tellStatus(isUnschedulable ? "NodeNotSchedulable" : "NodeSchedulable");
  }
}

const SUFFICIENT = ["NodeHasSufficientMemory", "NodeHasNoDiskPressure", "NodeHasSufficientPID"];

/** The cause of a write: the version of the Node by which the kubelet decided; none when it registers. */
function causeOf({ metadata }: Pick<Node, "metadata">, reason: string): Cause {
  return causedBy({ controller: "kubelet", reason, kind: nodes, object: { apiVersion: "v1", kind: "Node", metadata } });
}
