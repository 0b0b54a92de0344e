/**
 * The Pods of one node, each with a worker of its own. Hears of them from the source and from the runtime; what the runtime has and the
 * API has not is brought to its end, too. Whether one may have more or less than it was allocated depends on all of them, so it is said
 * here: those that wait for room are asked for in their order each time that a Pod changes.
 */
import type { Node, Pod } from "../../api/generated/core/v1.ts";
import type { InformerHandler } from "../../client/informer/informer.ts";
import { refusalOf, type AdmissionRefusal } from "./admit-pod.ts";
import { PodWorker, type PodWorkerOptions } from "./pod-worker.ts";
import { comparePendingResizes } from "../resize/resize-order.ts";
import type { SandboxStatus } from "../contracts/runtime.ts";

/** Nobody knows any more how long it wanted to have. Upstream's. */
const ORPHAN_GRACE_SECONDS = 1;

export interface PodWorkersOptions extends Omit<PodWorkerOptions, "admit" | "onAdmitted" | "onDone"> {
  readonly node: () => Node | undefined;
}

export class PodWorkers implements InformerHandler<Pod> {
  readonly #options: PodWorkersOptions;
  /** By the uid of the Pod: two of one name, one after the other, are two. */
  readonly #workers = new Map<string, PodWorker>();

  /** Those that were seen to until everything stopped. */
  readonly #stopped = new Map<string, PodWorker>();

  /** Those of which it is not decided whether they may have what they ask for, or that are to wait. */
  readonly #resizes = new Set<PodWorker>();

  constructor(options: PodWorkersOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#workers.size;
  }

  /** Undefined if the node has no such Pod. Of two of one name, the later. */
  find({ namespace, name }: { readonly namespace?: string | undefined; readonly name: string }): Pod | undefined {
    let found: Pod | undefined;
    for (const { pod } of this.#workers.values()) {
      if (pod.metadata.name === name && pod.metadata.namespace === namespace) found = pod;
    }
    return found;
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
    if (known === undefined) return this.#begin(pod, { isGone: false }).wake();
    known.update(pod);
    this.#noteResize(known);
  }

  updated(pod: Pod): void {
    this.added(pod);
  }

  deleted(pod: Pod): void {
    this.#workers.get(pod.metadata.uid ?? "")?.gone(pod);
    this.decideResizes();
  }

  /** Some may have room by now. */
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

  /** Something of it changed by itself. */
  wake(podUid: string): void {
    this.#workers.get(podUid)?.wake();
  }

  /** The runtime has it and nobody wants it. */
  bury({ podUid, namespace, name }: SandboxStatus): void {
    if (this.#workers.has(podUid)) return;
    const metadata = { namespace, name, uid: podUid, deletionGracePeriodSeconds: ORPHAN_GRACE_SECONDS };
    this.#begin({ apiVersion: "v1", kind: "Pod", metadata }, { isGone: true }).wake();
  }

  /** Something that it refers to has changed. */
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

  /** After they were stopped: resolves with all Pods there were when nothing more is begun for any, by uid. */
  async settled(graceMs: number): Promise<ReadonlyMap<string, Pod>> {
    await Promise.all(Array.from(this.#stopped.values(), (worker) => worker.settled(graceMs)));
    return new Map(Array.from(this.#stopped, ([uid, { pod }]) => [uid, pod]));
  }

  #begin(pod: Pod, { isGone }: { readonly isGone: boolean }): PodWorker {
    const uid = pod.metadata.uid ?? "";
    const worker: PodWorker = new PodWorker(
      pod,
      { isGone },
      {
        ...this.#options,
        admit: (own) => this.#admit(own),
        onAdmitted: () => this.#noteResize(worker),
        onDone: () => this.#workers.delete(uid),
      },
    );
    this.#workers.set(uid, worker);
    return worker;
  }

  #admit(pod: Pod): AdmissionRefusal | undefined {
    const node = this.#options.node();
    return node === undefined ? undefined : refusalOf({ pod, node, others: this.#active() });
  }

  /** They are gone through more than once. */
  #active(): readonly Pod[] {
    return Array.from(this.#workers.values()).flatMap((worker) => (worker.isActive ? [worker.allocated] : []));
  }

  #noteResize(worker: PodWorker): void {
    if (worker.isResizeUndecided) this.#resizes.add(worker);
    this.decideResizes();
  }

  /** Those that were here before count even if this kubelet has not got to them yet. */
  #resizeRefusal(worker: PodWorker): AdmissionRefusal | undefined {
    const node = this.#options.node();
    if (node === undefined) return undefined;
    const others = Array.from(this.#workers.values()).filter((other) => other !== worker && other.isTaking);
    return refusalOf({ pod: worker.pod, node, others: others.map(({ allocated }) => allocated) });
  }
}
