import { deepEqual, equal, rejects } from "node:assert/strict";
import { describe, test } from "node:test";
import { configMaps } from "../api/core/v1/config-map.ts";
import { nodes } from "../api/core/v1/node.ts";
import { pods } from "../api/core/v1/pod.ts";
import type { ConfigMap } from "../api/generated/core/v1.ts";
import type { JsonObject } from "../api/machinery/object.ts";
import { isReason, StatusError } from "../api/machinery/status-error.ts";
import type { Transport, TransportRequest, TransportResponse, TransportWatchListener } from "../api/machinery/transport.ts";
import type { Client, Draft } from "./client.ts";
import { createClient } from "./rest-client.ts";

const KEY = { namespace: "default", name: "a" };
const MAP: ConfigMap = { apiVersion: "v1", kind: "ConfigMap", metadata: KEY };
const DRAFT: Draft<ConfigMap> = { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", generateName: "a-" } };
const NODE = { apiVersion: "v1", kind: "Node", metadata: { name: "n" } } as const;
const LISTENER: TransportWatchListener = { event() {}, ended() {} };

/** Answers everything with an object, and records the requests. */
class Recorded implements Transport {
  readonly requests: Omit<TransportRequest, "verb">[] = [];
  readonly documents: unknown[] = [];
  answer: TransportResponse = { is: "object", object: MAP, created: true, warnings: [] };

  request(request: TransportRequest): Promise<TransportResponse> {
    this.requests.push(request);
    return Promise.resolve(this.answer);
  }

  document(...asked: Parameters<Transport["document"]>): Promise<JsonObject> {
    this.documents.push(asked);
    return Promise.resolve({});
  }

  watch(request: Omit<TransportRequest, "verb">): Promise<{ stop(): void }> {
    this.requests.push(request);
    return Promise.resolve({ stop() {} });
  }
}

const LIST: TransportResponse = { is: "list", items: [], metadata: {}, warnings: [] };
const SUCCESS: TransportResponse = { is: "value", value: { kind: "Status" }, warnings: [] };

const MAPS = { group: "", version: "v1", plural: "configmaps" };
const { signal: SIGNAL } = new AbortController();

interface Row {
  readonly call: string;
  ask(client: Client): Promise<unknown>;
  readonly asks: object;
  readonly answer?: TransportResponse;
}

const ROWS: readonly Row[] = [
  { call: "get", ask: (client) => client.get(configMaps, KEY), asks: { verb: "get", ...MAPS, ...KEY, options: {} } },
  {
    call: "get of a part, not older than a revision",
    ask: (client) => client.get(configMaps, KEY, { subresource: "status", resourceVersion: "5", signal: SIGNAL }),
    asks: { verb: "get", ...MAPS, ...KEY, subresource: "status", options: { resourceVersion: "5" }, signal: SIGNAL },
  },
  { call: "list of all namespaces", ask: (client) => client.list(configMaps), asks: { verb: "list", ...MAPS, options: {} }, answer: LIST },
  {
    call: "list with everything",
    ask: (client) =>
      client.list(configMaps, {
        ...{ namespace: "default", labelSelector: "a=b", fieldSelector: "c=d", resourceVersion: "1", resourceVersionMatch: "Exact" },
        ...{ limit: 5, continue: "token", timeoutSeconds: 9 },
      }),
    asks: {
      ...{ verb: "list", ...MAPS, namespace: "default" },
      options: {
        ...{ labelSelector: "a=b", fieldSelector: "c=d", resourceVersion: "1", resourceVersionMatch: "Exact" },
        ...{ limit: 5, continue: "token", timeoutSeconds: 9 },
      },
    },
    answer: LIST,
  },
  {
    call: "watch",
    ask: (client) =>
      client.watch(
        configMaps,
        { namespace: "default", resourceVersion: "1", allowWatchBookmarks: true, sendInitialEvents: true },
        LISTENER,
      ),
    asks: { ...MAPS, namespace: "default", options: { resourceVersion: "1", allowWatchBookmarks: true, sendInitialEvents: true } },
  },
  {
    call: "create, whose name the server may give",
    ask: (client) => client.create(configMaps, DRAFT, { dryRun: ["All"], fieldValidation: "Strict" }),
    asks: { verb: "create", ...MAPS, namespace: "default", object: DRAFT, options: { dryRun: ["All"], fieldValidation: "Strict" } },
  },
  {
    call: "update",
    ask: (client) => client.update(configMaps, MAP, { fieldManager: "me" }),
    asks: { verb: "update", ...MAPS, ...KEY, object: MAP, options: { fieldManager: "me" } },
  },
  {
    call: "updateStatus",
    ask: (client) => client.updateStatus(configMaps, MAP, { signal: SIGNAL }),
    asks: { verb: "update", ...MAPS, ...KEY, subresource: "status", object: MAP, options: {}, signal: SIGNAL },
  },
  ...(["json", "merge", "strategic"] as const).map((type) => ({
    call: `patch of type ${type}`,
    ask: (client: Client) => client.patch(configMaps, KEY, { type, value: {} }, { subresource: "status", dryRun: ["All"] }),
    asks: { verb: "patch", ...MAPS, ...KEY, subresource: "status", patch: { type, value: {} }, options: { dryRun: ["All"] } },
  })),
  {
    call: "apply",
    ask: (client) => client.apply(configMaps, MAP, { fieldManager: "me", force: true }),
    asks: { verb: "patch", ...MAPS, ...KEY, patch: { type: "apply", value: MAP }, options: { fieldManager: "me", force: true } },
  },
  { call: "delete", ask: (client) => client.delete(configMaps, KEY), asks: { verb: "delete", ...MAPS, ...KEY, options: {} } },
  {
    call: "delete with everything, options are in the body",
    ask: (client) =>
      client.delete(configMaps, KEY, {
        ...{ propagationPolicy: "Orphan", gracePeriodSeconds: 0, preconditions: { uid: "u", resourceVersion: "1" } },
        ...{ dryRun: ["All"], signal: SIGNAL },
      }),
    asks: {
      ...{ verb: "delete", ...MAPS, ...KEY, options: {}, signal: SIGNAL },
      object: {
        ...{ apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Orphan", gracePeriodSeconds: 0 },
        ...{ preconditions: { uid: "u", resourceVersion: "1" }, dryRun: ["All"] },
      },
    },
  },
  {
    call: "deleteCollection, whose selection is no part of the body",
    ask: (client) =>
      client.deleteCollection(configMaps, {
        namespace: "default",
        labelSelector: "a=b",
        fieldSelector: "c=d",
        propagationPolicy: "Background",
      }),
    asks: {
      ...{ verb: "deletecollection", ...MAPS, namespace: "default", options: { labelSelector: "a=b", fieldSelector: "c=d" } },
      object: { apiVersion: "v1", kind: "DeleteOptions", propagationPolicy: "Background" },
    },
    answer: LIST,
  },
  {
    call: "post",
    ask: (client) => client.post(pods, KEY, "eviction", { kind: "Eviction" }, { dryRun: ["All"] }),
    asks: {
      ...{ verb: "create", group: "", version: "v1", plural: "pods", ...KEY, subresource: "eviction" },
      ...{ object: { kind: "Eviction" }, options: { dryRun: ["All"] } },
    },
    answer: SUCCESS,
  },
];

describe("each call sends one request", () => {
  for (const { call, ask, asks, answer } of ROWS) {
    test(call, async () => {
      const transport = new Recorded();
      if (answer !== undefined) transport.answer = answer;

      await ask(createClient(transport));

      deepEqual(transport.requests, [asks]);
    });
  }
});

test("the namespace of a cluster-scoped object is ignored, however it is given", async () => {
  const transport = new Recorded();
  const client = createClient(transport);
  const [key, node] = [
    { namespace: "x", name: "n" },
    { ...NODE, metadata: { namespace: "x", name: "n" } },
  ];
  await client.get(nodes, key);
  await client.create(nodes, node);
  await client.update(nodes, node);
  await client.patch(nodes, key, { type: "merge", value: {} });
  await client.apply(nodes, node, { fieldManager: "me" });
  await client.delete(nodes, key);
  await client.post(nodes, key, "proxy", {});
  await client.watch(nodes, { namespace: "x" }, LISTENER);
  transport.answer = LIST;
  await client.list(nodes, { namespace: "x" });
  await client.deleteCollection(nodes, { namespace: "x" });

  deepEqual(
    transport.requests.filter((request) => "namespace" in request),
    [],
  );
});

test("default options are on every request, and the field manager on writes without their own", async () => {
  const transport = new Recorded();
  const cause = { controller: "c", key: "k" };
  const client = createClient(transport).with({ fieldManager: "me", traceparent: "t" }).with({ cause, signal: SIGNAL });
  await client.get(configMaps, KEY);
  await client.create(configMaps, DRAFT);
  await client.update(configMaps, MAP, { fieldManager: "another" });
  await client.delete(configMaps, KEY);
  await client.document("/version");

  const common = { cause, traceparent: "t", signal: SIGNAL };
  deepEqual(transport.requests, [
    { verb: "get", ...MAPS, ...KEY, options: {}, ...common },
    { verb: "create", ...MAPS, namespace: "default", object: DRAFT, options: { fieldManager: "me" }, ...common },
    { verb: "update", ...MAPS, ...KEY, object: MAP, options: { fieldManager: "another" }, ...common },
    { verb: "delete", ...MAPS, ...KEY, options: {}, ...common },
  ]);
  deepEqual(transport.documents, [["/version", { signal: SIGNAL }]]);
});

test("a call with its own signal is also aborted by the client's, and a client by its parent's", async () => {
  const transport = new Recorded();
  const [first, second, own] = [new AbortController(), new AbortController(), new AbortController()];
  const client = createClient(transport).with({ signal: first.signal }).with({ signal: second.signal });
  for (let call = 0; call < 3; call++)
    await client.get(configMaps, KEY, { signal: call === 0 ? own.signal : new AbortController().signal });
  const isAborted = () => transport.requests.map(({ signal }) => signal?.aborted);

  own.abort();
  deepEqual(isAborted(), [true, false, false]);
  first.abort();
  deepEqual(isAborted(), [true, true, true]);
});

test("a response of another form is rejected", async () => {
  const transport = new Recorded();
  const client = createClient(transport);
  await rejects(client.list(configMaps), /Expected a list, received object/);
  transport.answer = LIST;
  await rejects(client.get(configMaps, KEY), /Expected an object, received a list/);
  await rejects(client.post(pods, KEY, "eviction", {}), /A list came for eviction of pods/);
  transport.answer = SUCCESS;
  equal(await client.delete(configMaps, KEY), undefined);
  deepEqual(await client.post(pods as never, KEY, "eviction", {}), { kind: "Status" });
  transport.request = () => Promise.reject(new StatusError("ServiceUnavailable", "down"));
  await rejects(client.get(pods, KEY), (error) => isReason(error, "ServiceUnavailable"));
});

test("server warnings are passed on, each time, with the request, also by a client of `with`", async () => {
  const transport = new Recorded();
  transport.answer = { is: "object", object: MAP, created: true, warnings: ["old", "older"] };
  const received: string[] = [];
  const client = createClient(transport, {
    onWarning: (sentence, { kind, verb }) => void received.push(`${verb} ${kind.plural}: ${sentence}`),
  });

  await client.create(configMaps, DRAFT);
  await client.with({ fieldManager: "me" }).get(configMaps, KEY);
  await createClient(transport).get(configMaps, KEY);

  deepEqual(received, ["create configmaps: old", "create configmaps: older", "get configmaps: old", "get configmaps: older"]);
});

test("pages are requested until there are no more, with the revision only on the first", async () => {
  const transport = new Recorded();
  const tokens = ["one", "two", ""];
  transport.request = (request) => {
    transport.requests.push(request);
    return Promise.resolve({ is: "list", items: [], metadata: { continue: tokens.shift() ?? "" }, warnings: [] });
  };
  const options = { namespace: "default", labelSelector: "a=b", resourceVersion: "5", resourceVersionMatch: "Exact" };

  let pages = 0;
  for await (const _page of createClient(transport).pages(configMaps, options)) pages++;

  equal(pages, 3);
  const later = { limit: 500, labelSelector: "a=b" };
  deepEqual(
    transport.requests.map((request) => request.options),
    [
      { ...later, resourceVersion: "5", resourceVersionMatch: "Exact" },
      { ...later, continue: "one" },
      { ...later, continue: "two" },
    ],
  );
});
