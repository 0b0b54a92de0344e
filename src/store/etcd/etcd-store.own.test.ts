import { after, test } from "node:test";
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { runProgram } from "../../host/processes/child-process.ts";
import { startEtcd, type EtcdServer } from "../../testing/servers/etcd-server.ts";
import { needs } from "../../testing/needs.ts";
import { PODS, Seen, absent, at, committed, del, put, show } from "../testing/harness.ts";
import { storeSuite } from "../testing/store-suite.ts";
import { bytesValue } from "../value.ts";
import { PATIENT, endlessWaits, etcd, openStore, storeOn } from "./testing/harness.ts";

/** For stores that learn the compacted revision from etcd alone, and would guess after a timeout. */
const UNHURRIED = { ...PATIENT, clock: endlessWaits };

/** One etcd for as many tests of the suite as possible, each under its own root, until one of them compacts: then a new one. */
let shared: EtcdServer | undefined;
let roots = 0;
after(async () => shared?.[Symbol.asyncDispose]());

storeSuite({
  name: "etcd",
  ...needs("etcd"),
  async open() {
    const server = (shared ??= await startEtcd());
    const store = await openStore(server.endpoints, { root: `/suite${++roots}`, ...PATIENT });
    const compact = store.compact.bind(store);
    store.compact = (revision) => {
      if (shared === server) shared = undefined;
      return compact(revision);
    };
    return {
      store,
      close: async () => {
        if (shared !== server) await server[Symbol.asyncDispose]();
      },
    };
  },
});

test("statistics report what another API server has compacted, also right after opening", needs("etcd"), async (context) => {
  const server = await etcd(context);
  const one = await storeOn(context, server.endpoints, PATIENT);
  const other = await storeOn(context, server.endpoints, UNHURRIED);
  equal((await other.statistics()).compactedRevision, 1);
  for (let index = 0; index < 5; index++) await committed(one, put(`${PODS}a`, String(index)));
  const compacted = (await one.currentRevision()) - 1;

  await one.compact(compacted);

  equal((await other.statistics()).compactedRevision, compacted);
  equal((await (await storeOn(context, server.endpoints, UNHURRIED)).statistics()).compactedRevision, compacted);
});

test("two stores on one etcd see each other's writes, in one order, and lose no increment of one key", needs("etcd"), async (context) => {
  const { endpoints } = await etcd(context);
  const stores = [await storeOn(context, endpoints, PATIENT), await storeOn(context, endpoints, PATIENT)] as const;
  const start = await stores[0].currentRevision();
  const seen = stores.map((store) => new Seen(store, PODS, start));
  await committed(stores[0], put(`${PODS}counter`, "0", absent));

  const add = async (index: 0 | 1): Promise<void> => {
    for (;;) {
      const entry = await stores[index].get(`${PODS}counter`);
      const next = String(Number(Buffer.from(entry?.value.bytes() ?? []).toString()) + 1);
      if ((await stores[index].commit([put(`${PODS}counter`, next, at(entry?.revision ?? 0))])).committed) return;
    }
  };
  await Promise.all(Array.from({ length: 20 }, (_, index) => add((index % 2) as 0 | 1)));

  const last = await stores[1].currentRevision();
  await Promise.all(seen.map((one) => one.untilRevision(last)));
  equal(show(await stores[1].get(`${PODS}counter`)), `${PODS}counter=20@${last}`);
  equal(seen[0]?.changes.length, 21);
  deepEqual(seen[0]?.lines, seen[1]?.lines);
});

test("stores with different roots share an etcd in isolation", needs("etcd"), async (context) => {
  const { endpoints } = await etcd(context);
  const one = await storeOn(context, endpoints, { root: "/registry", ...PATIENT });
  const other = await storeOn(context, endpoints, { root: "/registry2", ...PATIENT });
  const seen = new Seen(one, PODS, await one.currentRevision());
  await committed(other, put(`${PODS}a`, "other"));
  const revision = await committed(one, put(`${PODS}b`, "mine"));
  await seen.untilRevision(revision);

  deepEqual((await one.list("")).entries.map(show), [`${PODS}b=mine@${revision}`]);
  deepEqual(seen.lines, [`put ${PODS}b=mine@${revision}`]);
  deepEqual([(await one.statistics()).keys, (await other.statistics()).keys], [1, 1]);
  deepEqual([(await one.list("core")).entries, (await one.list("2/")).entries], [[], []]);
});

