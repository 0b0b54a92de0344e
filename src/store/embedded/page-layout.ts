/**
 * Layout of lmdb's data file: format 2, 64 bits, little-endian. Facts only; validation is in file-header.ts and page-check.ts.
 *
 * The file is a sequence of pages of one size. The first two are headers, written alternately; the newer one references the trees. A tree
 * has branch pages (key → page) above leaf pages (key → data); data too long for a leaf is in a run of overflow pages, of which only the
 * first has a page head. A page in use is never changed, only replaced by a new one together with all its ancestors, so that no page is
 * younger than its parent.
 *
 * All `at` are offsets into `view`.
 */

// ── pages ─────────────────────────────────────────────────────────────────────────────────────────────

export const HEADER_PAGES = 2;
export const PAGE_SIZE_MIN = 256;
export const PAGE_SIZE_MAX = 65_536;

/** Number (8 bytes), transaction (8), unused (2), kind (2), then two bounds (2, 2) or the length of a run (4). */
export const PAGE_HEAD_BYTES = 24;

export const BRANCH_PAGE = 1;
export const LEAF_PAGE = 2;
export const OVERFLOW_PAGE = 4;
const HEADER_PAGE = 8;

/** Page number, which gives its offset in the file. */
export function pageNumber(view: DataView, at: number): number {
  return readNumber(view, at);
}

/** The transaction that wrote the page. */
export function pageTransaction(view: DataView, at: number): number {
  return readNumber(view, at + 8);
}

export function pageKind(view: DataView, at: number): number {
  return view.getUint16(at + 18, true);
}

/** The head of a branch or leaf page is followed by the offsets of its nodes, in key order, up to this bound. */
export function pageLower(view: DataView, at: number): number {
  return view.getUint16(at + 20, true);
}

/** The nodes are between this bound and the end of the page, without gaps. Both bounds count from the end of the head. */
export function pageUpper(view: DataView, at: number): number {
  return view.getUint16(at + 22, true);
}

/** Of an overflow page: the length of its run, itself included. */
export function pageRun(view: DataView, at: number): number {
  return view.getUint32(at + 20, true);
}

/** The overflow pages that data of this length needs. */
export function runPagesOf(dataBytes: number, pageSize: number): number {
  return Math.ceil((PAGE_HEAD_BYTES + dataBytes) / pageSize);
}

// ── nodes: head, key, data, and a byte to make it even ────────────────────────────────────────────────

/** In a leaf the length of the data (4 bytes) and flags (2), in a branch the number of a page (6); then the length of the key (2). */
export const NODE_HEAD_BYTES = 8;

/** The data is in overflow pages; the node has, 8 bytes each, the first one, its transaction and the length of the run. */
export const NODE_OVERFLOWS = 1;
/** The data is the record of a tree. */
export const NODE_IS_TREE = 2;

export const RUN_REFERENCE_BYTES = 24;

export const NODE_OFFSET_BYTES = 2;

/** Offset of the node from the end of the page's head. `at` is the page. */
export function nodeOffset(view: DataView, at: number, index: number): number {
  return view.getUint16(at + PAGE_HEAD_BYTES + index * NODE_OFFSET_BYTES, true);
}

export function nodeDataBytes(view: DataView, at: number): number {
  return view.getUint32(at, true);
}

export function nodeFlags(view: DataView, at: number): number {
  return view.getUint16(at + 4, true);
}

export function nodeChild(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint16(at + 4, true) * 0x1_0000_0000;
}

export function nodeKeyBytes(view: DataView, at: number): number {
  return view.getUint16(at + 6, true);
}

// ── trees ─────────────────────────────────────────────────────────────────────────────────────────────

export const TREE_RECORD_BYTES = 48;

/** Maximum depth of lmdb's trees. */
export const TREE_DEPTH_MAX = 32;

/** Flags that affect keys and data; the others, which only the free-page tree has, concern the file. */
export const TREE_SHAPE_FLAGS = 0x7f;
/** Keys are numbers of 8 bytes. */
export const NUMBER_KEYS = 0x08;

export interface TreeRecord {
  readonly flags: number;
  readonly depth: number;
  readonly branchPages: number;
  readonly leafPages: number;
  readonly overflowPages: number;
  readonly entries: number;
  /** Undefined: the tree is empty. */
  readonly root: number | undefined;
}

export function readTreeRecord(view: DataView, at: number): TreeRecord {
  return {
    flags: view.getUint16(at + 4, true),
    depth: view.getUint16(at + 6, true),
    branchPages: readNumber(view, at + 8),
    leafPages: readNumber(view, at + 16),
    overflowPages: readNumber(view, at + 24),
    entries: readNumber(view, at + 32),
    root: isNoPage(view, at + 40) ? undefined : readNumber(view, at + 40),
  };
}

function isNoPage(view: DataView, at: number): boolean {
  return view.getUint32(at, true) === 0xffff_ffff && view.getUint32(at + 4, true) === 0xffff_ffff;
}

// ── header pages ──────────────────────────────────────────────────────────────────────────────────────

/** The relevant fields of a header page. */
export const HEADER_BYTES = PAGE_HEAD_BYTES + 136;

const MAGIC = 0xbeefc0de;
const FORMAT_VERSION = 2;

export interface FileHeader {
  readonly pageSize: number;
  /** Size that lmdb mapped, or reserved. */
  readonly mapBytes: number;
  /** The last page ever in use. A file may end before it, if the pages there are free. */
  readonly lastPage: number;
  readonly transaction: number;
  readonly free: TreeRecord;
  readonly main: TreeRecord;
}

/** Undefined: this is not a header page. */
export function readHeaderPage(view: DataView, at: number): FileHeader | undefined {
  const content = at + PAGE_HEAD_BYTES;
  if (at + HEADER_BYTES > view.byteLength || pageKind(view, at) !== HEADER_PAGE) return undefined;
  if (view.getUint32(content, true) !== MAGIC || view.getUint32(content + 4, true) !== FORMAT_VERSION) return undefined;
  return {
    mapBytes: readNumber(view, content + 16),
    pageSize: view.getUint32(content + 24, true), // In the record of the free-page tree, where others have nothing.
    free: readTreeRecord(view, content + 24),
    main: readTreeRecord(view, content + 72),
    lastPage: readNumber(view, content + 120),
    transaction: readNumber(view, content + 128),
  };
}

// ── the lock file beside the data file ────────────────────────────────────────────────────────────────

export const LOCK_HEAD_BYTES = 16;

/** The last committed transaction according to this file; it is written after the data file, and never synced. */
export function lockTransaction(view: DataView): number {
  return view.byteLength >= LOCK_HEAD_BYTES && view.getUint32(0, true) === MAGIC ? readNumber(view, 8) : 0;
}

// ── numbers of 8 bytes ────────────────────────────────────────────────────────────────────────────────

/** Above 2^53 the result is not exact, but larger than any valid number. */
export function readNumber(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 0x1_0000_0000;
}

export function readSignedNumber(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getInt32(at + 4, true) * 0x1_0000_0000;
}
