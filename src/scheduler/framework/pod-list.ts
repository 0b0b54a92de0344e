/**
 * The Pods of a node in order of arrival, immutable. A change copies the chunk that it is in, not the list, so that a node with tens of
 * thousands of Pods costs hardly more than one with a hundred, which has one chunk: its array.
 */
import type { PodInfo } from "./pod-info.ts";

/** More than nodes usually have (upstream recommends at most 110), and so few that copying them costs less than a microsecond. */
export const CHUNK_MAX = 256;

type Chunk = readonly PodInfo[];

export class PodList {
  /** Not empty, except for the only one. */
  readonly #chunks: readonly Chunk[];
  readonly length: number;
  #all: readonly PodInfo[] | undefined;

  private constructor(chunks: readonly Chunk[], length: number) {
    this.#chunks = chunks;
    this.length = length;
  }

  static readonly EMPTY = new PodList([Object.freeze([])], 0);

  static of(pods: readonly PodInfo[]): PodList {
    const chunks: Chunk[] = [];
    for (let from = 0; from < pods.length; from += CHUNK_MAX) chunks.push(pods.slice(from, from + CHUNK_MAX));
    return pods.length === 0 ? PodList.EMPTY : new PodList(chunks, pods.length);
  }

  /** As an array, which large lists make when it is first read. */
  get all(): readonly PodInfo[] {
    if (this.#all !== undefined) return this.#all;
    const [first = [], ...others] = this.#chunks;
    return (this.#all = others.length === 0 ? first : this.#chunks.flat());
  }

  with(pod: PodInfo): PodList {
    const last = this.#chunks.length - 1;
    const chunk = this.#chunks[last] as Chunk;
    const length = this.length + 1;
    // Copied as a block: one by one it would show.
    if (chunk.length < CHUNK_MAX) return new PodList(this.#withChunk(last, chunk.concat([pod])), length);
    return new PodList(this.#chunks.concat([[pod]]), length);
  }

  /** The position of the Pod that is this object; undefined if it is missing. Recent ones change most often. */
  find(pod: PodInfo): PodPlace | undefined {
    return this.#find((chunk) => chunk.indexOf(pod));
  }

  findUid(uid: string): PodPlace | undefined {
    return this.#find((chunk) => chunk.findLastIndex((pod) => pod.uid === uid));
  }

  at({ chunk, index }: PodPlace): PodInfo | undefined {
    return this.#chunks[chunk]?.[index];
  }

  replaced({ chunk, index }: PodPlace, pod: PodInfo): PodList {
    return new PodList(this.#withChunk(chunk, (this.#chunks[chunk] as Chunk).with(index, pod)), this.length);
  }

  removed({ chunk, index }: PodPlace): PodList {
    const left = (this.#chunks[chunk] as Chunk).toSpliced(index, 1);
    const length = this.length - 1;
    if (length === 0) return PodList.EMPTY;
    const chunks = left.length === 0 ? this.#chunks.toSpliced(chunk, 1) : this.#withChunk(chunk, left);
    // Later changes then copy one small array.
    return new PodList(length <= CHUNK_MAX && chunks.length > 1 ? [chunks.flat()] : chunks, length);
  }

  #withChunk(index: number, chunk: Chunk): readonly Chunk[] {
    return this.#chunks.length === 1 ? [chunk] : this.#chunks.with(index, chunk);
  }

  #find(indexIn: (chunk: Chunk) => number): PodPlace | undefined {
    for (let chunk = this.#chunks.length - 1; chunk >= 0; chunk--) {
      const index = indexIn(this.#chunks[chunk] as Chunk);
      if (index >= 0) return { chunk, index };
    }
    return undefined;
  }
}

/** Valid for the list that it was found in. */
export interface PodPlace {
  readonly chunk: number;
  readonly index: number;
}
