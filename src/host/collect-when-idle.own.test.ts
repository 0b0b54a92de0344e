import { equal, ok } from "node:assert/strict";
import { test } from "node:test";
import { realClock } from "./real-clock.ts";
import { Idleness } from "./collect-when-idle.ts";

const MEGABYTE = 1 << 20;

/** What only a whole collection finds when it is garbage: it has grown old. */
function makeMuch(): string[][] {
  return Array.from({ length: 40 }, () => Array.from({ length: 10_000 }, (_, index) => `${index} ${Math.random()}`));
}

/** Time in which this process does nothing is what is tested; V8 may still tidy up for a while. */
async function untilDue(idleness: Idleness): Promise<void> {
  do await realClock.sleep(300);
  while (!idleness.isDue());
}

test("garbage is collected when nothing happens, and not while something does", { timeout: 60_000 }, async () => {
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
