/** Reads: order, consistent pages, past revisions, and what compaction removes. */
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import type { ListResult, Store } from "../store.ts";
import { PODS, committed, del, put, show, storeTest, type Driver } from "./harness.ts";

export function readSuite(driver: Driver): void {
  listTests(driver);
  pastTests(driver);
  compactionTests(driver);
}

function listTests(driver: Driver): void {
  storeTest(driver, "a new store is empty, at a revision above 0", async (store) => {
    const { entries, revision, remaining } = await store.list("");
    deepEqual({ entries, remaining }, { entries: [], remaining: 0 });
    ok(revision > 0, "revision 0 means something else to Kubernetes clients");
    equal(revision, await store.currentRevision());
  });

  storeTest(driver, "a list contains exactly the keys of its prefix, in bytewise order", async (store) => {
    const names = ["a", "B", "a/b", "a0", "ab", "a-b", "é", "\uffee", "😀", "~", "a b"];
    for (const name of names) await committed(store, put(PODS + name, name));
    await committed(store, put("/podsx/a", "other"));
    await committed(store, put("/pod/a", "other"));

    const { entries } = await store.list(PODS);

    const byBytes = [...names].sort((a, b) => compareBytes(new TextEncoder().encode(a), new TextEncoder().encode(b)));
    deepEqual(
      entries.map(({ key }) => key.slice(PODS.length)),
      byBytes,
    );
    deepEqual(
      (await store.list(`${PODS}a`)).entries.map(({ key }) => key.slice(PODS.length)),
      byBytes.filter((name) => name.startsWith("a")),
    );
  });

  for (const limit of [1, 3, 7, 100]) {
    storeTest(driver, `pages of ${limit} show one revision, whatever is written between them, and count what remains`, async (store) => {
      for (let index = 0; index < 10; index++) await committed(store, put(`${PODS}p${index}`, "old"));
      const whole = (await store.list(PODS)).entries.map(show);

      const pages: ListResult[] = [];
      for (let page = await store.list(PODS, { limit }); ; page = await nextPage(store, page, limit)) {
        pages.push(page);
        await committed(store, put(`${PODS}p${pages.length}`, "new"), put("/services/specs/s", "other"));
        await committed(store, del(`${PODS}p9`)).catch(() => undefined); // Deleted after the first page.
        await committed(store, put(`${PODS}p0${pages.length}`, "between"));
        if (page.remaining === 0) break;
      }

      deepEqual(
        pages.flatMap(({ entries }) => entries.map(show)),
        whole,
      );
      equal(new Set(pages.map(({ revision }) => revision)).size, 1);
      deepEqual(
        pages.map(({ remaining }) => remaining),
        pages.map((_, index) => Math.max(0, 10 - (index + 1) * limit)),
      );
    });
  }

  storeTest(driver, "a list that starts after a key excludes it, whether it exists or not", async (store) => {
    for (const name of ["a", "b", "c"]) await committed(store, put(PODS + name, name));
    const names = async (startAfter: string) =>
      (await store.list(PODS, { startAfter: PODS + startAfter })).entries.map(({ key }) => key.slice(PODS.length));

    deepEqual(await names("a"), ["b", "c"]);
    deepEqual(await names("aa"), ["b", "c"]);
    deepEqual(await names("c"), []);
    deepEqual(await names(""), ["a", "b", "c"]);
  });

  for (const limit of [0, -1, 1.5]) {
    storeTest(driver, `a limit of ${limit} is refused`, async (store) => {
      await rejects(store.list(PODS, { limit }), { reason: "Invalid" });
    });
  }
}

