/** Watches: every change once, in order, with its previous value; from any kept revision; and all the ways a watch ends. */
import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { WATCH_BACKLOG_MAX, type Change, type Store } from "../store.ts";
import { lazyValue } from "../value.ts";
import { PODS, Seen, at, committed, del, put, showChange, storeTest, text, type Driver } from "./harness.ts";

export function watchSuite(driver: Driver): void {
  orderTests(driver);
  prefixTests(driver);
  endTests(driver);
  progressTests(driver);
  memoTests(driver);
}

function orderTests(driver: Driver): void {
  storeTest(driver, "a watch delivers creation, change and deletion, each with its previous value", async (store) => {
    const seen = new Seen(store, PODS, await store.currentRevision());

    const first = await committed(store, put(`${PODS}a`, "1"));
    await committed(store, put(`${PODS}a`, "2"));
    await committed(store, del(`${PODS}a`));
    const last = await committed(store, put(`${PODS}a`, "3"));
    await seen.untilRevision(last);

    deepEqual(seen.lines, [
      `put ${PODS}a=1@${first}`,
      `put ${PODS}a=2@${first + 1} (was 1@${first})`,
      `delete ${PODS}a@${first + 2} (was 2@${first + 1})`,
      `put ${PODS}a=3@${last}`,
    ]);
  });

  storeTest(
    driver,
    "a precondition may have the value of its revision, and watches deliver the same previous values with it",
    async (store) => {
      const seen = new Seen(store, PODS, await store.currentRevision());

      const first = await committed(store, put(`${PODS}a`, "1"));
      const second = await committed(store, put(`${PODS}a`, "2", { ...at(first), value: text("1") }));
      const refused = await store.commit([put(`${PODS}a`, "lost", { ...at(first), value: text("1") })]);
      await committed(store, del(`${PODS}a`, { ...at(second), value: text("2") }));
      await seen.untilRevision(second + 1);

      equal(refused.committed, false);
      deepEqual(seen.lines, [
        `put ${PODS}a=1@${first}`,
        `put ${PODS}a=2@${second} (was 1@${first})`,
        `delete ${PODS}a@${second + 1} (was 2@${second})`,
      ]);
    },
  );

  storeTest(driver, "fast changes of one key are never merged", async (store) => {
    const start = await store.currentRevision();
    const seen = new Seen(store, PODS, start);

    const results = await Promise.all(Array.from({ length: 500 }, (_, index) => store.commit([put(`${PODS}a`, String(index))])));
    await seen.untilRevision(start + 500);

    equal(results.filter(({ committed }) => committed).length, 500);
    deepEqual(
      seen.changes.map(({ revision }) => revision),
      Array.from({ length: 500 }, (_, index) => start + 1 + index),
    );
    for (const [index, change] of seen.changes.entries()) equal(change.previous?.revision, index === 0 ? undefined : start + index);
  });

  storeTest(driver, "a watch from any kept revision delivers exactly the later changes", async (store) => {
    const start = await store.currentRevision();
    const whole = new Seen(store, PODS, start);
    for (let index = 0; index < 12; index++) {
      await committed(store, index % 4 === 3 ? del(`${PODS}p${(index - 3) % 3}`) : put(`${PODS}p${index % 3}`, String(index)));
      if (index % 3 === 0) await committed(store, put("/services/specs/s", String(index)));
    }
    const last = await committed(store, put(`${PODS}last`, "1"));
    await whole.untilRevision(last);

    for (let after = start; after < last; after++) {
      const seen = new Seen(store, PODS, after);
      await seen.untilRevision(last);
      deepEqual(seen.lines, whole.changes.filter(({ revision }) => revision > after).map(showChange));
      seen.watch.close();
    }
  });

  storeTest(driver, "watches that start during writes lose and duplicate nothing", async (store) => {
    const start = await store.currentRevision();
    const total = 400;
    const all: Seen[] = [];
    const write = async (from: number): Promise<void> => {
      for (let index = from; index < total; index += 4) {
        await committed(store, put(`${PODS}p${index % 7}`, String(index)));
        if (index % 10 === 0) all.push(new Seen(store, PODS, Math.max(start, (await store.currentRevision()) - 20)));
      }
    };
    await Promise.all([0, 1, 2, 3].map(write));
    await Promise.all(all.map((seen) => seen.untilRevision(start + total)));

    for (const seen of all) {
      const first = seen.changes[0]?.revision ?? 0;
      deepEqual(
        seen.changes.map(({ revision }) => revision),
        Array.from({ length: start + total - first + 1 }, (_, index) => first + index),
      );
    }
  });

  storeTest(driver, "a long history is replayed completely while new changes arrive", async (store) => {
    const start = await store.currentRevision();
    await Promise.all(Array.from({ length: 3_000 }, (_, index) => store.commit([put(`${PODS}p${index % 50}`, String(index))])));
    const seen = new Seen(store, PODS, start);
    await Promise.all(Array.from({ length: 100 }, (_, index) => store.commit([put(`${PODS}new${index}`, "1")])));
    await seen.untilRevision(start + 3_100);

    deepEqual(
      seen.changes.map(({ revision }) => revision),
      Array.from({ length: 3_100 }, (_, index) => start + 1 + index),
    );
  });

  storeTest(driver, "a watch may start at a future revision", async (store) => {
    const start = await store.currentRevision();
    const seen = new Seen(store, PODS, start + 2);
    for (let index = 0; index < 4; index++) await committed(store, put(`${PODS}a`, String(index)));
    await seen.untilRevision(start + 4);

    deepEqual(
      seen.changes.map(({ revision }) => revision),
      [start + 3, start + 4],
    );
  });

  storeTest(driver, "a listener that commits receives its own change after the current one, and so do the others", async (store) => {
    const start = await store.currentRevision();
    const orders: number[][] = [[], []];
    const echoes: Promise<number>[] = [];
    const both = [0, 1].map((index) => {
      return new Promise<void>((resolve) => {
        store.watch(
          PODS,
          { after: start },
          {
            changes: (changes) => {
              for (const { key, revision } of changes) {
                orders[index]?.push(revision);
                if (index === 0 && key === `${PODS}a`) echoes.push(committed(store, put(`${PODS}echo`, "1")));
                if (key === `${PODS}echo`) resolve();
              }
            },
            ended: () => undefined,
          },
        );
      });
    });
    await committed(store, put(`${PODS}a`, "1"));
    await Promise.all(both);
    await Promise.all(echoes);

    deepEqual(orders, [
      [start + 1, start + 2],
      [start + 1, start + 2],
    ]);
  });
}

