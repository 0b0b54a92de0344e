import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import type { Image } from "../contracts/runtime.ts";
import { ImageCollector } from "./image-collector.ts";
import { bytesToFree, IMAGE_GC_DEFAULT, IMAGE_GC_DISABLED, notFreedMessage, type ImageGcPolicy } from "./image-gc.ts";

const GIB = 2 ** 30;

function anImage(id: string, sizeBytes: number, more: Partial<Image> = {}): Image {
  return { id, names: [`registry.test/${id}:1`], sizeBytes, ...more };
}

class World {
  readonly clock = virtualClock();
  images: Image[] = [];
  used: string[] = [];
  needed: string[] = [];
  disk = { capacityBytes: 100 * GIB, availableBytes: 50 * GIB };
  readonly events: string[] = [];
  readonly collector: ImageCollector;

  constructor(policy: ImageGcPolicy = IMAGE_GC_DEFAULT) {
    this.collector = new ImageCollector({
      policy,
      runtime: {
        images: () => Promise.resolve(this.images),
        imageStatus: (name) => Promise.resolve(this.images.find((image) => image.names.includes(name))),
        usedImages: () => Promise.resolve(this.used),
        removeImage: (id) => {
          if (id === "stuck") return Promise.reject(new Error("read-only file system"));
          this.images = this.images.filter((image) => image.id !== id);
          return Promise.resolve();
        },
      },
      needed: () => this.needed,
      disk: () => Promise.resolve(this.disk),
      record: ({ reason, message }) => void this.events.push(`${reason} ${message}`),
      onRemoved: () => undefined,
      ...{ clock: this.clock, log: silentLogger },
    });
  }

  get left(): readonly string[] {
    return this.images.map(({ id }) => id);
  }
}

for (const { availableGib, policy = IMAGE_GC_DEFAULT, expectedGib } of [
  { availableGib: 16, expectedGib: 0 },
  { availableGib: 15, expectedGib: 5 },
  { availableGib: 1, expectedGib: 19 },
  { availableGib: 0, policy: IMAGE_GC_DISABLED, expectedGib: 0 },
]) {
  test(`${availableGib} of 100 GiB available and limits ${policy.highPercent} and ${policy.lowPercent}: ${expectedGib} GiB are freed`, () =>
    equal(bytesToFree({ capacityBytes: 100 * GIB, availableBytes: availableGib * GIB }, policy), expectedGib * GIB));
}

test("unused images are removed, the least recently used first, until enough is free", async () => {
  const world = new World();
  world.images = [
    anImage("newer", 3 * GIB),
    anImage("older", 3 * GIB),
    anImage("used", GIB),
    anImage("sandbox", 1),
    anImage("pinned", GIB, { isPinned: true }),
  ];
  world.used = ["used", "registry.test/older:1"];
  world.needed = ["registry.test/sandbox:1"];
  await world.collector.collect();
  await world.clock.advance(60_000);
  world.used = ["used", "newer"];
  await world.collector.collect();
  await world.clock.advance(120_000);

  world.used = ["used"];
  world.disk = { capacityBytes: 100 * GIB, availableBytes: 15 * GIB };
  await world.collector.collect();
  deepEqual(world.left, ["used", "sandbox", "pinned"]);
  deepEqual(world.events, []);
});

test("only as many images as necessary are removed", async () => {
  const world = new World();
  world.images = [anImage("a", 5 * GIB), anImage("b", 5 * GIB)];
  await world.collector.collect();
  await world.clock.advance(120_000);
  world.disk = { capacityBytes: 100 * GIB, availableBytes: 15 * GIB };
  await world.collector.collect();
  equal(world.left.length, 1);
});

test("images that were found recently are kept, and what could not be freed is recorded", async () => {
  const world = new World();
  world.images = [anImage("stuck", GIB), anImage("young", 50 * GIB)];
  world.disk = { capacityBytes: 100 * GIB, availableBytes: 10 * GIB };
  await world.collector.collect();
  deepEqual(world.left, ["stuck", "young"]);
  const message = notFreedMessage(world.disk, 0);
  equal(
    message,
    "Insufficient free disk space on the node's image filesystem (90% of 100.0 GiB used). " +
      "Failed to free sufficient space by deleting unused images (freed 0 bytes). " +
      "Investigate disk usage, as it could be used by active images, logs, volumes, or other data.",
  );
  deepEqual(world.events, [`FreeDiskSpaceFailed ${message}`]);
});

test("images that were unused for the maximum age are removed, whatever the disk usage is", async () => {
  const world = new World({ ...IMAGE_GC_DEFAULT, maxAgeMs: 3_600_000 });
  world.images = [anImage("a", 1), anImage("b", 1)];
  world.used = ["b"];
  await world.collector.collect();
  await world.clock.advance(3_600_000);
  await world.collector.collect();
  deepEqual(world.left, ["a", "b"]);
  await world.clock.advance(1);
  await world.collector.collect();
  deepEqual(world.left, ["b"]);
});

test("a node under disk pressure removes all unused images that are old enough", async () => {
  const world = new World(IMAGE_GC_DISABLED);
  world.images = [anImage("a", 1), anImage("used", 1), anImage("b", 1)];
  world.used = ["used"];
  await world.collector.removeUnused();
  equal(world.left.length, 3);
  await world.clock.advance(120_000);
  await world.collector.removeUnused();
  deepEqual(world.left, ["used"]);
});

test("images that were observed before count as found then, also if they are not collected by usage", async () => {
  const world = new World(IMAGE_GC_DISABLED);
  world.images = [anImage("a", 1)];
  await world.collector.observe();
  await world.clock.advance(120_000);
  await world.collector.removeUnused();
  deepEqual(world.left, []);
});
