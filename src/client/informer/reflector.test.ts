import assert from "node:assert/strict";
import { test } from "node:test";
import { configMaps } from "../../api/core/v1/config-map.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { expired, StatusError, tooManyRequests } from "../../api/machinery/status-error.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { createInformers } from "./informers.ts";
import { tooLarge } from "./testing/bad-server.ts";
import { aMap, added, bookmark, modified, removed, scriptedServer, whole, type ScriptedAnswer } from "./testing/scripted-server.ts";
import { toldLines } from "./testing/told.ts";

const ALL = "watch sendInitialEvents=true resourceVersionMatch=NotOlderThan";
const ALL_SINCE = (revision: number) => `watch resourceVersion=${revision} sendInitialEvents=true resourceVersionMatch=NotOlderThan`;

function following(...answers: readonly ScriptedAnswer[]) {
  const clock = virtualClock();
  const server = scriptedServer(clock, answers);
  const informers = createInformers({ transport: server, clock, random: seededRandom(1), log: silentLogger });
  const informer = informers.of(configMaps);
  const told: string[] = [];
  informer.listen(toldLines(told));
  return { clock, server, informer, told, informers, [Symbol.asyncDispose]: () => informers.close() };
}

test("the first question is for everything and then every change, for five to ten minutes", async () => {
  await using world = following({ tells: [...whole(5, aMap("b", 2), aMap("a", 3)), modified(aMap("a", 6)), removed(aMap("b", 7))] });
  await world.clock.settle();

  const { options } = world.server.requests[0]!;
  const { timeoutSeconds = 0, ...others } = options ?? {};
  assert.deepEqual(others, { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true });
  assert(timeoutSeconds >= 300 && timeoutSeconds < 600);
  assert.deepEqual(world.told, ["added default/a@3", "added default/b@2", "updated default/a@6 from @3", "deleted default/b@7"]);
  assert.equal(world.informer.revision, "7");
});

test("nothing is shown or told before everything is known", async () => {
  await using world = following({ tells: [added(aMap("a", 3))] });
  await world.clock.settle();

  assert.deepEqual([world.informer.isSynced, world.informer.list(), world.told], [false, [], []]);
});

test("an object that was deleted while everything was being told is not there", async () => {
  await using world = following({ tells: [added(aMap("a", 3)), added(aMap("b", 4)), removed(aMap("a", 5)), ...whole(5)] });
  await world.clock.settle();

  assert.deepEqual(world.told, ["added default/b@4"]);
});

for (const { what, refusal } of [
  { what: "does not know initial events", refusal: { refuses: new StatusError("Invalid", "sendInitialEvents: Forbidden") } },
  // As upstream's on an etcd that tells no progress.
  {
    what: "breaks off initial events by an internal error",
    refusal: { tells: [{ type: "ERROR", error: new StatusError("InternalError", "no progress") }], thenEnds: true },
  },
] as const) {
  test(`a server that ${what} is asked for pages, at once, and for changes after them`, async () => {
    await using world = following(
      refusal,
      { lists: [aMap("b", 2)], revision: "5", continue: "more" },
      { lists: [aMap("a", 3)], revision: "5" },
      { tells: [modified(aMap("a", 6))] },
    );
    await world.clock.settle();

    assert.deepEqual(world.server.asked, [`0 ${ALL}`, "0 list limit=500", "0 list limit=500 continue=more", "0 watch resourceVersion=5"]);
    assert.deepEqual(world.told, ["added default/a@3", "added default/b@2", "updated default/a@6 from @3"]);
  });
}

