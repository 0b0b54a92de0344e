/** The store of a running API server through its socket: the same answers as from the store itself, for its owner alone. */
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { chmod, lstat, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { sha256 } from "../../host/crypto/hash.ts";
import { realClock } from "../../host/real-clock.ts";
import { openMemoryStore } from "../../store/memory/memory-store.ts";
import { hashState } from "../../store/snapshot.ts";
import type { Change, Store, WatchEnd } from "../../store/store.ts";
import { bytesValue } from "../../store/value.ts";
import { PODS, committed, del, put, show } from "../../store/testing/harness.ts";
import { connectStore } from "./connect-store.ts";
import { REQUEST_BYTES_MAX, STORE_SOCKET, type StoreAccess } from "./protocol.ts";
import { serveStore } from "./serve-store.ts";

interface Served {
  readonly store: Store;
  readonly running: StoreAccess;
  readonly directory: string;
  stop(): Promise<void>;
}

async function served(body: (served: Served) => Promise<void>, name = "data"): Promise<void> {
  const parent = await mkdtemp(join(tmpdir(), "k8ts-store-access-"));
  const directory = join(parent, name);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const store = openMemoryStore({ clock: realClock });
  const server = await serveStore(store, directory, { log: silentLogger });
  try {
    const running = await connectStore(directory, {});
    ok(running !== undefined, "the store must be served");
    await body({ store, running, directory, stop: async () => server[Symbol.asyncDispose]() });
  } finally {
    await server[Symbol.asyncDispose]();
    await store.close();
    await rm(parent, { recursive: true });
  }
}

test("get, list, hash, statistics and compaction through the socket answer as the store does", () =>
  served(async ({ store, running }) => {
    for (let index = 0; index < 130; index++) await committed(store, put(`${PODS}p${String(index).padStart(3, "0")}`, `v${index}`));
    await committed(store, { type: "put", key: `${PODS}large`, value: bytesValue(new Uint8Array(1_400_000).fill(200)) });
    equal(show(await running.get(`${PODS}p007`)), show(await store.get(`${PODS}p007`)));
    equal(await running.get(`${PODS}none`), undefined);
    equal(await running.get(`${PODS}p100`, { revision: 5 }), undefined);
    equal(await running.currentRevision(), await store.currentRevision());
    deepEqual(await running.statistics(), await store.statistics());
    deepEqual((await running.list(PODS)).entries.map(show), (await store.list(PODS)).entries.map(show));
    const page = await running.list(PODS, { limit: 60, startAfter: `${PODS}p009` });
    deepEqual([page.entries.length, page.entries[0]?.key, page.remaining > 0], [60, `${PODS}p010`, true]);
    deepEqual(await hashState(running, sha256()), await hashState(store, sha256()));
    await running.compact(50);
    equal((await store.statistics()).compactedRevision, 50);
    await rejects(running.list(PODS, { revision: 10 }), { reason: "Compacted", compactedRevision: 50 });
    await rejects(running.get(`${PODS}p1`, { revision: 10_000 }), { reason: "FutureRevision" });
  }));

test("a watch through the socket returns every change in order, and ends when it is closed, compacted or the server stops", () =>
  served(async ({ store, running, stop }) => {
    const first = await committed(store, put(`${PODS}a`, "1"));
    const seen: Change[] = [];
    let noticed: () => void = () => undefined;
    const until = async (count: number) => {
      while (seen.length < count) await new Promise<void>((resolve) => (noticed = resolve));
    };
    const follow = (after: number) => {
      let end: (ended: WatchEnd) => void = () => undefined;
      const ended = new Promise<WatchEnd>((resolve) => (end = resolve));
      const changes = (changed: readonly Change[]) => {
        seen.push(...changed);
        noticed();
      };
      return { watch: running.watch(PODS, { after }, { changes, ended: end }), ended };
    };
    const { watch, ended } = follow(first - 1);
    await committed(store, put(`${PODS}a`, "2"));
    await committed(store, del(`${PODS}a`));
    await until(3);
    deepEqual(
      seen.map(({ type, revision, previous }) => [type, revision, previous?.revision]),
      [
        ["put", first, undefined],
        ["put", first + 1, first],
        ["delete", first + 2, first + 1],
      ],
    );
    watch.close();
    deepEqual(await ended, { reason: "closed" });
    await store.compact(first + 2);
    deepEqual(await follow(first - 1).ended, { reason: "compacted", compactedRevision: first + 2 });
    const last = follow(first + 2);
    await committed(store, put(`${PODS}b`, "1"));
    await until(4);
    await stop();
    const { reason } = await last.ended;
    equal(reason, "failed");
  }));

test("the socket has mode 0600, also below a long path, and is removed at the end", async () => {
  for (const name of ["data", `${"deep/".repeat(40)}data`]) {
    let socket = "";
    await served(async ({ store, running, directory, stop }) => {
      socket = join(directory, STORE_SOCKET);
      equal((await stat(socket)).mode & 0o777, 0o600);
      await committed(store, put(`${PODS}a`, "1"));
      equal((await running.list("")).entries.length, 1);
      await stop();
      await rejects(lstat(socket), { code: "ENOENT" });
      equal(await connectStore(directory, {}), undefined);
    }, name);
  }
});

test("a socket that another user could have created is not used; a file of that name is no socket", () =>
  served(async ({ directory, stop }) => {
    await chmod(directory, 0o777);
    await rejects(connectStore(directory, {}), { name: "UntrustedPathError", message: /is writable by other users \(mode 0777\)/ });
    await chmod(directory, 0o700);
    await stop();
    await writeFile(join(directory, STORE_SOCKET), "");
    equal(await connectStore(directory, {}), undefined);
  }));

test("an invalid request gets an error, an unterminated line is cut off, and the server continues", () =>
  served(async ({ running, directory }) => {
    const socket = join(directory, STORE_SOCKET);
    for (const line of [
      "",
      "hello",
      "[]",
      "{}",
      '{"do":"get"}',
      '{"do":"list","prefix":"/","limit":"all"}',
      '{"do":"watch","prefix":"/","after":1}',
    ]) {
      match(await answerTo(socket, `${line}\n`), /"error":\{"reason":"Invalid"/, line);
    }
    equal(await answerTo(socket, "x".repeat(REQUEST_BYTES_MAX + 1)), "");
    equal(await running.currentRevision(), 1);
  }));

async function answerTo(path: string, text: string): Promise<string> {
  const socket = connect({ path });
  socket.on("error", () => undefined); // Cut off while it is still sending.
  let answer = "";
  socket.setEncoding("utf8").on("data", (piece: string) => (answer += piece));
  socket.write(text);
  await once(socket, "close");
  return answer;
}
