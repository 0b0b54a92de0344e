/**
 * Loop devices of Linux: block devices whose content is a file, by the system's own `losetup`. The kernel is asked each time, so that
 * devices of killed processes are found. Not here: file systems on them, and their mounts.
 */
import { readdir, readFile } from "node:fs/promises";
import { runProgram } from "../processes/child-process.ts";
import { findProgram } from "../processes/find-program.ts";

/** Attaches a file, or returns the device that it is attached to: "/dev/loop3". */
export async function attachLoopDevice(file: string): Promise<string> {
  const existing = await findLoopDevice(file);
  if (existing !== undefined) return existing;
  const [device] = await losetup("--find", "--show", "--nooverlap", "--", file);
  if (device === undefined) throw new Error(`Cannot attach ${file} to a loop device: losetup printed no device`);
  return device;
}

/** The device that has this file attached, by its inode and not its name. */
export async function findLoopDevice(file: string): Promise<string | undefined> {
  const [device] = await losetup("--noheadings", "--output", "NAME", "--associated", file);
  return device?.trim() || undefined;
}

/** The kernel keeps a device that is in use until its last user closes it. */
export async function detachLoopDevice(device: string): Promise<void> {
  await losetup("--detach", device);
}

/** Makes the device as large as its file is now. Its users notice. */
export async function resizeLoopDevice(device: string): Promise<void> {
  await losetup("--set-capacity", device);
}

/** True if the file system on it is mounted in this process's mount namespace. */
export async function isLoopDeviceMounted(device: string): Promise<boolean> {
  const number = (await readFile(`/sys/block/${nameOf(device)}/dev`, "utf8")).trim();
  const table = await readFile("/proc/self/mountinfo", "utf8");
  return table.split("\n").some((line) => line.split(" ")[2] === number);
}

export interface LoopDevice {
  readonly device: string;
  /** As the kernel names it. */
  readonly file: string;
}

/** Devices whose files are below a directory, deleted files included. Empty where the kernel has no loop devices. */
export async function loopDevicesUnder(directory: string): Promise<readonly LoopDevice[]> {
  const names = (await readdir("/sys/block").catch(() => [])).filter((name) => name.startsWith("loop"));
  const found = await Promise.all(
    names.map(async (name) => {
      // A device without a file has no such entry.
      const file = await readFile(`/sys/block/${name}/loop/backing_file`, "utf8").catch(() => "");
      return { device: `/dev/${name}`, file: file.trimEnd() };
    }),
  );
  return found.filter(({ file }) => file.startsWith(`${directory}/`));
}

function nameOf(device: string): string {
  return device.slice(device.lastIndexOf("/") + 1);
}

function losetup(...words: readonly string[]): Promise<readonly string[]> {
  return runProgram({ command: findProgram("losetup", process.env["PATH"]) ?? "losetup", arguments: words });
}