test("when the moment of the pages is forgotten, everything is asked for in one answer", async () => {
  await using world = following(
    { refuses: new StatusError("BadRequest", "What?") },
    { lists: [aMap("a", 2)], revision: "5", continue: "more" },
    { refuses: expired("The provided continue parameter is too old", "fresh") },
    { lists: [aMap("a", 2), aMap("b", 8)], revision: "9" },
  );
  await world.clock.settle();

  assert.deepEqual(world.server.asked, [
    `0 ${ALL}`,
    "0 list limit=500",
    "0 list limit=500 continue=more",
    "0 list",
    "0 watch resourceVersion=9",
  ]);
  assert.deepEqual(world.told, ["added default/a@2", "added default/b@8"]);
});

test("a watch that ends is resumed at once from the last version that was seen, in an event or a bookmark", async () => {
  await using world = following(
    { tells: [...whole(5), added(aMap("a", 6))], thenEnds: true },
    { tells: [bookmark(9)], thenEnds: true },
    { tells: [modified(aMap("a", 10))] },
  );
  await world.clock.settle();

  assert.deepEqual(world.server.asked, [`0 ${ALL}`, "0 watch resourceVersion=6", "0 watch resourceVersion=9"]);
  assert.deepEqual(world.told, ["added default/a@6", "updated default/a@10 from @6"]);
});

test("what is not newer than what is known is not told again", async () => {
  await using world = following({
    tells: [...whole(5, aMap("a", 3)), added(aMap("a", 3)), modified(aMap("a", 6)), modified(aMap("a", 6)), removed(aMap("a", 5))],
  });
  await world.clock.settle();

  assert.deepEqual(world.told, ["added default/a@3", "updated default/a@6 from @3"]);
});

const FORGOTTEN: readonly (readonly [string, ScriptedAnswer])[] = [
  ["says so in the stream", { tells: [{ type: "ERROR", error: expired("too old resource version: 5 (8)") }], thenEnds: true }],
  ["refuses the watch", { refuses: expired("too old resource version: 5 (8)") }],
  ["says that it is gone", { refuses: new StatusError("Gone", "too old") }],
];

for (const [how, forgotten] of FORGOTTEN) {
  test(`a server that has forgotten the version and ${how} is asked for everything, which is told as the difference`, async () => {
    const before = [aMap("a", 1), aMap("b", 2), aMap("c", 3), aMap("d", 4)];
    const now = [aMap("a", 1), aMap("b", 7), aMap("d", 8, { uid: "another" }), aMap("e", 9)];
    await using world = following({ tells: whole(5, ...before), thenEnds: true }, forgotten, { tells: whole(9, ...now) });
    await world.clock.settle();
    world.told.length = 0;
    await world.clock.advance(5_000);

    assert.deepEqual(
      world.server.asked.slice(1).map((line) => line.replace(/^\d+ /, "")),
      ["watch resourceVersion=5", ALL_SINCE(5)],
    );
    assert.deepEqual(world.told, [
      "updated default/b@7 from @2",
      "deleted default/c@3",
      "deleted default/d@4",
      "added default/d@8",
      "added default/e@9",
    ]);
    assert.deepEqual(world.informer.list(), now);
  });
}

test("an answer that is older than what is known is not taken", async () => {
  await using world = following(
    { tells: whole(9, aMap("a", 9)), thenEnds: true },
    { refuses: expired("too old") },
    { tells: whole(7, aMap("a", 7)) },
    { tells: whole(10, aMap("a", 9), aMap("b", 10)) },
  );
  await world.clock.advance(10_000);

  assert.deepEqual(world.told, ["added default/a@9", "added default/b@10"]);
});

test("a bookmark that is older than what is known is a server behind: it is asked for everything that is not older", async () => {
  await using world = following({ tells: whole(9), thenEnds: true }, { tells: [bookmark(8)] }, { tells: whole(9) });
  await world.clock.advance(5_000);

  assert.deepEqual(
    world.server.asked.map((line) => line.replace(/^\d+ /, "")),
    [ALL, "watch resourceVersion=9", ALL_SINCE(9)],
  );
});