function prefixTests(driver: Driver): void {
  storeTest(driver, "a watch of a longer prefix receives that part only, and no similarly named neighbours", async (store) => {
    const start = await store.currentRevision();
    const one = new Seen(store, `${PODS}default/`, start);
    const all = new Seen(store, PODS, start);
    await committed(store, put(`${PODS}default/a`, "1"));
    await committed(store, put(`${PODS}default2/a`, "1"));
    await committed(store, put("/podsecurity/a", "1"), put("/example.com/pods/a", "1"));
    const last = await committed(store, put(`${PODS}default/z`, "1"));
    await Promise.all([one.untilRevision(last), all.untilRevision(last)]);

    deepEqual(
      one.changes.map(({ key }) => key),
      [`${PODS}default/a`, `${PODS}default/z`],
    );
    deepEqual(
      all.changes.map(({ key }) => key),
      [`${PODS}default/a`, `${PODS}default2/a`, `${PODS}default/z`],
    );
  });

  storeTest(driver, "a prefix may end anywhere after the resource, also in the middle of a name", async (store) => {
    const start = await store.currentRevision();
    const prefixes = [PODS, `${PODS}de`, `${PODS}default/`, `${PODS}default/we`, `${PODS}default/web`, `${PODS}default/web/`];
    const watches = prefixes.map((prefix) => new Seen(store, prefix, start));
    const keys = ["a", "default/web", "default/web/x", "default/web2", "default/x", "default2/web", "z"].map((name) => PODS + name);
    for (const key of keys) await committed(store, put(key, "1"));
    const lastOf = (prefix: string) => keys.filter((key) => key.startsWith(prefix)).length;
    await Promise.all(watches.map((seen, index) => seen.until(({ changes }) => changes.length === lastOf(prefixes[index] ?? ""))));
    await watches[0]?.untilRevision(await committed(store, put(`${PODS}end`, "1")));

    for (const [index, prefix] of prefixes.entries()) {
      deepEqual(
        watches[index]?.changes.map(({ key }) => key).filter((key) => key !== `${PODS}end`),
        keys.filter((key) => key.startsWith(prefix)),
      );
    }
  });

  for (const prefix of ["", "/", "/pods", "pods/", "/services/", "/services/specs", "/example.com/", "/k8ts/"]) {
    storeTest(driver, `watching ${JSON.stringify(prefix)} is refused, since it is wider than one resource`, async (store) => {
      throws(() => store.watch(prefix, { after: 1 }, { changes: () => undefined, ended: () => undefined }), { reason: "Invalid" });
    });
  }
}

