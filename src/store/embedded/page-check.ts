/**
 * Walks all pages of lmdb's file that are in use, before lmdb does: lmdb maps the file and trusts every number in it, so that a damaged
 * page could end the process, or make it overwrite pages in use. A file that passes has sound trees: every page is what its parent expects,
 * used once and not also free; all keys are in order; all counts are correct.
 *
 * Plain reads of the file, and of a long value only the head of its first page, so that it takes a fraction of reading everything. Not
 * here: whether values are what was written (their checksums are verified when read), and whether index and log agree (verify.ts).
 */
import { openFileReader, type FileReader, type FileWindow } from "../../host/files/file-reader.ts";
import { StoreError } from "../store-error.ts";
import { readFileHeaders, type FileHeaders } from "./file-header.ts";
import { KeyOrder } from "./key-order.ts";
import { holdsMaps, LEGACY_MAP_NAMES } from "./legacy-layout.ts";
import {
  BRANCH_PAGE,
  HEADER_PAGES,
  LEAF_PAGE,
  NODE_HEAD_BYTES,
  NODE_IS_TREE,
  NODE_OFFSET_BYTES,
  NODE_OVERFLOWS,
  NUMBER_KEYS,
  OVERFLOW_PAGE,
  PAGE_HEAD_BYTES,
  RUN_REFERENCE_BYTES,
  TREE_DEPTH_MAX,
  TREE_RECORD_BYTES,
  TREE_SHAPE_FLAGS,
  nodeChild,
  nodeDataBytes,
  nodeFlags,
  nodeKeyBytes,
  nodeOffset,
  pageKind,
  pageLower,
  pageNumber,
  pageRun,
  pageTransaction,
  pageUpper,
  readNumber,
  readSignedNumber,
  readTreeRecord,
  runPagesOf,
  type FileHeader,
  type TreeRecord,
} from "./page-layout.ts";
import { PageSet } from "./page-set.ts";
import { damaged, INDEX_PREFIX, LOG_PREFIX, META_PREFIX, POSITION_KEY_BYTES, PREFIX_BYTES } from "./records.ts";

/** Throws "Damaged", with the page and the problem, unless the file is safe for lmdb. */
export async function checkPages(path: string): Promise<void> {
  const headers = await readFileHeaders(path);
  if (headers === undefined) return; // Empty: nothing was ever written.
  const file = await openFileReader(path);
  try {
    await new PageCheck(path, headers, file).run();
  } catch (error) {
    throw error instanceof StoreError ? error : damaged(`${path} cannot be read to its end (${(error as Error).message})`, error);
  } finally {
    await file.close();
  }
}

/** A tree during the walk. */
interface Tree {
  readonly name: string;
  /** Content of its leaves: lists of free pages, the store's records, or, in format 1, the records of other trees and their content. */
  readonly holds: "free pages" | "entries" | "maps" | "legacy entries";
  readonly record: TreeRecord;
  /** The page of the record. */
  readonly transaction: number;
  readonly order: KeyOrder;
  readonly found: { branchPages: number; leafPages: number; overflowPages: number; entries: number };
}

class PageCheck {
  readonly #path: string;
  readonly #header: FileHeader;
  readonly #olderHeader: FileHeader;
  readonly #file: FileReader;
  readonly #pageSize: number;
  /** Length of the file; a page in use beyond that is lost. */
  readonly #pages: number;
  readonly #used: PageSet;
  readonly #free: PageSet;
  readonly #leaf: FileWindow;
  readonly #runHead: FileWindow;
  /** The branch pages from the root down to the current position. */
  readonly #branches: { readonly bytes: Uint8Array; readonly view: DataView }[] = [];
  readonly #maps: Tree[] = [];

  constructor(path: string, { newer: header, older }: FileHeaders, file: FileReader) {
    this.#path = path;
    this.#header = header;
    this.#olderHeader = older;
    this.#file = file;
    this.#pageSize = header.pageSize;
    this.#pages = Math.min(header.lastPage + 1, Math.floor(file.sizeBytes / header.pageSize));
    this.#used = new PageSet(this.#pages);
    this.#free = new PageSet(this.#pages);
    this.#leaf = file.window(header.pageSize);
    this.#runHead = file.window(PAGE_HEAD_BYTES);
  }

