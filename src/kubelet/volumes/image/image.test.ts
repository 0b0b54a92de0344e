import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import { volumeSuite } from "../testing/volume-suite.ts";
import { VolumeWorld } from "../testing/volume-world.ts";
import { image } from "./image.ts";

const SOURCE = { image: { reference: "data:1", pullPolicy: "IfNotPresent" as const } };

volumeSuite({
  plugin: image,
  source: SOURCE,
  prepare: (world) => void world.presentImages.add("data:1"),
  invalid: [{ source: { image: { reference: "missing:1" } }, message: "failed to pull missing:1" }],
});

test("an image is mounted read-only at upstream's path", async () => {
  const world = new VolumeWorld();
  world.presentImages.add("data:1");

  const mounted = await world.mount(image, SOURCE);

  deepEqual(mounted, { path: "/data/pods/u/volumes/kubernetes.io~image/v", isReadOnly: true, isExternal: false, isEphemeral: false });
  deepEqual(world.mounter.mounts(), [mounted.path]);
});

test("a runtime without views of images is named", async () => {
  const { images: _images, ...node } = new VolumeWorld();
  const volume = new VolumeWorld().volumeOf(image, SOURCE);
  const { signal } = new AbortController();
  await rejects(image.resolve(volume, { ...node, hostPath: (path) => path, nodeAllocatable: () => ({}) }, signal), {
    message: "the container runtime of this node does not support volumes of type image",
  });
});
