import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../../api/machinery/object.ts";
import { defineResource, type ServedVersion } from "../../api/machinery/resource.ts";
import { listPieces } from "./wire-bytes.ts";
import { startServer } from "../testing/server.ts";
import { widget, widgetResource, widgetSchemas } from "../testing/widget.ts";

/** A version whose objects have its name in `spec.shelf`. */
function otherVersion(version: string, stored: ServedVersion): ServedVersion {
  const apiVersion = `example.com/${version}`;
  return {
    ...stored,
    version,
    toStorage: (object) => ({ ...object, apiVersion: "example.com/v1" }),
    fromStorage: (object) => ({ ...object, apiVersion, spec: { shelf: version } }) as KubeObject,
  };
}

test("an object is returned in each requested version and media type, in any order of requests", async () => {
  await using server = await startServer();
  const { served, ...definition } = widgetResource();
  const [stored] = served as [ServedVersion];
  const storage = { group: "example.com", version: "v1" };
  const versions = [stored, otherVersion("v2", stored), otherVersion("v3", stored)];
  server.server.endpoints.add(defineResource({ ...definition, served: versions, storage }), widgetSchemas);
  const path = (version: string) => `/apis/example.com/${version}/namespaces/default/widgets`;
  await server.call("POST", path("v1"), widget("a", { shelf: "v1" }));

  for (const version of ["v2", "v3", "v1", "v2"]) {
    const { body } = await server.call("GET", `${path(version)}/a`);
    const list = (await server.call("GET", path(version))).body;

    assert.deepEqual([body.apiVersion, body.spec.shelf], [`example.com/${version}`, version]);
    assert.deepEqual([list.apiVersion, list.items[0].spec.shelf], [`example.com/${version}`, version]);
  }
});

test("a change is visible in all versions as soon as it is acknowledged, whatever was read before", async () => {
  await using server = await startServer();
  const path = (version: string) => `/apis/autoscaling/${version}/namespaces/default/horizontalpodautoscalers`;
  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "d" };
  await server.call("POST", path("v1"), { metadata: { name: "a" }, spec: { maxReplicas: 3, scaleTargetRef } });

  for (const maxReplicas of [4, 5]) {
    const answer = await server.call("PUT", `${path("v1")}/a`, { metadata: { name: "a" }, spec: { maxReplicas, scaleTargetRef } });
    for (const version of ["v1", "v2"]) {
      for (const form of ["json", "yaml"]) {
        const { text } = await server.call("GET", `${path(version)}/a`, undefined, { accept: `application/${form}` });
        assert.match(text, new RegExp(`resourceVersion"?: ?"${answer.body.metadata.resourceVersion}"`), `${version} ${form}`);
        assert.match(text, new RegExp(`maxReplicas"?: ?${maxReplicas}`), `${version} ${form}`);
      }
    }
  }
});

test("a list has views of the stored bytes of its large objects, so that a client that does not read holds no copy", async () => {
  await using server = await startServer();
  const path = "/api/v1/namespaces/default/configmaps";
  const sizes = [0, 200, 1_000, 5_000, 0, 900_000];
  for (const [index, size] of sizes.entries()) {
    await server.call("POST", path, { metadata: { name: `c${index}` }, data: { a: "x".repeat(size) } });
  }
  const endpoint = server.server.endpoints.find("", "v1", "configmaps");
  assert.ok(endpoint !== undefined);
  const { body } = await server.call("GET", path);
  const stored = sizes.map(async (_, index) => endpoint.storage.getCached({ namespace: "default", name: `c${index}` }));
  const objects = (await Promise.all(stored)).filter((object) => object !== undefined);

  const pieces = listPieces(endpoint, { objects, revision: Number(body.metadata.resourceVersion) });

  assert.deepEqual(JSON.parse(Buffer.concat(pieces).toString()), body);
  const large = objects.at(-1)?.bytes().buffer;
  assert.ok(pieces.some(({ buffer }) => buffer === large));
});
