import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../../testing/server.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- tests look at any member without saying its type first
async function read(path: string): Promise<any> {
  await using started = await startServer({
    loadDescriptions: () => Promise.resolve({ ofType: () => undefined, ofField: (type, field) => `${type.split(".").at(-1)} ${field}` }),
  });
  const answer = started.call("GET", path);
  await started.clock.advance(1);
  return (await answer).body;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly schema: { readonly type: string };
}

function shown({ parameters }: { readonly parameters: readonly Parameter[] }): readonly string[] {
  return parameters.map(({ name, in: place, schema }) => `${place} ${name} ${schema.type}`);
}

const PODS = "/api/v1/namespaces/{namespace}/pods/{name}";

test("OpenAPI v3 describes connections as operations of each method with any content type", async () => {
  const { paths } = await read("/openapi/v3/api/v1");

  deepEqual(paths[`${PODS}/exec`].get, {
    tags: ["core_v1"],
    description: "connect GET requests to exec of Pod",
    operationId: "connectCoreV1GetNamespacedPodExec",
    responses: { 200: { description: "OK", content: { "*/*": { schema: { type: "string" } } } }, 401: { description: "Unauthorized" } },
    "x-kubernetes-action": "connect",
    "x-kubernetes-group-version-kind": { group: "", version: "v1", kind: "PodExecOptions" },
  });
  deepEqual(shown(paths[`${PODS}/exec`]), [
    "query command string",
    "query container string",
    "path name string",
    "path namespace string",
    "query stderr boolean",
    "query stdin boolean",
    "query stdout boolean",
    "query tty boolean",
  ]);
  const [command, , name] = paths[`${PODS}/exec`].parameters;
  deepEqual([command.description, name.description], ["PodExecOptions command", "name of the PodExecOptions"]);
});

test("OpenAPI v3 describes a proxy with all methods, with and without a path suffix", async () => {
  const { paths } = await read("/openapi/v3/api/v1");
  const ids = (path: string) =>
    Object.entries(paths[path]).flatMap(([, operation]) => (operation as { operationId?: string }).operationId ?? []);

  deepEqual(
    ids("/api/v1/nodes/{name}/proxy").sort(),
    ["Delete", "Get", "Head", "Options", "Patch", "Post", "Put"].map((method) => `connectCoreV1${method}NodeProxy`),
  );
  deepEqual(
    ids("/api/v1/namespaces/{namespace}/services/{name}/proxy/{path}").sort(),
    ["Delete", "Get", "Head", "Options", "Patch", "Post", "Put"].map((method) => `connectCoreV1${method}NamespacedServiceProxyWithPath`),
  );
  deepEqual(shown(paths["/api/v1/nodes/{name}/proxy/{path}"]).toSorted(), ["path name string", "path path string", "query path string"]);
});

test("OpenAPI v3 describes a log as text with its query parameters", async () => {
  const { paths } = await read("/openapi/v3/api/v1");
  const { get } = paths[`${PODS}/log`];

  deepEqual(
    [get.operationId, get.description, get["x-kubernetes-action"]],
    ["readCoreV1NamespacedPodLog", "read log of the specified Pod", "get"],
  );
  deepEqual(get.responses[200].content["text/plain"], { schema: { type: "string" } });
  deepEqual(
    shown(paths[`${PODS}/log`]).filter((parameter) => !parameter.startsWith("path")),
    [
      "query container string",
      "query follow boolean",
      "query insecureSkipTLSVerifyBackend boolean",
      "query limitBytes integer",
      "query pretty string",
      "query previous boolean",
      "query sinceSeconds integer",
      "query stream string",
      "query tailLines integer",
      "query timestamps boolean",
    ],
  );
});

test("OpenAPI v2 describes connections like v3", async () => {
  const { paths } = await read("/openapi/v2");

  deepEqual(paths[`${PODS}/portforward`].post, {
    description: "connect POST requests to portforward of Pod",
    consumes: ["*/*"],
    produces: ["*/*"],
    schemes: ["https"],
    tags: ["core_v1"],
    operationId: "connectCoreV1PostNamespacedPodPortforward",
    responses: { 200: { description: "OK", schema: { type: "string" } }, 401: { description: "Unauthorized" } },
    "x-kubernetes-action": "connect",
    "x-kubernetes-group-version-kind": { group: "", kind: "PodPortForwardOptions", version: "v1" },
  });
});
