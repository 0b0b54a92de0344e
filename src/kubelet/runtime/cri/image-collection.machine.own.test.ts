/** Garbage collection of images on a real containerd: unused images are removed, those of containers stay. */
import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../../base/logger.ts";
import { realClock } from "../../../host/real-clock.ts";
import { busyboxImage } from "../../../testing/fixtures/busybox-image.ts";
import { needs } from "../../../testing/needs.ts";
import { ImageCollector } from "../../images/image-collector.ts";
import type { DiskFill } from "../../images/image-gc.ts";
import { sharedMachine, started } from "./testing/test-machine.ts";
import { PROGRAMS, shellPod } from "./testing/test-pods.ts";

const machine = sharedMachine();
const options = { ...needs("containerd", "cni", "busybox"), timeout: 240_000 };
const UNUSED = "k8ts.test/unused:1";
const FULL: DiskFill = { capacityBytes: 1_000, availableBytes: 0 };
const EMPTY: DiskFill = { capacityBytes: 1_000, availableBytes: 1_000 };

test("an unused image is removed from containerd when the disk is full, and the image of a container is not", options, async () => {
  const { open, image, containerd } = await machine();
  await using runtime = await open();
  const pod = shellPod("web", image, PROGRAMS.waits);
  await started(runtime, pod);
  // Layers of its own, so that containerd can free them.
  await containerd.loadImage(busyboxImage(UNUSED, { ballastBytes: 1_000 }));
  let fill = EMPTY;
  const events: string[] = [];
  const collected: string[] = [];
  const collector = new ImageCollector({
    policy: { highPercent: 85, lowPercent: 80, minAgeMs: 0, maxAgeMs: 0 },
    ...{ runtime, clock: realClock, log: silentLogger },
    needed: () => (runtime.setUp.sandboxImage === undefined ? [] : [runtime.setUp.sandboxImage]),
    disk: async () => fill,
    record: ({ reason }) => void events.push(reason),
    onRemoved: () => void collected.push("removed"),
  });
  const has = async (name: string) => (await runtime.imageStatus(name)) !== undefined;

  await collector.collect();
  deepEqual([await has(UNUSED), await has(image), collected], [true, true, []]);
  fill = FULL;
  await collector.collect();

  deepEqual([await has(UNUSED), await has(image), collected, events], [false, true, ["removed"], []]);
  equal(
    (await runtime.images()).some(({ names }) => names.includes(UNUSED)),
    false,
  );
  await collector.collect();
  deepEqual(events, ["FreeDiskSpaceFailed"]);
  ok((await runtime.status(pod.metadata.uid ?? ""))?.containers.every(({ state }) => state.is === "running"));
});
