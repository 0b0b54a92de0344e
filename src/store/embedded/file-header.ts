/**
 * The two header pages of lmdb's file: reads them, determines the current one, and rejects a pair that lmdb cannot have written. lmdb takes
 * the one with the higher transaction and checks nothing else, so that a single flipped bit could make it show the state before the last
 * commit, or read pages that never existed.
 */
import { readHead } from "../../host/files/files.ts";
import { HEADER_BYTES, PAGE_SIZE_MAX, PAGE_SIZE_MIN, pageNumber, readHeaderPage, type FileHeader } from "./page-layout.ts";
import { damaged } from "./records.ts";

export interface FileHeaders {
  /** The current one. */
  readonly newer: FileHeader;
  /** The one before the last transaction; all of its pages still exist, too. */
  readonly older: FileHeader;
}

/** Undefined if the file is empty. Throws "Damaged" if it cannot be lmdb's. */
export async function readFileHeaders(path: string): Promise<FileHeaders | undefined> {
  const head = await readHead(path, PAGE_SIZE_MAX + HEADER_BYTES);
  if (head.length === 0) return undefined;
  const view = new DataView(head.buffer, head.byteOffset, head.length);
  const first = soundHeader(view, 0);
  if (first === undefined || pageNumber(view, 0) !== 0) throw damaged(`${path} does not begin as a data file does`);
  const second = soundHeader(view, first.pageSize);
  if (second === undefined || pageNumber(view, first.pageSize) !== 1 || second.pageSize !== first.pageSize) {
    throw damaged(`the second header of ${path} is broken`);
  }
  return inOrder(first, second, path);
}

function soundHeader(view: DataView, at: number): FileHeader | undefined {
  const header = readHeaderPage(view, at);
  if (header === undefined) return undefined;
  const { pageSize, lastPage, mapBytes } = header;
  if (pageSize < PAGE_SIZE_MIN || pageSize > PAGE_SIZE_MAX || (pageSize & (pageSize - 1)) !== 0) return undefined;
  // lmdb enlarges its map before it uses a page beyond it. Also limits how far a short file is extended.
  return (lastPage + 1) * pageSize <= mapBytes ? header : undefined;
}

/** Even transactions are written to the first header, odd ones to the second, alternating. */
function inOrder(first: FileHeader, second: FileHeader, path: string): FileHeaders {
  const isNew = first.transaction === 0 && second.transaction === 0;
  const [newer, older] = first.transaction > second.transaction ? [first, second] : [second, first];
  const inItsPlace = (newer === first) === (newer.transaction % 2 === 0);
  if (isNew || (inItsPlace && newer.transaction === older.transaction + 1)) return { newer, older };
  throw damaged(`the headers of ${path}, of transactions ${first.transaction} and ${second.transaction}, do not follow each other`);
}
