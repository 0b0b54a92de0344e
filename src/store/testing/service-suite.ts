/** Services over the contract that must work on every driver: expiry, compaction policy, snapshots, transformers. */
import { deepEqual, equal, notEqual, ok, rejects } from "node:assert/strict";
import { silentLogger } from "../../base/logger.ts";
import type { VirtualClock } from "../../base/virtual-clock.ts";
import { sha256 } from "../../testing/machine.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { KEY_BYTES_MAX, type Store } from "../store.ts";
import { COMPACTION_KEY, compactByAge, compactByCount } from "../compaction.ts";
import { EXPIRY_PREFIX } from "../expiry-record.ts";
import { startExpiry } from "../expiry.ts";
import { hashState, readSnapshot, writeSnapshot } from "../snapshot.ts";
import { transformStore, type ValueTransformer } from "../transform.ts";
import { PODS, Seen, committed, del, put, show, storeTest, text, textOf, type Driver } from "./harness.ts";

const EVENTS = "/events/";

export function serviceSuite(driver: Driver): void {
  expiryTests(driver);
  policyTests(driver);
  snapshotTests(driver);
  transformTests(driver);
}

export async function snapshotBytes(store: Store, revision?: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of writeSnapshot(store, sha256(), revision)) pieces.push(piece);
  return Buffer.concat(pieces);
}

export async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < bytes.length; offset += size) yield bytes.subarray(offset, offset + size);
}

function expiryTests(driver: Driver): void {
  storeTest(driver, "keys expire by deletes of one revision each, and not before their time", async (store) => {
    const clock = virtualClock({ startMs: 1_000_000 });
    const seen = new Seen(store, EVENTS, await store.currentRevision());
    for (const [name, expiresAtMs] of Object.entries({ late: 1_060_000, soon: 1_010_000, also: 1_010_000 })) {
      await committed(store, { type: "put", key: EVENTS + name, value: text(name), expiresAtMs });
    }
    await committed(store, put(`${EVENTS}forever`, "1"));
    const expiry = startExpiry(declared(store, clock), { clock, log: silentLogger });

    const namesLeft = async () => (await store.list(EVENTS)).entries.map(({ key }) => key.slice(EVENTS.length));
    await advanceUntil(clock, async () => (await namesLeft()).length === 2);
    deepEqual([clock.now() >= 1_010_000, clock.now() < 1_020_000, await namesLeft()], [true, true, ["forever", "late"]]);
    await advanceUntil(clock, async () => (await namesLeft()).length === 1);
    ok(clock.now() >= 1_060_000);
    await seen.until(({ changes }) => changes.filter(({ type }) => type === "delete").length === 3);

    const deletions = seen.changes.filter(({ type }) => type === "delete").map(({ revision }) => revision);
    equal(new Set(deletions).size, 3, "no two deletions share a revision");
    deepEqual((await store.list(EXPIRY_PREFIX)).entries, [], "no record is left behind");
    await expiry.stop();
  });

  storeTest(driver, "a rewritten key expires as its last write says, or never", async (store) => {
    const clock = virtualClock({ startMs: 1_000_000 });
    for (const name of ["longer", "forever", "gone", "marker"]) {
      await committed(store, { type: "put", key: EVENTS + name, value: text("1"), expiresAtMs: name === "marker" ? 1_005_000 : 1_001_000 });
    }
    await committed(store, { type: "put", key: `${EVENTS}longer`, value: text("2"), expiresAtMs: 1_900_000 });
    await committed(store, put(`${EVENTS}forever`, "2"));
    await committed(store, del(`${EVENTS}gone`));
    const expiry = startExpiry(declared(store, clock), { clock, log: silentLogger });

    await advanceUntil(clock, async () => (await store.get(`${EVENTS}marker`)) === undefined);

    deepEqual(
      (await store.list(EVENTS)).entries.map(({ key }) => key),
      [`${EVENTS}forever`, `${EVENTS}longer`],
    );
    equal((await store.list(EXPIRY_PREFIX)).entries.length, 1, "only the record of what is still to come is kept");
    await expiry.stop();
  });

  storeTest(driver, "a key written during or between expiry passes is not missed", async (store) => {
    const clock = virtualClock({ startMs: 1_000_000 });
    const expiry = startExpiry(declared(store, clock), { clock, log: silentLogger });
    for (let index = 0; index < 5; index++) {
      await clock.advance(300);
      const key = `${EVENTS}at${index}`;
      const watched = new Seen(store, EVENTS, await store.currentRevision());
      await watched.untilRevision(await committed(store, { type: "put", key, value: text("1"), expiresAtMs: clock.now() + 2_000 }));
      await advanceUntil(clock, async () => (await store.get(key)) === undefined);
    }
    await expiry.stop();
  });

  storeTest(driver, "a key of the maximum length expires like any other, and delays no other", async (store) => {
    const clock = virtualClock({ startMs: 1_000_000 });
    for (const name of ["a", "n".repeat(KEY_BYTES_MAX - EVENTS.length), "z"]) {
      await committed(store, { type: "put", key: EVENTS + name, value: text("1"), expiresAtMs: 1_001_000 });
    }
    const expiry = startExpiry(declared(store, clock), { clock, log: silentLogger });
    await advanceUntil(clock, async () => (await store.list(EVENTS)).entries.length === 0);
    deepEqual((await store.list(EXPIRY_PREFIX)).entries, []);
    await expiry.stop();
  });

  storeTest(driver, "an earlier record wakes the expiry loop", async (store) => {
    const clock = virtualClock({ startMs: 1_000_000 });
    await committed(store, { type: "put", key: `${EVENTS}far`, value: text("1"), expiresAtMs: 9_000_000 });
    const expiry = startExpiry(declared(store, clock), { clock, log: silentLogger });
    await clock.advance(5_000);

    await committed(store, { type: "put", key: `${EVENTS}near`, value: text("1"), expiresAtMs: 1_010_000 });
    await advanceUntil(clock, async () => (await store.get(`${EVENTS}near`)) === undefined);

    ok(clock.now() < 9_000_000, "it must not have slept for the far one");
    await expiry.stop();
  });
}

