import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { emptyDir } from "../../volumes/empty-dir/empty-dir.ts";
import { NotAttachedError, VolumeError } from "../../volumes/framework/volume-error.ts";
import { VolumeWorld } from "../../volumes/testing/volume-world.ts";
import { PodDirectories } from "./pod-directories.ts";
import { StagedVolumes } from "./staged-volumes.ts";
import { VolumeSetUp } from "./volume-set-up.ts";

const ANY = new AbortController().signal;

/** Sets up a volume whose `resolve` rejects with these errors, one per call, and then with the last one or succeeds. */
function setUpWith(errors: readonly VolumeError[], { always }: { readonly always?: VolumeError } = {}) {
  const clock = virtualClock();
  const node = new VolumeWorld();
  const setUp = new VolumeSetUp({
    node,
    directories: new PodDirectories("/data"),
    staged: new StagedVolumes(),
    reportInUse: () => Promise.resolve(),
    onUnused: () => {},
    onOwed: () => {},
    timed: (_operation, _plugin, run) => run(),
    clock,
  });
  const waiting = [...errors];
  const resolve = async (): Promise<void> => {
    const error = waiting.shift() ?? always;
    if (error !== undefined) throw error;
  };
  const plugin = { ...emptyDir, resolve };
  return { clock, setUp, node, result: setUp.setUp({ plugin, podVolume: node.volumeOf(plugin, { emptyDir: {} }) }, ANY) };
}

test("a volume of a cloud provider in a Pod is one of the CSI driver that replaces it, and waits for its attachment", async () => {
  const { setUp, node } = setUpWith([]);
  const { pod } = node.volumeOf(emptyDir, { emptyDir: {} });

  const { plugin, podVolume } = await setUp.place(pod, { name: "disk", awsElasticBlockStore: { volumeID: "vol-1" } }, ANY);

  deepEqual([plugin.directory, podVolume.path], ["kubernetes.io~csi", "/data/pods/u/volumes/kubernetes.io~csi/disk"]);
  equal(await plugin.staging?.isAttachable?.(podVolume, node, ANY), true);
  await rejects(plugin.resolve(podVolume, node, ANY), {
    name: "NotAttachedError",
    message: /^volume vol-1 has GET error for volume attachment /,
  });
});

test("a volume that a controller is still attaching is waited for, and then mounted", async () => {
  const { clock, result } = setUpWith([new NotAttachedError("no VolumeAttachment"), new NotAttachedError("not attached")]);

  await clock.advance(1000);

  const { path } = await result;
  equal(path, "/data/pods/u/volumes/kubernetes.io~empty-dir/v");
});

test("a volume that is not attached within two minutes fails with the reason", async () => {
  const { clock, result } = setUpWith([], { always: new NotAttachedError("not attached") });
  const failed = rejects(result, { message: "not attached" });

  await clock.advance(130_000);

  await failed;
});

test("an attachment that failed is not waited for", async () => {
  const { result } = setUpWith([new VolumeError("no slot")]);
  await rejects(result, { message: "no slot" });
});
