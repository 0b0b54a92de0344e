import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { volumeSuite } from "../testing/volume-suite.ts";
import { VolumeWorld } from "../testing/volume-world.ts";
import { emptyDir } from "./empty-dir.ts";

for (const medium of ["", "Memory"])
  volumeSuite({
    plugin: emptyDir,
    source: { emptyDir: { medium } },
    prepare: (world) => void (world.spec = { ...world.spec, securityContext: { fsGroup: 7 } }),
    invalid: [
      { source: { emptyDir: { medium: "HugePages-2Mi" } }, message: 'storage medium "HugePages-2Mi" is not supported by this version' },
      { source: { emptyDir: { medium: "Tape" } }, message: 'unknown storage medium "Tape"' },
    ],
  });

test("an emptyDir in memory is a tmpfs of its size limit that does not count as ephemeral storage", async () => {
  const world = new VolumeWorld();

  const { isEphemeral } = await world.mount(emptyDir, { emptyDir: { medium: "Memory", sizeLimit: "1Mi" } });

  equal(isEphemeral, false);
  deepEqual(
    world.mounter.lines().filter((line) => line.includes(" tmpfs ")),
    ["/data/pods/u/volumes/kubernetes.io~empty-dir/v tmpfs 1048576"],
  );
});

test("an emptyDir in memory has to be mounted again after a reboot, which empties the mount table", async () => {
  const world = new VolumeWorld();
  const source = { emptyDir: { medium: "Memory" } };
  const { path } = await world.mount(emptyDir, source);
  await world.mounter.unmount(path);

  equal(await emptyDir.reconstruct(world.volumeOf(emptyDir, source), world), undefined);
});

test("an emptyDir in memory is not mounted on disk where mounting is forbidden", async () => {
  const world = new VolumeWorld();
  world.mounter.isMountAllowed = false;

  const outcome = await world.mount(emptyDir, { emptyDir: { medium: "Memory" } }).catch(String);

  equal(outcome, "Error: mount: permission denied");
});
