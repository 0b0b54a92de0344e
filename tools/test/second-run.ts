/**
 * A test file that failed is rerun alone at the end of the run. If it then passes, it is flaky: the run passes and lists it with the output
 * of the first run. More than FLAKY_FILES_MAX such files fail the run. There is no list of known flaky files. Pure.
 */
import { hasFailed, SHARED_PROCESS, type FileResult } from "./file-result.ts";
import type { TestFile } from "./test-files.ts";

/** More flaky files than this in one run indicate a common cause. */
export const FLAKY_FILES_MAX = 5;

/** One process of the second run. */
export interface SecondRun {
  /** Several only if their shared process failed as a whole: they share one again. */
  readonly files: readonly TestFile[];
}

export function planSecondRuns(files: readonly TestFile[], results: readonly FileResult[]): readonly SecondRun[] {
  const failed = new Set(results.filter(hasFailed).map(({ file }) => file));
  const again = files.filter(({ name }) => failed.has(name));
  if (!failed.has(SHARED_PROCESS)) return again.map((file) => ({ files: [file] }));
  // The process crashed or hung: the file that caused it is unknown, and later files did not run.
  const shared = files.filter(({ kind }) => kind === "shared");
  const own = again.filter(({ kind }) => kind !== "shared");
  return [{ files: shared }, ...own.map((file) => ({ files: [file] }))];
}

export interface Verdict {
  /** The second result of a file that ran twice, the first one of the others. */
  readonly results: readonly FileResult[];
  /** The first results of files that failed and then passed. */
  readonly flaky: readonly FileResult[];
}

export function judge(first: readonly FileResult[], second: readonly FileResult[]): Verdict {
  if (second.length === 0) return { results: first, flaky: [] };
  const again = new Map(second.map((result) => [result.file, result]));
  const sharedAgain = again.get(SHARED_PROCESS);
  const results = [
    ...first.filter(({ file }) => file !== SHARED_PROCESS).map((result) => again.get(result.file) ?? result),
    ...(sharedAgain === undefined ? [] : [sharedAgain]),
  ];
  const stillFailed = new Set(results.filter(hasFailed).map(({ file }) => file));
  const sharedCrashed = first.some(({ file }) => file === SHARED_PROCESS);
  // Files that a crash of the shared process interrupted are not defective themselves.
  const isVictim = ({ file, failed }: FileResult) => sharedCrashed && file !== SHARED_PROCESS && failed.length === 0;
  return { results, flaky: first.filter((result) => hasFailed(result) && !stillFailed.has(result.file) && !isVictim(result)) };
}
