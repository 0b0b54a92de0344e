import assert from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../../api/core/v1/config-map.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { createLogger, silentLogger, type LogLine } from "../../base/logger.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import type { InformerHandler } from "./informer.ts";
import { SharedInformer } from "./shared-informer.ts";
import { aMap } from "./testing/scripted-server.ts";
import { deliveredLines } from "./testing/expected-calls.ts";

const KEY = { namespace: "default", name: "a" };
const SAME_HISTORY = { isNewHistory: false };

function anInformer(log = silentLogger) {
  const clock = virtualClock();
  const informer = new SharedInformer(configMaps, { clock, log });
  return { clock, informer };
}

/** Complete up to 5. */
function aSyncedInformer(...objects: readonly KubeObject[]) {
  const world = anInformer();
  world.informer.replace(objects, "5", SAME_HISTORY);
  return world;
}

/** Does something when called. */
function doing(work: (is: string, object: KubeObject) => void): InformerHandler {
  return {
    added: (object) => work("added", object),
    updated: (object) => work("updated", object),
    deleted: (object) => work("deleted", object),
  };
}

test("a late handler receives existing objects first, ordered by key, and then the same calls as the others", () => {
  const { informer } = aSyncedInformer(aMap("a", 2), aMap("b", 1));
  informer.put(aMap("c", 6));
  const delivered: string[] = [];

  informer.listen(deliveredLines(delivered));
  informer.put(aMap("a", 7));

  assert.deepEqual(delivered, ["added default/a@2", "added default/b@1", "added default/c@6", "updated default/a@7 from @2"]);
});

test("a removed handler receives nothing, also if another handler removed it just before", () => {
  const { informer } = aSyncedInformer();
  const delivered: string[] = [];
  informer.listen(doing(() => second[Symbol.dispose]()));
  const second = informer.listen(deliveredLines(delivered));

  informer.put(aMap("a", 6));

  assert.deepEqual(delivered, []);
});

test("a change made by a handler is delivered to all after the one that caused it", () => {
  const { informer } = aSyncedInformer();
  const delivered: string[] = [];
  informer.listen(
    doing((is) => {
      if (is === "added") informer.put(aMap("a", 7));
    }),
  );
  informer.listen(deliveredLines(delivered));

  informer.put(aMap("a", 6));

  assert.deepEqual(delivered, ["added default/a@6", "updated default/a@7 from @6"]);
});

test("a handler added during a delivery sees that change, and does not receive it again", () => {
  const { informer } = aSyncedInformer();
  const delivered: string[] = [];
  informer.listen(doing((_is, { metadata }) => void (metadata.name === "a" && informer.listen(deliveredLines(delivered)))));

  informer.replace([aMap("a", 6), aMap("b", 7)], "7", SAME_HISTORY);
  informer.put(aMap("c", 8));

  assert.deepEqual(delivered, ["added default/a@6", "added default/b@7", "added default/c@8"]);
});

test("a handler called for one of several changes found by comparing reads all of them", () => {
  const { informer } = aSyncedInformer(aMap("a", 1), aMap("b", 2));
  const seen: string[] = [];
  informer.listen(
    doing(
      () =>
        void seen.push(
          informer
            .list()
            .map(({ metadata }) => metadata.name)
            .join(),
        ),
    ),
  );
  seen.length = 0;

  informer.replace([aMap("b", 6), aMap("c", 7)], "7", SAME_HISTORY);

  assert.deepEqual(seen, ["b,c", "b,c", "b,c"]);
});

test("a throwing handler does not affect the others, and is logged", () => {
  const lines: LogLine[] = [];
  const { informer } = anInformer(createLogger({ sink: (line) => void lines.push(line), clock: virtualClock(), level: "info" }));
  const delivered: string[] = [];
  informer.listen(
    doing(() => {
      throw new Error("Oh");
    }),
  );
  informer.listen(deliveredLines(delivered));

  informer.replace([aMap("a", 1)], "5", SAME_HISTORY);

  assert.deepEqual(delivered, ["added default/a@1"]);
  assert.deepEqual(
    lines.map(({ level, sentence }) => `${level}: ${sentence}`),
    ["error: A handler of an informer threw"],
  );
});

test("a resync periodically delivers all objects to one handler, until it is removed", async () => {
  const { informer, clock } = aSyncedInformer(aMap("a", 1), aMap("b", 2));
  const [delivered, others]: string[][] = [[], []];
  informer.listen(deliveredLines(others!));
  const listening = informer.listen(deliveredLines(delivered!), { resyncMs: 1_000 });
  delivered!.length = others!.length = 0;

  await clock.advance(2_500);
  listening[Symbol.dispose]();
  await clock.advance(5_000);

  const once = ["updated default/a@1 from @1", "updated default/b@2 from @2"];
  assert.deepEqual([delivered, others], [[...once, ...once], []]);
  assert.equal(clock.sleeping, 0);
});

