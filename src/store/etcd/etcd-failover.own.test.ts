import { test } from "node:test";
import { deepEqual, equal, ok } from "node:assert/strict";
import { realClock } from "../../host/real-clock.ts";
import type { EtcdServer } from "../../testing/servers/etcd-server.ts";
import { needs } from "../../testing/needs.ts";
import { rounds } from "../../testing/rounds.ts";
import { PODS, Seen, put } from "../testing/harness.ts";
import { Writers, etcd, storeOn } from "./testing/harness.ts";

test(
  "three members whose leader is killed during writes lose no acknowledged write, and the watch is complete",
  needs("etcd"),
  async (context) => {
    const server = await etcd(context, { members: 3 });
    const store = await storeOn(context, server.endpoints);
    const start = await store.currentRevision();
    const seen = new Seen(store, PODS, start);
    const writers = new Writers(store);

    for (let round = 0; round < rounds({ quick: 1, full: 20 }); round++) {
      const leader = await leaderOf(server);
      const before = writers.acknowledged;
      let killed: Promise<void> | undefined;
      await writers.write({
        writers: 8,
        writes: 60,
        onAcknowledged: (total) => {
          if (total >= before + 100) killed ??= server.kill(leader);
        },
      });
      ok(killed !== undefined, "the leader died in the middle");
      await killed;
      ok(writers.acknowledged - before > 300, `commits continued: ${writers.acknowledged - before} of 480 in round ${round}`);
      await server.restart(leader);
    }

    const last = await committedAtLast(store, `${PODS}last`);
    await seen.untilRevision(last);
    const truth = new Seen(await storeOn(context, server.endpoints), PODS, start);
    await truth.untilRevision(last);
    deepEqual(seen.lines, truth.lines, "the watch that lived through it saw what there is to see");
    deepEqual(writers.missingFrom(truth.changes), [], "what was acknowledged is there");
    deepEqual(
      seen.changes.map(({ revision }) => revision),
      Array.from({ length: last - start }, (_, index) => start + 1 + index),
      "every revision once, in order",
    );
  },
);

test("a partitioned member is abandoned, and a minority of one accepts no writes", needs("etcd"), async (context) => {
  const server = await etcd(context, { members: 3 });
  const leader = await leaderOf(server);
  const others = [0, 1, 2].filter((member) => member !== leader);
  const store = await storeOn(context, server.endpoints, {
    timeouts: { commitMs: 3_000, commitAttemptMs: 1_000, readAttemptMs: 1_000, readMs: 3_000 },
  });
  // Longer than a commit takes on a busy machine.
  const patient = await storeOn(context, server.endpoints);
  const seen = new Seen(store, PODS, await patient.currentRevision());
  await seen.untilRevision(await committedAtLast(patient, `${PODS}a`));

  for (const member of others) server.freeze(member);
  const reason = await store.commit([put(`${PODS}a`, "2")]).then(
    () => "committed",
    (error: { reason: string }) => error.reason,
  );
  ok(["Unavailable", "Uncertain"].includes(reason), `without a quorum nothing is committed, was ${reason}`);

  for (const member of others) server.thaw(member);
  const revision = await committedAtLast(store, `${PODS}b`);
  await seen.untilRevision(revision);
  const shown = seen.changes.map((change) => change.revision);
  equal(new Set(shown).size, shown.length);
});

/** Retries until there is a leader: after a kill the others need an election. */
async function leaderOf(server: EtcdServer): Promise<number> {
  for (;;) {
    const leader = await server.leader();
    if (leader !== undefined) return leader;
    await realClock.sleep(50);
  }
}

/** Retries until it is certain: on a busy machine three members may need another leader at any time. */
async function committedAtLast(store: Awaited<ReturnType<typeof storeOn>>, key: string): Promise<number> {
  for (;;) {
    const result = await store.commit([put(key, "1")]).catch(() => undefined);
    if (result?.committed === true) return result.revision;
  }
}