function pastTests(driver: Driver): void {
  storeTest(driver, "every kept revision is readable, with the keys deleted since", async (store) => {
    const states = new Map<number, (string | undefined)[]>();
    const record = async (revision: number) => states.set(revision, (await store.list(PODS)).entries.map(show));
    await record(await committed(store, put(`${PODS}a`, "1")));
    await record(await committed(store, put(`${PODS}b`, "1")));
    await record(await committed(store, put(`${PODS}a`, "2")));
    await record(await committed(store, del(`${PODS}a`)));
    await record(await committed(store, put(`${PODS}a`, "3")));
    await record(await committed(store, del(`${PODS}b`)));

    for (const [revision, state] of states) {
      deepEqual((await store.list(PODS, { revision })).entries.map(show), state);
      const a = state.find((line) => line?.startsWith(`${PODS}a=`));
      equal(show(await store.get(`${PODS}a`, { revision })), a);
    }
  });

  storeTest(driver, "a future revision is rejected, not waited for", async (store) => {
    const revision = (await committed(store, put(`${PODS}a`, "1"))) + 1_000;
    await rejects(store.get(`${PODS}a`, { revision }), { reason: "FutureRevision" });
    await rejects(store.list(PODS, { revision }), { reason: "FutureRevision" });
  });

  for (const revision of [0, -1, 1.5]) {
    storeTest(driver, `reading at revision ${revision} is refused`, async (store) => {
      await rejects(store.get(`${PODS}a`, { revision }), { reason: "Invalid" });
      await rejects(store.list(PODS, { revision }), { reason: "Invalid" });
    });
  }
}

function compactionTests(driver: Driver): void {
  storeTest(driver, "after compaction older reads are rejected, reads at and after it still work", async (store) => {
    const first = await committed(store, put(`${PODS}a`, "1"));
    await committed(store, put(`${PODS}b`, "1"));
    const kept = await committed(store, put(`${PODS}a`, "2"));
    const newest = await committed(store, del(`${PODS}b`));

    await store.compact(kept);

    await rejects(store.get(`${PODS}a`, { revision: first }), { reason: "Compacted", compactedRevision: kept });
    await rejects(store.list(PODS, { revision: kept - 1 }), { reason: "Compacted" });
    deepEqual((await store.list(PODS, { revision: kept })).entries.map(show), [`${PODS}a=2@${kept}`, `${PODS}b=1@${kept - 1}`]);
    deepEqual((await store.list(PODS, { revision: newest })).entries.map(show), [`${PODS}a=2@${kept}`]);
    equal((await store.statistics()).compactedRevision, kept);
  });

  storeTest(driver, "compacting further and at the same revision is harmless; beyond the newest it is rejected", async (store) => {
    for (let index = 0; index < 20; index++) await committed(store, put(`${PODS}p${index % 3}`, String(index)));
    const newest = await committed(store, del(`${PODS}p0`));
    const state = (await store.list(PODS)).entries.map(show);

    await store.compact(newest - 10);
    await store.compact(newest - 10);
    await store.compact(newest - 15);
    await store.compact(newest);

    deepEqual((await store.list(PODS, { revision: newest })).entries.map(show), state);
    await rejects(store.list(PODS, { revision: newest - 1 }), { reason: "Compacted" });
    await rejects(store.compact(newest + 1), { reason: "FutureRevision" });
    for (const revision of [0, -1, 1.5, Number.NaN]) await rejects(store.compact(revision), { reason: "Invalid" });
    await committed(store, put(`${PODS}p0`, "again", { is: "absent" }));
  });

  storeTest(driver, "the statistics count keys, commits and watches", async (store) => {
    await committed(store, put(`${PODS}a`, "1"));
    await committed(store, put(`${PODS}b`, "1"), put("/services/specs/s", "1"));
    await committed(store, del(`${PODS}a`));
    const watch = store.watch(PODS, { after: 1 }, { changes: () => undefined, ended: () => undefined });

    const { keys, commits, watches, revision } = await store.statistics();

    deepEqual({ keys, commits, watches, revision }, { keys: 2, commits: 3, watches: 1, revision: await store.currentRevision() });
    watch.close();
    equal((await store.statistics()).watches, 0);
  });
}

function nextPage(store: Store, page: ListResult, limit: number): Promise<ListResult> {
  return store.list(PODS, { limit, revision: page.revision, startAfter: page.entries.at(-1)?.key ?? "" });
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