function policyTests(driver: Driver): void {
  storeTest(driver, "a store that is idle for an interval is compacted to its newest revision without a write", async (store) => {
    const first = await compactByAge(store, undefined, 2);
    const old = await committed(store, put(`${PODS}a`, "1"));
    const second = await compactByAge(store, first, 2);
    const third = await compactByAge(store, second, 2);
    await store.get(`${PODS}a`, { revision: old });

    await compactByAge(store, third, 2);

    await rejects(store.get(`${PODS}a`, { revision: old }), { reason: "Compacted" });
    equal(await store.currentRevision(), second?.revision);
  });

  storeTest(driver, "history is compacted to the revision one interval ago", async (store) => {
    const revisions: number[] = [];
    let turn = await compactByAge(store, undefined, 3);
    for (let index = 0; index < 6; index++) {
      revisions.push(await committed(store, put(`${PODS}a`, String(index))));
      turn = await compactByAge(store, turn, 3);
    }

    equal((await store.statistics()).compactedRevision, revisions[2]);
    equal((await store.get(COMPACTION_KEY))?.revision, turn?.revision);
  });

  storeTest(driver, "of two compactors one compacts in each round", async (store) => {
    const [a, b] = await Promise.all([compactByAge(store, undefined, 1), compactByAge(store, undefined, 1)]);
    deepEqual(a, b, "both know the revision of the one that wrote");
    await committed(store, put(`${PODS}a`, "1"));
    const [c, d] = await Promise.all([compactByAge(store, a, 1), compactByAge(store, b, 1)]);
    deepEqual(c, d);
    equal((await store.list(COMPACTION_KEY)).entries[0]?.revision, c?.revision);
    equal(await store.currentRevision(), c?.revision, "the loser wrote nothing");
  });

  storeTest(driver, "the number of kept revisions is limited", async (store) => {
    for (let index = 0; index < 30; index++) await committed(store, put(`${PODS}a`, String(index)));
    await compactByCount(store, 10);
    const { revision, compactedRevision } = await store.statistics();
    equal(revision - compactedRevision, 10);
    await compactByCount(store, 10);
    equal((await store.statistics()).compactedRevision, compactedRevision);
  });
}

