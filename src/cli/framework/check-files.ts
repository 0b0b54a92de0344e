/**
 * Validates the files that flags refer to before anything is started, and reports all problems at once, each of them once. The files are
 * read again by their users. Not here: which files there are (the check of the API server's files, and the commands).
 */
import { isPipe } from "../../host/files/files.ts";
import { readFileFlag } from "./file-flag.ts";
import { UnusableFiles } from "./unusable-files.ts";

/** Rejects with a message, or with UnusableFiles. */
export type FileCheck = () => Promise<unknown>;

/** All problems, in the order of the checks. */
export async function problemsOfFiles(looks: readonly FileCheck[]): Promise<readonly string[]> {
  const results = await Promise.allSettled(looks.map((look) => look()));
  const problems = results.flatMap((result) => (result.status === "rejected" ? problemsIn(result.reason) : []));
  // A file may be set twice, or be checked both alone and with another.
  return [...new Set(problems)];
}

/** Problems of one failed check. */
export function problemsIn(error: unknown): readonly string[] {
  if (error instanceof UnusableFiles) return error.problems;
  return [error instanceof Error ? error.message : String(error)];
}

/** Skipped if the flag is not set. A pipe can be read only once and is left to its user. */
export function fileCheck(path: string | undefined, read: (path: string) => Promise<unknown>): readonly FileCheck[] {
  return path === undefined ? [] : [async () => ((await isPipe(path)) ? undefined : read(path))];
}

interface Pair<T> {
  readonly certificate: T;
  readonly key: T;
}

/** Each alone, so that both are reported, and both together if both are set. */
export function pairFileChecks(
  { certificate, key }: Pair<string | undefined>,
  flags: Pair<string>,
  read: (pair: Pair<string>) => Promise<unknown>,
): readonly FileCheck[] {
  const both = async (): Promise<unknown> => {
    if (certificate === undefined || key === undefined) return undefined;
    return (await isPipe(certificate)) || (await isPipe(key)) ? undefined : read({ certificate, key });
  };
  return [
    ...fileCheck(certificate, (path) => readFileFlag(path, flags.certificate)),
    ...fileCheck(key, (path) => readFileFlag(path, flags.key)),
    both,
  ];
}
