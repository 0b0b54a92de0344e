import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { frameChannels } from "../../testing/frame-channels.ts";
import { realClock, realMacrotask } from "../../testing/machine.ts";
import { openMemoryStore } from "../../store/memory/memory-store.ts";
import type { Store } from "../../store/store.ts";
import { committed, PODS, put, Seen } from "../../store/testing/harness.ts";
import { storeSuite } from "../../store/testing/store-suite.ts";
import { openRemoteStore } from "../../store/remote/remote-store.ts";
import { serveStoreTo } from "../../store/remote/store-server.ts";

async function opened({ hasPage = true } = {}) {
  const owned = openMemoryStore({ clock: realClock });
  const [client, server] = frameChannels(realClock);
  let published = { sent: 0, revision: 0 };
  const page = { read: () => published, [Symbol.dispose]: () => undefined };
  serveStoreTo(server, owned, () => ({ write: (now) => (published = now), [Symbol.dispose]: () => undefined }));
  const pages = hasPage ? { page: { number: 1, open: () => page } } : {};
  return { owned, server, store: await openRemoteStore({ channel: client, clock: realClock, ...pages }) };
}

for (const hasPage of [true, false]) {
  storeSuite({
    name: hasPage ? "remote" : "remote without a page",
    async open() {
      const { owned, store } = await opened({ hasPage });
      return { store, close: () => owned.close() };
    },
  });
}

async function withStore(run: (opened: { readonly owned: Store; readonly store: Store; cut(): void }) => Promise<void>): Promise<void> {
  const { owned, server, store } = await opened();
  await run({ owned, store, cut: () => server.close() });
  await store.close();
  await owned.close();
}

test("remote: a revision is reported to the live watches before it is returned, with all changes up to it", () =>
  withStore(async ({ owned, store }) => {
    const seen = new Seen(store, PODS, await store.currentRevision());
    seen.watch.requestProgress();
    await seen.until(({ progress }) => progress.length > 0);
    for (let round = 0; round < 20; round++) {
      const revision = await committed(owned, put(`${PODS}a`, String(round)));
      const other = await committed(owned, put("/services/specs/a", String(round)));
      equal(await store.currentRevision(), other);
      deepEqual([seen.changes.at(-1)?.revision, seen.progress.at(-1)], [revision, other]);
    }
  }));

test("remote: a watch whose listener is busy reaches a revision only after its listener has taken the changes", () =>
  withStore(async ({ owned, store }) => {
    const start = await store.currentRevision();
    const order: string[] = [];
    let release = () => {};
    const busy = new Promise<void>((resolve) => (release = resolve));
    const reached = new Promise<void>((resolve) => {
      const changes = (batch: readonly unknown[]) => {
        order.push(`${batch.length} changes`);
        return busy;
      };
      const progress = (revision: number) => {
        order.push(`progress ${revision - start}`);
        if (revision === start + 900) resolve();
      };
      store.watch(PODS, { after: start }, { changes, progress, ended: () => undefined }).requestProgress();
    });
    for (let index = 0; index < 900; index++) await committed(owned, put(`${PODS}p${index}`, "x"));
    await store.currentRevision();

    release();
    await reached;

    deepEqual(
      [order.slice(0, -1).every((line) => line === "progress 0" || line.endsWith("changes")), order.at(-1)],
      [true, "progress 900"],
    );
  }));

test("remote: a lost channel ends watches, rejects reads as unavailable and open commits as uncertain", () =>
  withStore(async ({ store, cut }) => {
    const seen = new Seen(store, PODS, 1);
    await store.currentRevision();
    cut();
    const commit = store.commit([put(`${PODS}a`, "1")]);
    const read = store.get(`${PODS}a`);

    await rejects(commit, { reason: "Uncertain" });
    await rejects(read, { reason: "Unavailable" });
    equal((await seen.untilEnd()).reason, "failed");
    await rejects(store.currentRevision(), { reason: "Unavailable" });
  }));

test("remote: a watch that catches up with a long history reports no revision before all changes up to it", () =>
  withStore(async ({ owned, store }) => {
    const start = await owned.currentRevision();
    for (let index = 0; index < 5_000; index++) await committed(owned, put(`${PODS}a`, String(index)));
    const tooEarly: number[] = [];
    let received = 0;
    let reached = start;
    const changes = (batch: readonly unknown[]) => {
      received += batch.length;
    };
    const progress = (revision: number) => {
      if (received < revision - start) tooEarly.push(revision);
      reached = revision;
    };
    const watch = store.watch(PODS, { after: start }, { changes, progress, ended: () => undefined });
    while (reached < start + 5_000) {
      watch.requestProgress();
      await store.currentRevision();
      await realMacrotask();
    }
    deepEqual([tooEarly, received], [[], 5_000]);
  }));
