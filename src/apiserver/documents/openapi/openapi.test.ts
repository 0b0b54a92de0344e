import { deepEqual, equal, notEqual } from "node:assert/strict";
import { test } from "node:test";
import { replicaSets } from "../../../api/apps/v1/replica-set.ts";
import { all } from "../../../api/all.ts";
import { leases } from "../../../api/coordination.k8s.io/v1/lease.ts";
import type { Descriptions } from "../../../api/descriptions.ts";
import { startServer, type CallAnswer, type StartedServer } from "../../testing/server.ts";

const described: Descriptions = {
  ofType: (name) => (name.endsWith(".Lease") ? { description: "A lease.", fields: {} } : undefined),
  ofField: (_type, field) => (field === "spec" ? "What is leased." : ""),
};

async function start(): Promise<StartedServer> {
  return startServer({ loadDescriptions: () => Promise.resolve(described) });
}

/** Large documents take several event-loop ticks. */
async function read({ call, clock }: StartedServer, path: string, headers: Readonly<Record<string, string>> = {}): Promise<CallAnswer> {
  const answer = call("GET", path, undefined, headers);
  await clock.advance(1);
  return answer;
}

test("the OpenAPI v3 index lists a document for every group and version with its hash", async () => {
  await using started = await start();

  const { body } = await read(started, "/openapi/v3");

  const paths = Object.keys(body.paths);
  const { serverRelativeURL: url } = body.paths["apis/coordination.k8s.io/v1"];
  const document = await read(started, url);
  deepEqual(
    paths.filter((path) => /^(api|apis|version|api\/v1|apis\/autoscaling.*)$/.test(path)),
    ["api", "api/v1", "apis", "apis/autoscaling", "apis/autoscaling/v1", "apis/autoscaling/v2", "version"],
  );
  equal(document.code, 200);
  equal(document.headers["etag"], `"${url.split("hash=")[1]}"`);
  equal(document.headers["cache-control"], "public, immutable");
  equal(document.headers["expires"], new Date(started.clock.now() + 365 * 24 * 3_600_000).toUTCString());
});

test("an unchanged OpenAPI v3 document is answered with 304, and an outdated URL redirects to the current one", async () => {
  await using started = await start();
  const path = "/openapi/v3/apis/coordination.k8s.io/v1";
  const { headers } = await read(started, path);
  const tag = headers["etag"] as string;

  const again = await read(started, path, { "if-none-match": tag });
  const old = await read(started, `${path}?hash=0123`);

  equal(headers["cache-control"], "no-cache, private");
  deepEqual([again.code, again.text], [304, ""]);
  deepEqual([old.code, old.headers["location"]], [301, `${path}?hash=${tag.replaceAll('"', "")}`]);
});

test("an OpenAPI v3 document changes with its resources, and others do not", async () => {
  await using started = await start();
  const index = async () => (await read(started, "/openapi/v3")).body.paths;
  const before = await index();

  started.server.endpoints.remove(leases);
  started.server.endpoints.remove(all.find(({ plural }) => plural === replicaSets.plural) ?? replicaSets);
  const after = await index();

  equal("apis/coordination.k8s.io/v1" in after, false);
  equal((await read(started, "/openapi/v3/apis/coordination.k8s.io/v1")).code, 404);
  notEqual(after["apis/apps/v1"].serverRelativeURL, before["apis/apps/v1"].serverRelativeURL);
  deepEqual(after["api/v1"], before["api/v1"]);
});

test("an OpenAPI v3 operation has request and response, and common parameters are at its path", async () => {
  await using started = await start();
  const name = "/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}";
  const lease = { schema: { $ref: "#/components/schemas/io.k8s.api.coordination.v1.Lease" } };
  const content = { "application/json": lease, "application/yaml": lease, "application/vnd.kubernetes.protobuf": lease };

  const { body } = await read(started, "/openapi/v3/apis/coordination.k8s.io/v1");

  const { parameters, put, ...others } = body.paths[name];
  const namesOf = (list: readonly { readonly name: string }[]): readonly string[] => list.map((parameter) => parameter.name);
  deepEqual(Object.keys(others).sort(), ["delete", "get", "patch"]);
  deepEqual(namesOf(parameters), ["name", "namespace", "pretty"]);
  deepEqual(
    { ...put, parameters: namesOf(put.parameters) },
    {
      tags: ["coordination_v1"],
      description: "replace the specified Lease",
      operationId: "replaceCoordinationV1NamespacedLease",
      parameters: ["dryRun", "fieldManager", "fieldValidation"],
      requestBody: { content: { "*/*": lease }, required: true },
      responses: { 200: { description: "OK", content }, 201: { description: "Created", content }, 401: { description: "Unauthorized" } },
      "x-kubernetes-action": "put",
      "x-kubernetes-group-version-kind": { group: "coordination.k8s.io", version: "v1", kind: "Lease" },
    },
  );
});

