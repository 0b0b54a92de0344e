import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { Deadlines } from "./deadlines.ts";

test("a request has the server's timeout, or its own if that is shorter", async () => {
  const clock = virtualClock();
  const deadlines = new Deadlines(clock, 60_000);
  const late: string[] = [];
  const rows = { usual: undefined, short: 1_000, long: 600_000, zero: 0, negative: -5 };
  for (const [name, timeoutMs] of Object.entries(rows)) deadlines.start(timeoutMs, ({ reason }) => void late.push(`${name} ${reason}`));

  await clock.advance(1_000);
  assert.deepEqual(late, ["short Timeout"]);
  await clock.advance(58_999);
  assert.equal(late.length, 1);
  await clock.advance(1);
  assert.deepEqual(late.slice(1), ["usual Timeout", "long Timeout", "zero Timeout", "negative Timeout"]);
});

test("a finished request is never aborted by its deadline, whatever the order", async () => {
  const clock = virtualClock();
  const deadlines = new Deadlines(clock, 60_000);
  const late: number[] = [];
  const started = [0, 1, 2, 3].map((index) => deadlines.start(index === 3 ? 5 : undefined, () => void late.push(index)));

  for (const index of [2, 0, 3]) started[index]!.clear();
  await clock.advance(120_000);

  assert.deepEqual(late, [1]);
});

test("Deadlines uses one timer for all requests, and none after the server stops", async () => {
  const clock = virtualClock();
  const deadlines = new Deadlines(clock, 60_000);
  for (let index = 0; index < 100; index++) deadlines.start(undefined, () => {});
  assert.equal(clock.sleeping, 1);

  deadlines.close();
  await clock.settle();

  assert.equal(clock.sleeping, 0);
});
