/** A file that a flag names: read, or told in one sentence why it cannot be, with the file and the flag. The same words for all of them. */
import { readWhole } from "../../host/files/files.ts";

/** By the system's code. */
const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: "the file does not exist",
  EISDIR: "it is a directory, not a file",
  ENOTDIR: "a component of the path is not a directory",
  EACCES: "this user has no permission to read it",
};

export async function readGivenBytes(path: string, flag: string): Promise<Uint8Array> {
  try {
    return await readWhole(path);
  } catch (error) {
    const why = UNREADABLE[(error as NodeJS.ErrnoException).code ?? ""] ?? (error as Error).message;
    throw new Error(`Cannot read ${path}: ${why}; set ${flag} to a readable file`, { cause: error });
  }
}

export async function readGiven(path: string, flag: string): Promise<string> {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await readGivenBytes(path, flag));
}

/** What `read` makes of it; what it throws is told with the file and the flag. */
export function usable<T>(path: string, flag: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`Cannot use ${path}: ${(error as Error).message}; set ${flag} to another file`, { cause: error });
  }
}
