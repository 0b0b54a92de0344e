import { test } from "node:test";
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { needs } from "../../testing/needs.ts";
import type { CommitResult, Operation } from "../store.ts";
import { isStoreError } from "../store-error.ts";
import { PODS, Seen, absent, at, committed, del, exists, put, show } from "../testing/harness.ts";
import { bytesValue } from "../value.ts";
import { PATIENT, Writers, etcd, proxyOf, storeOn } from "./testing/harness.ts";

const SERVICES = "/services/specs/";

/** "committed@7", "refused", or the reason of the error. */
async function outcomeOf(commit: Promise<CommitResult>): Promise<string> {
  try {
    const result = await commit;
    return result.committed ? `committed@${result.revision}` : "refused";
  } catch (error) {
    return (error as { reason: string }).reason;
  }
}

// ── commits whose connection is lost ─────────────────────────────────────────────────────────────────

/** `revision` is that of pods/a; services/s exists, too. */
const lostCommits: readonly {
  readonly it: string;
  readonly operations: (revision: number) => readonly Operation[];
  /** The response was lost: the commit happened. */
  readonly answerLost: "committed" | "Uncertain";
  /** The request was lost: it did not. */
  readonly requestLost: "committed" | "Uncertain";
}[] = [
  {
    it: "a put at a revision",
    operations: (revision) => [put(`${PODS}a`, "2", at(revision))],
    answerLost: "committed",
    requestLost: "committed",
  },
  { it: "a put of what is absent", operations: () => [put(`${PODS}b`, "2", absent)], answerLost: "committed", requestLost: "Uncertain" },
  { it: "a put of what exists", operations: () => [put(`${PODS}a`, "2", exists)], answerLost: "Uncertain", requestLost: "Uncertain" },
  { it: "a put without precondition", operations: () => [put(`${PODS}a`, "2")], answerLost: "Uncertain", requestLost: "Uncertain" },
  {
    it: "a delete at a revision",
    operations: (revision) => [del(`${PODS}a`, at(revision))],
    answerLost: "Uncertain",
    requestLost: "committed",
  },
  { it: "a delete of what exists", operations: () => [del(`${PODS}a`)], answerLost: "Uncertain", requestLost: "Uncertain" },
  {
    it: "a put at a revision with another put and a delete",
    operations: (revision) => [put(`${PODS}a`, "2", at(revision)), put("/deployments/d", "1"), del(`${SERVICES}s`)],
    answerLost: "committed",
    requestLost: "committed",
  },
];

for (const { it, operations, answerLost, requestLost } of lostCommits) {
  test(`${it} whose response is lost is found to be ${answerLost}, and happened once`, needs("etcd"), async (context) => {
    const server = await etcd(context);
    const proxy = await proxyOf(context, server.ports[0] as number);
    const [store, witness] = [await storeOn(context, [proxy.url], PATIENT), await storeOn(context, server.endpoints, PATIENT)];
    await committed(witness, put(`${SERVICES}s`, "1"));
    const revision = await committed(witness, put(`${PODS}a`, "1"));
    const seen = new Seen(witness, PODS, revision);
    await store.currentRevision();

    proxy.hold("answers");
    const outcome = outcomeOf(store.commit(operations(revision)));
    await seen.untilRevision(revision + 1);
    proxy.breakConnections();
    proxy.release();

    equal(await outcome, answerLost === "committed" ? `committed@${revision + 1}` : answerLost);
    equal(await witness.currentRevision(), revision + 1, "nothing was written twice");
  });

  test(`${it} whose request is lost is ${requestLost}, and does not happen twice`, needs("etcd"), async (context) => {
    const server = await etcd(context);
    const proxy = await proxyOf(context, server.ports[0] as number);
    const [store, witness] = [await storeOn(context, [proxy.url], PATIENT), await storeOn(context, server.endpoints, PATIENT)];
    await committed(witness, put(`${SERVICES}s`, "1"));
    const revision = await committed(witness, put(`${PODS}a`, "1"));
    await store.currentRevision();

    proxy.hold("requests");
    const sent = proxy.heldBack();
    const outcome = outcomeOf(store.commit(operations(revision)));
    await sent;
    proxy.breakConnections();
    proxy.release();

    equal(await outcome, requestLost === "committed" ? `committed@${revision + 1}` : requestLost);
    equal(await witness.currentRevision(), requestLost === "committed" ? revision + 1 : revision);
  });
}

