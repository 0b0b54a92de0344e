/**
 * Fills a cache directory atomically: it appears complete or not at all, so that an existing one needs no verification, and an interrupted
 * or offline run leaves nothing that a later one could mistake for it.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";

/** Creates `folder` by filling a temporary directory beside it. Returns the error, if any. */
export async function makeOnce(folder: string, fill: (unfinished: string) => Promise<void>): Promise<string | undefined> {
  let unfinished: string | undefined;
  try {
    mkdirSync(dirname(folder), { recursive: true });
    unfinished = mkdtempSync(`${folder}.`);
    // Several users may share a cache; a temporary directory is accessible to its creator only.
    chmodSync(unfinished, 0o755);
    await fill(unfinished);
    // Another process that shares the cache may have been faster; its directory is equivalent.
    if (!existsSync(folder)) renameSync(unfinished, folder);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    if (unfinished !== undefined) rmSync(unfinished, { recursive: true, force: true });
  }
}
