import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { csi } from "../../volumes/csi/csi.ts";
import { emptyDir } from "../../volumes/empty-dir/empty-dir.ts";
import type { PodVolume } from "../../volumes/framework/volume-plugin.ts";
import { VolumeWorld } from "../../volumes/testing/volume-world.ts";
import { volumeOwnership } from "./volume-ownership.ts";

const world = new VolumeWorld();
const CSI = world.volumeOf(csi, { persistent: { csi: { driver: "d.example", volumeHandle: "h" } } });

/** Runs a change that takes this long, and returns the operation that was measured, and the Events. */
async function change(volume: PodVolume, durationMs: number, { isPersistent = true, error = "" } = {}) {
  const clock = virtualClock();
  const seen: string[] = [];
  const ownership = volumeOwnership({
    clock,
    timed: async (operation, plugin, run) => {
      seen.push(`${operation} ${plugin}`);
      return run();
    },
    record: (pod, { type, reason, message }) => void seen.push(`${type} ${reason} ${pod.metadata.name} ${message}`),
  });
  const run = async (): Promise<void> => {
    await clock.sleep(durationMs);
    if (error !== "") throw new Error(error);
  };
  const result = ownership.changing(volume, { isPersistent, processed: () => 7, run });
  const settled = error === "" ? result : rejects(result, { message: error });
  await clock.advance(durationMs);
  await settled;
  await clock.advance(600_000);
  return seen;
}

const MEASURED = "volume_apply_access_control kubernetes.io/csi:d.example";
const WARNING = "Warning VolumePermissionChangeInProgress p Setting volume ownership for u/volumes/kubernetes.io~csi/pv";

test("a change of ownership is measured, and reported if it takes long", async () => {
  deepEqual(await change(CSI, 29_000), [MEASURED]);
  deepEqual(await change(CSI, 155_000), [
    MEASURED,
    `${WARNING} is taking longer than expected, consider using OnRootMismatch - https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#configure-volume-permission-and-ownership-change-policy-for-pods`,
    `${WARNING}, processed 7 files.`,
    `${WARNING}, processed 7 files.`,
  ]);
});

test("a change of ownership of a volume that goes with its Pod is measured only", async () => {
  const volume = world.volumeOf(emptyDir, { emptyDir: {} });
  deepEqual(await change(volume, 155_000, { isPersistent: false }), ["volume_apply_access_control kubernetes.io/empty-dir"]);
});

test("a change of ownership that fails is no longer reported", async () => {
  deepEqual(await change(CSI, 1000, { error: "read-only" }), [MEASURED]);
});
