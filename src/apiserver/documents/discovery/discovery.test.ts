import { deepEqual, equal, notEqual } from "node:assert/strict";
import { test } from "node:test";
import { leases } from "../../../api/coordination.k8s.io/v1/lease.ts";
import { decodeEnvelope, decodeProtobuf } from "../../../api/machinery/codec/protobuf/protobuf.ts";
import type { ObjectSchema } from "../../../api/machinery/schema.ts";
import { schemas } from "../../../api/schemas.ts";
import { startServer } from "../../testing/server.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
/** client-go's Accept header. */
const CLIENT_GO = `${AGGREGATED};profile=nopeer,${AGGREGATED},application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json`;

interface NamedEntry {
  readonly name: string;
}

test("discovery lists a resource with verbs, names and scope, followed by its subresources", async () => {
  await using started = await startServer();

  const { body } = await started.call("GET", "/apis/apps/v1");

  const ofDeployments = body.resources.filter(({ name }: NamedEntry) => name.startsWith("deployments"));
  deepEqual(body.groupVersion, "apps/v1");
  deepEqual(ofDeployments, [
    {
      name: "deployments",
      singularName: "deployment",
      namespaced: true,
      kind: "Deployment",
      verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
      shortNames: ["deploy"],
      categories: ["all"],
      storageVersionHash: "8aSe+NMegvE=",
    },
    {
      name: "deployments/scale",
      singularName: "",
      namespaced: true,
      group: "autoscaling",
      version: "v1",
      kind: "Scale",
      verbs: ["get", "patch", "update"],
    },
    { name: "deployments/status", singularName: "", namespaced: true, kind: "Deployment", verbs: ["get", "patch", "update"] },
  ]);
});

test("discovery lists connections with their options kind, and log as Pod", async () => {
  await using started = await startServer();

  const { body } = await started.call("GET", "/api/v1");

  const shown = new Map(
    body.resources.map(({ name, kind, verbs }: NamedEntry & { kind: string; verbs: readonly string[] }) => [
      name,
      `${kind} ${verbs.join(" ")}`,
    ]),
  );
  deepEqual(
    ["pods/log", "pods/exec", "pods/attach", "pods/portforward", "pods/proxy", "services/proxy", "nodes/proxy"].map((name) =>
      shown.get(name),
    ),
    [
      "Pod get",
      "PodExecOptions create get",
      "PodAttachOptions create get",
      "PodPortForwardOptions create get",
      "PodProxyOptions create delete get patch update",
      "ServiceProxyOptions create delete get patch update",
      "NodeProxyOptions create delete get patch update",
    ],
  );
});

test("discovery prefers the newest stable version of a group", async () => {
  await using started = await startServer();
  const [v2, v1] = ["v2", "v1"].map((version) => ({ groupVersion: `autoscaling/${version}`, version }));

  const { body } = await started.call("GET", "/apis/autoscaling/");

  deepEqual(body, { kind: "APIGroup", apiVersion: "v1", name: "autoscaling", versions: [v2, v1], preferredVersion: v2 });
});

test("the core group is at /api and not listed under /apis", async () => {
  await using started = await startServer();

  const core = await started.call("GET", "/api");
  const groups = await started.call("GET", "/apis");

  deepEqual(core.body.versions, ["v1"]);
  deepEqual(
    groups.body.groups.map(({ name }: NamedEntry) => name).filter((name: string) => name === "" || name === "apps"),
    ["apps"],
  );
});

for (const path of ["/apis/nope", "/apis/apps/v2", "/api/v2"]) {
  test(`discovery answers ${path} with 404`, async () => {
    await using started = await startServer();

    equal((await started.call("GET", path)).code, 404);
  });
}

