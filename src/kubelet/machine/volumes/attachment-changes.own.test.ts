import assert from "node:assert/strict";
import { test } from "node:test";
import { makeTemporaryDirectory } from "../../../host/files/private-files.ts";
import { createLogger } from "../../../base/logger.ts";
import { realClock } from "../../../host/real-clock.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { emptyDir } from "../../volumes/empty-dir/empty-dir.ts";
import { NotAttachedError } from "../../volumes/framework/volume-error.ts";
import type { VolumePlugin, VolumeStaging } from "../../volumes/framework/volume-plugin.ts";
import { VolumeWorld } from "../../volumes/testing/volume-world.ts";
import { PodDirectories } from "./pod-directories.ts";
import { StagedVolumes } from "./staged-volumes.ts";
import { VolumeSetUp } from "./volume-set-up.ts";

const ANY = new AbortController().signal;

/** A volume of a driver whose volumes a controller attaches, until `detachable` is called. */
async function startScene({ onResolve }: { readonly onResolve?: (detachable: () => void) => void } = {}) {
  const directory = await makeTemporaryDirectory("k8ts-attachment-");
  const directories = new PodDirectories(directory.path);
  const staged = new StagedVolumes();
  const node = new VolumeWorld();
  const clock = virtualClock();
  let [requiresAttachment, unused] = [true, 0];
  const staging: VolumeStaging = {
    volumeId: () => "kubernetes.io/csi/d^v",
    isAttachable: async () => requiresAttachment,
    directory: () => undefined,
    stage: async () => {},
    unstage: async () => {},
  };
  const resolve = async (): Promise<void> => {
    const first = onResolve;
    onResolve = undefined;
    first?.(() => (requiresAttachment = false));
  };
  const plugin: VolumePlugin = { ...emptyDir, resolve, staging };
  const location = directories.volume("u", { plugin: plugin.directory, name: "v" });
  const placed = { plugin, podVolume: { ...node.volumeOf(plugin, { emptyDir: {} }), ...location } };
  const setUp = new VolumeSetUp({
    ...{ node, directories, staged, clock },
    reportInUse: () => Promise.resolve(),
    onUnused: () => void (unused += 1),
    onOwed: () => {},
    timed: (_operation, _plugin, run) => run(),
  });
  return {
    ...{ directories, staged, clock, setUp, placed },
    unused: () => unused,
    requireNoAttachment: () => void (requiresAttachment = false),
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

test("a driver that stops requiring attachment while the kubelet waits has its volume mounted and not reported as in use", async () => {
  await using scene = await startScene({
    onResolve: (detachable) => {
      detachable();
      throw new NotAttachedError("no VolumeAttachment");
    },
  });
  let isMounted = false;
  const mounting = scene.setUp.setUp(scene.placed, ANY).finally(() => (isMounted = true));
  while (!isMounted) await scene.clock.advance(1000);
  await mounting;

  assert.deepEqual([scene.staged.attachable(), scene.unused()], [[], 1]);
});

test("a mounted volume whose driver stops requiring attachment is no longer reported as in use, also after a restart", async () => {
  await using scene = await startScene();
  const { staged, setUp, placed, directories } = scene;
  await setUp.setUp(placed, ANY);
  await setUp.recheckAttachment(placed, ANY);
  assert.deepEqual([staged.attachable(), scene.unused()], [["kubernetes.io/csi/d^v"], 0]);

  scene.requireNoAttachment();
  await setUp.recheckAttachment(placed, ANY);
  await setUp.recheckAttachment(placed, ANY);

  assert.deepEqual([staged.attachable(), scene.unused()], [[], 1]);
  const log = createLogger({ clock: realClock, level: "error", sink: () => {} });
  assert.deepEqual((await StagedVolumes.open(directories, log)).attachable(), []);
});