test("a deletion delivers the last state, and for an unknown object nothing", () => {
  const { informer } = aSyncedInformer(aMap("a", 1));
  const delivered: string[] = [];
  informer.listen(deliveredLines(delivered));

  informer.remove(aMap("b", 6));
  informer.remove(aMap("a", 7));

  assert.deepEqual(delivered, ["added default/a@1", "deleted default/a@7"]);
  assert.equal(informer.revision, "7");
});

test("another object of the same name is delivered as a deletion and an addition", () => {
  const { informer } = aSyncedInformer(aMap("a", 1));
  const delivered: string[] = [];
  informer.listen(deliveredLines(delivered));

  informer.put(aMap("a", 6, { uid: "another" }));

  assert.deepEqual(delivered, ["added default/a@1", "deleted default/a@1", "added default/a@6"]);
});

// ── waiting ─────────────────────────────────────────────────────────────────────────────────────────

async function isPending(promise: Promise<void> | undefined): Promise<boolean> {
  const pending = Symbol();
  return (await Promise.race([promise, Promise.resolve(pending)])) === pending;
}

test("a known revision is not waited for; another is, until an event or a bookmark brings it", async () => {
  const { informer } = aSyncedInformer();
  assert.equal(informer.reached("5"), undefined);
  const [six, ten] = [informer.reached("6"), informer.reached("10")];
  assert(await isPending(six));

  informer.put(aMap("a", 6));
  await six;
  assert(await isPending(ten));
  informer.reach("12");

  await ten;
  assert.equal(informer.reached("12"), undefined);
});

test("waiting for a deletion ends when the object is removed, terminating if that suffices, or replaced", async () => {
  const { informer } = aSyncedInformer(aMap("a", 1));
  assert.equal(informer.lost(KEY, "other", { orTerminating: false }), undefined);
  assert.equal(informer.lost({ ...KEY, name: "b" }, "b", { orTerminating: false }), undefined);
  const [going, lost] = [informer.lost(KEY, "a", { orTerminating: true }), informer.lost(KEY, "a", { orTerminating: false })];

  const old = aMap("a", 6);
  informer.put({ ...old, metadata: { ...old.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
  await going;
  assert.equal(informer.lost(KEY, "a", { orTerminating: true }), undefined);
  assert(await isPending(lost));
  informer.put(aMap("a", 7, { uid: "another" }));

  await lost;
});

test("an unobserved deletion is known after comparing", async () => {
  const { informer } = aSyncedInformer(aMap("a", 1));
  const lost = informer.lost(KEY, "a", { orTerminating: false });

  informer.replace([], "9", SAME_HISTORY);

  await lost;
});

test("a write before the informer is synced is visible once it is", async () => {
  const { informer } = anInformer();
  const synced = informer.synced();
  void informer.reached("7");

  informer.replace([], "5", SAME_HISTORY);
  assert.deepEqual([informer.isSynced, informer.revision], [false, ""]);
  informer.put(aMap("a", 7));

  await synced;
  assert.deepEqual([informer.isSynced, informer.revision], [true, "7"]);
});

test("waiting ends when the signal aborts", async () => {
  const { informer } = aSyncedInformer(aMap("a", 1));
  const stop = new AbortController();
  const waiting = [
    informer.reached("9", stop.signal),
    informer.lost(KEY, "a", { orTerminating: false, signal: stop.signal }),
    anInformer().informer.synced(stop.signal),
  ];

  stop.abort(new Error("Enough"));

  for (const one of waiting) await assert.rejects(one!, /Enough/);
  await assert.rejects(informer.reached("9", stop.signal)!, /Enough/);
});

test("waiting ends when the informer is closed, and afterwards no handler is called", async () => {
  const { informer } = aSyncedInformer(aMap("a", 1));
  const delivered: string[] = [];
  informer.listen(deliveredLines(delivered));
  delivered.length = 0;
  const waiting = [informer.reached("9"), informer.lost(KEY, "a", { orTerminating: false })];

  informer.close();
  informer.put(aMap("b", 9));
  informer.listen(deliveredLines(delivered));

  for (const one of waiting) await assert.rejects(one!, /their informer is closed/);
  await assert.rejects(informer.reached("9")!, /their informer is closed/);
  assert.deepEqual(delivered, []);
});