test("a commit whose response is lost, and that was overwritten meanwhile, is Uncertain", needs("etcd"), async (context) => {
  const server = await etcd(context);
  const proxy = await proxyOf(context, server.ports[0] as number);
  const [store, witness] = [await storeOn(context, [proxy.url], PATIENT), await storeOn(context, server.endpoints, PATIENT)];
  const revision = await committed(witness, put(`${PODS}a`, "1"));
  const seen = new Seen(witness, PODS, revision);
  await store.currentRevision();

  proxy.hold("answers");
  const outcome = outcomeOf(store.commit([put(`${PODS}a`, "2", at(revision))]));
  await seen.untilRevision(revision + 1);
  await committed(witness, put(`${PODS}a`, "3", at(revision + 1)));
  proxy.breakConnections();
  proxy.release();

  equal(await outcome, "Uncertain");
  equal(show(await witness.get(`${PODS}a`)), `${PODS}a=3@${revision + 2}`);
});

test(
  "an unsent commit is retried until its deadline, then it is Unavailable; a signal or closing ends it earlier",
  needs("etcd"),
  async (context) => {
    const server = await etcd(context);
    const store = await storeOn(context, server.endpoints, { timeouts: { commitMs: 400, readMs: 400 } });
    const patient = await storeOn(context, server.endpoints);
    await server.kill();
    await rejects(store.currentRevision(), { reason: "Unavailable" });

    await rejects(store.commit([put(`${PODS}a`, "1")]), { reason: "Unavailable", message: /no etcd member answers/ });
    const abort = new AbortController();
    const unwanted = patient.commit([put(`${PODS}a`, "1")], { signal: abort.signal });
    abort.abort(new Error("no longer wanted"));
    await rejects(unwanted, /no longer wanted/);
    const unsent = outcomeOf(patient.commit([put(`${PODS}a`, "1")]));
    await patient.close();
    equal(await unsent, "Closed");
  },
);

// ── watches that lose their stream ──────────────────────────────────────────────────────────────────

test("a watch survives the crash and restart of etcd, without loss or duplicates", needs("etcd"), async (context) => {
  const server = await etcd(context);
  const store = await storeOn(context, server.endpoints);
  const start = await store.currentRevision();
  const seen = new Seen(store, PODS, start);
  for (let index = 0; index < 5; index++) await committed(store, put(`${PODS}a`, String(index)));

  for (let round = 0; round < 2; round++) {
    await server.kill();
    await server.restart();
    for (let index = 0; index < 5; index++) await committed(store, put(`${PODS}a`, String(index)));
  }
  await seen.untilRevision(start + 15);

  deepEqual(
    seen.changes.map(({ revision, previous }) => [revision, previous?.revision]),
    Array.from({ length: 15 }, (_, index) => [start + 1 + index, index === 0 ? undefined : start + index]),
  );
});

test("a watch that missed compacted changes while disconnected ends as compacted", needs("etcd"), async (context) => {
  const server = await etcd(context);
  const proxy = await proxyOf(context, server.ports[0] as number);
  const [store, other] = [await storeOn(context, [proxy.url]), await storeOn(context, server.endpoints)];
  const seen = new Seen(store, PODS, await store.currentRevision());
  await seen.untilRevision(await committed(other, put(`${PODS}a`, "1")));

  proxy.hold();
  await committed(other, put(`${PODS}a`, "2"));
  const kept = await committed(other, put(`${PODS}a`, "3"));
  await other.compact(kept);
  proxy.breakConnections();
  proxy.release();

  deepEqual(await seen.untilEnd(), { reason: "compacted", compactedRevision: kept });
  equal(seen.changes.length, 1);
});

test("a watch whose connection breaks repeatedly within large responses delivers everything once", needs("etcd"), async (context) => {
  const server = await etcd(context);
  const proxy = await proxyOf(context, server.ports[0] as number);
  const [store, other] = [await storeOn(context, [proxy.url]), await storeOn(context, server.endpoints)];
  const start = await other.currentRevision();
  // etcd splits each response into messages of at most 2 MB: these changes, with their previous values, take 24 MB.
  const large = new Uint8Array(300_000);
  for (let index = 0; index < 40; index++)
    await committed(other, { type: "put", key: `${PODS}p${index % 3}`, value: bytesValue(large.fill(index)) });
  const whole = new Seen(other, PODS, start);
  await whole.untilRevision(start + 40);

  const revisions: number[] = [];
  const previous: (number | undefined)[] = [];
  let breaks = 0;
  await new Promise<void>((resolve, reject) => {
    store.watch(
      PODS,
      { after: start },
      {
        changes: (changes) => {
          for (const change of changes) {
            revisions.push(change.revision);
            previous.push(change.previous?.revision);
          }
          if (revisions.length >= 40) return resolve();
          if (breaks++ < 5) proxy.breakConnections();
        },
        ended: (end) => reject(new Error(JSON.stringify(end))),
      },
    );
  });

  ok(breaks >= 3, `the connection was broken ${breaks} times`);
  deepEqual(
    revisions,
    whole.changes.map(({ revision }) => revision),
  );
  deepEqual(
    previous,
    whole.changes.map((change) => change.previous?.revision),
  );
});

