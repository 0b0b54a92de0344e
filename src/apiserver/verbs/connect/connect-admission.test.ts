import { deepEqual, rejects } from "node:assert/strict";
import { test } from "node:test";
import type { Authorizer } from "../../framework/authorization.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../../framework/admission.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { forbiddenError } from "../../../api/machinery/status-error.ts";
import type { ExchangeRequest } from "../../framework/exchange.ts";
import { admittingContext } from "../../testing/admitting-server.ts";
import type { AdmittingOptions } from "../../testing/admitting-server.ts";
import { connect } from "./connect.ts";

const USER = { name: "someone", groups: [] };

function exchangeOf(method: string, query: string): ExchangeRequest {
  return {
    method,
    path: "/",
    query,
    header: () => undefined,
    headerValues: () => [],
    headerNames: () => [],
    body: () => Promise.resolve(new Uint8Array()),
    signal: new AbortController().signal,
    cancel: () => {},
    peer: { address: "192.0.2.1", isLoopback: false },
  };
}

/** `what`: "pods/exec"; no object exists. */
function connecting(options: AdmittingOptions, what: string, { method = "GET", query = "" } = {}) {
  const server = admittingContext(options);
  const [plural = "", subresource = ""] = what.split("/");
  const endpoint = server.endpoints.find("", "v1", plural);
  const declared = endpoint?.resource.subresources[subresource];
  if (endpoint === undefined || declared?.of !== "connection") throw new Error(`${what} is no connection`);
  const request = {
    verb: method === "POST" ? "create" : "get",
    group: "",
    version: "v1",
    plural,
    subresource,
    namespace: "default",
    name: "p",
    options: {},
    connection: { exchange: exchangeOf(method, query), path: "/a" },
    context: { user: USER, userAgent: "", warn: () => {} },
  } as const;
  return connect(server, { endpoint, request, subresource: declared });
}

/** Records the request that it gets, and may change it. */
function watching(change?: (object: KubeObject) => KubeObject): { readonly plugin: AdmissionPlugin; readonly seen: AdmissionRequest[] } {
  const seen: AdmissionRequest[] = [];
  return {
    seen,
    plugin: {
      name: "Watching",
      mutate: ({ object }) => (object === undefined ? undefined : change?.(object)),
      validate: (request) => void seen.push(request),
    },
  };
}

test("admission of a connection gets operation CONNECT and the options", async () => {
  const { plugin, seen } = watching();

  await rejects(connecting({ plugins: [plugin] }, "pods/exec", { method: "POST", query: "command=sh&stdin=1" }), { reason: "NotFound" });

  deepEqual(
    seen.map(({ operation, subresource, namespace, name, object, dryRun }) => ({
      operation,
      subresource,
      namespace,
      name,
      object,
      dryRun,
    })),
    [
      {
        operation: "CONNECT",
        subresource: "exec",
        namespace: "default",
        name: "p",
        object: { kind: "PodExecOptions", apiVersion: "v1", command: ["sh"], stdin: true } as object as KubeObject,
        dryRun: false,
      },
    ],
  );
});

test("the path option of a proxy connection is the path after the subresource, whatever the query says", async () => {
  const { plugin, seen } = watching();

  await rejects(connecting({ plugins: [plugin] }, "services/proxy", { query: "path=/other" }), { reason: "NotFound" });

  deepEqual(seen[0]?.object, { kind: "ServiceProxyOptions", apiVersion: "v1", path: "/a" });
});

test("admission may change the options of a connection and reject it", async () => {
  const { plugin, seen } = watching((object) => ({ ...object, container: "other" }) as KubeObject);
  const refusing: AdmissionPlugin = {
    name: "Refusing",
    validate: ({ endpoint, name }) => {
      throw forbiddenError(endpoint.name, name, "no");
    },
  };

  await rejects(connecting({ plugins: [plugin, refusing] }, "pods/attach"), { reason: "Forbidden", message: 'pods "p" is forbidden: no' });

  deepEqual(seen[0]?.object, { kind: "PodAttachOptions", apiVersion: "v1", container: "other" });
});

test("reading a log does not call admission", async () => {
  const { plugin, seen } = watching();

  await rejects(connecting({ plugins: [plugin] }, "pods/log"), { reason: "NotFound" });

  deepEqual(seen, []);
});

/** All users may get, none may create. */
const readersOnly: Authorizer = {
  authorize: ({ verb }) => ({ allowed: verb === "get", reason: "read only" }),
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: true }),
};

for (const what of ["exec", "attach", "portforward"]) {
  test(`pods/${what} by GET needs "create", too`, async () => {
    await rejects(connecting({ plugins: [], authorizer: readersOnly }, `pods/${what}`), {
      reason: "Forbidden",
      message: `pods "p" is forbidden: User "someone" cannot create resource "pods/${what}" in API group "" in the namespace "default": read only`,
    });
  });
}

for (const what of ["pods/log", "pods/proxy", "services/proxy"]) {
  test(`${what} by GET needs "get" only`, async () => {
    await rejects(connecting({ plugins: [], authorizer: readersOnly }, what), { reason: "NotFound" });
  });
}