function snapshotTests(driver: Driver): void {
  storeTest(driver, "a snapshot is consistent, whatever is written meanwhile, and round-trips", async (store) => {
    for (let index = 0; index < 1_200; index += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, offset) => committed(store, put(`${PODS}p${index + offset}`, "x".repeat(index)))));
    }
    const { entries, revision } = await store.list("");
    const pieces: Uint8Array[] = [];
    for await (const piece of writeSnapshot(store, sha256(), revision)) {
      if (pieces.length < 3) await committed(store, put(`${PODS}p${pieces.length}`, "later"));
      pieces.push(piece);
    }

    const snapshot = await readSnapshot(inPieces(Buffer.concat(pieces), 1_000), sha256());
    const read: (string | undefined)[] = [];
    for await (const entry of snapshot.entries) read.push(show(entry));

    equal(snapshot.revision, revision);
    deepEqual(read, entries.map(show));
  });

  storeTest(driver, "the hash of a revision is stable, and differs for another state", async (store) => {
    const revision = await committed(store, put(`${PODS}a`, "1"));
    const before = await hashState(store, sha256());
    await committed(store, put(`${PODS}a`, "2"));

    deepEqual(await hashState(store, sha256(), revision), before);
    notEqual((await hashState(store, sha256())).hash, before.hash);
    deepEqual({ revision: before.revision, keys: before.keys }, { revision, keys: 1 });
  });

  storeTest(driver, "a truncated or modified snapshot is rejected", async (store) => {
    await committed(store, put(`${PODS}a`, "one"));
    await committed(store, put(`${PODS}b`, "two"));
    const whole = await snapshotBytes(store);
    const readAll = async (bytes: Uint8Array) => {
      const snapshot = await readSnapshot(inPieces(bytes, 7), sha256());
      for await (const entry of snapshot.entries) ok(entry.key);
    };
    await readAll(whole);
    const afterFirstLine = whole.indexOf("\n") + 1;
    for (let length = 0; length < whole.length; length++) await rejects(readAll(whole.subarray(0, length)), { reason: "Damaged" });
    for (let offset = afterFirstLine; offset < whole.length; offset++) {
      const changed = Buffer.from(whole);
      changed[offset] = (changed[offset] ?? 0) ^ 1;
      await rejects(readAll(changed), { reason: "Damaged" });
    }
  });
}

function transformTests(driver: Driver): void {
  storeTest(driver, "a transformer is applied on every read and write path", async (plain) => {
    const store = transformStore(plain, mirror);
    const seen = new Seen(store, PODS, await store.currentRevision());
    const first = await committed(store, put(`${PODS}a`, "abc"));
    const second = await committed(store, put(`${PODS}a`, "def"));
    const third = await committed(store, del(`${PODS}a`));
    await committed(store, put(`${PODS}b`, "ghi"));
    await seen.untilRevision(third + 1);

    equal(textOf((await plain.get(`${PODS}b`))?.value ?? text("")), `ihg${PODS}b`);
    equal(show(await store.get(`${PODS}a`, { revision: first })), `${PODS}a=abc@${first}`);
    deepEqual((await store.list(PODS)).entries.map(show), [`${PODS}b=ghi@${third + 1}`]);
    deepEqual(seen.lines.slice(1, 3), [`put ${PODS}a=def@${second} (was abc@${first})`, `delete ${PODS}a@${third} (was def@${second})`]);
    const refused = await store.commit([put(`${PODS}b`, "x", { is: "absent" })]);
    ok(!refused.committed);
    equal(show(refused.failed[0]?.found), `${PODS}b=ghi@${third + 1}`);
  });

  storeTest(driver, "a stored value moved to another key is rejected", async (plain) => {
    const store = transformStore(plain, mirror);
    await committed(store, put(`${PODS}a`, "abc"));
    const stolen = (await plain.get(`${PODS}a`))?.value ?? text("");
    await committed(plain, { type: "put", key: `${PODS}b`, value: stolen });

    const entry = await store.get(`${PODS}b`);
    await rejects(async () => entry?.value.bytes(), /was not made for/);
  });
}

/** Reverses a value and appends its key. */
const mirror: ValueTransformer = {
  overheadBytesMax: 1_024,
  toStorage: (bytes, key) => Buffer.concat([Buffer.from(bytes).reverse(), Buffer.from(key)]),
  fromStorage(stored, key) {
    const keyAt = stored.length - Buffer.byteLength(key);
    if (Buffer.from(stored.subarray(Math.max(0, keyAt))).toString() !== key) throw new Error(`The value was not made for ${key}`);
    return Buffer.from(stored.subarray(0, keyAt)).reverse();
  },
};

/** The same store, whose IO is declared to `clock`: virtual time stands still while it is pending. */
function declared(store: Store, clock: VirtualClock): Store {
  return {
    ...transformStore(store, { overheadBytesMax: 0, toStorage: (bytes) => bytes, fromStorage: (bytes) => bytes }),
    list: (prefix, options) => clock.external(store.list(prefix, options)),
    commit: (operations, options) => clock.external(store.commit(operations, options)),
    currentRevision: () => clock.external(store.currentRevision()),
  };
}

/** Advances virtual time, a second at a time, until `condition` holds. */
async function advanceUntil(clock: VirtualClock, condition: () => Promise<boolean>): Promise<void> {
  for (let step = 0; step < 2_000; step++) {
    if (await condition()) return;
    await clock.advance(1_000);
  }
  throw new Error("The condition did not come true in 2,000 virtual seconds");
}
