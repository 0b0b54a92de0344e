import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { DIFF_PATH, HISTORY_PATH, REVISIONS_PATH, TIMELINE_PATH } from "../../../explain/explain-api.ts";
import type { ObjectDiff, RevisionList, Timeline } from "../../../explain/explain-api.ts";
import { PAGE_BYTES_MAX } from "./read-entries.ts";
import { POINTS_MAX, timelinePoints } from "./timeline.ts";
import { startGuardedServer, startServer, type StartedServer } from "../../testing/server.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const MAP = "resource=configmaps&namespace=default&name=a";
const MERGE = { "content-type": "application/merge-patch+json" };

/** Creates, changes twice and deletes a ConfigMap; returns the revisions after each step, the last one before the deletion. */
async function history(server: StartedServer): Promise<readonly [string, string, string]> {
  const made = await server.call("POST", `${MAPS}?fieldManager=maker`, { metadata: { name: "a" }, data: { x: "1" } });
  await server.clock.advance(60_000);
  const changed = await server.call("PATCH", `${MAPS}/a?fieldManager=changer`, { data: { x: "2" } }, MERGE);
  await server.clock.advance(60_000);
  const again = await server.call("PATCH", `${MAPS}/a?fieldManager=adder`, { data: { y: "1" } }, MERGE);
  return [made, changed, again].map(({ body }) => String(body.metadata.resourceVersion)) as [string, string, string];
}

test("/debug/k8ts/history returns an object as it was at a revision and at a time, also after its deletion", async () => {
  await using server = await startServer();
  const [first, second] = await history(server);
  await server.clock.advance(60_000);
  await server.call("DELETE", `${MAPS}/a`);
  await server.clock.advance(60_000);

  for (const [at, expected] of [
    [first, { x: "1" }],
    [second, { x: "2" }],
    ["2026-01-01T00:00:30Z", { x: "1" }],
    ["2026-01-01T00:02:30Z", { x: "2", y: "1" }],
    ["", undefined],
  ] as const) {
    const { code, body } = await server.call("GET", `${HISTORY_PATH}?${MAP}&at=${at}`);
    deepEqual([code, body.kind, body.object?.data], [200, "HistoricalObject", expected], at);
  }
});

test("/debug/k8ts/history lists a namespace at a revision in pages", async () => {
  await using server = await startServer();
  for (const name of ["a", "b", "c"]) await server.call("POST", MAPS, { metadata: { name } });
  const { body: last } = await server.call("GET", `${MAPS}/c`);
  await server.call("DELETE", MAPS);

  const at = `resource=configmaps&namespace=default&at=${last.metadata.resourceVersion}`;
  const { body: page } = await server.call("GET", `${HISTORY_PATH}?${at}&limit=2`);
  const { body: rest } = await server.call("GET", `${HISTORY_PATH}?${at}&limit=2&continue=${page.metadata.continue}`);

  const namesOf = (items: readonly { metadata: { name: string } }[]) => items.map(({ metadata }) => metadata.name);
  deepEqual([namesOf(page.items), namesOf(rest.items), rest.metadata.continue], [["a", "b"], ["c"], undefined]);
});

test("/debug/k8ts/history ends a page before its objects exceed the limit of bytes", async () => {
  await using server = await startServer();
  const large = "x".repeat(1_000_000);
  const count = Math.ceil(PAGE_BYTES_MAX / large.length) + 2;
  for (let index = 0; index < count; index++) {
    const { code } = await server.call("POST", MAPS, { metadata: { name: `a-${String(index).padStart(3, "0")}` }, data: { large } });
    equal(code, 201);
  }

  const { text, body } = await server.call("GET", `${HISTORY_PATH}?resource=configmaps&namespace=default`);
  const { body: rest } = await server.call(
    "GET",
    `${HISTORY_PATH}?resource=configmaps&namespace=default&at=${body.metadata.revision}&continue=${body.metadata.continue}`,
  );

  equal(text.length < PAGE_BYTES_MAX * 1.1, true);
  deepEqual([body.items.length + rest.items.length, rest.metadata.continue], [count, undefined]);
});

test("/debug/k8ts/history/revisions and diff read versions up to a limit of bytes and report what is unknown", async () => {
  await using server = await startServer();
  const large = "x".repeat(1_000_000);
  const { body: made } = await server.call("POST", MAPS, { metadata: { name: "a" }, data: { large, early: "0" } });
  await server.call("PATCH", `${MAPS}/a`, { data: { early: "1" } }, MERGE);
  for (let index = 0; index < 40; index++) await server.call("PATCH", `${MAPS}/a`, { data: { late: String(index) } }, MERGE);

  const { items, metadata } = (await server.call("GET", `${REVISIONS_PATH}?${MAP}`)).body as RevisionList;
  const { changes } = (await server.call("GET", `${DIFF_PATH}?${MAP}&from=${made.metadata.resourceVersion}`)).body as ObjectDiff;

  deepEqual([metadata.truncated, items.length < 42], [true, true]);
  deepEqual(
    changes.map(({ path, after, write }) => [path.join("."), after, write?.verb]),
    [
      ["data.early", "1", undefined],
      ["data.late", "39", "patch"],
    ],
  );
});