function endTests(driver: Driver): void {
  storeTest(driver, "a watch from compacted history ends as compacted; from the compacted revision it works", async (store) => {
    const first = await committed(store, put(`${PODS}a`, "1"));
    await committed(store, put(`${PODS}a`, "2"));
    const kept = await committed(store, del(`${PODS}a`));
    const last = await committed(store, put(`${PODS}b`, "1"));
    await store.compact(kept);

    for (const after of [first - 1, first, kept - 1]) {
      deepEqual(await new Seen(store, PODS, after).untilEnd(), { reason: "compacted", compactedRevision: kept });
    }
    const seen = new Seen(store, PODS, kept);
    await seen.untilRevision(last);
    deepEqual(seen.lines, [`put ${PODS}b=1@${last}`]);
  });

  storeTest(driver, "the previous value of a change is delivered even if it is older than the compacted revision", async (store) => {
    const old = await committed(store, put(`${PODS}a`, "old"));
    const between = await committed(store, put("/services/specs/s", "1"));
    const changed = await committed(store, put(`${PODS}a`, "new"));
    await store.compact(between);

    const seen = new Seen(store, PODS, between);
    await seen.untilRevision(changed);
    deepEqual(seen.lines, [`put ${PODS}a=new@${changed} (was old@${old})`]);
  });

  storeTest(driver, "a closed watch ends once, and receives nothing after", async (store) => {
    const seen = new Seen(store, PODS, await store.currentRevision());
    const other = new Seen(store, PODS, await store.currentRevision());
    await committed(store, put(`${PODS}a`, "1"));
    await seen.until(({ changes }) => changes.length === 1);

    seen.watch.close();
    seen.watch.close();
    seen.watch.requestProgress();
    await other.untilRevision(await committed(store, put(`${PODS}b`, "1")));

    deepEqual([seen.ends, seen.changes.length, seen.progress], [[{ reason: "closed" }], 1, []]);
  });

  storeTest(driver, "closing the store ends its watches as closed, rejects later calls, and is idempotent", async (store) => {
    const seen = new Seen(store, PODS, await store.currentRevision());
    await store.close();
    await store.close();

    deepEqual(seen.ends, [{ reason: "closed" }]);
    for (const attempt of [
      store.get(`${PODS}a`),
      store.list(PODS),
      store.commit([put(`${PODS}a`, "1")]),
      store.currentRevision(),
      store.compact(1),
    ]) {
      await attempt.then(
        () => ok(false, "a closed store must refuse"),
        (error: unknown) => equal((error as { reason?: string }).reason, "Closed"),
      );
    }
    throws(() => store.watch(PODS, { after: 1 }, { changes: () => undefined, ended: () => undefined }), { reason: "Closed" });
  });

  storeTest(driver, "a listener that throws or rejects ends its own watch as failed and no other", async (store) => {
    const start = await store.currentRevision();
    const ends: unknown[] = [];
    const failing = [
      () => {
        throw new Error("thrown");
      },
      () => Promise.reject(new Error("rejected")),
    ].map(
      (changes) =>
        new Promise<void>((resolve) => store.watch(PODS, { after: start }, { changes, ended: (end) => resolve(void ends.push(end)) })),
    );
    const healthy = new Seen(store, PODS, start);
    const last = await committed(store, put(`${PODS}a`, "1"));
    await Promise.all([...failing, healthy.untilRevision(last)]);

    deepEqual(ends.map((end) => (end as { error: Error }).error.message).sort(), ["rejected", "thrown"]);
    deepEqual(healthy.ends, []);
  });

  storeTest(driver, "a busy listener is closed as slow when its backlog exceeds the limit, not before", async (store) => {
    const start = await store.currentRevision();
    const slow = new BusyListener(store, start);
    const keeping = new Seen(store, PODS, start);
    await committed(store, put(`${PODS}first`, "1"));
    await slow.called;

    for (let index = 0; index < WATCH_BACKLOG_MAX; index += 100) {
      await Promise.all(Array.from({ length: 100 }, (_, offset) => store.commit([put(`${PODS}p${offset}`, String(index))])));
    }
    await keeping.untilRevision(start + 1 + WATCH_BACKLOG_MAX);
    deepEqual(slow.ends, [], "as many as the limit may wait");
    await keeping.untilRevision(await committed(store, put(`${PODS}one-more`, "1")));
    await slow.ended;

    deepEqual([slow.ends, slow.seen.length], [["slow"], 1]);
    slow.release();
  });

  storeTest(driver, "a listener that was busy receives its backlog, in order", async (store) => {
    const start = await store.currentRevision();
    const busy = new BusyListener(store, start);
    await committed(store, put(`${PODS}a`, "0"));
    await busy.called;
    for (let index = 1; index <= 20; index++) await committed(store, put(`${PODS}a`, String(index)));
    busy.release();
    await busy.untilSeen(21);

    deepEqual(
      busy.seen.map(({ revision }) => revision),
      Array.from({ length: 21 }, (_, index) => start + 1 + index),
    );
  });
}

