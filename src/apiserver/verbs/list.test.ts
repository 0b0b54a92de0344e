import assert from "node:assert/strict";
import { test } from "node:test";
import { pick, seededRandom } from "../../base/random.ts";
import { silentLogger } from "../../base/logger.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { startCompaction } from "../../store/compaction.ts";
import { bytesValue } from "../../store/value.ts";
import { testSeed } from "../../testing/rounds.ts";
import { memoryStore } from "../../testing/fixtures/memory-store.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { startServer, type CallAnswer, type StartedServer } from "../testing/server.ts";
import { widget, widgetResource, widgetSchemas } from "../testing/widget.ts";
import { wrappedStore } from "../testing/wrapped-store.ts";
import { writeContinueToken } from "./continue-token.ts";

const ALL = "/apis/example.com/v1/widgets";
const DEFAULT = "/apis/example.com/v1/namespaces/default/widgets";
const PUBLIC = "/apis/example.com/v1/namespaces/kube-public/widgets";

async function startWithWidgets(clock = virtualClock(), store = memoryStore(clock)): Promise<StartedServer> {
  const server = await startServer({ clock, store });
  server.server.endpoints.add(widgetResource(), widgetSchemas);
  return server;
}

async function create(server: StartedServer, path: string, name: string, spec: Parameters<typeof widget>[1] = {}): Promise<number> {
  const { code, text, body } = await server.call("POST", path, widget(name, spec));
  assert.equal(code, 201, text);
  return Number(body.metadata.resourceVersion);
}

function namesOf({ body }: CallAnswer): string[] {
  return body.items.map(({ metadata }: KubeObject) => metadata.name);
}

async function withNames(...names: readonly string[]): Promise<StartedServer> {
  const server = await startWithWidgets();
  for (const name of names) await create(server, DEFAULT, name);
  return server;
}

/** Reads all pages and calls `between` after each. */
async function pages(
  server: StartedServer,
  path: string,
  limit: number,
  between: (page: number) => Promise<unknown> = async () => undefined,
) {
  const found: CallAnswer[] = [];
  for (let token = ""; ;) {
    const separator = path.includes("?") ? "&" : "?";
    const answer = await server.call(
      "GET",
      `${path}${separator}limit=${limit}${token === "" ? "" : `&continue=${encodeURIComponent(token)}`}`,
    );
    assert.equal(answer.code, 200, answer.text);
    found.push(answer);
    token = answer.body.metadata.continue ?? "";
    if (token === "") return found;
    await between(found.length);
  }
}

test("all pages of a list show the revision of the first, whatever is written in between", async () => {
  await using server = await withNames("a", "c", "e", "g", "i");

  const found = await pages(server, DEFAULT, 2, async (page) => {
    await create(server, DEFAULT, `d${page}`);
    await server.call("DELETE", `${DEFAULT}/${["a", "g"][page - 1]}`);
    await server.call("PUT", `${DEFAULT}/i`, widget("i", { size: page }));
  });

  assert.deepEqual(found.map(namesOf), [["a", "c"], ["e", "g"], ["i"]]);
  assert.equal(new Set(found.map(({ body }) => body.metadata.resourceVersion)).size, 1);
  assert.deepEqual(
    found.map(({ body }) => body.metadata.remainingItemCount),
    [3, 1, undefined],
  );
  assert.equal(found[2]?.body.items[0].spec.size, undefined);
});

test("a list with a selector has no remainingItemCount, and the last page has no continue token", async () => {
  await using server = await withNames("a", "b", "c");

  const found = await pages(server, `${DEFAULT}?fieldSelector=metadata.name!%3Dx`, 2);
  const exact = await server.call("GET", `${DEFAULT}?limit=3`);

  assert.deepEqual(
    found.map(({ body }) => [body.metadata.remainingItemCount, body.metadata.continue === undefined]),
    [
      [undefined, false],
      [undefined, true],
    ],
  );
  assert.deepEqual(Object.keys(exact.body.metadata), ["resourceVersion"]);
});

