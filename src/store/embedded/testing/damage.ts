/** Random damage to lmdb's file, from a seed. Each kind changes the given bytes and returns the result. */
import { pick, type Random } from "../../../base/random.ts";
import {
  BRANCH_PAGE,
  HEADER_BYTES,
  LEAF_PAGE,
  NODE_HEAD_BYTES,
  NODE_OFFSET_BYTES,
  PAGE_HEAD_BYTES,
  nodeOffset,
  pageKind,
  pageLower,
  pageNumber,
} from "../page-layout.ts";

export interface Damage {
  readonly name: string;
  readonly to: (file: PageFile, random: Random) => Uint8Array;
  /** Truncation. */
  readonly ends?: true;
}

/** The smallest unit that a disk writes. */
const SECTOR_BYTES = 512;

export const DAMAGES: readonly Damage[] = [
  { name: "a page of zeros", to: (file, random) => file.zero(file.page(random), file.pageSize) },
  { name: "a page of chance", to: (file, random) => file.scramble(file.page(random), file.pageSize, random) },
  {
    name: "a sector of zeros",
    to: (file, random) => file.zero(file.page(random) + SECTOR_BYTES * random.below(file.pageSize / SECTOR_BYTES), SECTOR_BYTES),
  },
  { name: "a page in the place of another", to: (file, random) => file.swap(file.page(random), file.page(random)) },
  { name: "a page of a tree in the place of another", to: (file, random) => file.swap(file.treePage(random), file.treePage(random)) },
  { name: "an end at a page", to: (file, random) => file.bytes.subarray(0, file.page(random)), ends: true },
  { name: "an end anywhere", to: (file, random) => file.bytes.subarray(0, random.below(file.bytes.length)), ends: true },
  { name: "zeros from a page to the end", to: (file, random) => file.zero(file.page(random), file.bytes.length), ends: true },
  { name: "a changed bit in a header", to: (file, random) => file.flip(file.header(random) + random.below(HEADER_BYTES), random) },
  {
    name: "a changed bit in the head of a page",
    to: (file, random) => file.flip(file.page(random) + random.below(PAGE_HEAD_BYTES), random),
  },
  {
    name: "a changed bit in the head of a page of a tree",
    to: (file, random) => file.flip(file.treePage(random) + random.below(PAGE_HEAD_BYTES), random),
  },
  { name: "a changed bit in the offset of a node", to: (file, random) => file.flip(file.offsetOfNode(random), random) },
  {
    name: "a changed bit in the head of a node",
    to: (file, random) => file.flip(file.node(random) + random.below(NODE_HEAD_BYTES), random),
  },
];

/** The bytes of a data file with their landmarks: all offsets are from the beginning of the file. */
export class PageFile {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly pageSize: number;

  constructor(bytes: Uint8Array, pageSize: number) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.pageSize = pageSize;
  }

  page(random: Random): number {
    return random.below(Math.floor(this.bytes.length / this.pageSize)) * this.pageSize;
  }

  header(random: Random): number {
    return random.below(2) * this.pageSize;
  }

  /** A branch or a leaf, in use or of an earlier transaction. */
  treePage(random: Random): number {
    const pages = Array.from({ length: Math.floor(this.bytes.length / this.pageSize) }, (_, number) => number * this.pageSize);
    return pick(
      random,
      pages.filter((at) => {
        const kind = pageKind(this.view, at);
        return (
          (kind === BRANCH_PAGE || kind === LEAF_PAGE) && pageNumber(this.view, at) * this.pageSize === at && pageLower(this.view, at) > 0
        );
      }),
    );
  }

  offsetOfNode(random: Random): number {
    const page = this.treePage(random);
    return page + PAGE_HEAD_BYTES + random.below(pageLower(this.view, page));
  }

  node(random: Random): number {
    const page = this.treePage(random);
    const index = random.below(pageLower(this.view, page) / NODE_OFFSET_BYTES);
    return page + PAGE_HEAD_BYTES + nodeOffset(this.view, page, index);
  }

  zero(at: number, length: number): Uint8Array {
    return this.bytes.fill(0, at, Math.min(at + length, this.bytes.length));
  }

  scramble(at: number, length: number, random: Random): Uint8Array {
    for (let index = at; index < at + length; index++) this.bytes[index] = random.below(256);
    return this.bytes;
  }

  swap(at: number, other: number): Uint8Array {
    const kept = this.bytes.slice(at, at + this.pageSize);
    this.bytes.copyWithin(at, other, other + this.pageSize);
    this.bytes.set(kept, other);
    return this.bytes;
  }

  flip(at: number, random: Random): Uint8Array {
    this.bytes[at] = (this.bytes[at] ?? 0) ^ (1 << random.below(8));
    return this.bytes;
  }
}
