/**
 * Pods that shall go to a certain node and are not there yet: a preemption makes room for them, or somebody wrote
 * `status.nominatedNodeName`. Whoever asks whether a Pod fits on that node counts them in. What is known here may be newer than what the
 * API server says: a nomination holds from the moment it is decided, and is written afterwards.
 */
import type { PodInfo } from "../framework/pod-info.ts";

const NOBODY: readonly PodInfo[] = [];

export class Nominator {
  /** The node's name by the Pod's uid. */
  readonly #nodes = new Map<string, string>();
  /** In the order in which they were nominated. Each list is replaced and never changed, so whoever holds one holds a moment. */
  readonly #byNode = new Map<string, readonly PodInfo[]>();

  /** How many Pods are nominated anywhere. While it is 0 nobody needs to ask per node. */
  get size(): number {
    return this.#nodes.size;
  }

  /** Those nominated to a node. Called for many nodes in each cycle. */
  nominatedPods(nodeName: string): readonly PodInfo[] {
    return this.#byNode.get(nodeName) ?? NOBODY;
  }

  /** The node to which a Pod is nominated. */
  nodeOf(uid: string): string | undefined {
    return this.#nodes.get(uid);
  }

  /** The Pod as it says itself: nominated if its status names a node, otherwise not. */
  add(info: PodInfo): void {
    this.#put(info, nominatedNodeName(info));
  }

  /** The scheduler's own decision, before it is written; undefined takes the nomination away. Holds whatever the status says. */
  nominate(info: PodInfo, nodeName: string | undefined): void {
    this.#put(info, nodeName);
  }

  /** Another version of a Pod. A nomination that was decided and is not yet written stays if neither version names a node. */
  update(previous: PodInfo, info: PodInfo): void {
    const isUnwritten = nominatedNodeName(previous) === undefined && nominatedNodeName(info) === undefined;
    const nodeName = isUnwritten ? this.nodeOf(previous.uid) : nominatedNodeName(info);
    this.delete(previous.uid);
    this.#put(info, nodeName);
  }

  /** The Pod is on a node, gone, or about to be bound. */
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