test("bookkeeping is kept outside of the root, and a list of everything includes it in order", needs("etcd"), async (context) => {
  const { endpoints } = await etcd(context);
  const store = await storeOn(context, endpoints, PATIENT);
  const revision = await committed(store, put("/jobs/a", "1"), put("/k8ts/records/b", "2"), put("/leases/c", "3"), put("/pods/d", "4"));
  const outside = await storeOn(context, endpoints, { root: "/k8ts2", ...PATIENT });
  const lines = [`/jobs/a=1@${revision}`, `/k8ts/records/b=2@${revision}`, `/leases/c=3@${revision}`, `/pods/d=4@${revision}`];

  deepEqual((await store.list("")).entries.map(show), lines);
  deepEqual((await store.list("", { startAfter: "/k8ts/records/b" })).entries.map(show), lines.slice(2));
  for (let limit = 1; limit <= lines.length; limit++) {
    const { entries, remaining } = await store.list("", { limit });
    deepEqual([entries.map(show), remaining], [lines.slice(0, limit), lines.length - limit]);
  }
  equal((await store.statistics()).keys, lines.length);
  equal((await outside.statistics()).keys, 0);
});

test("an expiring key has a lease, so that it expires without a k8ts API server; others have none", needs("etcd"), async (context) => {
  const { endpoints } = await etcd(context);
  const store = await storeOn(context, endpoints, PATIENT);
  const event = { type: "put", key: "/events/a/b", value: bytesValue(new Uint8Array(1)), expiresAtMs: Date.now() + 3_600_000 } as const;
  await committed(store, event, put("/pods/a", "1"));
  // etcd's JSON gateway shows the lease of a key.
  const range = { key: btoa("/"), range_end: btoa("0") };
  const answer = await fetch(`${endpoints[0]}/v3/kv/range`, { method: "POST", body: JSON.stringify(range) });
  const { kvs } = (await answer.json()) as { kvs: { key: string; lease?: string }[] };

  deepEqual(
    kvs.map(({ key, lease }) => [atob(key).replace(/\d{16}/, "TIME"), (lease ?? "0") !== "0"]),
    [
      ["/k8ts/registry/expiry/TIME/events/a/b", true],
      ["/registry/events/a/b", true],
      ["/registry/pods/a", false],
    ],
  );
});

test("an etcd with keys of an earlier layout is rejected", needs("etcd"), async (context) => {
  const { endpoints } = await etcd(context);
  const legacy = await storeOn(context, endpoints, { root: "/registry/k8ts", ...PATIENT });
  await committed(legacy, put("/compaction/state", "1"));

  await rejects(openStore(endpoints, { refusesLegacyKeys: true, ...PATIENT }), {
    reason: "Unsupported",
    message: /^Cannot use etcd under \/registry: an earlier version of k8ts has written there .*--etcd-prefix/,
  });
  await (await openStore(endpoints, { root: "/other", refusesLegacyKeys: true, ...PATIENT })).close();
});

test("a store learns from etcd how far another one has compacted", needs("etcd"), async (context) => {
  const { endpoints } = await etcd(context);
  const [one, other] = [await storeOn(context, endpoints, PATIENT), await storeOn(context, endpoints, UNHURRIED)];
  const first = await committed(one, put(`${PODS}a`, "1"));
  for (let index = 0; index < 5; index++) await committed(one, put(`${PODS}a`, String(index)));
  const kept = first + 3;
  await one.compact(kept);

  await rejects(other.get(`${PODS}a`, { revision: first }), { reason: "Compacted", compactedRevision: kept });
  deepEqual(await new Seen(other, PODS, first).untilEnd(), { reason: "compacted", compactedRevision: kept });
  await other.compact(kept - 1);
  equal((await other.statistics()).compactedRevision, kept);
});

