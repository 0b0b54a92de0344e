/**
 * Nominated Pods: intended for a node and not there yet, by preemption or by `status.nominatedNodeName`. Filters include them. This may be
 * newer than the API server's state: a nomination is effective when decided, and written afterwards.
 */
import type { PodInfo } from "../framework/pod-info.ts";

const NO_PODS: readonly PodInfo[] = [];

export class Nominator {
  /** The node's name by the Pod's uid. */
  readonly #nodes = new Map<string, string>();
  /** In nomination order. Each list is replaced and never changed, so that a reference is a consistent state. */
  readonly #byNode = new Map<string, readonly PodInfo[]>();

  /** Number of nominated Pods. While it is 0 no per-node lookup is needed. */
  get size(): number {
    return this.#nodes.size;
  }

  /** Those nominated to a node. Called for many nodes in each cycle. */
  nominatedPods(nodeName: string): readonly PodInfo[] {
    return this.#byNode.get(nodeName) ?? NO_PODS;
  }

  /** The node to which a Pod is nominated. */
  nodeOf(uid: string): string | undefined {
    return this.#nodes.get(uid);
  }

  /** By the Pod's status: nominated if it names a node, otherwise not. */
  add(info: PodInfo): void {
    this.#put(info, nominatedNodeName(info));
  }

  /** The scheduler's own decision, before it is written; undefined clears it. Takes precedence over the status. */
  nominate(info: PodInfo, nodeName: string | undefined): void {
    this.#put(info, nodeName);
  }

  /** A Pod update. A decided, unwritten nomination stays if neither version names a node. */
  update(previous: PodInfo, info: PodInfo): void {
    const isUnwritten = nominatedNodeName(previous) === undefined && nominatedNodeName(info) === undefined;
    const nodeName = isUnwritten ? this.nodeOf(previous.uid) : nominatedNodeName(info);
    this.delete(previous.uid);
    this.#put(info, nodeName);
  }

  /** The Pod is assigned, deleted, or about to be bound. */
  delete(uid: string): void {
    const nodeName = this.#nodes.get(uid);
    if (nodeName === undefined) return;
    const left = this.nominatedPods(nodeName).filter((pod) => pod.uid !== uid);
    this.#nodes.delete(uid);
    if (left.length === 0) this.#byNode.delete(nodeName);
    else this.#byNode.set(nodeName, left);
  }

  #put(info: PodInfo, nodeName: string | undefined): void {
    this.delete(info.uid);
    if (nodeName === undefined) return;
    this.#nodes.set(info.uid, nodeName);
    this.#byNode.set(nodeName, [...this.nominatedPods(nodeName), info]);
  }
}

/** Absent and empty mean the same in the API. */
function nominatedNodeName({ pod }: PodInfo): string | undefined {
  return pod.status?.nominatedNodeName || undefined;
}