test("a server that says again and again that there is nothing so new has another history, which is taken", async () => {
  const refusal: ScriptedAnswer = { refuses: tooLarge("9", "4") };
  await using world = following(
    { tells: whole(9, aMap("a", 3, { data: { is: "old" } }), aMap("b", 9)), thenEnds: true },
    ...Array.from({ length: 10 }, () => refusal),
    { tells: [...whole(4, aMap("a", 3, { data: { is: "new" } })), modified(aMap("a", 5))] },
  );
  const reached = (await world.clock.settle(), world.informer.reached("11"));
  await world.clock.advance(60_000);

  assert.deepEqual(
    world.server.asked.map((line) => line.replace(/^\d+ /, "")),
    [ALL, "watch resourceVersion=9", ...Array.from({ length: 9 }, () => ALL_SINCE(9)), ALL],
  );
  assert.deepEqual(world.told, [
    "added default/a@3",
    "added default/b@9",
    "updated default/a@3 from @3",
    "deleted default/b@9",
    "updated default/a@5 from @3",
  ]);
  assert.equal(world.informer.revision, "5");
  await reached; // Of what will never come nobody waits.
});

test("also after a long outage another history is taken soon", async () => {
  const unreachable: ScriptedAnswer = { refuses: new StatusError("ServiceUnavailable", "Nobody answers") };
  await using world = following(
    { tells: whole(9, aMap("a", 3)), thenEnds: true },
    ...Array.from({ length: 12 }, () => unreachable),
    ...Array.from({ length: 10 }, (): ScriptedAnswer => ({ refuses: tooLarge("9", "4") })),
    { tells: whole(4, aMap("b", 4)) },
  );
  await world.clock.advance(600_000);

  const seconds = world.server.asked.map((line) => Number.parseInt(line, 10));
  const [firstAnswer = 0, taken = Infinity] = [seconds[13], seconds[23]];
  assert(taken - firstAnswer <= 30, `it took ${taken - firstAnswer} s`);
  assert.deepEqual(world.told.slice(1), ["deleted default/a@3", "added default/b@4"]);
});

test("a server that lags a while is waited for, and what is known stays", async () => {
  await using world = following(
    { tells: whole(9, aMap("a", 9)), thenEnds: true },
    { refuses: tooLarge("9", "8") },
    { refuses: tooLarge("9", "8") },
    { tells: whole(10, aMap("a", 9)) },
  );
  await world.clock.advance(20_000);

  assert.deepEqual(world.told, ["added default/a@9"]);
  assert.equal(world.informer.revision, "10");
});

test("a connection on which nothing comes any more is given up after two and a half minutes, and resumed", async () => {
  await using world = following({ tells: whole(5) });
  await world.clock.advance(140_000);
  world.server.open?.event(bookmark(8));
  await world.clock.advance(149_000);
  assert.equal(world.server.asked.length, 1);
  const old = world.server.open;

  await world.clock.advance(2_000);

  assert.deepEqual(world.server.asked, [`0 ${ALL}`, "290 watch resourceVersion=8"]);
  old?.event(added(aMap("late", 9)));
  assert.deepEqual(world.told, []);
});

test("a watch that is never answered is given up, too, and everything is then asked for in pages", async () => {
  await using world = following({ hangs: true }, { hangs: true }, { lists: [aMap("a", 3)], revision: "5" });
  await world.clock.advance(300_000);

  assert.deepEqual(world.server.asked, [`0 ${ALL}`, "150 list limit=500", "240 list limit=500", "240 watch resourceVersion=5"]);
  assert.deepEqual(world.told, ["added default/a@3"]);
});