test("a list of large objects is split into pages that fit", needs("etcd"), async (context) => {
  const { endpoints } = await etcd(context);
  const store = await storeOn(context, endpoints, PATIENT);
  const large = new Uint8Array(1_400_000).fill(120);
  for (let index = 100; index < 180; index++) {
    await committed(store, { type: "put", key: `${PODS}p${index}`, value: bytesValue(large) });
  }

  const { entries, remaining } = await store.list(PODS);

  deepEqual([entries.length, remaining], [80, 0], "112 MB are more than one answer may have");
  ok(entries.every(({ value }) => value.sizeBytes() === large.length));
});

test("a long history is delivered to a slow listener without closing it", needs("etcd"), async (context) => {
  const { endpoints } = await etcd(context);
  const store = await storeOn(context, endpoints, PATIENT);
  const start = await store.currentRevision();
  for (let index = 0; index < 4_000; index += 500) {
    await Promise.all(Array.from({ length: 500 }, (_, offset) => store.commit([put(`${PODS}p${offset % 50}`, String(index))])));
  }
  const quick = new Seen(store, PODS, start);
  let count = 0;
  const end = await new Promise<unknown>((resolve) => {
    const watch = store.watch(
      PODS,
      { after: start },
      {
        changes: async (changes) => {
          await quick.untilRevision(start + 4_000); // By then etcd would have sent all of it.
          count += changes.length;
          if (count === 4_000) watch.close();
        },
        ended: resolve,
      },
    );
  });
  deepEqual([end, count], [{ reason: "closed" }, 4_000]);
});

test("sixty watches share one connection and each receives its own changes", needs("etcd"), async (context) => {
  const { endpoints } = await etcd(context);
  const store = await storeOn(context, endpoints, PATIENT);
  const start = await store.currentRevision();
  const prefixes = Array.from({ length: 60 }, (_, index) => `/group${index}/things/`);
  const seen = prefixes.map((prefix) => new Seen(store, prefix, start));

  const revisions = await Promise.all(
    Array.from({ length: 600 }, (_, index) => committed(store, put(`${prefixes[index % 60]}t${index}`, String(index)))),
  );
  await Promise.all(seen.map((one) => one.until(({ changes }) => changes.length === 10)));

  for (const [index, one] of seen.entries()) {
    deepEqual(
      one.changes.map(({ revision }) => revision),
      revisions.filter((_, write) => write % 60 === index).sort((a, b) => a - b),
    );
  }
  equal((await store.statistics()).watches, 60);
});

test("closing waits for commits in flight", needs("etcd"), async (context) => {
  const { endpoints } = await etcd(context);
  const store = await openStore(endpoints, PATIENT);
  const commits = Array.from({ length: 50 }, (_, index) => store.commit([put(`${PODS}p${index}`, "1")]));
  const reading = store.list(PODS).then(
    () => "answered",
    (error: { reason: string }) => error.reason,
  );
  await store.close();

  const results = await Promise.race([Promise.all(commits), new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)))]);
  equal(results?.filter((result) => result.committed).length, 50, "all were answered before close was");
  ok(["answered", "Closed"].includes(await reading));
});

test("a commit is rejected when its key was deleted and created again", needs("etcd"), async (context) => {
  const { endpoints } = await etcd(context);
  const store = await storeOn(context, endpoints, PATIENT);
  const first = await committed(store, put(`${PODS}a`, "1"));
  await committed(store, del(`${PODS}a`));
  await committed(store, put(`${PODS}a`, "1"));
  equal((await store.commit([put(`${PODS}a`, "2", at(first))])).committed, false);
});

test("after closing nothing keeps the process alive", needs("etcd"), async (context) => {
  const { endpoints } = await etcd(context);
  const module = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const script = `
    const { openStore } = await import(${module("./testing/harness.js")});
    const { PODS, Seen, put } = await import(${module("../testing/harness.js")});
    const store = await openStore(${JSON.stringify(endpoints)});
    const seen = new Seen(store, PODS, await store.currentRevision());
    await store.commit([put(PODS + "a", "1")]);
    await seen.until(({ changes }) => changes.length === 1);
    await store.close();
    console.log("closed");`;
  // Returns when the process has exited by itself.
  deepEqual(await runProgram({ command: process.execPath, arguments: ["--input-type=module", "-e", script] }), ["closed"]);
});
