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
import { deliveredLines } from "./testing/expected-calls.ts";

const ALL = "watch sendInitialEvents=true resourceVersionMatch=NotOlderThan";
const ALL_SINCE = (revision: number) => `watch resourceVersion=${revision} sendInitialEvents=true resourceVersionMatch=NotOlderThan`;

function following(...answers: readonly ScriptedAnswer[]) {
  const clock = virtualClock();
  const server = scriptedServer(clock, answers);
  const informers = createInformers({ transport: server, clock, random: seededRandom(1), log: silentLogger });
  const informer = informers.of(configMaps);
  const delivered: string[] = [];
  informer.listen(deliveredLines(delivered));
  return { clock, server, informer, delivered, informers, [Symbol.asyncDispose]: () => informers.close() };
}

test("the first watch requests initial events and all changes, with a timeout of five to ten minutes", async () => {
  await using world = following({ delivers: [...whole(5, aMap("b", 2), aMap("a", 3)), modified(aMap("a", 6)), removed(aMap("b", 7))] });
  await world.clock.settle();

  const { options } = world.server.requests[0]!;
  const { timeoutSeconds = 0, ...others } = options ?? {};
  assert.deepEqual(others, { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: true });
  assert(timeoutSeconds >= 300 && timeoutSeconds < 600);
  assert.deepEqual(world.delivered, ["added default/a@3", "added default/b@2", "updated default/a@6 from @3", "deleted default/b@7"]);
  assert.equal(world.informer.revision, "7");
});

test("nothing is shown or delivered before the content is complete", async () => {
  await using world = following({ delivers: [added(aMap("a", 3))] });
  await world.clock.settle();

  assert.deepEqual([world.informer.isSynced, world.informer.list(), world.delivered], [false, [], []]);
});

test("an object deleted during the initial events is not shown", async () => {
  await using world = following({ delivers: [added(aMap("a", 3)), added(aMap("b", 4)), removed(aMap("a", 5)), ...whole(5)] });
  await world.clock.settle();

  assert.deepEqual(world.delivered, ["added default/b@4"]);
});

for (const { what, refusal } of [
  { what: "does not know initial events", refusal: { refuses: new StatusError("Invalid", "sendInitialEvents: Forbidden") } },
  // As upstream's server on an etcd without progress notifications.
  {
    what: "breaks off initial events by an internal error",
    refusal: { delivers: [{ type: "ERROR", error: new StatusError("InternalError", "no progress") }], thenEnds: true },
  },
] as const) {
  test(`a server that ${what} is listed in pages at once and then watched`, async () => {
    await using world = following(
      refusal,
      { lists: [aMap("b", 2)], revision: "5", continue: "more" },
      { lists: [aMap("a", 3)], revision: "5" },
      { delivers: [modified(aMap("a", 6))] },
    );
    await world.clock.settle();

    assert.deepEqual(world.server.asked, [`0 ${ALL}`, "0 list limit=500", "0 list limit=500 continue=more", "0 watch resourceVersion=5"]);
    assert.deepEqual(world.delivered, ["added default/a@3", "added default/b@2", "updated default/a@6 from @3"]);
  });
}

test("when the revision of the pages is compacted, everything is requested in one response", async () => {
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
  assert.deepEqual(world.delivered, ["added default/a@2", "added default/b@8"]);
});

test("a watch that ends is resumed at once from the last resourceVersion of an event or bookmark", async () => {
  await using world = following(
    { delivers: [...whole(5), added(aMap("a", 6))], thenEnds: true },
    { delivers: [bookmark(9)], thenEnds: true },
    { delivers: [modified(aMap("a", 10))] },
  );
  await world.clock.settle();

  assert.deepEqual(world.server.asked, [`0 ${ALL}`, "0 watch resourceVersion=6", "0 watch resourceVersion=9"]);
  assert.deepEqual(world.delivered, ["added default/a@6", "updated default/a@10 from @6"]);
});

test("events that are not newer than the known state are not delivered again", async () => {
  await using world = following({
    delivers: [...whole(5, aMap("a", 3)), added(aMap("a", 3)), modified(aMap("a", 6)), modified(aMap("a", 6)), removed(aMap("a", 5))],
  });
  await world.clock.settle();

  assert.deepEqual(world.delivered, ["added default/a@3", "updated default/a@6 from @3"]);
});

const FORGOTTEN: readonly (readonly [string, ScriptedAnswer])[] = [
  ["reports it in the stream", { delivers: [{ type: "ERROR", error: expired("too old resource version: 5 (8)") }], thenEnds: true }],
  ["refuses the watch", { refuses: expired("too old resource version: 5 (8)") }],
  ["responds with Gone", { refuses: new StatusError("Gone", "too old") }],
];

