import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { realClock } from "../real-clock.ts";
import { Idleness } from "./idle-garbage-collection.ts";

const MEGABYTE = 1 << 20;

/** Garbage in the old generation, which only a full collection finds. */
function makeMuch(): string[][] {
  return Array.from({ length: 40 }, () => Array.from({ length: 10_000 }, (_, index) => `${index} ${Math.random()}`));
}

/** Time in which this process does nothing is what is tested; V8 may still tidy up for a while. */
async function untilDue(idleness: Idleness): Promise<void> {
  do await realClock.sleep(300);
  while (!idleness.isDue());
}

test("garbage is collected while the process is idle, and not while it is busy", { timeout: 60_000 }, async () => {
  const idleness = new Idleness();
  let much: string[][] | undefined;
  // It is busy. Where a machine leaves this process without a processor for seconds it looks idle all the same, so it may take several.
  do much = makeMuch();
  while (idleness.isDue());

  await untilDue(idleness);
  equal(much.length, 40);
  much = undefined;
  const before = process.memoryUsage();
  idleness.collect();
  const after = process.memoryUsage();
  ok(before.heapUsed - after.heapUsed > 10 * MEGABYTE);

  await untilDue(idleness);
  idleness.collect();
  ok(before.heapTotal - process.memoryUsage().heapTotal > 10 * MEGABYTE, "what it was in is given back");

  // What V8 did in between is worth further collections; after those nothing happens, and no more are due.
  for (await realClock.sleep(300); idleness.isDue(); await realClock.sleep(300)) idleness.collect();
});

/** A process whose CPU time and memory are set by the test. */
class FakeMeter {
  cpu = 0;
  now = 0;
  used = 100 * MEGABYTE;
  collections = 0;

  cpuMs(): number {
    return this.cpu;
  }

  nowMs(): number {
    return this.now;
  }

  usedBytes(): number {
    return this.used;
  }

  collect(): void {
    this.collections += 1;
    this.used = 100 * MEGABYTE;
  }

  /** Ten seconds in which the process used this share of a CPU, and grew. */
  pass(busyPart: number, grownBytes: number): void {
    this.now += 10_000;
    this.cpu += 10_000 * busyPart;
    this.used += grownBytes;
  }
}

for (const { it, busyPart, grownBytes, collections } of [
  { it: "is quiet after growing collects", busyPart: 0.01, grownBytes: 20 * MEGABYTE, collections: 12 },
  { it: "is quiet and has not grown does not collect", busyPart: 0.01, grownBytes: 0, collections: 0 },
  { it: "is calm and grows collects at most once a minute", busyPart: 0.2, grownBytes: 20 * MEGABYTE, collections: 2 },
  { it: "is calm and grows little does not collect", busyPart: 0.2, grownBytes: MEGABYTE, collections: 0 },
  { it: "is busy does not collect", busyPart: 0.6, grownBytes: 100 * MEGABYTE, collections: 0 },
]) {
  test(`a process that ${it}`, () => {
    const meter = new FakeMeter();
    const idleness = new Idleness(meter);
    for (let look = 0; look < 12; look++) {
      meter.pass(busyPart, grownBytes);
      if (idleness.isDue()) idleness.collect();
    }
    equal(meter.collections, collections);
  });
}
