/**
 * Images and the number of nodes that have them. All nodes with an image share one record: a changed count is visible to all at once,
 * without a new NodeInfo. The size is that of the first node; as upstream, the others are assumed to agree.
 */
import type { ContainerImage, Node } from "../../api/generated/core/v1.ts";
import type { ImageState } from "../framework/node-info.ts";

interface Shared extends ImageState {
  nodes: number;
}

/** The images of one node, by every name. */
export type NodeImages = ReadonlyMap<string, ImageState>;

const NO_IMAGES: NodeImages = new Map();

export class ImageStates {
  readonly #shared = new Map<string, Shared>();

  /** Names of all images. */
  get size(): number {
    return this.#shared.size;
  }

  /** The images of a new node, or of an update of one that had `held`. */
  put(node: Node, previous: Node | undefined, held: NodeImages): NodeImages {
    const images = node.status?.images;
    if (previous !== undefined && areSame(images, previous.status?.images)) return held;
    this.release(held);
    return this.#claim(images);
  }

  /** The node was removed, or no longer has these images. */
  release(held: NodeImages): void {
    for (const name of held.keys()) {
      const state = this.#shared.get(name);
      if (state === undefined) continue;
      state.nodes -= 1;
      if (state.nodes === 0) this.#shared.delete(name);
    }
  }

  #claim(images: readonly ContainerImage[] | undefined): NodeImages {
    if (images === undefined || images.length === 0) return NO_IMAGES;
    const claimed = new Map<string, Shared>();
    for (const { names, sizeBytes = 0 } of images) {
      // An image without names has null for them.
      for (const name of names ?? []) if (!claimed.has(name)) claimed.set(name, this.#claimOne(name, sizeBytes));
    }
    return claimed;
  }

  #claimOne(name: string, sizeBytes: number): Shared {
    const known = this.#shared.get(name);
    if (known !== undefined) {
      known.nodes += 1;
      return known;
    }
    const state = { sizeBytes: Number(sizeBytes), nodes: 1 };
    this.#shared.set(name, state);
    return state;
  }
}

/** Most node updates change something else. */
function areSame(a: readonly ContainerImage[] | undefined, b: readonly ContainerImage[] | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || a.length !== b.length) return false;
  return a.every((image, index) => isSame(image, b[index]));
}

function isSame(a: ContainerImage, b: ContainerImage | undefined): boolean {
  if (b === undefined || a.sizeBytes !== b.sizeBytes || a.names?.length !== b.names?.length) return false;
  return a.names?.every((name, index) => name === b.names?.[index]) ?? true;
}
