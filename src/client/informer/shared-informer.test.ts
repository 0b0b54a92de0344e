import assert from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../../api/core/v1/config-map.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { createLogger, silentLogger, type LogLine } from "../../base/logger.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import type { InformerHandler } from "./informer.ts";
import { SharedInformer } from "./shared-informer.ts";
import { aMap } from "./testing/scripted-server.ts";
import { toldLines } from "./testing/told.ts";

const KEY = { namespace: "default", name: "a" };
const SAME_HISTORY = { isNewHistory: false };

function anInformer(log = silentLogger) {
  const clock = virtualClock();
  const informer = new SharedInformer(configMaps, { clock, log });
  return { clock, informer };
}

/** Knows everything up to 5. */
function aSyncedInformer(...objects: readonly KubeObject[]) {
  const world = anInformer();
  world.informer.replace(objects, "5", SAME_HISTORY);
  return world;
}

/** Does something when it is told. */
function doing(work: (is: string, object: KubeObject) => void): InformerHandler {
  return {
    added: (object) => work("added", object),
    updated: (object) => work("updated", object),
    deleted: (object) => work("deleted", object),
  };
}

test("who listens late is told what is there first, in the order of the keys, and then what others are told", () => {
  const { informer } = aSyncedInformer(aMap("a", 2), aMap("b", 1));
  informer.put(aMap("c", 6));
  const told: string[] = [];

  informer.listen(toldLines(told));
  informer.put(aMap("a", 7));

  assert.deepEqual(told, ["added default/a@2", "added default/b@1", "added default/c@6", "updated default/a@7 from @2"]);
});

test("who no longer listens is told nothing, also if another handler said so a moment before", () => {
  const { informer } = aSyncedInformer();
  const told: string[] = [];
  informer.listen(doing(() => second[Symbol.dispose]()));
  const second = informer.listen(toldLines(told));

  informer.put(aMap("a", 6));

  assert.deepEqual(told, []);
});

test("a change that a handler makes is told to all after the one that it was told", () => {
  const { informer } = aSyncedInformer();
  const told: string[] = [];
  informer.listen(
    doing((is) => {
      if (is === "added") informer.put(aMap("a", 7));
    }),
  );
  informer.listen(toldLines(told));

  informer.put(aMap("a", 6));

  assert.deepEqual(told, ["added default/a@6", "updated default/a@7 from @6"]);
});

test("who begins to listen while a change is told sees it, and is not told of it again", () => {
  const { informer } = aSyncedInformer();
  const told: string[] = [];
  informer.listen(doing((_is, { metadata }) => void (metadata.name === "a" && informer.listen(toldLines(told)))));

  informer.replace([aMap("a", 6), aMap("b", 7)], "7", SAME_HISTORY);
  informer.put(aMap("c", 8));

  assert.deepEqual(told, ["added default/a@6", "added default/b@7", "added default/c@8"]);
});

