/** Commits and their guarantees: preconditions, atomicity, one revision each, limits. */
import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { COMMIT_OPERATIONS_MAX, KEY_BYTES_MAX, OBJECT_BYTES_MAX, type Operation, type Store } from "../store.ts";
import { bytesValue, lazyValue } from "../value.ts";
import { PODS, absent, at, committed, del, exists, put, show, storeTest, text, textOf, type Driver } from "./harness.ts";

export function commitSuite(driver: Driver): void {
  preconditionTests(driver);
  atomicityTests(driver);
  limitTests(driver);
  valueTests(driver);
}

function preconditionTests(driver: Driver): void {
  storeTest(driver, "of two creations of one key one wins, and the other gets the current entry", async (store) => {
    const outcomes = await Promise.all([store.commit([put(`${PODS}a`, "1", absent)]), store.commit([put(`${PODS}a`, "2", absent)])]);

    const [won, lost] = outcomes[0].committed ? outcomes : [outcomes[1], outcomes[0]];
    ok(won.committed && !lost.committed, "exactly one must win");
    const there = await store.get(`${PODS}a`);
    equal(there?.revision, won.revision);
    deepEqual(
      lost.failed.map(({ operation, key, found }) => ({ operation, key, found: show(found) })),
      [{ operation: 0, key: `${PODS}a`, found: show(there) }],
    );
  });

  for (const { it, operation, happens } of [
    { it: "absent, on a key that is there", operation: () => put(`${PODS}a`, "2", absent), happens: false },
    { it: "absent, on a key that is not", operation: () => put(`${PODS}b`, "2", absent), happens: true },
    { it: "exists, on a key that is there", operation: () => put(`${PODS}a`, "2", exists), happens: true },
    { it: "exists, on a key that is not", operation: () => put(`${PODS}b`, "2", exists), happens: false },
    { it: "none, on a key that is there", operation: () => put(`${PODS}a`, "2"), happens: true },
    { it: "none, on a key that is not", operation: () => put(`${PODS}b`, "2"), happens: true },
    { it: "at its revision", operation: (revision: number) => put(`${PODS}a`, "2", at(revision)), happens: true },
    { it: "at an older revision", operation: (revision: number) => put(`${PODS}a`, "2", at(revision - 1)), happens: false },
    { it: "at a newer revision", operation: (revision: number) => put(`${PODS}a`, "2", at(revision + 1)), happens: false },
    {
      it: "at a revision, on a key that is not there",
      operation: (revision: number) => put(`${PODS}b`, "2", at(revision)),
      happens: false,
    },
    { it: "exists, deleting a key that is there", operation: () => del(`${PODS}a`), happens: true },
    { it: "exists, deleting a key that is not", operation: () => del(`${PODS}b`), happens: false },
    { it: "at its revision, deleting", operation: (revision: number) => del(`${PODS}a`, at(revision)), happens: true },
    { it: "at an older revision, deleting", operation: (revision: number) => del(`${PODS}a`, at(revision - 1)), happens: false },
  ]) {
    storeTest(driver, `the precondition ${it} ${happens ? "holds" : "is refused"}`, async (store) => {
      const revision = await committed(store, put(`${PODS}a`, "1"));
      const before = await stateOf(store);

      const result = await store.commit([operation(revision)]);

      equal(result.committed, happens);
      equal((await store.currentRevision()) - revision, happens ? 1 : 0, "only a commit that happens takes a revision");
      if (!happens) deepEqual(await stateOf(store), before);
    });
  }

  storeTest(driver, "a key can be created again after it was deleted", async (store) => {
    await committed(store, put(`${PODS}a`, "1", absent));
    await committed(store, del(`${PODS}a`));
    const revision = await committed(store, put(`${PODS}a`, "2", absent));

    equal(show(await store.get(`${PODS}a`)), `${PODS}a=2@${revision}`);
  });

  storeTest(driver, "concurrent read-modify-write increments with retries lose no increment", async (store) => {
    await committed(store, put(`${PODS}counter`, "0"));
    const addOne = async (): Promise<void> => {
      for (;;) {
        const seen = await store.get(`${PODS}counter`);
        ok(seen !== undefined);
        const next = String(Number(textOf(seen.value)) + 1);
        if ((await store.commit([put(`${PODS}counter`, next, at(seen.revision))])).committed) return;
      }
    };

    await Promise.all(Array.from({ length: 20 }, addOne));

    equal(textOf((await store.get(`${PODS}counter`))?.value ?? text("")), "20");
  });
}

function atomicityTests(driver: Driver): void {
  storeTest(driver, "several operations commit atomically at one revision", async (store) => {
    const before = await committed(store, put("/services/specs/s", "old"));
    const revision = await committed(
      store,
      put(`${PODS}a`, "1", absent),
      put("/services/specs/s", "new", at(before)),
      put("/deployments/d", "1"),
    );

    deepEqual(await stateOf(store), [`/deployments/d=1@${revision}`, `${PODS}a=1@${revision}`, `/services/specs/s=new@${revision}`]);
  });

  storeTest(driver, "one failed precondition prevents all operations, and every failed one is reported", async (store) => {
    const revision = await committed(store, put("/services/specs/s", "old"));

    const result = await store.commit([put(`${PODS}a`, "1", absent), put("/services/specs/s", "new", absent), del("/deployments/d")]);

    ok(!result.committed);
    deepEqual(
      result.failed.map(({ operation, key, found }) => ({ operation, key, found: show(found) })),
      [
        { operation: 1, key: "/services/specs/s", found: `/services/specs/s=old@${revision}` },
        { operation: 2, key: "/deployments/d", found: undefined },
      ],
    );
    deepEqual(await stateOf(store), [`/services/specs/s=old@${revision}`]);
  });

  storeTest(driver, "concurrent commits get one revision each", async (store) => {
    const start = await store.currentRevision();
    const results = await Promise.all(Array.from({ length: 50 }, (_, index) => store.commit([put(`${PODS}p${index % 5}`, String(index))])));

    const revisions = results.map((result) => (result.committed ? result.revision : 0));
    deepEqual(
      revisions.sort((a, b) => a - b),
      Array.from({ length: 50 }, (_, index) => start + 1 + index),
    );
    equal(await store.currentRevision(), start + 50);
  });

  storeTest(driver, "an already aborted signal prevents the commit", async (store) => {
    await rejects(store.commit([put(`${PODS}a`, "1")], { signal: AbortSignal.abort(new Error("the caller left")) }), /the caller left/);
    equal(await store.get(`${PODS}a`), undefined);
  });
}

