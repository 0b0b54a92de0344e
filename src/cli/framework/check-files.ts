/**
 * Looks at files that flags name, before anything is started: what is wrong with any of them is told at once, each once. They are read again
 * by who uses them. Not here: which files there are (check-named-files.ts, and the commands).
 */
import { isPipe } from "../../host/files/files.ts";
import { readGiven } from "./file-flag.ts";
import { UnusableFiles } from "./unusable-files.ts";

/** Rejects with a sentence, or with UnusableFiles. */
export type Look = () => Promise<unknown>;

/** All that is wrong, in the order of the looks. */
export async function problemsOfFiles(looks: readonly Look[]): Promise<readonly string[]> {
  const results = await Promise.allSettled(looks.map((look) => look()));
  const problems = results.flatMap((result) => (result.status === "rejected" ? problemsIn(result.reason) : []));
  // A file may be named twice, or be looked at alone and with another.
  return [...new Set(problems)];
}

/** Of one that a look rejected with. */
export function problemsIn(error: unknown): readonly string[] {
  if (error instanceof UnusableFiles) return error.problems;
  return [error instanceof Error ? error.message : String(error)];
}

/** No look if it is not named. What comes through a pipe can be read only once, and is left to who uses it. */
export function fileLook(path: string | undefined, read: (path: string) => Promise<unknown>): readonly Look[] {
  return path === undefined ? [] : [async () => ((await isPipe(path)) ? undefined : read(path))];
}

interface Pair<T> {
  readonly certificate: T;
  readonly key: T;
}

/** Each by itself, so that both are told; and both together, if both are named. */
export function pairLooks(
  { certificate, key }: Pair<string | undefined>,
  flags: Pair<string>,
  read: (pair: Pair<string>) => Promise<unknown>,
): readonly Look[] {
  const both = async (): Promise<unknown> => {
    if (certificate === undefined || key === undefined) return undefined;
    return (await isPipe(certificate)) || (await isPipe(key)) ? undefined : read({ certificate, key });
  };
  return [
    ...fileLook(certificate, (path) => readGiven(path, flags.certificate)),
    ...fileLook(key, (path) => readGiven(path, flags.key)),
    both,
  ];
}
