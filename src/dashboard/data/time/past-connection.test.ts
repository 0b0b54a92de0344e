import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { startServer, type StartedServer } from "../../../apiserver/testing/server.ts";
import type { CauseItem } from "../../../explain/explain-api.ts";
import { ClusterApi } from "../cluster-api.ts";
import { exchangeConnection } from "../exchange-connection.ts";
import { runLiveTable, type TableState } from "../live-table.ts";
import { instantsOf, positionOf } from "./instants.ts";
import { changesBetween } from "./object-changes.ts";
import { pastConnection } from "./past-connection.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

/** A ConfigMap "a" that is changed and deleted; returns the revision of its first version, and the past then. */
async function somePast(started: StartedServer): Promise<{ readonly revision: string; readonly past: ClusterApi }> {
  const { body } = await started.call("POST", MAPS, { metadata: { name: "a" }, data: { x: "1" } });
  await started.call("PATCH", `${MAPS}/a`, { data: { x: "2" } }, { "content-type": "application/merge-patch+json" });
  await started.call("DELETE", `${MAPS}/a`);
  await started.call("POST", MAPS, { metadata: { name: "later" } });
  const revision = String(body.metadata.resourceVersion);
  return { revision, past: new ClusterApi(pastConnection(exchangeConnection({ exchange: started.server.exchange }), { revision })) };
}

test("lists and objects of the past are those of its revision", async () => {
  await using started = await startServer();
  const { past } = await somePast(started);
  const list = await past.get<{ items: { metadata: { name: string } }[] }>(`${MAPS}?limit=1`);
  const one = await past.get<{ kind: string; data: unknown }>(`${MAPS}/a`);

  deepEqual([list.items.length, list.items[0]?.metadata.name, one.kind, one.data], [1, "a", "ConfigMap", { x: "1" }]);
});

test("a live table of the past is complete and does not change", async () => {
  await using started = await startServer();
  const { past } = await somePast(started);
  const states: TableState[] = [];
  const life = new AbortController();
  const options = { api: past, clock: started.clock, path: MAPS, signal: life.signal };
  const running = runLiveTable({ ...options, changed: (state) => void states.push(state) });
  await started.clock.advance(10_000);
  await started.call("POST", MAPS, { metadata: { name: "new" } });
  await started.clock.advance(10_000);
  life.abort();
  await started.clock.settle();
  await running;

  deepEqual([states.length, states[0]?.isComplete, [...(states[0]?.items.keys() ?? [])].includes("default/a")], [1, true, true]);
});

test("the past cannot be changed, has no logs and no connections; reviews and documents are those of now", async () => {
  await using started = await startServer();
  const { past } = await somePast(started);
  const outcome = (path: string, method = "GET") =>
    past.json({ path, method, ...(method === "GET" ? {} : { body: "{}", contentType: "application/json" }) }).then(
      () => "ok",
      (error: Error) => error.message,
    );
  match(await outcome(MAPS, "POST"), /cannot be changed/);
  match(await outcome(`${MAPS}/a`, "DELETE"), /cannot be changed/);
  match(await outcome("/api/v1/namespaces/default/pods/a/log"), /The log of an object in the past is not kept/);
  match(await outcome(`${MAPS}/nothing`), /configmaps "nothing" not found/);
  equal(await outcome("/version"), "ok");
  equal(await outcome("/api/v1"), "ok");
  equal(await outcome("/api/v1/namespaces/default"), "ok");
  const closed: string[] = [];
  past.connection.open("/x", [], { opened: () => undefined, message: () => undefined, closed: (reason) => void closed.push(reason) });
  match(closed.join(), /cannot be changed/);
});

test("a position of the slider is the last instant at or before a revision", () => {
  const items = [10, 20, 30].map((revision) => ({ revision: String(revision), time: "2026-01-01T00:00:00Z", writes: 1 }));
  const instants = instantsOf({ items });
  deepEqual(
    ["5", "10", "15", "30", "99"].map((revision) => positionOf(instants, revision)),
    [0, 0, 0, 2, 2],
  );
  equal(positionOf([], "1"), -1);
});

test("changes between two revisions are per object, with their writers", () => {
  const base = { time: "2026-01-01T00:00:00Z", verb: "update", resource: "pods", namespace: "n", user: "jane", userAgent: "" };
  const write = (revision: number, name: string, more: Partial<CauseItem> = {}): CauseItem => ({
    ...{ ...base, id: revision, resourceVersion: String(revision), name },
    ...more,
  });
  const cause = { controller: "kubelet", key: "n/a" };
  const items = [
    write(1, "early"),
    write(2, "a", { verb: "create" }),
    write(3, "a", { cause }),
    write(4, "b"),
    write(5, "b", { deleted: true }),
    write(6, "c", { verb: "create" }),
    write(7, "c", { deleted: true }),
    write(8, "late"),
  ];
  const { changes, isComplete } = changesBetween(items, { from: 1, to: 7 });
  deepEqual(
    changes.map(({ name, means, writes, writers }) => [name, means, writes, writers.join()]),
    [
      ["a", "created", 2, "jane,kubelet"],
      ["b", "removed", 2, "jane"],
      ["c", "created and removed", 2, "jane"],
    ],
  );
  deepEqual([isComplete, changesBetween(items.slice(3), { from: 1, to: 7 }).isComplete], [true, false]);
});
