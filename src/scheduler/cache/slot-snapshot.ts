/**
 * The snapshot of a cache: one object for its whole life, whose slots are filled anew at the beginning of each cycle. Only what changed
 * since is touched, so that at 15,000 nodes the next cycle begins as quickly as at five. A cycle that is over must not look at it again.
 */
import type { NodeInfo } from "../framework/node-info.ts";
import type { Snapshot } from "../framework/snapshot.ts";

const NOWHERE = -1;

/** Changes that are remembered; who asks less often compares all nodes. */
const CHANGES_MAX = 1_024;

/** In which slots of a snapshot a node is. Whoever keeps the node keeps it; only the snapshot reads and changes it. */
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
  /** Of the states that are put in: set before they are. */
  generation = 0;
  /** Which places got another state, and in which generation, oldest first. What was before `#rememberedFrom` is forgotten. */
  #changed: { readonly index: number; readonly generation: number }[] = [];
  #rememberedFrom = 0;
  readonly #nodes: NodeInfo[] = [];
  readonly #places = new Map<string, Place>();
  readonly #affinity = new Selected("inAffinity");
  readonly #antiAffinity = new Selected("inAntiAffinity");

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
    if (generation < this.#rememberedFrom) return undefined;
    const indexes: number[] = [];
    for (let last = this.#changed.length - 1; last >= 0; last--) {
      const change = this.#changed[last];
      if (change === undefined || change.generation <= generation) break;
      indexes.push(change.index);
    }
    return indexes;
  }

  /** Puts another state of a node that is there in its place. */
  replace(node: PlacedNode): void {
    const index = node.place.inNodes;
    this.#nodes[index] = node.info;
    this.#select(node);
    this.#changed.push({ index, generation: this.generation });
    if (this.#changed.length > CHANGES_MAX) this.#forgetHalf();
  }

  #forgetHalf(): void {
    const [forgotten] = this.#changed.splice(0, CHANGES_MAX / 2).slice(-1);
    this.#rememberedFrom = forgotten?.generation ?? this.generation;
  }

  /** All nodes, in the order to come. One that was there before may bring its place; one that comes again must have a new one. */
  reset(nodes: readonly PlacedNode[]): void {
    this.#nodes.length = 0;
    this.#affinity.clear();
    this.#antiAffinity.clear();
    this.#changed = [];
    this.#rememberedFrom = this.generation;
    for (const node of nodes) this.#append(node);
    if (this.#places.size === nodes.length) return;
    this.#places.clear();
    for (const { info, place } of nodes) this.#places.set(info.name, place);
  }

  #append(node: PlacedNode): void {
    const { info, place } = node;
    // Most have been there before; finding all their names again would be the greater part of the work.
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

/** Some of the nodes, in no order. One that goes leaves its slot to the last. */
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
