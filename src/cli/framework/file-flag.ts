/** Reads files that are set by flags. Errors name the file and the flag, with the same messages everywhere. */
import { readWhole } from "../../host/files/files.ts";

/** By errno code. */
const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: "the file does not exist",
  EISDIR: "it is a directory, not a file",
  ENOTDIR: "a component of the path is not a directory",
  EACCES: "this user has no permission to read it",
};

export async function readFileFlagBytes(path: string, flag: string): Promise<Uint8Array> {
  try {
    return await readWhole(path);
  } catch (error) {
    const why = UNREADABLE[(error as NodeJS.ErrnoException).code ?? ""] ?? (error as Error).message;
    throw new Error(`Cannot read ${path}: ${why}; set ${flag} to a readable file`, { cause: error });
  }
}

export async function readFileFlag(path: string, flag: string): Promise<string> {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await readFileFlagBytes(path, flag));
}

/** Parses the file with `read`; errors that it throws are reported with the file and the flag. */
export function usable<T>(path: string, flag: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`Cannot use ${path}: ${(error as Error).message}; set ${flag} to another file`, { cause: error });
  }
}
