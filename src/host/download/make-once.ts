/**
 * What is fetched once and then kept: it appears in the cache whole or not at all, so that what is there needs no second look, and an
 * interrupted run or one without a network leaves nothing that a later one could take for it.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";

/** Makes `folder` by filling a directory beside it. What went wrong, if something did. */
export async function makeOnce(folder: string, fill: (unfinished: string) => Promise<void>): Promise<string | undefined> {
  let unfinished: string | undefined;
  try {
    mkdirSync(dirname(folder), { recursive: true });
    unfinished = mkdtempSync(`${folder}.`);
    // Several users may share a cache; a temporary directory is its maker's only.
    chmodSync(unfinished, 0o755);
    await fill(unfinished);
    // Another clone that shares the cache may have been quicker; then that one's are as good.
    if (!existsSync(folder)) renameSync(unfinished, folder);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    if (unfinished !== undefined) rmSync(unfinished, { recursive: true, force: true });
  }
}