test("pages add up to the whole list for every selector, limit and namespace, also with an index", async () => {
  await using server = await startWithWidgets();
  const random = seededRandom(testSeed());
  for (let index = 0; index < 40; index++) {
    const labels = random.below(2) === 0 ? { labels: { colour: pick(random, ["red", "blue"]) } } : {};
    await create(server, pick(random, [DEFAULT, PUBLIC]), `w${index}`, {
      ...labels,
      shelf: pick(random, ["1", "2"]),
      size: random.below(3),
    });
  }
  const whole: readonly { metadata: KubeObject["metadata"]; spec: { shelf: string; size: number } }[] = (await server.call("GET", ALL)).body
    .items;
  const rows: readonly [query: string, matches: (item: (typeof whole)[number]) => boolean][] = [
    ["", () => true],
    ["fieldSelector=spec.shelf%3D1", ({ spec }) => spec.shelf === "1"],
    ["fieldSelector=spec.shelf%3D1,spec.size%3D2", ({ spec }) => spec.shelf === "1" && spec.size === 2],
    [
      "fieldSelector=spec.shelf%3D1&labelSelector=colour%3Dred",
      ({ spec, metadata }) => spec.shelf === "1" && metadata.labels?.["colour"] === "red",
    ],
    ["fieldSelector=metadata.name%3Dw7", ({ metadata }) => metadata.name === "w7"],
    ["fieldSelector=metadata.namespace%3Ddefault", ({ metadata }) => metadata.namespace === "default"],
    ["labelSelector=!colour", ({ metadata }) => metadata.labels === undefined],
  ];
  for (const [query, matches] of rows) {
    for (const [path, namespace] of [
      [ALL, ""],
      [DEFAULT, "default"],
    ] as const) {
      const expected = whole.filter((item) => matches(item) && (namespace === "" || item.metadata.namespace === namespace));
      for (const limit of [1, 3, 100]) {
        const found = await pages(server, `${path}?${query}`, limit);
        assert.deepEqual(
          found.flatMap(({ body }) => body.items),
          expected,
          `${path}?${query} by ${limit}`,
        );
      }
    }
  }
});

test("a continue token used in another namespace returns only objects of that namespace", async () => {
  await using server = await withNames("a", "b", "c");
  await create(server, PUBLIC, "p");
  const token = (await server.call("GET", `${ALL}?limit=1`)).body.metadata.continue;

  assert.deepEqual(namesOf(await server.call("GET", `${DEFAULT}?limit=5&continue=${token}`)), ["b", "c"]);
  assert.deepEqual(namesOf(await server.call("GET", `${PUBLIC}?limit=5&continue=${token}`)), ["p"]);
  const outside = writeContinueToken({ revision: undefined, startAfter: "kube-public/p" });
  assert.deepEqual(namesOf(await server.call("GET", `${DEFAULT}?limit=5&continue=${outside}`)), []);
});

for (const token of [
  "x",
  "%00",
  "e30",
  "bnVsbA",
  "W10",
  btoa(JSON.stringify({ v: "meta.k8s.io/v1", rv: 0, start: "a\0" })),
  btoa(JSON.stringify({ v: "meta.k8s.io/v1", rv: 1.5, start: "a\0" })),
  btoa(JSON.stringify({ v: "meta.k8s.io/v1", rv: 5, start: "../secrets/a\0" })),
  btoa(JSON.stringify({ v: "meta.k8s.io/v1", rv: 5, start: "/a\0" })),
  btoa(JSON.stringify({ v: "meta.k8s.io/v1", rv: 5 })),
  btoa(JSON.stringify({ v: "__proto__", rv: 5, start: "a" })),
]) {
  test(`the continue token ${token} is rejected as invalid`, async () => {
    await using server = await withNames("a");

    const { code, body } = await server.call("GET", `${DEFAULT}?limit=1&continue=${encodeURIComponent(token)}`);

    assert.deepEqual([code, body.reason], [400, "BadRequest"]);
    assert.match(body.message, /^invalid continue token: continue key is not valid/);
  });
}