test("an OpenAPI v3 path with one operation has all parameters at the path", async () => {
  await using started = await start();

  const { body } = await read(started, "/openapi/v3/apis/coordination.k8s.io/v1");

  const { parameters, get } = body.paths["/apis/coordination.k8s.io/v1/leases"];
  equal(
    parameters.some(({ name }: { readonly name: string }) => name === "labelSelector"),
    true,
  );
  equal("parameters" in get, false);
});

test("OpenAPI v3 types have descriptions, and kinds of every group name the document's own group", async () => {
  await using started = await start();
  const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const meta = "io.k8s.apimachinery.pkg.apis.meta.v1";

  const { body } = await read(started, "/openapi/v3/apis/coordination.k8s.io/v1");

  const { schemas } = body.components;
  deepEqual(schemas["io.k8s.api.coordination.v1.Lease"], {
    description: "A lease.",
    type: "object",
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { default: {}, allOf: [reference(`${meta}.ObjectMeta`)] },
      spec: { description: "What is leased.", default: {}, allOf: [reference("io.k8s.api.coordination.v1.LeaseSpec")] },
    },
    "x-kubernetes-group-version-kind": [{ group: "coordination.k8s.io", kind: "Lease", version: "v1" }],
  });
  deepEqual(schemas["io.k8s.api.coordination.v1.LeaseSpec"].properties.renewTime, reference(`${meta}.MicroTime`));
  deepEqual(
    schemas[`${meta}.DeleteOptions`]["x-kubernetes-group-version-kind"].map(({ group }: { readonly group: string }) => group),
    ["", "coordination.k8s.io"],
  );
});

test("every reference in an OpenAPI v3 document resolves", async () => {
  await using started = await start();
  const { body: index } = await read(started, "/openapi/v3");
  for (const path of Object.keys(index.paths)) {
    const { text, body } = await read(started, `/openapi/v3/${path}`);
    const names = new Set(Array.from(text.matchAll(/"#\/components\/schemas\/([^"]+)"/g), ([, name]) => name ?? ""));
    deepEqual(
      [...names].filter((name) => !(name in body.components.schemas)),
      [],
    );
  }
});

test("OpenAPI operation ids are unique", async () => {
  await using started = await start();
  const { text } = await read(started, "/openapi/v2");
  const ids = Array.from(text.matchAll(/"operationId":"([^"]+)"/g), ([, id]) => id);

  notEqual(ids.length, 0);
  equal(new Set(ids).size, ids.length);
});

test("OpenAPI v2 is one document, with siblings of references and without defaults", async () => {
  await using started = await start();

  const { headers, body } = await read(started, "/openapi/v2");

  const known = { "if-none-match": headers["etag"] as string };
  const again = await read(started, "/openapi/v2", known);
  started.server.endpoints.remove(leases);
  const changed = await read(started, "/openapi/v2", known);
  deepEqual(body.definitions["io.k8s.api.coordination.v1.Lease"].properties.spec, {
    description: "What is leased.",
    $ref: "#/definitions/io.k8s.api.coordination.v1.LeaseSpec",
  });
  deepEqual(body.definitions["io.k8s.apimachinery.pkg.api.resource.Quantity"], { type: "string" });
  const properties = Object.values<{ properties?: object }>(body.definitions).flatMap((type) => Object.values(type.properties ?? {}));
  equal(
    properties.some((property) => "default" in property),
    false,
  );
  equal("/api/v1/namespaces/{namespace}/pods/{name}/eviction" in body.paths, true);
  equal(again.code, 304);
  deepEqual([changed.code, changed.text.includes("Lease")], [200, false]);
});

for (const path of ["/openapi/v2", "/openapi/v3/apis/apps/v1"]) {
  test(`${path} is not served as text`, async () => {
    await using started = await start();

    equal((await read(started, path, { accept: "text/plain" })).code, 406);
  });
}

test("a failure to load OpenAPI descriptions is not cached", async () => {
  let attempts = 0;
  const loadDescriptions = () => (attempts++ < 2 ? Promise.reject(new Error("no file")) : Promise.resolve(described));
  await using started = await startServer({ loadDescriptions });

  for (const path of ["/openapi/v2", "/openapi/v3/apis/apps/v1"]) equal((await read(started, path)).code, 500);

  for (const path of ["/openapi/v2", "/openapi/v3/apis/apps/v1"]) equal((await read(started, path)).code, 200);
});