test("who cannot be reached is asked less and less often, up to every half a minute, and forgiven when it works", async () => {
  const refusal: ScriptedAnswer = { refuses: new StatusError("ServiceUnavailable", "Nobody answers") };
  await using world = following(...Array.from({ length: 10 }, () => refusal), { tells: whole(5) }, refusal);
  await world.clock.advance(250_000);

  const times = world.server.asked.slice(0, 11).map((line) => Number.parseInt(line, 10));
  const delays = times.slice(1).map((time, index) => time - times[index]!);
  for (const [index, delay] of delays.entries()) {
    const longest = Math.min(30, 0.8 * 2 ** index);
    // Whole seconds are written down.
    assert(delay >= longest / 2 - 1 && delay <= longest + 1, `delay ${index} is ${delay} s`);
  }
  world.server.open?.event(bookmark(6));
  world.server.open?.ended();
  await world.clock.advance(900);
  assert.deepEqual(
    world.server.asked.slice(-2).map((line) => line.replace(/^\d+ /, "")),
    ["watch resourceVersion=6", "watch resourceVersion=6"],
  );
});

test("a server that has everything but fails every watch is not listed in a busy loop", async () => {
  const round: readonly ScriptedAnswer[] = [{ lists: [], revision: "5" }, { refuses: expired("too old") }];
  await using world = following({ refuses: new StatusError("Invalid", "What?") }, ...Array.from({ length: 50 }, () => round).flat());
  await world.clock.advance(60_000);

  assert(world.server.asked.length < 20, `asked ${world.server.asked.length} times`);
});

test("a server that asks to be left alone for a while is", async () => {
  await using world = following({ refuses: tooManyRequests("Slow down", 7) }, { tells: whole(5) });
  await world.clock.advance(6_900);
  assert.equal(world.server.asked.length, 1);
  await world.clock.advance(200);

  assert.equal(world.server.asked.length, 2);
});

test("an event without a version cannot be placed: everything is asked for", async () => {
  const { resourceVersion: _resourceVersion, ...metadata } = aMap("a", 6).metadata;
  await using world = following(
    { tells: [...whole(5, aMap("a", 3)), modified({ ...aMap("a", 6), metadata })] },
    { tells: whole(7, aMap("a", 6)) },
  );
  await world.clock.advance(5_000);

  assert.deepEqual(world.told, ["added default/a@3", "updated default/a@6 from @3"]);
});

test("after closing nothing is asked and nobody is told", async () => {
  const world = following({ tells: whole(5) });
  await world.clock.settle();
  const { open } = world.server;

  await world.informers.close();
  open?.event(added(aMap("a", 6)));
  await world.clock.advance(600_000);

  assert.deepEqual([world.told, world.server.asked.length, world.clock.sleeping], [[], 1, 0]);
});

const STRANGE: readonly object[] = [
  {},
  { metadata: null },
  { metadata: { resourceVersion: "6" } },
  { metadata: { name: "", resourceVersion: "6" } },
  { metadata: { name: 5, resourceVersion: "6" } },
  { metadata: { name: "b", namespace: 5, resourceVersion: "6" } },
  { metadata: { name: "b" } },
  { metadata: { name: "b", resourceVersion: 6 } },
];
for (const object of STRANGE) {
  for (const type of ["ADDED", "MODIFIED", "DELETED"] as const) {
    test(`${type} of ${JSON.stringify(object)} is not taken: everything is asked for again`, async () => {
      const strange = { type, object: object as KubeObject };
      const all = whole(5, aMap("a", 5));
      await using world = following(
        { tells: [...all, strange] },
        { tells: [strange, ...all] },
        { tells: whole(7, aMap("a", 5), aMap("b", 7)) },
      );
      await world.clock.advance(60_000);

      assert.deepEqual(world.told, ["added default/a@5", "added default/b@7"]);
      assert.equal(world.server.asked.length, 3);
    });
  }
}

test("a list with a strange object in it is not taken", async () => {
  const refused = { refuses: new StatusError("Invalid", "sendInitialEvents: Forbidden") };
  const lists = STRANGE.map((object) => ({ lists: [object as KubeObject], revision: "5" }));
  await using world = following(refused, ...lists, { lists: [aMap("a", 5)], revision: "5" });
  await world.clock.advance(300_000);

  assert.deepEqual(world.told, ["added default/a@5"]);
});
