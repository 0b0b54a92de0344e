import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { ExpiryLeases } from "./expiry-leases.ts";

const HOUR_MS = 3_600_000;

/** Grants leases 1, 2, … and records their durations; none while `refuses`. */
function world() {
  const clock = virtualClock();
  const durations: number[] = [];
  const state = { refuses: false };
  const endpoint = {
    call: async (_method: unknown, { ttlSeconds }: { readonly ttlSeconds: number }) => ({ id: BigInt(durations.push(ttlSeconds)) }),
  };
  const attempt = async (_timeoutMs: number, use: (of: typeof endpoint) => Promise<unknown>) =>
    state.refuses
      ? { answered: false, failure: { kind: "lost", carriedOut: "no", cause: undefined } }
      : { answered: true, response: await use(endpoint) };
  const leases = new ExpiryLeases({ cluster: { attempt } as never, clock, log: silentLogger });
  return { clock, durations, state, leases };
}

test("keys that expire within a minute share a lease that ends at least ten minutes after the last of them", async () => {
  const { clock, durations, leases } = world();
  const ids = [await leases.leaseFor(clock.now() + HOUR_MS, 2)];
  await clock.advance(50_000);
  ids.push(await leases.leaseFor(clock.now() + HOUR_MS, 2));
  await clock.advance(50_000);
  ids.push(await leases.leaseFor(clock.now() + HOUR_MS, 2));

  deepEqual(ids, [1n, 1n, 2n]);
  deepEqual(durations, [3_600 + 660, 3_600 + 660]);
});

test("concurrent commits share the lease that is being granted", async () => {
  const { clock, durations, leases } = world();
  const ids = await Promise.all([0, 1, 2].map((later) => leases.leaseFor(clock.now() + HOUR_MS - later, 2)));
  deepEqual([ids, durations.length], [[1n, 1n, 1n], 1]);
});

test("a lease has at most a thousand keys", async () => {
  const { clock, leases } = world();
  const ids = [];
  for (let commit = 0; commit < 501; commit++) ids.push(await leases.leaseFor(clock.now() + HOUR_MS, 2));
  deepEqual([ids[499], ids[500]], [1n, 2n]);
});

test("a time that has passed gets a lease, one in a thousand years none", async () => {
  const { clock, durations, leases } = world();
  equal(await leases.leaseFor(0, 1), 1n);
  deepEqual(durations, [660]);
  equal(await leases.leaseFor(clock.now() + 1_000 * 365 * 24 * HOUR_MS, 1), undefined);
});

test("a lease that was not granted is requested again by the next commit", async () => {
  const { clock, state, leases } = world();
  state.refuses = true;
  equal(await leases.leaseFor(clock.now() + HOUR_MS, 1), undefined);
  state.refuses = false;
  equal(await leases.leaseFor(clock.now() + HOUR_MS, 1), 1n);
});