function limitTests(driver: Driver): void {
  const many = Array.from({ length: COMMIT_OPERATIONS_MAX + 1 }, (_, index) => put(`/group${index}/things/a`, "1"));
  for (const { it, operations, reason } of [
    { it: "no operation", operations: [], reason: "Invalid" },
    { it: "too many operations", operations: many, reason: "Invalid" },
    { it: "two keys of one resource", operations: [put(`${PODS}x/a`, "1"), put(`${PODS}y/b`, "1")], reason: "Invalid" },
    { it: "one key twice", operations: [put(`${PODS}a`, "1"), del(`${PODS}a`)], reason: "Invalid" },
    { it: "a key without a slash before", operations: [put("pods/a", "1")], reason: "Invalid" },
    { it: "a key that is only a resource", operations: [put(PODS, "1")], reason: "Invalid" },
    { it: "a key without a resource", operations: [put("//a", "1")], reason: "Invalid" },
    { it: "a key of a family without a resource", operations: [put("/services/a", "1")], reason: "Invalid" },
    { it: "two keys of one custom resource", operations: [put("/a.b/c/x", "1"), put("/a.b/c/y", "1")], reason: "Invalid" },
    { it: "an empty key", operations: [put("", "1")], reason: "Invalid" },
    { it: "a key with NUL", operations: [put(`${PODS}a\0b`, "1")], reason: "Invalid" },
    { it: "a key with half a character", operations: [put(`${PODS}\ud800`, "1")], reason: "Invalid" },
    { it: "a key that is too long", operations: [put(PODS + "é".repeat(KEY_BYTES_MAX / 2), "1")], reason: "Invalid" },
    { it: "revision 0", operations: [put(`${PODS}a`, "1", at(0))], reason: "Invalid" },
    { it: "half a revision", operations: [put(`${PODS}a`, "1", at(1.5))], reason: "Invalid" },
    { it: "a value that is too large", operations: [large(`${PODS}a`, OBJECT_BYTES_MAX + 1)], reason: "TooLarge" },
    {
      it: "values that are too large together",
      operations: [large(`${PODS}a`, OBJECT_BYTES_MAX / 2), large("/services/specs/a", OBJECT_BYTES_MAX / 2 + 1)],
      reason: "TooLarge",
    },
  ]) {
    storeTest(driver, `${it} is refused as ${reason}, and nothing is written`, async (store) => {
      const before = await store.currentRevision();
      await rejects(store.commit(operations), { name: "StoreError", reason });
      equal(await store.currentRevision(), before);
    });
  }

  storeTest(driver, "a value of the maximum size is stored under a key of the maximum length", async (store) => {
    const key = PODS + "k".repeat(KEY_BYTES_MAX - PODS.length);
    await committed(store, large(key, OBJECT_BYTES_MAX));
    equal((await store.get(key))?.value.bytes().length, OBJECT_BYTES_MAX);
  });

  storeTest(driver, "the maximum number of operations is committed", async (store) => {
    await committed(store, ...many.slice(1));
    equal((await store.list("")).entries.length, COMMIT_OPERATIONS_MAX);
  });
}

function valueTests(driver: Driver): void {
  storeTest(driver, "every byte value round-trips, and so does an empty value", async (store) => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    await committed(store, { type: "put", key: `${PODS}all`, value: bytesValue(bytes) });
    await committed(store, { type: "put", key: `${PODS}none`, value: bytesValue(new Uint8Array(0)) });

    deepEqual([...((await store.get(`${PODS}all`))?.value.bytes() ?? [])], [...bytes]);
    equal((await store.get(`${PODS}none`))?.value.bytes().length, 0);
  });

  storeTest(driver, "bytes are encoded at most once, however often the value is read", async (store) => {
    let made = 0;
    const value = lazyValue({
      memo: "memo",
      sizeBytes: () => 4,
      makeBytes: () => {
        made += 1;
        return new TextEncoder().encode("made");
      },
    });
    await committed(store, { type: "put", key: `${PODS}a`, value });
    await committed(store, put(`${PODS}b`, "1"));

    equal(textOf((await store.get(`${PODS}a`))?.value ?? text("")), "made");
    equal(textOf((await store.list(PODS)).entries[0]?.value ?? text("")), "made");
    equal(made, 1);
  });

  storeTest(driver, "keys of any characters round-trip", async (store) => {
    const names = ["__proto__", "constructor", "ü", "日本", "😀", "a b", "a%2fb", "..", "~"];
    for (const name of names) await committed(store, put(PODS + name, name));
    for (const name of names) equal(textOf((await store.get(PODS + name))?.value ?? text("")), name);
  });
}

function large(key: string, sizeBytes: number): Operation {
  return { type: "put", key, value: bytesValue(new Uint8Array(sizeBytes).fill(120)) };
}

async function stateOf(store: Store): Promise<(string | undefined)[]> {
  return (await store.list("")).entries.map(show);
}
