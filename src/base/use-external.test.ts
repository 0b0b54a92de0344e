import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { Disposables } from "./disposables.ts";
import { useExternal } from "./use-external.ts";
import { VirtualClock } from "./virtual-clock.ts";

test("virtual time stands still while a resource of the machine is closed, and advances before and after", async () => {
  const events: string[] = [];
  const macrotask = () => new Promise<void>((resolve) => setImmediate(resolve));
  const clock = new VirtualClock({ macrotask });
  const owner = new Disposables();
  owner.defer(() => clock.sleep(1_000));
  useExternal(owner, clock, {
    async [Symbol.asyncDispose]() {
      for (let tick = 0; tick < 5; tick++) await macrotask();
      events.push(`closed at ${clock.monotonic()} ms`);
    },
  });
  owner.defer(() => clock.sleep(1_000));

  const disposed = owner[Symbol.asyncDispose]().then(() => events.push(`disposed at ${clock.monotonic()} ms`));
  await clock.advance(60_000);
  await disposed;

  deepEqual(events, ["closed at 1000 ms", "disposed at 2000 ms"]);
});
