import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { all } from "../../api/all.ts";
import { decodeBase64 } from "../../api/machinery/codec/base64.ts";
import { encodeEnvelope, encodeProtobuf } from "../../api/machinery/codec/protobuf/protobuf.ts";
import type { JsonObject, KubeObject } from "../../api/machinery/object.ts";
import type { Resource } from "../../api/machinery/resource.ts";
import type { ObjectSchema } from "../../api/machinery/schema.ts";
import { schemas as builtInSchemas } from "../../api/schemas.ts";
import { bytesValue } from "../../store/value.ts";
import { foreignReader } from "./foreign-value.ts";
import { ObjectFormat } from "./object-format.ts";
import { ObjectFamily, SharedObject } from "./stored-object.ts";

function resourceOf(plural: string): Resource {
  const resource = all.find((each) => each.plural === plural);
  if (resource === undefined) throw new Error(`No resource is named ${plural}`);
  return resource;
}

function read(plural: string, bytes: Uint8Array): JsonObject {
  return foreignReader(resourceOf(plural), builtInSchemas)(bytes);
}

/** As upstream stores an object, in `apiVersion`. */
function envelope(plural: string, apiVersion: string, object: JsonObject): Uint8Array {
  const { served, kind } = resourceOf(plural);
  const schema = builtInSchemas.get(served[0]?.schema ?? "") as ObjectSchema;
  return encodeEnvelope({ apiVersion, kind, raw: encodeProtobuf(object, schema) });
}