test("discovery returns the aggregated document with its content type to a client that accepts it", async () => {
  await using started = await startServer();

  const { headers, body } = await started.call("GET", "/api", undefined, { accept: CLIENT_GO });

  const [core] = body.items;
  const pods = core.versions[0].resources.find(({ resource }: { readonly resource: string }) => resource === "pods");
  equal(headers["content-type"], AGGREGATED);
  equal(headers["vary"], "Accept");
  deepEqual(core.metadata, {});
  deepEqual(pods.responseKind, { group: "", version: "", kind: "Pod" });
  deepEqual(
    pods.subresources.find(({ subresource }: { readonly subresource: string }) => subresource === "eviction"),
    { subresource: "eviction", responseKind: { group: "policy", version: "v1", kind: "Eviction" }, verbs: ["create"] },
  );
});

test("the aggregated document is answered with 304 until the served resources change", async () => {
  await using started = await startServer();
  const ask = (headers: Readonly<Record<string, string>> = {}) =>
    started.call("GET", "/apis", undefined, { accept: AGGREGATED, ...headers });
  const first = await ask();
  const tag = first.headers["etag"] as string;

  const again = await ask({ "if-none-match": tag });
  started.server.endpoints.remove(leases);
  const changed = await ask({ "if-none-match": tag });

  deepEqual([again.code, again.text, again.headers["etag"]], [304, "", tag]);
  equal(changed.code, 200);
  notEqual(changed.headers["etag"], tag);
});

test("a group is listed from its first resource until its last is removed", async () => {
  await using started = await startServer();
  const code = async () => (await started.call("GET", "/apis/coordination.k8s.io/v1")).code;
  const before = await code();

  started.server.endpoints.remove(leases);
  const without = await code();
  started.server.endpoints.add(leases);

  deepEqual([before, without, await code()], [200, 404, 200]);
});

const refused: readonly { readonly path: string; readonly accept: string }[] = [
  { path: "/apis", accept: "text/plain" },
  { path: "/apis", accept: AGGREGATED.replace("v2", "v2beta1") },
  { path: "/apis/apps", accept: AGGREGATED },
  { path: "/apis", accept: AGGREGATED.replace("json", "yaml") },
];

for (const { path, accept } of refused) {
  test(`discovery does not serve ${path} as ${accept}`, async () => {
    await using started = await startServer();

    equal((await started.call("GET", path, undefined, { accept })).code, 406);
  });
}

const protobufs: readonly { readonly path: string; readonly accept: string; readonly type: string }[] = [
  { path: "/api", accept: "application/vnd.kubernetes.protobuf", type: "io.k8s.apimachinery.pkg.apis.meta.v1.APIVersions" },
  { path: "/apis/apps/v1", accept: "application/vnd.kubernetes.protobuf", type: "io.k8s.apimachinery.pkg.apis.meta.v1.APIResourceList" },
  {
    path: "/apis",
    accept: AGGREGATED.replace("json", "vnd.kubernetes.protobuf"),
    type: "io.k8s.api.apidiscovery.v2.APIGroupDiscoveryList",
  },
];

for (const { path, accept, type } of protobufs) {
  test(`${path} has the same content in protobuf as in JSON (${type.split(".").at(-1)})`, async () => {
    await using started = await startServer();
    const json = await started.call("GET", path, undefined, { accept: accept.replace("vnd.kubernetes.protobuf", "json") });

    const protobuf = await started.call("GET", path, undefined, { accept });

    const { kind, raw } = decodeEnvelope(protobuf.bytes);
    const { kind: _kind, apiVersion: _apiVersion, ...rest } = json.body;
    equal(protobuf.headers["content-type"], accept);
    equal(kind, json.body.kind);
    deepEqual(withoutEmpty(decodeProtobuf(raw, schemas.get(type) as ObjectSchema)), withoutEmpty(rest));
  });
}

/** Protobuf does not distinguish empty from absent. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (value === null || typeof value !== "object") return value;
  const members = Object.entries(value).map(([name, member]) => [name, withoutEmpty(member)] as const);
  return Object.fromEntries(
    members.filter(([, member]) => member !== "" && member !== false && JSON.stringify(member) !== "{}" && JSON.stringify(member) !== "[]"),
  );
}
