import { deepEqual, equal, notEqual } from "node:assert/strict";
import { test } from "node:test";
import { startServer, type CallAnswer, type StartedServer } from "../testing/server.ts";
import { CRDS, createDefinition, settled } from "./testing/definitions.ts";

const SCHEMA = {
  type: "object",
  properties: { spec: { type: "object", properties: { image: { type: "string", description: "Image" } } } },
};
const OPTIONS = {
  schema: SCHEMA,
  version: { subresources: { status: {} }, selectableFields: [{ jsonPath: ".spec.image" }] },
  spec: { names: { plural: "crontabs", kind: "CronTab", shortNames: ["ct"], categories: ["all"] } },
};

/** Large documents take several event-loop ticks. */
async function read({ call, clock }: StartedServer, path: string, headers: Readonly<Record<string, string>> = {}): Promise<CallAnswer> {
  const answer = call("GET", path, undefined, headers);
  await clock.advance(1);
  return answer;
}

test("discovery lists a custom resource with its names and subresources until its definition is deleted", async () => {
  await using started = await startServer();
  const before = await started.call("GET", "/apis/example.com/v1");

  await createDefinition(started, OPTIONS);
  const { body } = await started.call("GET", "/apis/example.com/v1");
  await started.call("DELETE", `${CRDS}/crontabs.example.com`);
  await settled(started);

  equal(before.code, 404);
  deepEqual(
    body.resources.map(({ storageVersionHash: _hash, ...rest }: Record<string, unknown>) => rest),
    [
      {
        name: "crontabs",
        singularName: "crontab",
        namespaced: true,
        kind: "CronTab",
        verbs: ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
        shortNames: ["ct"],
        categories: ["all"],
      },
      { name: "crontabs/status", singularName: "", namespaced: true, kind: "CronTab", verbs: ["get", "patch", "update"] },
    ],
  );
  equal((await started.call("GET", "/apis/example.com/v1")).code, 404);
});

test("a version that is not served any more disappears from discovery, OpenAPI and the API", async () => {
  await using started = await startServer();
  const current = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: SCHEMA } };
  const old = { ...current, name: "v1alpha1", storage: false };
  await createDefinition(started, { ...OPTIONS, spec: { ...OPTIONS.spec, versions: [current, old] } });
  const before = await read(started, "/openapi/v2");

  const versions = [current, { ...old, served: false }];
  await started.call("PATCH", `${CRDS}/crontabs.example.com`, { spec: { versions } }, { "content-type": "application/merge-patch+json" });
  await settled(started);
  const after = await read(started, "/openapi/v2");
  const group = await started.call("GET", "/apis/example.com");

  equal("com.example.v1alpha1.CronTab" in before.body.definitions, true);
  equal("com.example.v1alpha1.CronTab" in after.body.definitions, false);
  equal("com.example.v1.CronTab" in after.body.definitions, true);
  deepEqual(group.body.versions, [{ groupVersion: "example.com/v1", version: "v1" }]);
  equal((await started.call("GET", "/apis/example.com/v1alpha1/crontabs")).code, 404);
  equal((await started.call("GET", "/apis/example.com/v1/crontabs")).code, 200);
});

test("both OpenAPI documents have the schema of a custom resource, under a new entity tag", async () => {
  await using started = await startServer();
  const before = await read(started, "/openapi/v2");

  await createDefinition(started, OPTIONS);
  const v2 = await read(started, "/openapi/v2", { "if-none-match": String(before.headers["etag"]) });
  const v3 = await read(started, "/openapi/v3/apis/example.com/v1");
  const again = await read(started, "/openapi/v2", { "if-none-match": String(v2.headers["etag"]) });

  const name = "com.example.v1.CronTab";
  notEqual(v2.headers["etag"], before.headers["etag"]);
  equal(again.code, 304);
  deepEqual(v2.body.definitions[name].properties.spec, SCHEMA.properties.spec);
  deepEqual(v3.body.components.schemas[name].properties.spec, SCHEMA.properties.spec);
  deepEqual(v3.body.components.schemas[name]["x-kubernetes-selectable-fields"], [{ fieldPath: "spec.image" }]);
  deepEqual(v3.body.components.schemas[`${name}List`].properties.items.items, { $ref: `#/components/schemas/${name}` });
  deepEqual(Object.keys(v3.body.paths["/apis/example.com/v1/namespaces/{namespace}/crontabs/{name}"].patch.requestBody.content), [
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/apply-patch+yaml",
  ]);
});
