/** Facts of this machine: its CPUs, memory and disks, machine ID and boot ID. Unknown ones are "". */
import { readdirSync, readFileSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { arch, availableParallelism, hostname, platform, release, totalmem } from "node:os";

export interface MachineFacts {
  readonly hostname: string;
  readonly processors: number;
  readonly memoryBytes: number;
  /** Reserved bytes by huge page size in bytes. */
  readonly hugePages: readonly { readonly sizeBytes: number; readonly totalBytes: number }[];
  /** As Go names it: "amd64", "arm64". */
  readonly architecture: string;
  readonly operatingSystem: string;
  /** "Debian GNU/Linux 12 (bookworm)". */
  readonly systemName: string;
  readonly kernelVersion: string;
  readonly machineId: string;
  readonly systemUuid: string;
  /** Changes with every boot. */
  readonly bootId: string;
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386", ppc64: "ppc64le" };

export function machineFacts(): MachineFacts {
  const architecture = arch();
  return {
    hostname: hostname().toLowerCase(),
    processors: availableParallelism(),
    memoryBytes: totalmem(),
    hugePages: hugePages(),
    architecture: ARCHITECTURES[architecture] ?? architecture,
    operatingSystem: platform(),
    systemName: /^PRETTY_NAME="?(?<name>[^"\n]*)"?$/m.exec(textOf("/etc/os-release"))?.groups?.["name"] ?? "",
    kernelVersion: release(),
    machineId: textOf("/etc/machine-id") || textOf("/var/lib/dbus/machine-id"),
    systemUuid: textOf("/sys/class/dmi/id/product_uuid"),
    bootId: textOf("/proc/sys/kernel/random/boot_id"),
  };
}

/** Total size of the file system of a path. */
export async function diskBytes(path: string): Promise<{ readonly totalBytes: number; readonly freeBytes: number }> {
  const { blocks, bavail, bsize } = await statfs(path);
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize };
}

const HUGE_PAGES = "/sys/kernel/mm/hugepages";

function hugePages(): MachineFacts["hugePages"] {
  return namesIn(HUGE_PAGES).flatMap((name) => {
    const sizeBytes = Number(/^hugepages-(?<size>\d+)kB$/.exec(name)?.groups?.["size"] ?? Number.NaN) * 1024;
    const count = Number(textOf(`${HUGE_PAGES}/${name}/nr_hugepages`));
    return Number.isNaN(sizeBytes) ? [] : [{ sizeBytes, totalBytes: sizeBytes * count }];
  });
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}
