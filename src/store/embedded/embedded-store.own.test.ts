import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { once } from "node:events";
import { spawn } from "node:child_process";
import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { realMacrotask } from "../../host/real-clock.ts";
import { sha256 } from "../../host/crypto/hash.ts";
import { hashState } from "../snapshot.ts";
import type { RestorableStore } from "../store.ts";
import { bytesValue } from "../value.ts";
import { PODS, Seen, at, committed, del, put, show, type OpenedStore } from "../testing/harness.ts";
import { ownedSuite, restorableSuite, storeSuite, visibleSuite } from "../testing/store-suite.ts";
import { inDirectory, makeTemporaryDirectory, openIn } from "./testing/temporary.ts";

async function openTemporary(): Promise<OpenedStore<RestorableStore>> {
  const directory = await makeTemporaryDirectory();
  return { store: await openIn(directory), close: () => rm(directory, { recursive: true }) };
}

const driver = { name: "embedded", open: openTemporary };

storeSuite(driver);
ownedSuite(driver);
visibleSuite(driver);
restorableSuite(driver);

test("embedded: state, revisions, old lists and old watches survive closing and opening", () =>
  inDirectory(async (directory) => {
    const before = await openIn(directory);
    const first = await committed(before, put(`${PODS}a`, "1"));
    const second = await committed(before, put(`${PODS}a`, "2"));
    const third = await committed(before, put(`${PODS}b`, "1"), put("/services/specs/s", "1"));
    const fourth = await committed(before, del(`${PODS}a`));
    await before.close();

    const store = await openIn(directory);
    equal(await store.currentRevision(), fourth);
    deepEqual((await store.list("")).entries.map(show), [`${PODS}b=1@${third}`, `/services/specs/s=1@${third}`]);
    deepEqual((await store.list(PODS, { revision: second })).entries.map(show), [`${PODS}a=2@${second}`]);
    const seen = new Seen(store, PODS, first);
    equal(await committed(store, put(`${PODS}b`, "2", at(third))), fourth + 1);
    await seen.untilRevision(fourth + 1);
    deepEqual(seen.lines, [
      `put ${PODS}a=2@${second} (was 1@${first})`,
      `put ${PODS}b=1@${third}`,
      `delete ${PODS}a@${fourth} (was 2@${second})`,
      `put ${PODS}b=2@${fourth + 1} (was 1@${third})`,
    ]);
    equal((await store.statistics()).keys, 2);
    await store.close();
  }));

test("embedded: compaction survives a restart, also when the newest write was a deletion", () =>
  inDirectory(async (directory) => {
    const before = await openIn(directory);
    const first = await committed(before, put(`${PODS}a`, "1"));
    const last = await committed(before, del(`${PODS}a`));
    await before.compact(last);
    await before.close();

    const store = await openIn(directory);
    equal(await store.currentRevision(), last);
    await rejects(store.list(PODS, { revision: first }), { reason: "Compacted" });
    equal((await new Seen(store, PODS, first).untilEnd()).reason, "compacted");
    equal(await committed(store, put(`${PODS}a`, "2", { is: "absent" })), last + 1);
    await store.close();
  }));

test("embedded: compaction frees space, so that a store that is only overwritten does not grow", () =>
  inDirectory(async (directory) => {
    const store = await openIn(directory);
    const sizes: number[] = [];
    for (let round = 0; round < 8; round++) {
      for (let turn = 0; turn < 5; turn++) {
        const value = bytesValue(new Uint8Array(10_000).fill(round));
        await Promise.all(Array.from({ length: 100 }, (_, index) => committed(store, { type: "put", key: `${PODS}p${index}`, value })));
      }
      const before = (await store.statistics()).usedBytes;
      await store.compact(await store.currentRevision());
      const after = (await store.statistics()).usedBytes;
      ok(after < before / 2, `compaction must free most of ${before} bytes, ${after} are left`);
      sizes.push((await stat(join(directory, "store.mdb"))).size);
    }
    ok((sizes.at(-1) ?? 0) <= 1.2 * (sizes[2] ?? 0), `the file must reuse what was freed: ${sizes.join(", ")}`);
    await store.close();
  }));

test("embedded: a file of mostly free pages is small again after the next opening, with the same content", () =>
  inDirectory(async (directory) => {
    const file = join(directory, "store.mdb");
    const store = await openIn(directory);
    for (let round = 0; round < 20; round++) {
      await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          committed(store, { type: "put", key: `${PODS}p${index}`, value: bytesValue(new Uint8Array(400_000).fill(round)) }),
        ),
      );
    }
    // More than a quarter stays in use, so that the file is not copied while the store is open.
    await store.compact((await store.currentRevision()) - 50);
    const before = await hashState(store, sha256());
    await store.close();
    ok((await stat(file)).size > 64 * 1_048_576);

    const again = await openIn(directory);
    ok((await stat(file)).size < 32 * 1_048_576);
    equal((await stat(file)).mode & 0o777, 0o600);
    deepEqual(await hashState(again, sha256()), before);
    await committed(again, put(`${PODS}new`, "1"));
    await again.close();
    const third = await openIn(directory);
    equal((await third.list(PODS)).entries.length, 11);
    deepEqual((await readdir(directory)).sort(), ["holder", "store.mdb", "store.mdb-lock"]);
    await third.close();
  }));