test("whoever is told of one of several changes that were found by comparing reads all of them", () => {
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

test("a handler that throws does not keep the others from being told, and is logged", () => {
  const lines: LogLine[] = [];
  const { informer } = anInformer(createLogger({ sink: (line) => void lines.push(line), clock: virtualClock(), level: "info" }));
  const told: string[] = [];
  informer.listen(
    doing(() => {
      throw new Error("Oh");
    }),
  );
  informer.listen(toldLines(told));

  informer.replace([aMap("a", 1)], "5", SAME_HISTORY);

  assert.deepEqual(told, ["added default/a@1"]);
  assert.deepEqual(
    lines.map(({ level, sentence }) => `${level}: ${sentence}`),
    ["error: A handler of an informer threw"],
  );
});

test("a resync tells one handler all there is, again and again, until it does not listen any more", async () => {
  const { informer, clock } = aSyncedInformer(aMap("a", 1), aMap("b", 2));
  const [told, others]: string[][] = [[], []];
  informer.listen(toldLines(others!));
  const listening = informer.listen(toldLines(told!), { resyncMs: 1_000 });
  told!.length = others!.length = 0;

  await clock.advance(2_500);
  listening[Symbol.dispose]();
  await clock.advance(5_000);

  const once = ["updated default/a@1 from @1", "updated default/b@2 from @2"];
  assert.deepEqual([told, others], [[...once, ...once], []]);
  assert.equal(clock.sleeping, 0);
});

test("a deletion tells the last state, and of an unknown object nothing", () => {
  const { informer } = aSyncedInformer(aMap("a", 1));
  const told: string[] = [];
  informer.listen(toldLines(told));

  informer.remove(aMap("b", 6));
  informer.remove(aMap("a", 7));

  assert.deepEqual(told, ["added default/a@1", "deleted default/a@7"]);
  assert.equal(informer.revision, "7");
});

test("another object of the same name is told as a deletion and an addition", () => {
  const { informer } = aSyncedInformer(aMap("a", 1));
  const told: string[] = [];
  informer.listen(toldLines(told));

  informer.put(aMap("a", 6, { uid: "another" }));

  assert.deepEqual(told, ["added default/a@1", "deleted default/a@1", "added default/a@6"]);
});

// ── waiting ─────────────────────────────────────────────────────────────────────────────────────────

async function isPending(promise: Promise<void> | undefined): Promise<boolean> {
  const pending = Symbol();
  return (await Promise.race([promise, Promise.resolve(pending)])) === pending;
}

test("a revision that is known is not waited for; another is, until an event or a bookmark brings it", async () => {
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

test("an object is waited for until it is lost, or going if that is enough, or another one of its name", async () => {
  const { informer } = aSyncedInformer(aMap("a", 1));
  assert.equal(informer.lost(KEY, "other", { orGoing: false }), undefined);
  assert.equal(informer.lost({ ...KEY, name: "b" }, "b", { orGoing: false }), undefined);
  const [going, lost] = [informer.lost(KEY, "a", { orGoing: true }), informer.lost(KEY, "a", { orGoing: false })];

  const old = aMap("a", 6);
  informer.put({ ...old, metadata: { ...old.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
  await going;
  assert.equal(informer.lost(KEY, "a", { orGoing: true }), undefined);
  assert(await isPending(lost));
  informer.put(aMap("a", 7, { uid: "another" }));

  await lost;
});

test("a loss that was not seen is known after comparing", async () => {
  const { informer } = aSyncedInformer(aMap("a", 1));
  const lost = informer.lost(KEY, "a", { orGoing: false });

  informer.replace([], "9", SAME_HISTORY);

  await lost;
});

test("who writes before an informer is synced finds the write in it once it is", async () => {
  const { informer } = anInformer();
  const synced = informer.synced();
  void informer.reached("7");

  informer.replace([], "5", SAME_HISTORY);
  assert.deepEqual([informer.isSynced, informer.revision], [false, ""]);
  informer.put(aMap("a", 7));

  await synced;
  assert.deepEqual([informer.isSynced, informer.revision], [true, "7"]);
});

test("waiting ends with the signal", async () => {
  const { informer } = aSyncedInformer(aMap("a", 1));
  const stop = new AbortController();
  const waiting = [
    informer.reached("9", stop.signal),
    informer.lost(KEY, "a", { orGoing: false, signal: stop.signal }),
    anInformer().informer.synced(stop.signal),
  ];

  stop.abort(new Error("Enough"));

  for (const one of waiting) await assert.rejects(one!, /Enough/);
  await assert.rejects(informer.reached("9", stop.signal)!, /Enough/);
});

test("waiting ends when the informer is closed, and afterwards nobody is told", async () => {
  const { informer } = aSyncedInformer(aMap("a", 1));
  const told: string[] = [];
  informer.listen(toldLines(told));
  told.length = 0;
  const waiting = [informer.reached("9"), informer.lost(KEY, "a", { orGoing: false })];

  informer.close();
  informer.put(aMap("b", 9));
  informer.listen(toldLines(told));

  for (const one of waiting) await assert.rejects(one!, /their informer is closed/);
  await assert.rejects(informer.reached("9")!, /their informer is closed/);
  assert.deepEqual(told, []);
});
