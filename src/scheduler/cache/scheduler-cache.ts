/**
 * The scheduler's view of nodes and their Pods: observed state, and decisions that are not observed yet (assumed). A Pod counts on exactly
 * one node, from the decision on. The cluster is always right: a Pod observed elsewhere than assumed is there. Events may come in any
 * order: Pods of an unknown or removed node are kept for it. An assumption lasts until the Pod is observed, removed or forgotten; as
 * upstream, none expires. Nothing here waits.
 */
import type { Node, Pod } from "../../api/generated/core/v1.ts";
import { assert } from "../../base/assert.ts";
import type { Logger } from "../../base/logger.ts";
import { makeUnknownNodeInfo, nextGeneration, type NodeInfoValue } from "../framework/make-node-info.ts";
import { placedOn, podInfoOf } from "../framework/make-pod-info.ts";
import type { NodeInfo } from "../framework/node-info.ts";
import type { PodInfo } from "../framework/pod-info.ts";
import type { Snapshot } from "../framework/snapshot.ts";
import { ClaimUses } from "./claim-uses.ts";
import { ImageStates } from "./image-states.ts";
import { NodeOrder } from "./node-order.ts";
import { Place, SlotSnapshot } from "./slot-snapshot.ts";

/** A Pod that counts on a node. */
export interface CachedPod {
  readonly info: PodInfo;
  readonly nodeName: string;
  /** Decided, and not yet observed. */
  readonly isAssumed: boolean;
}

interface CachedNode {
  info: NodeInfoValue;
  place: Place;
  /** Observed. If not, it is only a placeholder for its Pods, and in no snapshot. */
  isKnown: boolean;
}

export class SchedulerCache {
  readonly #log: Logger;
  readonly #nodes = new Map<string, CachedNode>();
  readonly #pods = new Map<string, CachedPod>();
  readonly #assumed = new Set<string>();
  readonly #order = new NodeOrder<CachedNode>();
  readonly #images = new ImageStates();
  readonly #claims = new ClaimUses();
  readonly #snapshot = new SlotSnapshot(this.#claims);
  /** Nodes that differ from the snapshot's. */
  readonly #changed = new Set<CachedNode>();
  /** Nodes were added, removed or moved since the last snapshot. */
  #isReordered = false;
  #generation = 0;

  constructor({ log }: { readonly log: Logger }) {
    this.#log = log;
  }