for (const [how, forgotten] of FORGOTTEN) {
  test(`a server that has compacted the version and ${how} is listed again, and the difference is delivered`, async () => {
    const before = [aMap("a", 1), aMap("b", 2), aMap("c", 3), aMap("d", 4)];
    const now = [aMap("a", 1), aMap("b", 7), aMap("d", 8, { uid: "another" }), aMap("e", 9)];
    await using world = following({ delivers: whole(5, ...before), thenEnds: true }, forgotten, { delivers: whole(9, ...now) });
    await world.clock.settle();
    world.delivered.length = 0;
    await world.clock.advance(5_000);

    assert.deepEqual(
      world.server.asked.slice(1).map((line) => line.replace(/^\d+ /, "")),
      ["watch resourceVersion=5", ALL_SINCE(5)],
    );
    assert.deepEqual(world.delivered, [
      "updated default/b@7 from @2",
      "deleted default/c@3",
      "deleted default/d@4",
      "added default/d@8",
      "added default/e@9",
    ]);
    assert.deepEqual(world.informer.list(), now);
  });
}

test("a response older than the known state is discarded", async () => {
  await using world = following(
    { delivers: whole(9, aMap("a", 9)), thenEnds: true },
    { refuses: expired("too old") },
    { delivers: whole(7, aMap("a", 7)) },
    { delivers: whole(10, aMap("a", 9), aMap("b", 10)) },
  );
  await world.clock.advance(10_000);

  assert.deepEqual(world.delivered, ["added default/a@9", "added default/b@10"]);
});

test("a bookmark older than the known state means a stale server: everything not older is requested", async () => {
  await using world = following({ delivers: whole(9), thenEnds: true }, { delivers: [bookmark(8)] }, { delivers: whole(9) });
  await world.clock.advance(5_000);

  assert.deepEqual(
    world.server.asked.map((line) => line.replace(/^\d+ /, "")),
    [ALL, "watch resourceVersion=9", ALL_SINCE(9)],
  );
});

test("a server that repeatedly reports a too large resourceVersion has another history, which is adopted", async () => {
  const refusal: ScriptedAnswer = { refuses: tooLarge("9", "4") };
  await using world = following(
    { delivers: whole(9, aMap("a", 3, { data: { is: "old" } }), aMap("b", 9)), thenEnds: true },
    ...Array.from({ length: 10 }, () => refusal),
    { delivers: [...whole(4, aMap("a", 3, { data: { is: "new" } })), modified(aMap("a", 5))] },
  );
  const reached = (await world.clock.settle(), world.informer.reached("11"));
  await world.clock.advance(60_000);

  assert.deepEqual(
    world.server.asked.map((line) => line.replace(/^\d+ /, "")),
    [ALL, "watch resourceVersion=9", ...Array.from({ length: 9 }, () => ALL_SINCE(9)), ALL],
  );
  assert.deepEqual(world.delivered, [
    "added default/a@3",
    "added default/b@9",
    "updated default/a@3 from @3",
    "deleted default/b@9",
    "updated default/a@5 from @3",
  ]);
  assert.equal(world.informer.revision, "5");
  await reached; // Waiters for revisions that will never come are released.
});

test("another history is adopted soon also after a long outage", async () => {
  const unreachable: ScriptedAnswer = { refuses: new StatusError("ServiceUnavailable", "Connection refused") };
  await using world = following(
    { delivers: whole(9, aMap("a", 3)), thenEnds: true },
    ...Array.from({ length: 12 }, () => unreachable),
    ...Array.from({ length: 10 }, (): ScriptedAnswer => ({ refuses: tooLarge("9", "4") })),
    { delivers: whole(4, aMap("b", 4)) },
  );
  await world.clock.advance(600_000);

  const seconds = world.server.asked.map((line) => Number.parseInt(line, 10));
  const [firstAnswer = 0, taken = Infinity] = [seconds[13], seconds[23]];
  assert(taken - firstAnswer <= 30, `it took ${taken - firstAnswer} s`);
  assert.deepEqual(world.delivered.slice(1), ["deleted default/a@3", "added default/b@4"]);
});

test("a server that lags temporarily is waited for, and the known state stays", async () => {
  await using world = following(
    { delivers: whole(9, aMap("a", 9)), thenEnds: true },
    { refuses: tooLarge("9", "8") },
    { refuses: tooLarge("9", "8") },
    { delivers: whole(10, aMap("a", 9)) },
  );
  await world.clock.advance(20_000);

  assert.deepEqual(world.delivered, ["added default/a@9"]);
  assert.equal(world.informer.revision, "10");
});

