import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { StatusError } from "../../api/machinery/status-error.ts";
import { startServer, type StartedServer } from "../../apiserver/testing/server.ts";
import { ClusterApi } from "./cluster-api.ts";
import { exchangeConnection } from "./exchange-connection.ts";
import { errorResponse, jsonResponse } from "./fixed-response.ts";
import { fetchKinds, findKind, kindOfId, kindOfReference, pathOf } from "./kinds.ts";
import { runLiveObjects } from "./live-objects.ts";
import { runLiveTable, type TableState } from "./live-table.ts";
import { searchAll, type SearchProgress } from "./search.ts";

function apiOf({ server }: StartedServer): ClusterApi {
  return new ClusterApi(exchangeConnection({ exchange: server.exchange }));
}

async function createConfigMaps(started: StartedServer, ...names: readonly string[]): Promise<void> {
  for (const name of names) equal((await started.call("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name } })).code, 201);
}

test("a live table shows the list, follows the watch and forgets deleted objects", async () => {
  await using started = await startServer();
  const { clock, call } = started;
  await createConfigMaps(started, "b", "a");
  const states: TableState[] = [];
  const life = new AbortController();
  const path = "/api/v1/namespaces/default/configmaps";
  const running = runLiveTable({ api: apiOf(started), clock, path, signal: life.signal, changed: (state) => void states.push(state) });
  const names = () => [...(states.at(-1)?.items.values() ?? [])].map(({ name }) => name).filter((name) => name.length === 1);

  await clock.settle();
  deepEqual(names(), ["a", "b"]);
  deepEqual(
    states.at(-1)?.columns.map(({ name }) => name),
    ["Name", "Data", "Age"],
  );
  equal(states.at(-1)?.isComplete, true);

  const before = states.length;
  await createConfigMaps(started, "c", "d");
  await call("DELETE", `${path}/a`);
  await clock.advance(1_000);
  deepEqual(names().sort(), ["b", "c", "d"]);
  equal(states.length - before, 1, "changes are applied in one batch");

  life.abort();
  await clock.settle();
  await running;
});

test("a list of several pages is shown from the first page on", async () => {
  await using started = await startServer();
  const { clock } = started;
  await createConfigMaps(started, ...Array.from({ length: 250 }, (_, index) => `config-${index}`));
  const sizes: string[] = [];
  const life = new AbortController();
  const options = { api: apiOf(started), clock, path: "/api/v1/namespaces/default/configmaps", signal: life.signal };
  void runLiveTable({ ...options, changed: ({ items, isComplete }) => void sizes.push(`${items.size} ${isComplete}`) });
  const limited: string[] = [];
  void runLiveObjects({
    ...options,
    itemsMax: 100,
    changed: ({ items, isTruncated }) => void limited.push(`${items.size} ${isTruncated}`),
  });

  await clock.settle();

  deepEqual(sizes, ["200 false", "250 true"]);
  deepEqual(limited, ["200 true"]);
  life.abort();
});

test("a table of a kind that is not served reports the server's message, and is requested once a minute", async () => {
  await using started = await startServer();
  const { clock } = started;
  const messages: (string | undefined)[] = [];
  const life = new AbortController();
  const options = { api: apiOf(started), clock, path: "/api/v1/namespaces/default/nonesuch", signal: life.signal };
  void runLiveTable({ ...options, changed: ({ error }) => void messages.push(error?.message) });

  await clock.advance(61_000);

  deepEqual(messages, ["the server could not find the requested resource", "the server could not find the requested resource"]);
  life.abort();
});

test("kinds come from discovery: scope, path and references", async () => {
  await using started = await startServer();
  const kinds = await fetchKinds(apiOf(started));

  const pods = findKind(kinds, "pods");
  equal(pods?.kind, "Pod");
  equal(pods.isNamespaced, true);
  equal(pods.subresources.includes("log"), true);
  equal(pathOf(pods, { namespace: "default", name: "web" }), "/api/v1/namespaces/default/pods/web");
  equal(kindOfId(kinds, "deployments.apps")?.kind, "Deployment");
  equal(kindOfReference(kinds, "apps/v1", "ReplicaSet")?.plural, "replicasets");
  equal(kindOfId(kinds, "nonesuch.example.com"), undefined);
});

test("search finds names of all kinds, whatever their case", async () => {
  await using started = await startServer();
  await createConfigMaps(started, "shop-settings", "other");
  const metadata = { name: "shop-token" };
  equal((await started.call("POST", "/api/v1/namespaces/default/secrets", { metadata })).code, 201);
  const api = apiOf(started);
  const progress: SearchProgress[] = [];

  await searchAll(
    { api, kinds: await fetchKinds(api), text: "SHOP", namespace: "", signal: new AbortController().signal },
    (state) => void progress.push(state),
  );

  const { found = [], isDone } = progress.at(-1) ?? {};
  equal(isDone, true);
  deepEqual(found.map(({ kind, name }) => `${kind.kind} ${name}`).sort(), ["ConfigMap shop-settings", "Secret shop-token"]);
});

test("search requests no kind that the user may not list, and reports those", async () => {
  await using started = await startServer();
  await createConfigMaps(started, "shop-settings");
  const requested: string[] = [];
  const { connection } = apiOf(started);
  const send: typeof connection.send = async (request) => {
    if (!request.path.includes("selfsubjectaccessreviews")) {
      requested.push(request.path);
      return connection.send(request);
    }
    const { spec } = JSON.parse(request.body ?? "") as { readonly spec: { readonly resourceAttributes: { readonly resource: string } } };
    return jsonResponse({ status: { allowed: spec.resourceAttributes.resource === "configmaps" } }, 201);
  };
  const api = new ClusterApi({ ...connection, send });
  const kinds = (await fetchKinds(api)).filter(({ group, plural }) => group === "" && ["configmaps", "secrets", "pods"].includes(plural));
  requested.length = 0;
  const progress: SearchProgress[] = [];

  const question = { api, kinds, text: "shop", namespace: "default", signal: new AbortController().signal };
  await searchAll(question, (state) => void progress.push(state));

  const { found = [], unread = [] } = progress.at(-1) ?? {};
  deepEqual(
    found.map(({ name }) => name),
    ["shop-settings"],
  );
  deepEqual(unread.map(({ plural }) => plural).sort(), ["pods", "secrets"]);
  deepEqual(requested, ["/api/v1/namespaces/default/configmaps?limit=2000"]);
});

test("search names the kinds whose list fails, and finds objects of the others", async () => {
  await using started = await startServer();
  await createConfigMaps(started, "shop-settings");
  const { connection } = apiOf(started);
  const unavailable = new StatusError("ServiceUnavailable", "conversion webhook failed");
  const send: typeof connection.send = (request) =>
    request.path.includes("/secrets?") ? Promise.resolve(errorResponse(unavailable)) : connection.send(request);
  const api = new ClusterApi({ ...connection, send });
  const kinds = (await fetchKinds(api)).filter(({ group, plural }) => group === "" && ["configmaps", "secrets"].includes(plural));
  const progress: SearchProgress[] = [];

  const question = { api, kinds, text: "shop", namespace: "default", signal: new AbortController().signal };
  await searchAll(question, (state) => void progress.push(state));

  const { found = [], failed = [], unread, isDone } = progress.at(-1) ?? {};
  deepEqual(
    [found.map(({ name }) => name), failed.map(({ kind, message }) => [kind.plural, message]), unread, isDone],
    [["shop-settings"], [["secrets", "conversion webhook failed"]], [], true],
  );
});

test("a live table that may not be listed is requested once a minute, and says why", async () => {
  await using started = await startServer();
  const { clock } = started;
  let requests = 0;
  const refusal = JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", reason: "Forbidden", message: "no", code: 403 });
  const connection = exchangeConnection({
    exchange: () => {
      requests += 1;
      return Promise.resolve({ code: 403, headers: { "content-type": "application/json" }, body: [new TextEncoder().encode(refusal)] });
    },
  });
  const states: TableState[] = [];
  const life = new AbortController();
  const options = { api: new ClusterApi(connection), clock, path: "/api/v1/pods", signal: life.signal };
  const running = runLiveTable({ ...options, changed: (state) => void states.push(state) });

  await clock.advance(59_000);
  deepEqual([requests, states.at(-1)?.error?.message], [1, "no"]);
  await clock.advance(2_000);
  equal(requests, 2);

  life.abort();
  await clock.settle();
  await running;
});