  async run(): Promise<void> {
    this.#checkOlderHeader();
    const { transaction, free, main } = this.#header;
    const freeRoot = await this.#checkTree(this.#tree("the tree of free pages", "free pages", free, transaction));
    const mainRoot = await this.#checkTree(this.#mainTree(main, transaction));
    // Every transaction replaces at least one of the two roots.
    if (Math.max(freeRoot, mainRoot) !== transaction) {
      throw damaged(`the roots in ${this.#path} are of transactions ${freeRoot} and ${mainRoot}, the header of ${transaction}`);
    }
    for (const map of this.#maps) await this.#checkTree(map);
    const both = this.#used.firstIn(this.#free);
    if (both !== undefined) throw this.#wrong(both, "is in use and among the free pages");
  }

  /**
   * A header whose roots are younger than itself is the newer one with its number changed: lmdb would show the state before its commit.
   * (lmdb itself leaves such a header when writing it failed; whether that commit is on disk is unknown, too.)
   */
  #checkOlderHeader(): void {
    const { transaction, free, main } = this.#olderHeader;
    for (const root of [free.root, main.root]) {
      if (root === undefined || root >= this.#pages) continue;
      const at = this.#leaf.look(root * this.#pageSize, PAGE_HEAD_BYTES);
      // Other damage does not matter here: these pages are no longer in use.
      if (pageNumber(this.#leaf.view, at) !== root || pageTransaction(this.#leaf.view, at) <= transaction) continue;
      throw damaged(`the older header of ${this.#path} is of transaction ${transaction}, its root ${root} is younger`);
    }
  }

  #mainTree(record: TreeRecord, transaction: number): Tree {
    const { root, depth } = record;
    if (depth !== 1 || root === undefined || root >= this.#pages) return this.#tree("the data tree", "entries", record, transaction);
    const at = this.#leaf.look(root * this.#pageSize, this.#pageSize);
    const isLegacy = holdsMaps(this.#leaf.view, at, this.#pageSize);
    return isLegacy
      ? this.#tree("the tree of maps", "maps", record, transaction)
      : this.#tree("the data tree", "entries", record, transaction);
  }

  #tree(name: string, holds: Tree["holds"], record: TreeRecord, transaction: number): Tree {
    const order = new KeyOrder(holds === "free pages" ? "numbers" : "bytes", this.#pageSize);
    return { name, holds, record, transaction, order, found: { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 } };
  }

  /** Returns the transaction of the root, 0 if none exists. */
  async #checkTree(tree: Tree): Promise<number> {
    const { name, record, found } = tree;
    const { flags, depth, root } = record;
    if ((flags & TREE_SHAPE_FLAGS) !== (tree.holds === "free pages" ? NUMBER_KEYS : 0)) {
      throw damaged(`${name} in ${this.#path} has the flags ${flags}`);
    }
    if (depth > TREE_DEPTH_MAX || (depth === 0) !== (root === undefined)) {
      throw damaged(`${name} in ${this.#path} has the depth ${depth} and the root ${root}`);
    }
    const transaction = root === undefined ? 0 : await this.#checkPage(tree, root, 0, tree.transaction);
    for (const count of ["branchPages", "leafPages", "overflowPages", "entries"] as const) {
      if (found[count] === record[count]) continue;
      throw damaged(`${name} in ${this.#path} has ${found[count]} ${count} where there should be ${record[count]}`);
    }
    return transaction;
  }

  /** `level`: number of ancestors. `youngest`: the transaction of the parent. Returns its own. */
  async #checkPage(tree: Tree, number: number, level: number, youngest: number): Promise<number> {
    if (number < HEADER_PAGES || number >= this.#pages) {
      throw damaged(`${tree.name} points to page ${number}, and ${this.#path} has ${this.#pages}`);
    }
    if (this.#used.add(number, 1) !== undefined) throw this.#wrong(number, "is used twice");
    if (level < tree.record.depth - 1) return this.#checkBranch(tree, number, level, youngest);
    return this.#checkLeaf(tree, number, youngest);
  }

  async #checkBranch(tree: Tree, number: number, level: number, youngest: number): Promise<number> {
    const { bytes, view } = (this.#branches[level] ??= newPage(this.#pageSize));
    // Awaited, so that other work runs between the leaves of two branches.
    await this.#file.read(bytes, number * this.#pageSize);
    const transaction = this.#checkHead(view, 0, { number, kind: BRANCH_PAGE, youngest });
    const nodes = this.#countNodes(view, 0, number);
    // lmdb aborts on a branch with one node, except where it temporarily creates such itself.
    if (nodes < 2 && tree.holds !== "free pages") throw this.#wrong(number, "is a branch with one node");
    tree.found.branchPages += 1;
    let filledBytes = 0;
    for (let index = 0; index < nodes; index++) {
      const node = this.#nodeAt(view, 0, index, number);
      const keyBytes = nodeKeyBytes(view, node);
      filledBytes += this.#nodeBytes(0, node, NODE_HEAD_BYTES + keyBytes, number);
      // The first key of a branch has no meaning: everything less than the second is left of it.
      if (index > 0 && !tree.order.isNextBound(bytes, node + NODE_HEAD_BYTES, keyBytes)) throw this.#wrong(number, "has keys out of order");
      await this.#checkPage(tree, nodeChild(view, node), level + 1, transaction);
    }
    this.#checkFilled(view, 0, filledBytes, number);
    return transaction;
  }

  #checkLeaf(tree: Tree, number: number, youngest: number): number {
    const at = this.#leaf.look(number * this.#pageSize, this.#pageSize);
    const { bytes, view } = this.#leaf;
    const transaction = this.#checkHead(view, at, { number, kind: LEAF_PAGE, youngest });
    const nodes = this.#countNodes(view, at, number);
    tree.found.leafPages += 1;
    tree.found.entries += nodes;
    let filledBytes = 0;
    for (let index = 0; index < nodes; index++) {
      const node = this.#nodeAt(view, at, index, number);
      const keyBytes = nodeKeyBytes(view, node);
      const dataBytes = nodeFlags(view, node) === NODE_OVERFLOWS ? RUN_REFERENCE_BYTES : nodeDataBytes(view, node);
      filledBytes += this.#nodeBytes(at, node, NODE_HEAD_BYTES + keyBytes + dataBytes, number);
      if (keyBytes === 0 || !tree.order.isNext(bytes, node + NODE_HEAD_BYTES, keyBytes)) throw this.#wrong(number, "has keys out of order");
      if (tree.holds === "entries") this.#checkPart(node, number);
      this.#checkContent(tree, node, number, transaction);
    }
    this.#checkFilled(view, at, filledBytes, number);
    tree.order.keep();
    return transaction;
  }

  /** A key that belongs to no part would not be found, nor missed. */
  #checkPart(node: number, number: number): void {
    const { bytes, view } = this.#leaf;
    const keyBytes = nodeKeyBytes(view, node);
    const prefix = bytes[node + NODE_HEAD_BYTES];
    const isKnown = prefix === LOG_PREFIX ? keyBytes === POSITION_KEY_BYTES : prefix === INDEX_PREFIX || prefix === META_PREFIX;
    if (!isKnown || keyBytes === PREFIX_BYTES) throw this.#wrong(number, `has a key of ${keyBytes} bytes in part ${prefix}`);
  }

  /** Validates the header of the page at `at`. Returns its transaction. */
  #checkHead(view: DataView, at: number, expected: { readonly number: number; readonly kind: number; readonly youngest: number }): number {
    const { number, kind, youngest } = expected;
    if (pageNumber(view, at) !== number) throw this.#wrong(number, `says that it is page ${pageNumber(view, at)}`);
    if (pageKind(view, at) !== kind) throw this.#wrong(number, `is of kind ${pageKind(view, at)} where it should be ${kind}`);
    const transaction = pageTransaction(view, at);
    if (transaction > youngest) throw this.#wrong(number, `is of transaction ${transaction}, what points to it of ${youngest}`);
    return transaction;
  }