test("/debug/k8ts/history/timeline has a point per write that the store still has", async () => {
  await using server = await startServer();
  const revisions = await history(server);
  await server.store.compact(Number(revisions[1]));

  const { metadata, items } = (await server.call("GET", TIMELINE_PATH)).body as Timeline;

  deepEqual(metadata, { oldest: revisions[1], newest: String(await server.store.currentRevision()) });
  deepEqual(
    items.filter(({ revision }) => revisions.includes(revision)).map(({ revision, writes }) => [revision, writes]),
    [
      [revisions[1], 1],
      [revisions[2], 1],
    ],
  );
});

test("a timeline combines writes if there are more than a slider can show", () => {
  const records = Array.from({ length: POINTS_MAX * 3 + 1 }, (_, index) => ({ revision: index + 1, timeMs: index }));
  const points = timelinePoints(records);
  equal(points.length <= POINTS_MAX, true);
  deepEqual([points[0]?.revision, points[0]?.writes, points.at(-1)?.revision], ["4", 4, String(POINTS_MAX * 3 + 1)]);
});

test("/debug/k8ts/history/revisions lists the versions of an object with their writes, also those before its deletion", async () => {
  await using server = await startServer();
  const [first, second, third] = await history(server);
  await server.call("DELETE", `${MAPS}/a`);

  const { items } = (await server.call("GET", `${REVISIONS_PATH}?${MAP}`)).body as RevisionList;

  deepEqual(
    items.slice(0, 3).map(({ revision, write }) => [revision, write?.verb]),
    [
      [first, "create"],
      [second, "patch"],
      [third, "patch"],
    ],
  );
  deepEqual([items[3]?.deleted, items[3]?.write?.verb, items.length], [true, "delete", 4]);
});

test("/debug/k8ts/history/diff names the field manager and the write of each changed field", async () => {
  await using server = await startServer();
  const [first, second, third] = await history(server);

  const { changes } = (await server.call("GET", `${DIFF_PATH}?${MAP}&from=${first}&to=${third}`)).body as ObjectDiff;

  deepEqual(
    changes.map(({ path, before, after, managers, write }) => [
      path.join("."),
      before,
      after,
      managers?.[0]?.manager,
      write?.resourceVersion,
    ]),
    [
      ["data.x", "1", "2", "changer", second],
      ["data.y", undefined, "1", "adder", third],
    ],
  );
});

test("/debug/k8ts/history rejects unknown resources, revisions of the future and those that are compacted", async () => {
  await using server = await startServer();
  const [first, , third] = await history(server);
  await server.store.compact(Number(third));

  for (const [query, code, message] of [
    ["resource=nothing&name=a", 400, /must name a resource/],
    ["resource=configmaps&name=a", 400, /"namespace" is required/],
    [`${MAP}&at=yesterday`, 400, /must be a revision or a time/],
    [`${MAP}&at=99999`, 400, /has not been reached/],
    [`${MAP}&at=${first}`, 410, /compacted/],
    [`${MAP}&at=2025-01-01T00:00:00Z`, 410, /recorded any more/],
  ] as const) {
    const { code: answered, body } = await server.call("GET", `${HISTORY_PATH}?${query}`);
    equal(answered, code, query);
    match(body.message, message);
  }
});

test("/debug/k8ts/history requires the permission for its path and for the object", async () => {
  await using server = await startGuardedServer();
  await history(server);
  const role = { metadata: { name: "past" }, rules: [{ nonResourceURLs: [HISTORY_PATH], verbs: ["get"] }] };
  const api = "/apis/rbac.authorization.k8s.io/v1";
  await server.call("POST", `${api}/clusterroles`, role);
  await server.call("POST", `${api}/clusterrolebindings`, {
    metadata: { name: "past" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "past" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }],
  });
  await server.clock.settle();

  const { code, body } = await server.as({ name: "jane", groups: [] }).call("GET", `${HISTORY_PATH}?${MAP}`);
  const other = await server.as({ name: "joe", groups: [] }).call("GET", `${HISTORY_PATH}?${MAP}`);

  equal(code, 403);
  match(body.message, /User "jane" cannot get resource "configmaps"/);
  match(other.body.message, /cannot get path/);
});