test("a continue token whose revision is compacted gets 410 with a token for the rest at the newest revision", async () => {
  await using server = await withNames("a", "b", "c", "d");
  const first = await server.call("GET", `${DEFAULT}?limit=2`);
  const stale = first.body.metadata.continue;
  // Snapshots of paged lists are kept for a while; nine others evict it.
  for (let page = 0; page < 9; page++) {
    await create(server, DEFAULT, `e${page}`);
    await server.call("GET", `${DEFAULT}?limit=1`);
  }
  await server.store.compact(await server.store.currentRevision());

  const expired = await server.call("GET", `${DEFAULT}?limit=2&continue=${stale}`);
  const { continue: fresh } = expired.body.metadata;
  const rest = await server.call("GET", `${DEFAULT}?limit=50&continue=${fresh}`);

  assert.deepEqual([expired.code, expired.body.reason], [410, "Expired"]);
  assert.match(expired.body.message, /use the continue token in this response/);
  assert.deepEqual(namesOf(rest), ["c", "d", ...Array.from({ length: 9 }, (_, page) => `e${page}`)]);
});

for (const { title, change } of [
  { title: "of an unchanged resource", change: async () => undefined },
  { title: "whose page is held in memory", change: (server: StartedServer) => create(server, DEFAULT, "e") },
]) {
  test(`a continue token ${title} expires when its revision is compacted, and its replacement reads the rest`, async () => {
    await using server = await withNames("a", "b", "c", "d");
    const first = await server.call("GET", `${DEFAULT}?limit=2`);
    const { continue: stale, resourceVersion } = first.body.metadata;
    await change(server);
    const noted = bytesValue(new TextEncoder().encode("a write of another resource"));
    await server.store.commit([{ type: "put", key: "/other/x", value: noted }]);
    const before = await server.call("GET", `${DEFAULT}?limit=1&continue=${stale}`);
    await server.store.compact(await server.store.currentRevision());

    const expired = await server.call("GET", `${DEFAULT}?limit=1&continue=${stale}`);
    const exact = await server.call("GET", `${DEFAULT}?resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`);
    const rest = await server.call("GET", `${DEFAULT}?limit=1&continue=${expired.body.metadata.continue}`);

    assert.deepEqual([before.code, namesOf(before)], [200, ["c"]]);
    assert.deepEqual([expired.code, expired.body.reason], [410, "Expired"]);
    assert.equal(
      expired.body.message,
      "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    );
    assert.deepEqual([exact.code, exact.body.message], [410, "The resourceVersion for the provided list is too old."]);
    assert.deepEqual([rest.code, namesOf(rest)], [200, ["c"]]);
    assert.notEqual(rest.body.metadata.resourceVersion, resourceVersion);
  });
}

test("a continue token expires between five and seven minutes after its first page", async () => {
  const clock = virtualClock();
  await using server = await startWithWidgets(clock);
  const compaction = startCompaction(server.store, { clock, log: silentLogger });
  for (const name of ["a", "b", "c"]) await create(server, DEFAULT, name);
  const { continue: token } = (await server.call("GET", `${DEFAULT}?limit=1`)).body.metadata;

  const codes: number[] = [];
  for (let minute = 1; minute <= 7; minute++) {
    await clock.advance(60_000);
    codes.push((await server.call("GET", `${DEFAULT}?limit=1&continue=${token}`)).code);
  }

  await compaction.stop();
  assert.deepEqual(codes.slice(0, 5), [200, 200, 200, 200, 200]);
  assert.equal(codes.at(-1), 410);
});

test("resourceVersion and resourceVersionMatch have upstream's semantics", async () => {
  await using server = await startWithWidgets();
  const old = await create(server, DEFAULT, "a");
  const now = await create(server, DEFAULT, "b");
  const rows: readonly [query: string, expected: string | number][] = [
    ["", "a,b"],
    ["resourceVersion=0", "a,b"],
    [`resourceVersion=${old}`, "a,b"],
    [`resourceVersion=${old}&resourceVersionMatch=NotOlderThan`, "a,b"],
    [`resourceVersion=${old}&resourceVersionMatch=Exact`, "a"],
    [`resourceVersion=${old}&resourceVersionMatch=Exact&fieldSelector=metadata.name%3Da`, "a"],
    [`resourceVersion=${old}&resourceVersionMatch=Exact&fieldSelector=metadata.name%3Db`, ""],
    [`resourceVersion=${old}&limit=5`, "a"],
    [`resourceVersion=${old}&limit=5&resourceVersionMatch=NotOlderThan`, "a,b"],
    [`resourceVersion=0&limit=5`, "a,b"],
    [`resourceVersion=${now + 100}`, 504],
    [`resourceVersion=${now + 100}&resourceVersionMatch=Exact`, 504],
    ["resourceVersion=99999999999999999999", 400],
    ["resourceVersion=x", 400],
    ["resourceVersion=-1", 400],
    ["resourceVersion=0&resourceVersionMatch=Exact", 422],
    ["resourceVersionMatch=Exact", 422],
    [`resourceVersion=${old}&resourceVersionMatch=Other`, 422],
    ["sendInitialEvents=true", 422],
  ];
  for (const [query, expected] of rows) {
    const answer = await server.call("GET", `${DEFAULT}?${query}`);
    assert.equal(answer.code === 200 ? namesOf(answer).join() : answer.code, expected, query);
  }
  const ahead = await server.call("GET", `${DEFAULT}?resourceVersion=${now + 100}`);
  assert.equal(ahead.body.details.causes[0].reason, "ResourceVersionTooLarge");
});

test("the first list of a resource contains what was written while the cache loaded", async () => {
  for (let turns = 0; turns < 30; turns++) {
    await using server = await startWithWidgets();
    const writing = (async () => {
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      return create(server, DEFAULT, "a");
    })();
    const listed = server.call("GET", DEFAULT);
    await Promise.all([writing, server.clock.settle()]);
    await server.clock.settle();

    const [written, { body }] = [await writing, await listed];
    assert.equal(body.items.length, Number(body.metadata.resourceVersion) >= written ? 1 : 0, `written after ${turns} turns`);
  }
});

test("a watch from the resourceVersion of a list delivers exactly the changes after the list", async () => {
  await using server = await withNames("a");
  const { body } = await server.call("GET", DEFAULT);
  await create(server, DEFAULT, "b");

  const watch = await server.watch(`${DEFAULT}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
  await server.clock.settle();

  assert.deepEqual(
    watch.events.map(({ type, object }) => [type, object.metadata.name]),
    [["ADDED", "b"]],
  );
});

test("the pages of a list in progress come from the kept snapshot, without reading the store's history", async () => {
  const clock = virtualClock();
  const memory = memoryStore(clock);
  let listed = 0;
  const store = wrappedStore(memory, { list: (...all) => (listed++, memory.list(...all)) });
  await using server = await startWithWidgets(clock, store);
  for (const name of ["a", "b", "c", "d", "e"]) await create(server, DEFAULT, name, { shelf: "1" });

  await server.call("GET", DEFAULT);

  // The second object is first found by an index, and then without.
  for (const query of ["", "?fieldSelector=spec.shelf%3D1"]) {
    const before = listed;
    const found = await pages(server, `${DEFAULT}${query}`, 2, async (page) => {
      await server.call("PUT", `${DEFAULT}/a`, widget("a", { shelf: "1", size: page + query.length }));
    });
    assert.deepEqual([found.length, listed - before], [3, 0], query);
  }
});
