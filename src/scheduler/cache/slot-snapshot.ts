/**
 * The snapshot of a cache: one object for its whole life, whose slots are refilled at the start of each cycle. Only changed ones are
 * touched, so that at 15,000 nodes the next cycle starts as fast as at five. A finished cycle must not use it again.
 */
import type { NodeInfo } from "../framework/node-info.ts";
import type { Snapshot } from "../framework/snapshot.ts";
import { ClaimUses } from "./claim-uses.ts";

const NOWHERE = -1;

/** Recorded changes; less frequent readers compare all nodes. */
const CHANGES_MAX = 1_024;

/** The slots of a node in a snapshot. Held by the node's owner; only the snapshot reads and changes it. */
export class Place {
  inNodes = NOWHERE;
  inAffinity = NOWHERE;
  inAntiAffinity = NOWHERE;
}

export interface PlacedNode {
  readonly info: NodeInfo;
  readonly place: Place;
}

export class SlotSnapshot implements Snapshot {
  /** Generation of the inserted states: set before them. */
  generation = 0;
  /** Changed slots with their generation, oldest first. Those before `#cachedFrom` are dropped. */
  #changed: { readonly index: number; readonly generation: number }[] = [];
  #cachedFrom = 0;
  readonly #nodes: NodeInfo[] = [];
  readonly #claims: ClaimUses;
  readonly #places = new Map<string, Place>();
  readonly #affinity = new Selected("inAffinity");
  readonly #antiAffinity = new Selected("inAntiAffinity");

  constructor(claims: ClaimUses = new ClaimUses()) {
    this.#claims = claims;
  }

  claimUses(claimKey: string): number {
    return this.#claims.count(claimKey);
  }

  get nodes(): readonly NodeInfo[] {
    return this.#nodes;
  }

  get nodesWithAffinityPods(): readonly NodeInfo[] {
    return this.#affinity.nodes;
  }

  get nodesWithRequiredAntiAffinityPods(): readonly NodeInfo[] {
    return this.#antiAffinity.nodes;
  }

  get(name: string): NodeInfo | undefined {
    const place = this.#places.get(name);
    return place === undefined ? undefined : this.#nodes[place.inNodes];
  }

  changedSince(generation: number): readonly number[] | undefined {
    if (generation < this.#cachedFrom) return undefined;
    const indexes: number[] = [];
    for (let last = this.#changed.length - 1; last >= 0; last--) {
      const change = this.#changed[last];
      if (change === undefined || change.generation <= generation) break;
      indexes.push(change.index);
    }
    return indexes;
  }

  /** Replaces the state of an existing node. */
  replace(node: PlacedNode): void {
    const index = node.place.inNodes;
    this.#nodes[index] = node.info;
    this.#select(node);
    this.#changed.push({ index, generation: this.generation });
    if (this.#changed.length > CHANGES_MAX) this.#forgetHalf();
  }

  #forgetHalf(): void {
    const [forgotten] = this.#changed.splice(0, CHANGES_MAX / 2).slice(-1);
    this.#cachedFrom = forgotten?.generation ?? this.generation;
  }

  /** All nodes, in their new order. An existing one may keep its slot; a returning one must have a new one. */
  reset(nodes: readonly PlacedNode[]): void {
    this.#nodes.length = 0;
    this.#affinity.clear();
    this.#antiAffinity.clear();
    this.#changed = [];
    this.#cachedFrom = this.generation;
    for (const node of nodes) this.#append(node);
    if (this.#places.size === nodes.length) return;
    this.#places.clear();
    for (const { info, place } of nodes) this.#places.set(info.name, place);
  }

  #append(node: PlacedNode): void {
    const { info, place } = node;
    // Most are unchanged; looking up all their names would be most of the work.
    if (place.inNodes === NOWHERE) this.#places.set(info.name, place);
    place.inNodes = this.#nodes.length;
    this.#nodes.push(info);
    this.#select(node);
  }

  #select({ info, place }: PlacedNode): void {
    this.#affinity.put(info, place, info.podsWithAffinity.length > 0);
    this.#antiAffinity.put(info, place, info.podsWithRequiredAntiAffinity.length > 0);
  }
}

/** An unordered subset of the nodes. A removed one leaves its slot to the last. */
class Selected {
  readonly nodes: NodeInfo[] = [];
  readonly #places: Place[] = [];
  readonly #slot: "inAffinity" | "inAntiAffinity";

  constructor(slot: "inAffinity" | "inAntiAffinity") {
    this.#slot = slot;
  }

  put(node: NodeInfo, place: Place, isIn: boolean): void {
    const slot = place[this.#slot];
    if (!isIn) {
      if (slot !== NOWHERE) this.#remove(place, slot);
    } else if (slot !== NOWHERE) {
      this.nodes[slot] = node;
    } else {
      place[this.#slot] = this.nodes.length;
      this.nodes.push(node);
      this.#places.push(place);
    }
  }

  clear(): void {
    for (const place of this.#places) place[this.#slot] = NOWHERE;
    this.nodes.length = 0;
    this.#places.length = 0;
  }

  #remove(place: Place, slot: number): void {
    place[this.#slot] = NOWHERE;
    const last = this.nodes.pop();
    const lastPlace = this.#places.pop();
    if (last === undefined || lastPlace === undefined || lastPlace === place) return;
    this.nodes[slot] = last;
    this.#places[slot] = lastPlace;
    lastPlace[this.#slot] = slot;
  }
}
