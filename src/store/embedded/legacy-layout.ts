/** How a data file of format 1 is recognized: its main tree holds the records of three named maps instead of entries. */
import { openFileReader } from "../../host/files/file-reader.ts";
import { readFileHeaders } from "./file-header.ts";
import { NODE_HEAD_BYTES, NODE_IS_TREE, NODE_OFFSET_BYTES, PAGE_HEAD_BYTES, nodeFlags, nodeOffset, pageLower } from "./page-layout.ts";

/** The names of the maps, which lmdb ends with a zero byte. */
export const LEGACY_MAP_NAMES = ["log", "index", "meta"] as const;

/** Whether the leaf at `at` begins with the record of a map. Reads nothing beyond the page, whatever is in it. */
export function holdsMaps(view: DataView, at: number, pageSize: number): boolean {
  if (pageLower(view, at) < NODE_OFFSET_BYTES) return false;
  const offset = nodeOffset(view, at, 0);
  if (offset + NODE_HEAD_BYTES > pageSize - PAGE_HEAD_BYTES) return false;
  return nodeFlags(view, at + PAGE_HEAD_BYTES + offset) === NODE_IS_TREE;
}

/** Whether the file is of format 1. Its headers must have been checked (prepareDataFile). */
export async function isLegacyFile(path: string): Promise<boolean> {
  const headers = await readFileHeaders(path);
  if (headers === undefined) return false;
  const { pageSize, main } = headers.newer;
  if (main.root === undefined || main.depth !== 1) return false;
  const file = await openFileReader(path);
  try {
    if ((main.root + 1) * pageSize > file.sizeBytes) return false;
    const page = file.window(pageSize);
    return holdsMaps(page.view, page.look(main.root * pageSize, pageSize), pageSize);
  } finally {
    await file.close();
  }
}