test("a silent connection is abandoned after two and a half minutes and resumed", async () => {
  await using world = following({ delivers: whole(5) });
  await world.clock.advance(140_000);
  world.server.open?.event(bookmark(8));
  await world.clock.advance(149_000);
  assert.equal(world.server.asked.length, 1);
  const old = world.server.open;

  await world.clock.advance(2_000);

  assert.deepEqual(world.server.asked, [`0 ${ALL}`, "290 watch resourceVersion=8"]);
  old?.event(added(aMap("late", 9)));
  assert.deepEqual(world.delivered, []);
});

test("a watch that is never answered is abandoned, too, and everything is then listed in pages", async () => {
  await using world = following({ hangs: true }, { hangs: true }, { lists: [aMap("a", 3)], revision: "5" });
  await world.clock.advance(300_000);

  assert.deepEqual(world.server.asked, [`0 ${ALL}`, "150 list limit=500", "240 list limit=500", "240 watch resourceVersion=5"]);
  assert.deepEqual(world.delivered, ["added default/a@3"]);
});

test("an unreachable server is retried with backoff up to half a minute, which resets on success", async () => {
  const refusal: ScriptedAnswer = { refuses: new StatusError("ServiceUnavailable", "Connection refused") };
  await using world = following(...Array.from({ length: 10 }, () => refusal), { delivers: whole(5) }, refusal);
  await world.clock.advance(250_000);

  const times = world.server.asked.slice(0, 11).map((line) => Number.parseInt(line, 10));
  const delays = times.slice(1).map((time, index) => time - times[index]!);
  for (const [index, delay] of delays.entries()) {
    const longest = Math.min(30, 0.8 * 2 ** index);
    // Recorded in whole seconds.
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

test("a server that lists but fails every watch is not listed in a busy loop", async () => {
  const round: readonly ScriptedAnswer[] = [{ lists: [], revision: "5" }, { refuses: expired("too old") }];
  await using world = following({ refuses: new StatusError("Invalid", "What?") }, ...Array.from({ length: 50 }, () => round).flat());
  await world.clock.advance(60_000);

  assert(world.server.asked.length < 20, `asked ${world.server.asked.length} times`);
});

test("Retry-After of the server is honoured", async () => {
  await using world = following({ refuses: tooManyRequests("Slow down", 7) }, { delivers: whole(5) });
  await world.clock.advance(6_900);
  assert.equal(world.server.asked.length, 1);
  await world.clock.advance(200);

  assert.equal(world.server.asked.length, 2);
});

test("an event without a resourceVersion triggers a full list", async () => {
  const { resourceVersion: _resourceVersion, ...metadata } = aMap("a", 6).metadata;
  await using world = following(
    { delivers: [...whole(5, aMap("a", 3)), modified({ ...aMap("a", 6), metadata })] },
    { delivers: whole(7, aMap("a", 6)) },
  );
  await world.clock.advance(5_000);

  assert.deepEqual(world.delivered, ["added default/a@3", "updated default/a@6 from @3"]);
});

test("after closing nothing is requested and no handler is called", async () => {
  const world = following({ delivers: whole(5) });
  await world.clock.settle();
  const { open } = world.server;

  await world.informers.close();
  open?.event(added(aMap("a", 6)));
  await world.clock.advance(600_000);

  assert.deepEqual([world.delivered, world.server.asked.length, world.clock.sleeping], [[], 1, 0]);
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
    test(`${type} of ${JSON.stringify(object)} is rejected and triggers a full list`, async () => {
      const strange = { type, object: object as KubeObject };
      const all = whole(5, aMap("a", 5));
      await using world = following(
        { delivers: [...all, strange] },
        { delivers: [strange, ...all] },
        { delivers: whole(7, aMap("a", 5), aMap("b", 7)) },
      );
      await world.clock.advance(60_000);

      assert.deepEqual(world.delivered, ["added default/a@5", "added default/b@7"]);
      assert.equal(world.server.asked.length, 3);
    });
  }
}

test("a list with a malformed object is rejected", async () => {
  const refused = { refuses: new StatusError("Invalid", "sendInitialEvents: Forbidden") };
  const lists = STRANGE.map((object) => ({ lists: [object as KubeObject], revision: "5" }));
  await using world = following(refused, ...lists, { lists: [aMap("a", 5)], revision: "5" });
  await world.clock.advance(300_000);

  assert.deepEqual(world.delivered, ["added default/a@5"]);
});