  /** A node was added or updated. */
  putNode(node: Node): void {
    const cached = this.#nodeFor(node.metadata.name);
    const previous = cached.isKnown ? cached.info.node : undefined;
    if (this.#order.put(cached, node, previous)) this.#isReordered = true;
    const images = this.#images.put(node, previous, cached.info.images);
    cached.isKnown = true;
    this.#replace(cached, cached.info.withNode(node, images));
  }

  /** The node was removed. Its Pods' deletions may follow, or it may return: until then they are kept. */
  removeNode(name: string): void {
    const cached = this.#nodes.get(name);
    if (cached === undefined || !cached.isKnown) return;
    this.#order.remove(cached, cached.info.node);
    this.#images.release(cached.info.images);
    this.#isReordered = true;
    this.#generation = nextGeneration();
    cached.info = cached.info.withoutNode();
    cached.isKnown = false;
    cached.place = new Place();
    this.#dropIfEmpty(cached);
  }

  /** A Pod was added or updated. Unassigned ones are ignored (if assumed, the binding is in flight); terminated ones count as removed. */
  putPod(pod: Pod): void {
    const uid = uidOf(pod);
    const nodeName = pod.spec?.nodeName ?? "";
    if (nodeName === "") return;
    if (hasEnded(pod)) return this.removePod(uid);
    const previous = this.#pods.get(uid);
    const info = podInfoOf(pod, previous?.info);
    if (previous !== undefined && previous.nodeName !== nodeName) this.#moved(previous, nodeName);
    this.#place({ info, nodeName, isAssumed: false });
  }

  /** The Pod was removed, or no longer matters. Also an assumed one: then its binding will fail. */
  removePod(uid: string): void {
    const cached = this.#pods.get(uid);
    if (cached === undefined) return;
    this.#pods.delete(uid);
    this.#assumed.delete(uid);
    this.#claims.remove(cached.info);
    this.#takeOff(cached);
  }

  /** From now on the Pod counts on the node. False, without effect, if it already counts on one. */
  assume(info: PodInfo, nodeName: string): boolean {
    if (this.#pods.has(uidOf(info.pod))) return false;
    this.#place({ info: placedOn(info, nodeName), nodeName, isAssumed: true });
    return true;
  }

  /** Reverts an assumption. False, without effect, if the Pod is not assumed: it was removed, or has been observed. */
  forget(uid: string): boolean {
    if (!this.#assumed.has(uid)) return false;
    this.removePod(uid);
    return true;
  }

  pod(uid: string): CachedPod | undefined {
    return this.#pods.get(uid);
  }

  isAssumed(uid: string): boolean {
    return this.#assumed.has(uid);
  }

  /** Those that are assumed. */
  assumedPods(): readonly CachedPod[] {
    return [...this.#assumed].flatMap((uid) => this.#pods.get(uid) ?? []);
  }

  /** Placeholders of unknown nodes. */
  unknownNodes(): readonly NodeInfo[] {
    return [...this.#nodes.values()].filter(({ isKnown }) => !isKnown).map(({ info }) => info);
  }

  /** For metrics. Includes Pods of unknown nodes, and assumed ones. */
  get sizes(): { readonly nodes: number; readonly pods: number; readonly assumedPods: number; readonly images: number } {
    return { nodes: this.#nodes.size, pods: this.#pods.size, assumedPods: this.#assumed.size, images: this.#images.size };
  }

  /** All nodes as of now. Valid until the next snapshot. */
  snapshot(): Snapshot {
    this.#snapshot.generation = this.#generation;
    if (this.#isReordered) this.#snapshot.reset(this.#order.list());
    else for (const cached of this.#changed) this.#snapshot.replace(cached);
    this.#isReordered = false;
    this.#changed.clear();
    return this.#snapshot;
  }

  #place(pod: CachedPod): void {
    const { uid } = pod.info;
    const previous = this.#pods.get(uid);
    const isThere = previous?.nodeName === pod.nodeName;
    // The claims of a Pod cannot change.
    if (previous === undefined) this.#claims.add(pod.info);
    this.#pods.set(uid, pod);
    if (pod.isAssumed) this.#assumed.add(uid);
    else this.#assumed.delete(uid);
    const cached = this.#nodeFor(pod.nodeName);
    this.#replace(cached, isThere ? cached.info.withPodVersion(pod.info, previous.info) : cached.info.withPod(pod.info));
  }

  #takeOff({ info, nodeName }: CachedPod): void {
    const cached = this.#nodes.get(nodeName);
    if (cached === undefined) return;
    this.#replace(cached, cached.info.withoutPodInfo(info));
    this.#dropIfEmpty(cached);
  }

  /** Another scheduler of the same name placed it, or the response to our binding was lost and it was decided again. */
  #moved(previous: CachedPod, nodeName: string): void {
    const { info, nodeName: from, isAssumed } = previous;
    const sentence = isAssumed ? "The Pod is on another node than assumed" : "The Pod is on another node than before";
    this.#log.warn(sentence, { pod: info.key, from, to: nodeName });
    this.#takeOff(previous);
  }

  #nodeFor(name: string): CachedNode {
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const made = { info: makeUnknownNodeInfo(name), place: new Place(), isKnown: false };
    this.#nodes.set(name, made);
    return made;
  }

  #replace(cached: CachedNode, info: NodeInfoValue): void {
    cached.info = info;
    if (!cached.isKnown) return;
    this.#changed.add(cached);
    this.#generation = info.generation;
  }

  #dropIfEmpty({ info, isKnown }: CachedNode): void {
    if (!isKnown && info.podCount === 0) this.#nodes.delete(info.name);
  }
}

function uidOf({ metadata: { name, uid = "" } }: Pod): string {
  assert(uid !== "", `the Pod ${name} has a uid`);
  return uid;
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}