function json(object: JsonObject): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(object)}\n`);
}

/** A ConfigMap as upstream's API server 1.36 stored it. */
const CONFIG_MAP =
  "azhzAAoPCgJ2MRIJQ29uZmlnTWFwEq0BCpwBCgJjMRIAGgdkZWZhdWx0IgAqJGNjNDU4ZTViLTE2YjktNDMzNy04MGZmLWQ1ODUyZTEwNWVlZTIAOABCCAjWm+zXBhAAigFUCg5rdWJlY3RsLWNyZWF0ZRIGVXBkYXRlGgJ2MSIICNab7NcGEAAyCEZpZWxkc1YxOiAKHnsiZjpkYXRhIjp7Ii4iOnt9LCJmOmtleSI6e319fUIAEgwKA2tleRIFdmFsdWUaACIA";

test("a ConfigMap stored by upstream's API server is read completely, including managedFields", () => {
  deepEqual(read("configmaps", decodeBase64(CONFIG_MAP)), {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: "c1",
      namespace: "default",
      uid: "cc458e5b-16b9-4337-80ff-d5852e105eee",
      creationTimestamp: "2026-11-16T14:06:14Z",
      managedFields: [
        {
          manager: "kubectl-create",
          operation: "Update",
          apiVersion: "v1",
          time: "2026-11-16T14:06:14Z",
          fieldsType: "FieldsV1",
          fieldsV1: { "f:data": { ".": {}, "f:key": {} } },
        },
      ],
    },
    data: { key: "value" },
  });
});

test("a protobuf value is converted to our layout, and its resourceVersion is the revision", () => {
  const resource = resourceOf("configmaps");
  const format = new ObjectFormat({ apiVersion: "v1", kind: "ConfigMap", readForeign: foreignReader(resource, builtInSchemas) });
  const family = new ObjectFamily(format, { freezes: true });

  const stored = SharedObject.of(family, { key: "/configmaps/default/c1", value: bytesValue(decodeBase64(CONFIG_MAP)), revision: 630 });

  equal(stored.object.metadata.resourceVersion, "630");
  equal(
    new TextDecoder().decode(stored.bytes()).startsWith('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c1"'),
    true,
    "the stored form begins with the head of the format",
  );
  equal(stored.managed().text().includes('"manager":"kubectl-create"'), true);
});

test("missing fields of a stored object are defaulted when it is read", () => {
  const bytes = envelope("services", "v1", { metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } });
  const { spec } = read("services", bytes) as { spec: { ports: readonly JsonObject[]; sessionAffinity: string } };
  deepEqual([spec.sessionAffinity, spec.ports[0]?.["protocol"]], ["None", "TCP"]);
});

test("an admission policy that upstream stored as v1beta1 is read as v1", () => {
  const bytes = envelope("mutatingadmissionpolicies", "admissionregistration.k8s.io/v1beta1", {
    metadata: { name: "a" },
    spec: { failurePolicy: "Ignore" },
  });
  const policy = read("mutatingadmissionpolicies", bytes);
  deepEqual([policy["apiVersion"], (policy["spec"] as JsonObject)["failurePolicy"]], ["admissionregistration.k8s.io/v1", "Ignore"]);
});

test("a CustomResourceDefinition that upstream stored as v1beta1 is read as v1", () => {
  const spec = {
    group: "example.com",
    version: "v1",
    names: { plural: "widgets", singular: "widget", kind: "Widget", listKind: "WidgetList" },
    scope: "Namespaced",
    validation: { openAPIV3Schema: { type: "object" } },
    subresources: { status: {} },
    versions: [
      { name: "v1", served: true, storage: true },
      { name: "v2", served: true, storage: false },
    ],
    additionalPrinterColumns: [{ name: "Size", type: "integer", JSONPath: ".spec.size" }],
    conversion: { strategy: "Webhook", webhookClientConfig: { url: "https://example.com" }, conversionReviewVersions: ["v1"] },
    preserveUnknownFields: false,
  };
  const stored = {
    kind: "CustomResourceDefinition",
    apiVersion: "apiextensions.k8s.io/v1beta1",
    metadata: { name: "widgets.example.com" },
    spec,
  };

  const definition = read("customresourcedefinitions", json(stored));

  const shared = {
    schema: { openAPIV3Schema: { type: "object" } },
    subresources: { status: {} },
    additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
  };
  deepEqual(definition["apiVersion"], "apiextensions.k8s.io/v1");
  deepEqual(definition["spec"], {
    group: "example.com",
    names: spec.names,
    scope: "Namespaced",
    versions: [
      { name: "v1", served: true, storage: true, ...shared },
      { name: "v2", served: true, storage: false, ...shared },
    ],
    conversion: { strategy: "Webhook", webhook: { clientConfig: { url: "https://example.com" }, conversionReviewVersions: ["v1"] } },
  });
});

test("a v1beta1 CustomResourceDefinition with one named version and differing schemas keeps both forms", () => {
  const definition = (spec: JsonObject) =>
    read(
      "customresourcedefinitions",
      json({ kind: "CustomResourceDefinition", apiVersion: "apiextensions.k8s.io/v1beta1", metadata: { name: "a" }, spec }),
    )["spec"] as { versions: readonly JsonObject[] };
  const names = { plural: "a", kind: "A" };
  const schema = { openAPIV3Schema: { type: "object" } };
  deepEqual(definition({ group: "b.c", scope: "Cluster", names, version: "v1" }).versions, [{ name: "v1", served: true, storage: true }]);
  deepEqual(
    definition({ group: "b.c", scope: "Cluster", names, versions: [{ name: "v1", served: true, storage: true, schema }] }).versions,
    [{ name: "v1", served: true, storage: true, schema }],
  );
});

test("JSON of upstream's extension server, which has our order of members and a line break, is converted to our layout", () => {
  const format = new ObjectFormat({
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    readForeign: foreignReader(resourceOf("apiservices"), builtInSchemas),
  });
  const object = {
    kind: "APIService",
    apiVersion: "apiregistration.k8s.io/v1",
    metadata: { name: "v1." },
    spec: { version: "v1" },
    status: {},
  };

  const text = new TextDecoder().decode(format.normalise(json(object)));

  equal(text.endsWith("}"), true);
  equal((JSON.parse(text) as KubeObject).metadata.name, "v1.");
});

for (const { it, bytes, says } of [
  { it: "another kind", bytes: envelope("secrets", "v1", { metadata: { name: "a" } }), says: /its kind is "Secret", expected ConfigMap/ },
  { it: "an unknown version", bytes: envelope("configmaps", "v7", { metadata: { name: "a" } }), says: /its version "v7" is unknown/ },
  { it: "an encrypted value", bytes: new TextEncoder().encode("k8s:enc:aescbc:v1:key1:abc"), says: /it is encrypted/ },
  { it: "a truncated envelope", bytes: decodeBase64(CONFIG_MAP).subarray(0, 60), says: /./ },
  { it: "no bytes", bytes: new Uint8Array(), says: /./ },
]) {
  test(`reading ${it} fails and names the key`, () => {
    const readForeign = foreignReader(resourceOf("configmaps"), builtInSchemas);
    const family = new ObjectFamily(new ObjectFormat({ apiVersion: "v1", kind: "ConfigMap", readForeign }), { freezes: true });

    throws(() => SharedObject.of(family, { key: "/configmaps/default/a", value: bytesValue(bytes), revision: 7 }), {
      reason: "Damaged",
      message: new RegExp(`^Cannot read the value of /configmaps/default/a at revision 7: .*${says.source}`),
    });
  });
}
