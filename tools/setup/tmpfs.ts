/**
 * Checks whether a small tmpfs can be mounted, for the tests of a full disk. Determined by trying: root in a container often lacks the
 * capability.
 */
import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Finding } from "../../src/testing/needs.ts";
import { reasonIn } from "../../src/host/processes/program-failure.ts";
import type { Surroundings } from "./surroundings.ts";

const MOUNT_TIMEOUT_MS = 10_000;

export async function tmpfs({ platform, isRoot, run, which }: Surroundings): Promise<Finding> {
  if (platform !== "linux") return { missing: `tmpfs needs Linux, this is ${platform}` };
  if (!isRoot) return { missing: "mounting it needs root" };
  const mount = which("mount");
  if (mount === undefined) return { missing: "the program mount does not exist" };

  const directory = mkdtempSync(join(tmpdir(), "k8ts-tmpfs-"));
  try {
    const mounted = await run(mount, ["-t", "tmpfs", "-o", "size=64k", "k8ts", directory], { timeoutMs: MOUNT_TIMEOUT_MS });
    if (mounted.exitCode !== 0) return { missing: `it cannot be mounted: ${reasonIn(mounted.output)}` };
    const unmounted = await run("umount", [directory], { timeoutMs: MOUNT_TIMEOUT_MS });
    if (unmounted.exitCode !== 0) return { missing: `it cannot be unmounted: ${reasonIn(unmounted.output)}` };
    return { path: mount };
  } finally {
    removeUnlessMounted(directory);
  }
}

function removeUnlessMounted(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // A tmpfs that could not be unmounted is left; the reason reports it.
  }
}
