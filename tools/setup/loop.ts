/**
 * Checks whether files can be attached to loop devices and have an ext4 file system, for the tests of volumes with a size limit. Determined
 * by trying: root in a container often lacks the devices.
 */
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Finding } from "../../src/testing/needs.ts";
import { reasonIn } from "../../src/host/processes/program-failure.ts";
import type { Surroundings } from "./surroundings.ts";

const TIMEOUT_MS = 10_000;

/** Large enough for a file system. */
const IMAGE_BYTES = 1 << 20;

export async function loop({ platform, isRoot, run, which }: Surroundings): Promise<Finding> {
  if (platform !== "linux") return { missing: `loop devices need Linux, this is ${platform}` };
  if (!isRoot) return { missing: "attaching files to loop devices needs root" };
  const missing = ["losetup", "mkfs.ext4", "resize2fs"].find((program) => which(program) === undefined);
  if (missing !== undefined) return { missing: `the program ${missing} does not exist` };

  const directory = mkdtempSync(join(tmpdir(), "k8ts-loop-"));
  try {
    const image = join(directory, "image");
    writeFileSync(image, "");
    truncateSync(image, IMAGE_BYTES);
    const attached = await run("losetup", ["--find", "--show", image], { timeoutMs: TIMEOUT_MS });
    if (attached.exitCode !== 0) return { missing: `a file cannot be attached: ${reasonIn(attached.output)}` };
    const device = attached.output.trim();
    const formatted = await run("mkfs.ext4", ["-q", device], { timeoutMs: TIMEOUT_MS });
    const detached = await run("losetup", ["--detach", device], { timeoutMs: TIMEOUT_MS });
    if (formatted.exitCode !== 0) return { missing: `a device cannot be formatted: ${reasonIn(formatted.output)}` };
    if (detached.exitCode !== 0) return { missing: `a file cannot be detached: ${reasonIn(detached.output)}` };
    return { path: which("losetup") ?? "" };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
