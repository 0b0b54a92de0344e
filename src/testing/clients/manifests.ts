/** Small objects for tests with real clients: valid, with only the fields that matter to the test. */
import type { Json, JsonObject } from "../../api/machinery/object.ts";

export function aConfigMap(name: string, data: Readonly<Record<string, string>> = {}, metadata: JsonObject = {}): JsonObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, data };
}

export function aPod(
  name: string,
  { labels = {}, ...spec }: { readonly labels?: JsonObject; readonly [field: string]: Json | undefined } = {},
): JsonObject {
  const metadata = { name, labels: { app: name, ...labels } };
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [{ name: "main", image: "example/app:1" }], ...spec } };
}

/** With `app` as label and selector. */
export function aDeployment(
  name: string,
  { containers, ...spec }: { readonly containers?: Json; readonly [field: string]: Json | undefined } = {},
): JsonObject {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, labels },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: containers ?? [{ name: "web", image: "example/web:1" }] } },
      ...spec,
    },
  };
}

export function aService(name: string, spec: JsonObject = {}): JsonObject {
  return { apiVersion: "v1", kind: "Service", metadata: { name }, spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec } };
}

export function aNode(name: string): JsonObject {
  return { apiVersion: "v1", kind: "Node", metadata: { name } };
}

/** Several objects as one input. */
export function aList(...items: readonly JsonObject[]): JsonObject {
  return { apiVersion: "v1", kind: "List", items };
}