test("embedded: the directory and everything in it is accessible to its owner only", () =>
  inDirectory(async (parent) => {
    const directory = join(parent, "made", "here");
    const store = await openIn(directory);
    await committed(store, put(`${PODS}a`, "1"));

    equal((await stat(directory)).mode & 0o777, 0o700);
    for (const name of await readdir(directory)) equal((await stat(join(directory, name))).mode & 0o777, 0o600, name);
    await store.close();
  }));

test("embedded: a second opener gets the holder's name in the error, and the directory once it is closed", () =>
  inDirectory(async (directory) => {
    const store = await openIn(directory);
    await rejects(openIn(directory), { reason: "Locked", message: new RegExp(`in use by process ${process.pid} `) });
    await committed(store, put(`${PODS}a`, "1"));
    await store.close();

    const next = await openIn(directory);
    equal((await next.list(PODS)).entries.length, 1);
    await next.close();
  }));

test("embedded: another process is refused while the holder lives, and not after it was killed", () =>
  inDirectory(async (directory) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, "testing", "crash-child.js"), directory], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    child.stdout.resume();

    await rejects(openIn(directory), { reason: "Locked", message: new RegExp(`in use by process ${child.pid} `) });
    child.kill("SIGKILL");
    await once(child, "close");

    await (await openIn(directory)).close();
  }));

test("embedded: a killed restore leaves an empty store, which can be restored", () =>
  inDirectory(async (directory) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, "testing", "restore-child.js"), directory], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "close");

    const store = await openIn(directory);
    deepEqual([(await store.list("")).entries, (await store.statistics()).keys, await store.currentRevision()], [[], 0, 1]);
    await store.restore(
      (async function* () {
        yield { key: `${PODS}a`, revision: 4, value: bytesValue(new Uint8Array(1)) };
      })(),
      5,
    );
    equal((await store.list("")).entries.length, 1);
    await store.close();
  }));

test("embedded: more keys of one revision than fit are rejected, and nothing is restored", () =>
  inDirectory(async (directory) => {
    const store = await openIn(directory);
    const entries = async function* () {
      for (let index = 0; index < 129; index++) yield { key: `${PODS}p${index}`, revision: 5, value: bytesValue(new Uint8Array(1)) };
    };
    await rejects(store.restore(entries(), 6), { reason: "Invalid", message: /more than 128 keys have revision 5/ });
    equal((await store.list("")).entries.length, 0);
    await store.close();
  }));

test("embedded: a stale, empty or malformed holder file does not lock the directory", () =>
  inDirectory(async (directory) => {
    for (const content of [
      "",
      "{",
      '{"pid":-1}',
      '{"pid":999999999,"command":"gone","started":"1"}',
      JSON.stringify({ pid: 1, command: "init", started: "0" }),
    ]) {
      await writeFile(join(directory, "holder"), content);
      await (await openIn(directory)).close();
    }
  }));

test("embedded: concurrent commits share a sync", () =>
  inDirectory(async (directory) => {
    const store = await openIn(directory);
    await Promise.all(Array.from({ length: 200 }, (_, index) => committed(store, put(`${PODS}p${index}`, "1"))));
    const { commits, syncs } = await store.statistics();
    equal(commits, 200);
    ok(syncs <= 5, `200 commits took ${syncs} syncs`);
    await store.close();
  }));

test("embedded: closing waits for accepted commits", () =>
  inDirectory(async (directory) => {
    const store = await openIn(directory);
    const accepted = Promise.all(Array.from({ length: 50 }, (_, index) => committed(store, put(`${PODS}p${index}`, "1"))));
    await store.close();
    await accepted;

    const again = await openIn(directory);
    equal((await again.list(PODS)).entries.length, 50);
    await again.close();
  }));

test("embedded: a long list does not block others, and is consistent", () =>
  inDirectory(async (directory) => {
    const store = await openIn(directory);
    for (let index = 0; index < 3_000; index += 500) {
      await Promise.all(Array.from({ length: 500 }, (_, offset) => committed(store, put(`${PODS}p${index + offset}`, "old"))));
    }
    const listing = store.list(PODS);
    const compacting = committed(store, put(`${PODS}p2999`, "new")).then((revision) => store.compact(revision)); // Must wait for the list.
    let turns = 0;
    let done = false;
    void listing.then(() => (done = true));
    while (!done) {
      await realMacrotask();
      turns += 1;
    }
    ok(turns >= 5, `others had ${turns} turns`);
    await compacting;

    const { entries } = await listing;
    equal(entries.length, 3_000);
    ok(
      entries.every(({ value }) => value.bytes().length === 3),
      "the list is older than the change",
    );
    await store.close();
  }));
