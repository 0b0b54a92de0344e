import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { leases } from "../../api/coordination.k8s.io/v1/lease.ts";
import { aborted } from "../../base/abort.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { driven } from "../../testing/driven.ts";
import { given, type Given } from "../../testing/given.ts";
import { startLeaderElected, type LeaderElectedOptions } from "./leader-elected.ts";

const LEASE = { namespace: "default", name: "web" };

/** Says what happens, one line each, under a name. */
function started(name: string, lines: string[], { clock, client }: Given, more: Partial<LeaderElectedOptions> = {}) {
  return startLeaderElected({
    ...{ client, clock, random: seededRandom(name.length), log: silentLogger },
    election: { lease: LEASE, identity: name },
    async act(signal, isLeading) {
      lines.push(`${name} acts${isLeading() ? "" : ", though it may not"}`);
      await aborted(signal);
      lines.push(`${name} ends`);
    },
    underWay: () => ["digging"],
    onStopped: () => void lines.push(`${name} has stopped`),
    onFailed: (error) => void lines.push(`${name} failed: ${(error as Error).message}`),
    ...more,
  });
}

test("without leader election the work starts immediately, until it is disposed of", async () => {
  await using cluster = await given();
  const lines: string[] = [];
  const one = started("a", lines, cluster, { election: undefined });
  await cluster.settled();
  deepEqual([lines, one.isLeading()], [["a acts"], true]);

  await one[Symbol.asyncDispose]();

  deepEqual(lines, ["a acts", "a ends"]);
});

test("without leader election a failure is reported, because no other process will retry", async () => {
  await using cluster = await given();
  const lines: string[] = [];
  const act = () => Promise.reject(new Error("no way"));
  const one = started("a", lines, cluster, { election: undefined, act });
  await cluster.settled();
  await one[Symbol.asyncDispose]();

  deepEqual(lines, ["a failed: no way"]);
});

test("of two candidates one leads; when it stops its work ends first, and then the other leads immediately", async () => {
  await using cluster = await given();
  const lines: string[] = [];
  const one = started("first", lines, cluster);
  await cluster.settled();
  const other = started("second", lines, cluster);
  await cluster.clock.advance(60_000);
  deepEqual([lines, one.isLeading(), other.isLeading()], [["first acts"], true, false]);

  await driven(cluster.clock, Promise.resolve(one[Symbol.asyncDispose]()));
  await cluster.settled();

  deepEqual(lines, ["first acts", "first ends", "first has stopped", "second acts"]);
  equal(other.isLeading(), true);
  await driven(cluster.clock, Promise.resolve(other[Symbol.asyncDispose]()));
});

test("work that fails under leader election is retried by the next leader, possibly the same one", async () => {
  await using cluster = await given();
  const lines: string[] = [];
  let fails = 1;
  const one = started("a", lines, cluster, {
    async act(signal) {
      lines.push("tries");
      if (fails-- > 0) throw new Error("not yet");
      await aborted(signal);
    },
  });
  await cluster.clock.advance(60_000);
  await driven(cluster.clock, Promise.resolve(one[Symbol.asyncDispose]()));

  match(lines.join(", "), /^tries, a has stopped, tries, a has stopped$/);
});

/** Says so, and never ends. */
function deaf(lines: string[]): Partial<LeaderElectedOptions> {
  return {
    act() {
      lines.push("acts");
      return new Promise(() => undefined);
    },
    onGivenUp: ({ message }) => void lines.push(message),
  };
}

const GIVEN_UP = "Did not stop within 10 s after cancellation: digging";

test("work that does not stop does not block a stop: it is abandoned, with or without leader election", async () => {
  for (const election of [undefined, { lease: LEASE, identity: "a" }]) {
    await using cluster = await given();
    const lines: string[] = [];
    const one = started("a", lines, cluster, { election, ...deaf(lines) });
    await cluster.settled();

    const stopped = Promise.resolve(one[Symbol.asyncDispose]()).then(() => lines.push("stopped"));
    await cluster.clock.advance(9_999);
    deepEqual(lines, ["acts"]);
    await cluster.clock.advance(1);
    await stopped;

    deepEqual(lines, ["acts", GIVEN_UP, "stopped"]);
  }
});

test("a second term as leader does not allow writes of abandoned work of the first", async () => {
  await using cluster = await given();
  const may: (() => boolean)[] = [];
  const one = started("a", [], cluster, {
    async act(signal, isLeading) {
      may.push(isLeading);
      await aborted(signal);
    },
  });
  await cluster.settled();
  await cluster.client.patch(leases, LEASE, { type: "merge", value: { spec: { holderIdentity: "stranger" } } });
  await cluster.clock.advance(60_000);

  deepEqual(
    may.map((isLeading) => isLeading()),
    [false, true],
  );
  await driven(cluster.clock, Promise.resolve(one[Symbol.asyncDispose]()));
});
