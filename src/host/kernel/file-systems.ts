/**
 * File systems on block devices, by the system's own programs: detected, created, repaired and grown. Arguments are upstream's. A device that
 * holds anything is never formatted. Not here: mounting (mounts.ts).
 */
import { runProgram, startProgram } from "../processes/child-process.ts";

/** blkid found nothing that it knows. */
const NOTHING_FOUND = 2;
/** fsck left errors uncorrected. */
const ERRORS_UNCORRECTED = 4;

/** Type of the file system on a device, such as "ext4"; undefined if the device is empty. Rejects if it holds anything else. */
export async function fileSystemOn(device: string): Promise<string | undefined> {
  const program = await startProgram({ command: "blkid", arguments: ["-p", "-s", "TYPE", "-s", "PTTYPE", "-o", "export", "--", device] });
  const { code } = await program.exited;
  if (code === NOTHING_FOUND) return undefined;
  if (code !== 0) throw new Error(`Cannot inspect ${device}: blkid exited with code ${code}: ${program.output.join("\n")}`);
  const valueOf = (key: string) => program.output.find((line) => line.startsWith(`${key}=`))?.slice(key.length + 1);
  const [type, partitions] = [valueOf("TYPE"), valueOf("PTTYPE")];
  if (type === undefined) throw new Error(`Cannot use ${device} as a file system: it holds ${partitions ?? "unknown"} partitions`);
  return type;
}

/** Creates a file system. The caller verified that the device is empty. */
export async function format(device: string, fileSystem: string): Promise<void> {
  const options = fileSystem === "xfs" ? ["-f"] : /^ext[234]$/.test(fileSystem) ? ["-F", "-m0"] : [];
  await runProgram({ command: `mkfs.${fileSystem}`, arguments: [...options, device] });
}

/** Corrects what can be corrected without a decision. Rejects if errors remain. Without a program for this file system it does nothing. */
export async function repair(device: string): Promise<void> {
  const program = await startProgram({ command: "fsck", arguments: ["-a", device] });
  const { code } = await program.exited;
  if (code !== ERRORS_UNCORRECTED) return;
  throw new Error(`'fsck' found errors on device ${device} but could not correct them: ${program.output.join("\n")}`);
}

/**
 * Grows a file system that is not mounted to the size of its device. Only ext: the others grow only while they are mounted, and ext only
 * then if this process has CAP_SYS_RESOURCE, which containers mostly lack.
 */
export async function growUnmounted(device: string): Promise<void> {
  const type = await fileSystemOn(device);
  if (type !== "ext3" && type !== "ext4") return;
  // resize2fs insists on it.
  const check = await startProgram({ command: "e2fsck", arguments: ["-f", "-p", device] });
  const { code } = await check.exited;
  if (code === null || code >= ERRORS_UNCORRECTED) throw new Error(`Cannot grow ${device}: e2fsck failed: ${check.output.join("\n")}`);
  await runProgram({ command: "resize2fs", arguments: [device] });
}

/** Grows a mounted file system to the size of its device; nothing happens if it has that size. */
export async function growFileSystem(device: string, path: string): Promise<void> {
  const type = await fileSystemOn(device);
  if (type === "ext3" || type === "ext4") return void (await runProgram({ command: "resize2fs", arguments: [device] }));
  if (type === "xfs") return void (await runProgram({ command: "xfs_growfs", arguments: ["-d", path] }));
  if (type === "btrfs") return void (await runProgram({ command: "btrfs", arguments: ["filesystem", "resize", "max", path] }));
  throw new Error(`Cannot grow ${device}: resizing a file system of type ${type ?? "unknown"} is not supported`);
}
