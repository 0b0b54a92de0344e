/** Where programs and folders of the machine are. */
import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

/** A user's path often lacks these, though mount, iptables and others live there. */
const SYSTEM_FOLDERS = ["/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin"];

/** `path` with the system's folders at its end, as far as they are missing. */
export function wholePath(path: string | undefined): string {
  return [...new Set([...(path ?? "").split(delimiter).filter((folder) => folder !== ""), ...SYSTEM_FOLDERS])].join(delimiter);
}

/** Also in the system's folders. Undefined if there is none of that name. */
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

/** Whether it may be executed, or entered. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