function progressTests(driver: Driver): void {
  storeTest(driver, "progress is notified without events, and never before the changes it covers", async (store) => {
    if (!store.capabilities.progress) return; // Such a driver guarantees nothing; `capabilities` says so to its users.
    const seen = new Seen(store, PODS, await store.currentRevision());
    const covered: number[] = [];
    for (let round = 0; round < 10; round++) {
      await committed(store, put("/services/specs/s", String(round)));
      const mine = round % 2 === 0 ? await committed(store, put(`${PODS}a`, String(round))) : 0;
      const newest = await store.currentRevision();
      seen.watch.requestProgress();
      await seen.until(({ progress }) => (progress.at(-1) ?? 0) >= newest);
      covered.push(mine);
      ok(mine === 0 || seen.changes.some(({ revision }) => revision === mine), "a change must come before the note that covers it");
    }
    equal(seen.changes.length, covered.filter((revision) => revision > 0).length);
  });
}

function memoTests(driver: Driver): void {
  storeTest(driver, "a watch returns the memo of this process's writes, with equal bytes", async (store) => {
    const memo = Object.freeze({ kind: "Pod" });
    const seen = new Seen(store, PODS, await store.currentRevision());
    const bytes = new TextEncoder().encode('{"kind":"Pod"}');
    const revision = await committed(store, {
      type: "put",
      key: `${PODS}a`,
      value: lazyValue({ memo, makeBytes: () => bytes, sizeBytes: () => bytes.length }),
    });
    await seen.untilRevision(revision);

    const [change] = seen.changes;
    ok(change?.type === "put");
    equal(change.value.memo, memo, "the very object, not a copy");
    deepEqual(Buffer.from(change.value.bytes()).toString(), '{"kind":"Pod"}');
  });
}

/** A listener that stays busy with its first changes until it is released. */
class BusyListener {
  readonly seen: Change[] = [];
  readonly ends: string[] = [];
  readonly called: Promise<void>;
  readonly ended: Promise<void>;
  release: () => void = () => undefined;
  #onSeen: () => void = () => undefined;

  constructor(store: Store, after: number) {
    const released = new Promise<void>((resolve) => (this.release = resolve));
    let onCalled: () => void = () => undefined;
    let onEnded: () => void = () => undefined;
    this.called = new Promise((resolve) => (onCalled = resolve));
    this.ended = new Promise((resolve) => (onEnded = resolve));
    store.watch(
      PODS,
      { after },
      {
        changes: (changes) => {
          this.seen.push(...changes);
          onCalled();
          this.#onSeen();
          return released;
        },
        ended: ({ reason }) => {
          this.ends.push(reason);
          onEnded();
        },
      },
    );
  }

  async untilSeen(count: number): Promise<void> {
    while (this.seen.length < count) await new Promise<void>((resolve) => (this.#onSeen = resolve));
  }
}