// ── slow and full members ───────────────────────────────────────────────────────────────────────────

test("an unresponsive member is replaced by another; reads, commits and watches continue", needs("etcd"), async (context) => {
  const server = await etcd(context);
  const slow = await proxyOf(context, server.ports[0] as number);
  // The slow endpoint is preferred: the other is silent when the store is opened.
  const good = await proxyOf(context, server.ports[0] as number);
  good.hold();
  const store = await storeOn(context, [slow.url, good.url], { timeouts: { readAttemptMs: 200, repeatableAttemptMs: 2_000 } });
  good.breakConnections();
  good.release();
  const start = await committed(store, put(`${PODS}a`, "1"));

  slow.hold();
  equal(show(await store.get(`${PODS}a`)), `${PODS}a=1@${start}`);
  equal(await committed(store, put(`${PODS}a`, "2", at(start))), start + 1);
  equal(slow.connections, 1);
});

test("a full etcd rejects writes as Full, with the remedy; reads and watches continue", needs("etcd"), async (context) => {
  const server = await etcd(context, { quotaBytes: 4 * 1024 * 1024 });
  const store = await storeOn(context, server.endpoints, PATIENT);
  const start = await store.currentRevision();
  const value = bytesValue(new Uint8Array(500_000).fill(1));
  const fill = async (): Promise<number> => {
    for (let written = 0; ; written++) {
      const outcome = await outcomeOf(store.commit([{ type: "put", key: `${PODS}p${written}`, value, precondition: { is: "absent" } }]));
      if (outcome === "Full") return written;
      match(outcome, /^committed@/);
    }
  };
  const written = await fill();

  await rejects(
    store.commit([put(`${PODS}a`, "1", { is: "absent" })]),
    (error: unknown) => isStoreError(error, "Full") && /defragment/.test(error.message),
  );
  equal((await store.list(PODS)).entries.length, written, "nothing half-written");
  const seen = new Seen(store, PODS, start);
  await seen.untilRevision(start + written);
  ok(written > 2);
});

test(
  "through breaks of either connection every acknowledged commit is kept, and the watch delivers each once",
  needs("etcd"),
  async (context) => {
    const server = await etcd(context);
    const proxies = [await proxyOf(context, server.ports[0] as number), await proxyOf(context, server.ports[0] as number)] as const;
    const store = await storeOn(context, [proxies[0].url, proxies[1].url]);
    const witness = await storeOn(context, server.endpoints);
    const start = await witness.currentRevision();
    const [seen, truth] = [new Seen(store, PODS, start), new Seen(witness, PODS, start)];

    const writers = new Writers(store);
    await writers.write({
      writers: 4,
      writes: 50,
      onAcknowledged: (total) => total % 10 === 0 && proxies[(total / 10) % 2]?.breakConnections(),
    });
    const last = await committed(witness, put(`${PODS}last`, "1"));
    await Promise.all([seen.untilRevision(last), truth.untilRevision(last)]);

    deepEqual(seen.lines, truth.lines);
    deepEqual(writers.missingFrom(truth.changes), []);
    ok(writers.acknowledged > 100, `${writers.acknowledged} of 200 were acknowledged`);
  },
);

test(
  "of commits that together exceed etcd's quota, those reported as Full did not happen and the others did",
  needs("etcd"),
  async (context) => {
    const server = await etcd(context, { quotaBytes: 4 * 1024 * 1024 });
    const store = await storeOn(context, server.endpoints, PATIENT);
    const value = bytesValue(new Uint8Array(200_000).fill(1));
    const outcomes = new Map<string, string>();
    while (![...outcomes.values()].includes("Full")) {
      const names = Array.from({ length: 40 }, (_, index) => `${PODS}p${outcomes.size + index}`);
      const commits = names.map((key) => outcomeOf(store.commit([{ type: "put", key, value, precondition: absent }])));
      for (const [index, outcome] of (await Promise.all(commits)).entries()) outcomes.set(names[index] as string, outcome);
    }

    const there = new Map((await store.list(PODS)).entries.map(({ key, revision }) => [key, `committed@${revision}`]));
    for (const [key, outcome] of outcomes) equal(outcome, there.get(key) ?? "Full");
  },
);
