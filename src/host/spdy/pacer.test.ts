import assert from "node:assert/strict";
import test from "node:test";
import { Pacer } from "./pacer.ts";

const STEP_BYTES = 256 << 10;

async function isHeldUp(pacer: Pacer): Promise<boolean> {
  let isFree = false;
  void pacer.room().then(() => (isFree = true));
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  return !isFree;
}

test("two steps may be in flight, and the next waits until all pings of the first are answered, in any order", async () => {
  const pings: number[] = [];
  const pacer = new Pacer((id) => void pings.push(id));

  pacer.sent(STEP_BYTES - 1);
  assert.deepEqual(pings, []);
  pacer.sent(1);
  assert.equal(await isHeldUp(pacer), false);
  pacer.sent(STEP_BYTES);
  assert.deepEqual(pings, [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]);

  for (const id of [11, 9, 3, 5, 7]) pacer.answered(id);
  assert.equal(await isHeldUp(pacer), true);
  pacer.answered(1);
  assert.equal(await isHeldUp(pacer), false);
});

test("a disabled pacer blocks no writer, not even pending ones", async () => {
  const pacer = new Pacer(() => undefined);
  pacer.sent(STEP_BYTES);
  pacer.sent(STEP_BYTES);

  const waiting = pacer.room();
  pacer.off();

  await waiting;
  assert.equal(await isHeldUp(pacer), false);
});
