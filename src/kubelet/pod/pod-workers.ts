/**
 * The Pods of one node, each with its own worker. Receives them from the Pod source and from the runtime; Pods that only the runtime has
 * are terminated. Resizes are decided here, because they depend on all Pods: deferred ones are retried in their order each time that a Pod
 * changes.
 */
import type { Node, Pod } from "../../api/generated/core/v1.ts";
import type { InformerHandler } from "../../client/informer/informer.ts";
import { pressureRefusal } from "../eviction/admit-under-pressure.ts";
import type { PressureCondition } from "../eviction/signals.ts";
import { refusalOf, type AdmissionRefusal } from "./admit-pod.ts";
import type { PodEviction } from "../contracts/pod-machine.ts";
import { PodWorker, type PodWorkerOptions } from "./pod-worker.ts";
import { comparePendingResizes } from "../resize/resize-order.ts";
import type { SandboxStatus } from "../contracts/runtime.ts";

/** Grace period for orphaned Pods, whose own one is unknown. Upstream's value. */
const ORPHAN_GRACE_SECONDS = 1;

export interface PodWorkersOptions extends Omit<PodWorkerOptions, "admit" | "onAdmitted" | "onRemoved"> {
  readonly node: () => Node | undefined;
}

export class PodWorkers implements InformerHandler<Pod> {
  readonly #options: PodWorkersOptions;
  /** By the uid of the Pod: two Pods may have the same name one after the other. */
  readonly #workers = new Map<string, PodWorker>();

  /** Workers that were active when `stop` was called. */
  readonly #stopped = new Map<string, PodWorker>();

  /** Workers with a resize that is undecided or deferred. */
  readonly #resizes = new Set<PodWorker>();

  #pressure: readonly PressureCondition[] = [];

  constructor(options: PodWorkersOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#workers.size;
  }

  /** Undefined if the node has no such Pod. The later one if two have this name. */
  find({ namespace, name }: { readonly namespace?: string | undefined; readonly name: string }): Pod | undefined {
    let found: Pod | undefined;
    for (const { pod } of this.#workers.values()) {
      if (pod.metadata.name === name && pod.metadata.namespace === namespace) found = pod;
    }
    return found;
  }

  /** Pods that are admitted and not terminal. */
  active(): readonly Pod[] {
    return [...this.#workers.values()].filter(({ isActive }) => isActive).map(({ pod }) => pod);
  }

  evict(podUid: string, eviction: Omit<PodEviction, "reason">): void {
    this.#workers.get(podUid)?.evict(eviction);
  }

  has(podUid: string): boolean {
    return this.#workers.has(podUid);
  }

  list(): readonly Pod[] {
    return [...this.#workers.values()].map(({ pod }) => pod);
  }

  added(pod: Pod): void {
    const uid = pod.metadata.uid ?? "";
    const known = this.#workers.get(uid);
    if (known === undefined) return this.#begin(pod, { isInApi: true }).wake();
    known.update(pod);
    this.#noteResize(known);
  }

  updated(pod: Pod): void {
    this.added(pod);
  }

  deleted(pod: Pod): void {
    this.#workers.get(pod.metadata.uid ?? "")?.deleted(pod);
    this.decideResizes();
  }

  /** Retries deferred resizes, since resources may be free now. */
  decideResizes(): void {
    if (this.#resizes.size === 0) return;
    const undecided = Array.from(this.#resizes, (worker) => {
      return { worker, pod: worker.pod, allocated: worker.allocated, sinceMs: worker.resizePendingSinceMs };
    });
    for (const { worker } of undecided.toSorted(comparePendingResizes)) {
      if (worker.isResizeUndecided) worker.decideResize(this.#resizeRefusal(worker));
      if (!worker.isResizeUndecided) this.#resizes.delete(worker);
    }
  }

  /** The runtime reported a change of the Pod. */
  wake(podUid: string): void {
    this.#workers.get(podUid)?.wake();
  }

  /** Terminates a Pod that the runtime has and the API does not. */
  bury({ podUid, namespace, name }: SandboxStatus): void {
    if (this.#workers.has(podUid)) return;
    const metadata = { namespace, name, uid: podUid, deletionGracePeriodSeconds: ORPHAN_GRACE_SECONDS };
    this.#begin({ apiVersion: "v1", kind: "Pod", metadata }, { isInApi: false }).wake();
  }

  /** An object that the Pod refers to has changed. */
  retry(podUid: string): void {
    this.#workers.get(podUid)?.retry();
  }

  stop(): void {
    for (const worker of this.#workers.values()) {
      worker.stop();
      this.#stopped.set(worker.pod.metadata.uid ?? "", worker);
    }
    this.#workers.clear();
    this.#resizes.clear();
  }

  /** After `stop`: resolves with all Pods by uid when no call to the runtime is in flight. */
  async settled(graceMs: number): Promise<ReadonlyMap<string, Pod>> {
    await Promise.all(Array.from(this.#stopped.values(), (worker) => worker.settled(graceMs)));
    return new Map(Array.from(this.#stopped, ([uid, { pod }]) => [uid, pod]));
  }

  #begin(pod: Pod, { isInApi }: { readonly isInApi: boolean }): PodWorker {
    const uid = pod.metadata.uid ?? "";
    const worker: PodWorker = new PodWorker(
      pod,
      { isInApi },
      {
        ...this.#options,
        admit: (own) => this.#admit(own),
        onAdmitted: () => this.#noteResize(worker),
        onRemoved: () => this.#workers.delete(uid),
      },
    );
    this.#workers.set(uid, worker);
    return worker;
  }

  /** Pods are rejected for it. */
  setPressure(conditions: readonly PressureCondition[]): void {
    this.#pressure = conditions;
  }

  #admit(pod: Pod): AdmissionRefusal | undefined {
    const node = this.#options.node();
    const refusal = pressureRefusal(pod, this.#pressure);
    if (refusal !== undefined) return refusal;
    return node === undefined ? undefined : refusalOf({ pod, node, others: this.#active() });
  }

  /** An array, because it is iterated more than once. */
  #active(): readonly Pod[] {
    return Array.from(this.#workers.values()).flatMap((worker) => (worker.isActive ? [worker.allocated] : []));
  }

  #noteResize(worker: PodWorker): void {
    if (worker.isResizeUndecided) this.#resizes.add(worker);
    this.decideResizes();
  }

  /** Pods from before a restart count even if this kubelet has not admitted them yet. */
  #resizeRefusal(worker: PodWorker): AdmissionRefusal | undefined {
    const node = this.#options.node();
    if (node === undefined) return undefined;
    const others = Array.from(this.#workers.values()).filter((other) => other !== worker && other.holdsResources);
    return refusalOf({ pod: worker.pod, node, others: others.map(({ allocated }) => allocated) });
  }
}
