/** The open-file limit of this process, and detection of errors from reaching it. */
import { readFileSync } from "node:fs";

/** Enough for all files of the program, which Node opens at once, and for the connections of a small cluster. */
const ADVISED_LIMIT = 4_096;

/** True if an error means that no further file can be opened: by this process (EMFILE), or on the whole machine (ENFILE). */
export function isOutOfFiles(error: unknown): boolean {
  return ["EMFILE", "ENFILE"].includes((error as NodeJS.ErrnoException | undefined)?.code ?? "");
}

/** One sentence for the user: the problem and the remedy. */
export function explainOutOfFiles(error: unknown): Error {
  const limit = openFilesLimit();
  const message =
    (error as NodeJS.ErrnoException).code === "ENFILE"
      ? "Cannot open a file: this machine has too many open files; stop other programs, or raise the sysctl fs.file-max"
      : `Cannot open a file: this process may have ${limit ?? "too few"} open files; raise the limit (ulimit -n ${ADVISED_LIMIT}, or LimitNOFILE= of a systemd unit)`;
  return new Error(message);
}

/** Undefined if the system does not report it. */
function openFilesLimit(): number | undefined {
  try {
    const [, limit] = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}
