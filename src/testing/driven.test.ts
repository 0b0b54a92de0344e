import { equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { driven } from "./driven.ts";
import { virtualClock } from "./virtual-clock.ts";

test("driven settles a promise that needs no virtual time, and propagates its rejection", async () => {
  const clock = virtualClock();
  const soon = () => new Promise<void>((resolve) => clock.soon(resolve));
  const work = async (): Promise<string> => {
    for (let turn = 0; turn < 10; turn++) await soon();
    return "done";
  };

  equal(await driven(clock, work()), "done");
  await rejects(
    driven(
      clock,
      soon().then(() => Promise.reject(new Error("no"))),
    ),
    /^Error: no$/,
  );
  equal(clock.monotonic(), 0);
});

test("driven rejects instead of hanging if a promise waits for virtual time to pass", async () => {
  const clock = virtualClock();
  await rejects(driven(clock, clock.sleep(1)), /The promise waits for virtual time to pass: call clock.advance meanwhile/);
});
