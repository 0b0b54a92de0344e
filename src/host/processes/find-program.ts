/** Finds programs and directories of the machine. */
import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** A user's path often lacks these, though mount, iptables and others live there. */
const SYSTEM_FOLDERS = ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin"];

/** `path` with the missing system directories appended. */
export function wholePath(path: string | undefined): string {
  return [...new Set([...(path ?? "").split(delimiter).filter((folder) => folder !== ""), ...SYSTEM_FOLDERS])].join(delimiter);
}

/** Also searches the system directories. Undefined if it does not exist. */
export function findProgram(name: string, path: string | undefined): string | undefined {
  return findOnPath(name, wholePath(path));
}

/** Like a shell, but only in absolute directories: the current directory is untrusted. */
export function findOnPath(name: string, path: string | undefined): string | undefined {
  return (path ?? "")
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name))
    .find((file) => isExecutable(file));
}

/** True if it can be executed, or entered. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
