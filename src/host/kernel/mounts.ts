/**
 * Mounting and unmounting on Linux, by the system's own programs: Node has no call for it. Paths must be absolute and without links.
 * Not here: what is mounted (mount-table.ts).
 */
import { release } from "node:os";
import { mountsUnder } from "./mount-table.ts";
import { runProgram } from "../processes/child-process.ts";
import { findProgram } from "../processes/find-program.ts";
import { runInHelperShell } from "../processes/helper-shell.ts";

export interface MemoryMount {
  /** Absent: half of the machine's memory. */
  readonly sizeBytes?: number;
}

/** From this version of Linux on a tmpfs can be excluded from swap. */
const NO_SWAP_SINCE = [6, 4] as const;

let canForbidSwap = isKernelSince(NO_SWAP_SINCE);

/** Mounts an empty tmpfs. Rejects if this process is not allowed to mount. */
export async function mountMemory(path: string, { sizeBytes }: MemoryMount): Promise<void> {
  const size = sizeBytes === undefined ? [] : [`size=${sizeBytes}`];
  const mountWith = (options: readonly string[]) =>
    runInHelperShell("mount", "-t", "tmpfs", ...options.flatMap((option) => ["-o", option]), "tmpfs", path);
  if (!canForbidSwap) return mountWith(size);
  try {
    await mountWith([...size, "noswap"]);
  } catch {
    // In a user namespace that is refused on every kernel. If this fails, too, the cause is another one.
    await mountWith(size);
    canForbidSwap = false;
  }
}

/** Bind-mounts an open file or directory. By its descriptor, because its name may have changed by now. */
export async function mountOpenFile(fileDescriptor: number, path: string): Promise<void> {
  await runInHelperShell("mount", "--no-canonicalize", "--bind", `/proc/${process.pid}/fd/${fileDescriptor}`, path);
}

export interface DeviceMount {
  /** Block device, or what the file system takes for one: "server:/export". */
  readonly device: string;
  readonly path: string;
  readonly fileSystem: string;
  /** As after "-o". */
  readonly options: readonly string[];
}

/** Mounts the file system of a device. Not in the helper shell: a server that does not respond would block all other mounts. */
export async function mountDevice({ device, path, fileSystem, options }: DeviceMount): Promise<void> {
  try {
    await runProgram({ command: "mount", arguments: ["-t", fileSystem, ...optionArguments(options), "--", device, path] });
  } catch (error) {
    const missing = missingHelper(fileSystem);
    throw missing === undefined
      ? error
      : new Error(`${missing}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** Debian's packages of the programs that mount file systems of servers: without its program `mount` says only that the type is unknown. */
const HELPER_PACKAGES = new Map([["nfs", "nfs-common"]]);

/** Why a file system of this type cannot be mounted: its program is not installed. Undefined: it is, or none is needed. */
export function missingHelper(fileSystem: string, find = (name: string) => findProgram(name, undefined)): string | undefined {
  const inPackage = HELPER_PACKAGES.get(fileSystem);
  const program = `mount.${fileSystem}`;
  if (inPackage === undefined || find(program) !== undefined) return undefined;
  return `${program} not found; install it on the node (Debian: ${inPackage})`;
}

/** Shows a file or directory at another path, too. Options such as "ro" apply to the new mount only. */
export async function bindMount(source: string, path: string, options: readonly string[]): Promise<void> {
  await runInHelperShell("mount", "--no-canonicalize", "--bind", "--", source, path);
  if (options.length === 0) return;
  try {
    // The kernel ignores options of a new bind mount; a second call sets them.
    await runInHelperShell("mount", "--no-canonicalize", ...optionArguments(["remount", "bind", ...options]), "--", source, path);
  } catch (error) {
    // A mount without its "ro" must not stay.
    await runInHelperShell("umount", "--no-canonicalize", "--", path).catch(() => undefined);
    throw error;
  }
}

/** A view of layers, as a container runtime describes it. */
export interface ViewMount {
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
}

/** Mounts a view with further options. Lower directories are relative to their parent: the kernel takes 4 KiB of options. */
export async function mountView({ type, source, options }: ViewMount, path: string, more: readonly string[]): Promise<void> {
  if (type === "bind") return bindMount(source, path, more);
  const lower =
    options
      .find((option) => option.startsWith(LOWER))
      ?.slice(LOWER.length)
      .split(":") ?? [];
  const directory = commonParent(lower);
  const relative = lower.map((layer) => layer.slice(directory.length + 1)).join(":");
  const all = options.map((option) => (option.startsWith(LOWER) ? `${LOWER}${relative}` : option));
  const words = ["-t", type, ...optionArguments([...all, ...more]), "--", source, path];
  await runProgram({ command: "mount", arguments: ["--no-canonicalize", ...words], ...(directory === "" ? {} : { directory }) });
}

const LOWER = "lowerdir=";

/** "" if none. */
function commonParent([first = "", ...others]: readonly string[]): string {
  const parents = first.split("/").slice(0, -1);
  const isShared = (length: number) => others.every((other) => other.startsWith(`${parents.slice(0, length).join("/")}/`));
  for (let length = parents.length; length > 1; length--) if (isShared(length)) return parents.slice(0, length).join("/");
  return "";
}

function optionArguments(options: readonly string[]): readonly string[] {
  return options.length === 0 ? [] : ["-o", options.join(",")];
}

/**
 * Unmounts everything at `path` and below, also stacked mounts, the innermost first. A mount in use is detached lazily. Rejects if one
 * remains.
 */
export async function unmountUnder(path: string): Promise<void> {
  const mounted = await pathsUnder(path);
  if (mounted.length === 0) return;
  const all = mounted.toReversed();
  await runInHelperShell("umount", "--no-canonicalize", "--", ...all).catch(() => undefined);
  const busy = (await pathsUnder(path)).toReversed();
  if (busy.length > 0) await runInHelperShell("umount", "--no-canonicalize", "--lazy", "--", ...busy).catch(() => undefined);
  const left = await pathsUnder(path);
  if (left.length > 0) throw new Error(`Cannot unmount ${left.join(", ")}: still mounted after umount`);
}

async function pathsUnder(path: string): Promise<readonly string[]> {
  return (await mountsUnder(path)).map((mounted) => mounted.path);
}

function isKernelSince([major, minor]: readonly [number, number]): boolean {
  const [ownMajor = 0, ownMinor = 0] = release().split(".").map(Number);
  return ownMajor > major || (ownMajor === major && ownMinor >= minor);
}
