/** Offsets in a healthy data file of the structures that a test wants to damage, from the beginning of the file. */
import { assert } from "../../../base/assert.ts";
import {
  NODE_HEAD_BYTES,
  NODE_OFFSET_BYTES,
  NODE_OVERFLOWS,
  PAGE_HEAD_BYTES,
  nodeChild,
  nodeFlags,
  nodeKeyBytes,
  nodeOffset,
  pageLower,
  readHeaderPage,
  readNumber,
  type FileHeader,
} from "../page-layout.ts";
import { LOG_PREFIX } from "../records.ts";
import type { PageFile } from "./damage.ts";

/** Where the record of the data tree is in a header page, after the page's head. */
const DATA_RECORD_AT = 72;

export interface Landmarks {
  /** The header pages. */
  readonly newer: number;
  readonly older: number;
  readonly lastPage: number;
  /** The record of the data tree, in the newer header. */
  readonly dataRecord: number;
  /** The root, which is a branch; the first two leaves below it that hold nothing but log; where the root refers to the second of them. */
  readonly branch: number;
  readonly otherLeafReference: number;
  readonly leaf: number;
  readonly otherLeaf: number;
  /** Two nodes of the first leaf whose values overflow, the first page of the first value, and a node of the last leaf whose value does not. */
  readonly overflowing: number;
  readonly alsoOverflowing: number;
  readonly run: number;
  readonly small: number;
  /** A list of free pages: a count, then numbers. */
  readonly freeList: number;
}

export function landmarksOf(file: PageFile): Landmarks {
  const { view, pageSize } = file;
  const headers = [0, pageSize].map((at) => ({ at, header: readHeaderPage(view, at) as FileHeader }));
  const [older, newer] = headers.toSorted((a, b) => a.header.transaction - b.header.transaction);
  assert(older !== undefined && newer !== undefined, "there are two headers");
  const { header } = newer;
  assert(header.main.depth === 2, "the data tree has branches right above its leaves");
  const branch = (header.main.root ?? 0) * pageSize;
  const isLog = (leaf: number) => nodesOf(file, leaf).every((node) => view.getUint8(node + NODE_HEAD_BYTES) === LOG_PREFIX);
  const references = nodesOf(file, branch).filter((node) => isLog(nodeChild(view, node) * pageSize));
  const leaves = references.map((node) => nodeChild(view, node) * pageSize);
  const [, otherLeafReference = 0] = references;
  const [leaf = 0, otherLeaf = 0] = leaves;
  const small = nodesOf(file, leaves.at(-1) ?? 0).findLast((node) => nodeFlags(view, node) === 0);
  assert(leaves.length > 1 && small !== undefined, "the last leaf has a value that does not overflow");
  const [overflowing, alsoOverflowing] = nodesOf(file, leaf).filter((node) => nodeFlags(view, node) === NODE_OVERFLOWS);
  assert(overflowing !== undefined && alsoOverflowing !== undefined, "values of the first leaf overflow");
  const run = readNumber(view, dataOf(file, overflowing)) * pageSize;
  const freeNode = nodesOf(file, (header.free.root ?? 0) * pageSize).find((node) => nodeFlags(view, node) === 0);
  assert(header.free.depth === 1 && freeNode !== undefined, "there is a leaf with lists of free pages");
  const freeList = dataOf(file, freeNode);
  const { lastPage } = header;
  return {
    newer: newer.at,
    older: older.at,
    lastPage,
    dataRecord: newer.at + PAGE_HEAD_BYTES + DATA_RECORD_AT,
    branch,
    otherLeafReference,
    leaf,
    otherLeaf,
    overflowing,
    alsoOverflowing,
    run,
    small,
    freeList,
  };
}

function nodesOf({ view }: PageFile, page: number): number[] {
  const count = pageLower(view, page) / NODE_OFFSET_BYTES;
  return Array.from({ length: count }, (_, index) => page + PAGE_HEAD_BYTES + nodeOffset(view, page, index));
}

function dataOf({ view }: PageFile, node: number): number {
  return node + NODE_HEAD_BYTES + nodeKeyBytes(view, node);
}

/** Where the records of two maps are in a file of format 1. */
export function legacyRecordsOf(file: PageFile): { readonly logRecord: number; readonly metaRecord: number } {
  const { view, pageSize } = file;
  const headers = [0, pageSize].map((at) => readHeaderPage(view, at) as FileHeader);
  const newer = headers.toSorted((a, b) => b.transaction - a.transaction)[0] as FileHeader;
  // In the order of their names: index, log, meta.
  const [, logRecord = 0, metaRecord = 0] = nodesOf(file, (newer.main.root ?? 0) * pageSize).map((node) => dataOf(file, node));
  return { logRecord, metaRecord };
}
