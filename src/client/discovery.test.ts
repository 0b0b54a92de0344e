import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../api/machinery/object.ts";
import { isReason, StatusError } from "../api/machinery/status-error.ts";
import type { Transport } from "../api/machinery/transport.ts";
import { given } from "../testing/given.ts";
import type { Client } from "./client.ts";
import { discover, discoverVersion, findKind, type DiscoveredKind } from "./discovery.ts";
import { createClient } from "./rest-client.ts";

const DOCUMENTS: Readonly<Record<string, JsonObject>> = {
  "/api": { kind: "APIVersions", versions: ["v1"] },
  "/apis": {
    kind: "APIGroupList",
    groups: [
      {
        name: "example.com",
        versions: [{ groupVersion: "example.com/v1beta1" }, { groupVersion: "example.com/v1" }],
        preferredVersion: { groupVersion: "example.com/v1" },
      },
      { name: "far.away", versions: [{ groupVersion: "far.away/v1" }] },
    ],
  },
  "/api/v1": {
    resources: [
      { name: "pods", singularName: "pod", kind: "Pod", namespaced: true, verbs: ["list"], shortNames: ["po"], categories: ["all"] },
      { name: "pods/status", kind: "Pod", namespaced: true, verbs: ["get"] },
      { name: "nodes", kind: "Node", namespaced: false },
    ],
  },
  "/apis/example.com/v1": { resources: [{ name: "widgets", kind: "Widget", namespaced: true, verbs: ["list"] }] },
  "/apis/example.com/v1beta1": {
    resources: [
      { name: "gadgets", kind: "Gadget", namespaced: true, verbs: [] },
      { name: "widgets", kind: "Widget", namespaced: true, verbs: [] },
    ],
  },
  "/apis/far.away/v1": { resources: [{ name: "stars", kind: "Star", namespaced: false, verbs: [] }] },
};

/** A server with these documents; `broken` ones are answered with 503, `missing` ones with 404. */
function serverOf({
  broken = [],
  missing = [],
}: { readonly broken?: readonly string[]; readonly missing?: readonly string[] } = {}): Client {
  const unused = () => Promise.reject(new Error("Only documents are asked for"));
  const transport: Transport = {
    request: unused,
    watch: unused,
    async document(path, { signal } = {}) {
      signal?.throwIfAborted();
      const found = DOCUMENTS[path];
      if (missing.includes(path)) throw new StatusError("NotFound", `${path} does not exist`);
      if (found === undefined || broken.includes(path)) throw new StatusError("ServiceUnavailable", `${path} is down`);
      return found;
    },
  };
  return createClient(transport);
}

function named(kinds: readonly DiscoveredKind[]): readonly string[] {
  return kinds.map(({ plural, storage }) => `${storage.group}/${storage.version} ${plural}`);
}

test("discovery returns every kind in every version, preferred version first, without subresources", async () => {
  const { all, preferred, failures } = await discover(serverOf());

  deepEqual(named(all), [
    "/v1 pods",
    "/v1 nodes",
    "example.com/v1 widgets",
    "example.com/v1beta1 gadgets",
    "example.com/v1beta1 widgets",
    "far.away/v1 stars",
  ]);
  deepEqual(named(preferred), ["/v1 pods", "/v1 nodes", "example.com/v1 widgets", "example.com/v1beta1 gadgets", "far.away/v1 stars"]);
  deepEqual(failures, []);
});

test("a discovered kind carries everything the server reports, and omitted fields are empty", async () => {
  const [pods, nodes] = await discoverVersion(serverOf(), "v1");

  deepEqual(pods, {
    ...{ kind: "Pod", plural: "pods", singular: "pod", scope: "Namespaced", storage: { group: "", version: "v1" } },
    ...{ verbs: ["list"], shortNames: ["po"], categories: ["all"] },
  });
  deepEqual(nodes, {
    ...{ kind: "Node", plural: "nodes", singular: "", scope: "Cluster", storage: { group: "", version: "v1" } },
    ...{ verbs: [], shortNames: [], categories: [] },
  });
});

test("a group that does not respond is reported and hides no other group", async () => {
  const { all, failures } = await discover(serverOf({ broken: ["/apis/far.away/v1", "/api/v1"] }));

  deepEqual(
    failures.map(({ groupVersion, error }) => [groupVersion, (error as Error).message]),
    [
      ["v1", "/api/v1 is down"],
      ["far.away/v1", "/apis/far.away/v1 is down"],
    ],
  );
  deepEqual(named(all), ["example.com/v1 widgets", "example.com/v1beta1 gadgets", "example.com/v1beta1 widgets"]);
});

test("discovery rejects without the group list, and when it is aborted", async () => {
  await rejects(discover(serverOf({ broken: ["/apis"] })), /\/apis is down/);
  await rejects(discover(serverOf(), { signal: AbortSignal.abort(new Error("enough")) }), /enough/);
});

test("a listed version that does not exist has no kinds and is no failure", async () => {
  const { all, failures } = await discover(serverOf({ missing: ["/apis/far.away/v1"] }));

  equal(named(all).includes("far.away/v1 stars"), false);
  deepEqual(failures, []);
});

describe("a kind is found by apiVersion and kind", async () => {
  const discovery = await discover(serverOf());
  for (const [apiVersion, kind, plural] of [
    ["v1", "Pod", "pods"],
    ["example.com/v1beta1", "Widget", "widgets"],
    ["example.com/v2", "Widget", undefined],
    ["v1", "Widget", undefined],
    ["not/an/apiVersion", "Pod", undefined],
  ] as const) {
    test(`${kind} of ${apiVersion}`, () => {
      const found = findKind(discovery, apiVersion, kind);
      equal(found?.plural, plural);
      if (found !== undefined) equal(`${found.storage.group}/${found.storage.version}`.replace(/^\//, ""), apiVersion);
    });
  }
});

test("a kind discovered on the real server can be requested", async () => {
  await using cluster = await given({ apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name: "a" } });
  const discovery = await discover(cluster.client);
  const configMaps = findKind(discovery, "v1", "ConfigMap");
  ok(configMaps !== undefined);

  equal((await cluster.client.get(configMaps, { namespace: "default", name: "a" })).kind, "ConfigMap");
  deepEqual(discovery.failures, []);
  // Autoscaling has several versions, of which the group prefers one.
  equal(discovery.preferred.find(({ plural }) => plural === "horizontalpodautoscalers")?.storage.version, "v2");
  ok(discovery.all.filter(({ plural }) => plural === "horizontalpodautoscalers").length > 1);
  await rejects(discoverVersion(cluster.client, "apps/v9"), (error) => isReason(error, "NotFound"));
});