  #countNodes(view: DataView, at: number, number: number): number {
    const lower = pageLower(view, at);
    const upper = pageUpper(view, at);
    if (lower < NODE_OFFSET_BYTES || lower % NODE_OFFSET_BYTES !== 0 || lower > upper || upper > this.#pageSize - PAGE_HEAD_BYTES) {
      throw this.#wrong(number, `has the bounds ${lower} and ${upper}`);
    }
    return lower / NODE_OFFSET_BYTES;
  }

  /** Start of a node. Its head is within the page. */
  #nodeAt(view: DataView, at: number, index: number, number: number): number {
    const offset = nodeOffset(view, at, index);
    if (offset % 2 !== 0 || offset < pageUpper(view, at) || offset + NODE_HEAD_BYTES > this.#pageSize - PAGE_HEAD_BYTES) {
      throw this.#wrong(number, `has a node at ${offset}`);
    }
    return at + PAGE_HEAD_BYTES + offset;
  }

  /** Size of a node of the given length. It is within the page. */
  #nodeBytes(at: number, node: number, lengthBytes: number, number: number): number {
    if (node + lengthBytes > at + this.#pageSize) throw this.#wrong(number, `has a node of ${lengthBytes} bytes over its end`);
    return lengthBytes + (lengthBytes % 2);
  }

  #checkFilled(view: DataView, at: number, filledBytes: number, number: number): void {
    const room = this.#pageSize - PAGE_HEAD_BYTES - pageUpper(view, at);
    if (filledBytes !== room) throw this.#wrong(number, `has ${filledBytes} bytes of nodes where there should be ${room}`);
  }

  // ── content of leaves ─────────────────────────────────────────────────────────────────────────────

  #checkContent(tree: Tree, node: number, number: number, transaction: number): void {
    const { view } = this.#leaf;
    const flags = nodeFlags(view, node);
    if (tree.holds === "maps" ? flags !== NODE_IS_TREE : flags !== 0 && flags !== NODE_OVERFLOWS) {
      throw this.#wrong(number, `has a node with the flags ${flags}`);
    }
    if (tree.holds === "maps") return this.#noteMap(node, number, transaction);
    const run = flags === NODE_OVERFLOWS ? this.#checkRun(tree, node, number, transaction) : undefined;
    if (tree.holds === "free pages") this.#noteFreePages(node, run, number);
  }

  /** Data that overflows. Returns its first page. */
  #checkRun(tree: Tree, node: number, number: number, youngest: number): number {
    const { view } = this.#leaf;
    const reference = node + NODE_HEAD_BYTES + nodeKeyBytes(view, node);
    const first = readNumber(view, reference);
    const transaction = readNumber(view, reference + 8);
    const pages = readNumber(view, reference + 16);
    if (first < HEADER_PAGES || first + pages > this.#pages || pages < runPagesOf(nodeDataBytes(view, node), this.#pageSize)) {
      throw this.#wrong(number, `has data in the ${pages} pages from ${first} on, and the file has ${this.#pages}`);
    }
    const twice = this.#used.add(first, pages);
    if (twice !== undefined) throw this.#wrong(twice, "is used twice");
    const at = this.#runHead.look(first * this.#pageSize, PAGE_HEAD_BYTES);
    const written = this.#checkHead(this.#runHead.view, at, { number: first, kind: OVERFLOW_PAGE, youngest });
    if (written !== transaction || pageRun(this.#runHead.view, at) !== pages) {
      throw this.#wrong(first, `is not the first of the ${pages} pages that transaction ${transaction} wrote`);
    }
    tree.found.overflowPages += pages;
    return first;
  }

  #noteMap(node: number, number: number, transaction: number): void {
    const { bytes, view } = this.#leaf;
    const key = node + NODE_HEAD_BYTES;
    const record = key + nodeKeyBytes(view, node);
    const written = new TextDecoder("latin1").decode(bytes.subarray(key, record));
    // Under another name the map would not be found, and an empty one created. The library ends names with a zero byte.
    const name = LEGACY_MAP_NAMES.find((known) => `${known}\0` === written);
    if (name === undefined) throw this.#wrong(number, `has a map ${JSON.stringify(written)}`);
    if (nodeDataBytes(view, node) !== TREE_RECORD_BYTES) throw this.#wrong(number, `has a record of ${nodeDataBytes(view, node)} bytes`);
    this.#maps.push(this.#tree(`the map ${name}`, "legacy entries", readTreeRecord(view, record), transaction));
  }

  /** Pages that a transaction freed. `run`: position of the list, if it is not in the leaf. */
  #noteFreePages(node: number, run: number | undefined, number: number): void {
    const { view } = this.#leaf;
    const key = node + NODE_HEAD_BYTES;
    const keyBytes = nodeKeyBytes(view, node);
    const transaction = keyBytes === 8 ? readNumber(view, key) : 0;
    if (transaction < 1 || transaction > this.#header.transaction) throw this.#wrong(number, "lists what no transaction freed");
    const dataBytes = nodeDataBytes(view, node);
    if (run === undefined) return this.#noteFreeList(view, key + keyBytes, dataBytes, number);
    const list = newPage(dataBytes);
    this.#file.readNow(list.bytes, dataBytes, run * this.#pageSize + PAGE_HEAD_BYTES);
    this.#noteFreeList(list.view, 0, dataBytes, number);
  }

  /** A count, then page numbers: 0 is not a page; a negative number is the length of a run that the next number starts. */
  #noteFreeList(view: DataView, at: number, sizeBytes: number, number: number): void {
    const count = sizeBytes < 8 ? Infinity : readNumber(view, at);
    if ((count + 1) * 8 > sizeBytes) throw this.#wrong(number, `lists ${count} free pages in ${sizeBytes} bytes`);
    for (let index = 1; index <= count; index++) {
      let first = readSignedNumber(view, at + index * 8);
      let pages = 1;
      if (first === 0) continue;
      if (first < 0) {
        pages = -first;
        index += 1;
        first = index > count ? 0 : readSignedNumber(view, at + index * 8);
      }
      if (first < HEADER_PAGES || first + pages - 1 > this.#header.lastPage) {
        throw this.#wrong(number, `lists the ${pages} pages from ${first} on as free`);
      }
      this.#free.add(first, pages);
    }
  }

  #wrong(number: number, what: string): Error {
    return damaged(`page ${number} of ${this.#path} ${what}`);
  }
}

function newPage(sizeBytes: number): { readonly bytes: Uint8Array; readonly view: DataView } {
  const bytes = new Uint8Array(sizeBytes);
  return { bytes, view: new DataView(bytes.buffer) };
}
