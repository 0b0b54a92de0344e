import assert from "node:assert/strict";
import { test } from "node:test";
import type { Field, ObjectSchema, Schema } from "./machinery/schema.ts";
import { schemaData } from "./generated/schema-data.ts";
import { linkSchemas, schemaOf, schemas, type TypeRow } from "./schemas.ts";

const CORE = "io.k8s.api.core.v1";
const META = "io.k8s.apimachinery.pkg.apis.meta.v1";
const EXTENSIONS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1";

function fieldOf(type: string, name: string): Field {
  const field = schemaOf(type).fields.get(name);
  assert.ok(field, `${type} has no field ${name}`);
  return field;
}

/** A set with the types of a package p, whose OpenAPI name is q. */
function setOf(types: Readonly<Record<string, TypeRow>>): ReturnType<typeof linkSchemas> {
  const lines = Object.entries(types).map(([name, row]) => `p.${name}\t${JSON.stringify(row)}`);
  return linkSchemas(`p\tq\n\n${lines.join("\n")}`);
}

function objectOf(schema: Schema | undefined): ObjectSchema {
  assert.equal(schema?.type, "object");
  return schema;
}

test("every name resolves to a schema, and a struct type has that name", () => {
  const names = [...schemas.names()];

  assert.ok(names.length > 600, `only ${names.length} names`);
  for (const name of names) {
    const schema = schemas.get(name);
    assert.ok(schema, `${name} has no schema`);
    if (schema.type === "object") assert.equal(schema.name, name);
  }
});

test("a type is linked once and shared by all references", () => {
  const container = schemaOf(`${CORE}.Container`);

  assert.equal(schemaOf(`${CORE}.Container`), container);
  const containers = fieldOf(`${CORE}.PodSpec`, "containers").schema;
  assert.equal(containers.type === "list" && containers.items, container);
});

test("a recursive type is linked", () => {
  const schema = schemaOf(`${EXTENSIONS}.JSONSchemaProps`);
  const { not, properties } = Object.fromEntries([...schema.fields].map(([name, field]) => [name, field.schema]));

  assert.equal(not, schema);
  assert.equal(properties?.type === "map" && properties.values, schema);
});

const choices: readonly (readonly [type: string, numbers: Readonly<Record<string, number>>])[] = [
  ["JSONSchemaPropsOrArray", { schema: 1, jSONSchemas: 2 }],
  ["JSONSchemaPropsOrBool", { allows: 1, schema: 2 }],
  ["JSONSchemaPropsOrStringArray", { schema: 1, property: 2 }],
];
for (const [type, numbers] of choices) {
  test(`${type} is a union whose message has upstream's field numbers, and is shared by all references`, () => {
    const schema = schemas.get(`${EXTENSIONS}.${type}`);

    assert.equal(schema, schemas.get(`${EXTENSIONS}.${type}`));
    assert.ok(schema?.type === "any" && schema.format === "choice");
    const { message, objectField, otherField } = schema;
    assert.deepEqual(
      message.protobuf,
      Object.entries(numbers).map(([field, number]) => ({ number, field })),
    );
    assert.equal(message.fields.get(objectField)?.schema, schemaOf(`${EXTENSIONS}.JSONSchemaProps`));
    assert.deepEqual(new Set([objectField, otherField]), new Set(Object.keys(numbers)));
  });
}

const facts: readonly { readonly type: string; readonly field: string; readonly is: Partial<Field> }[] = [
  { type: `${CORE}.Container`, field: "stdin", is: { schema: { type: "boolean" }, zero: "omit" } },
  { type: `${CORE}.Pod`, field: "metadata", is: { schema: schemaOf(`${META}.ObjectMeta`), zero: "write" } },
  { type: `${CORE}.PodSpec`, field: "securityContext", is: { schema: schemaOf(`${CORE}.PodSecurityContext`), zero: "keep" } },
  { type: `${META}.ObjectMeta`, field: "creationTimestamp", is: { schema: { type: "string", format: "date-time" }, zero: "omit" } },
  { type: `${CORE}.ContainerPort`, field: "containerPort", is: { schema: { type: "integer", format: "int32" }, zero: "write" } },
  {
    type: `${CORE}.ContainerPort`,
    field: "protocol",
    is: { schema: { type: "string", enum: ["SCTP", "TCP", "UDP"] }, zero: "omit", default: "TCP" },
  },
  {
    type: `${CORE}.Container`,
    field: "ports",
    is: {
      schema: { type: "list", items: schemaOf(`${CORE}.ContainerPort`), listType: "map", mapKeys: ["containerPort", "protocol"] },
      zero: "omit",
      patchStrategy: ["merge"],
      patchMergeKey: "containerPort",
    },
  },
  {
    type: `${CORE}.PodSpec`,
    field: "nodeSelector",
    is: { schema: { type: "map", values: { type: "string" }, atomic: true }, zero: "omit" },
  },
  { type: `${META}.ObjectMeta`, field: "finalizers", is: { schema: { type: "list", items: { type: "string" }, listType: "set" } } },
  { type: `${CORE}.PersistentVolumeSpec`, field: "claimRef", is: { atomic: false } },
  { type: `${CORE}.PodList`, field: "items", is: { zero: "keep" } },
  {
    type: "io.k8s.api.authentication.v1.UserInfo",
    field: "extra",
    is: { schema: { type: "map", values: { type: "list", items: { type: "string" }, listType: "atomic", wrappedInProtobuf: true } } },
  },
];

for (const { type, field, is } of facts) {
  test(`${type}.${field} is as upstream declares it`, () => {
    const found = fieldOf(type, field);

    assert.deepEqual({ ...found, ...is }, found);
  });
}

const kinds: readonly (readonly [type: string, apiVersion: string])[] = [
  [`${CORE}.Pod`, "/v1"],
  [`${CORE}.Binding`, "/v1"],
  ["io.k8s.api.apps.v1.Deployment", "apps/v1"],
  ["io.k8s.api.autoscaling.v1.Scale", "autoscaling/v1"],
  ["io.k8s.api.policy.v1.Eviction", "policy/v1"],
  ["io.k8s.api.rbac.v1.Role", "rbac.authorization.k8s.io/v1"],
  [`${EXTENSIONS}.CustomResourceDefinition`, "apiextensions.k8s.io/v1"],
  ["io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService", "apiregistration.k8s.io/v1"],
  [`${META}.Status`, "/v1"],
  [`${META}.Table`, "meta.k8s.io/v1"],
];

for (const [type, apiVersion] of kinds) {
  test(`${type} is the kind of its name in ${apiVersion}`, () => {
    const { groupVersionKinds = [] } = schemaOf(type);

    assert.deepEqual(
      groupVersionKinds.map(({ group, version, kind }) => `${group}/${version} ${kind}`),
      [`${apiVersion} ${type.split(".").at(-1)}`],
    );
  });
}

test("every group version has DeleteOptions, since clients send them to its paths", () => {
  const { groupVersionKinds = [] } = schemaOf(`${META}.DeleteOptions`);
  const apiVersions = groupVersionKinds.map(({ group, version }) => `${group}/${version}`);

  assert.equal(new Set(apiVersions).size, apiVersions.length);
  for (const apiVersion of ["/v1", "apps/v1", "autoscaling/v1", "autoscaling/v2"]) assert.ok(apiVersions.includes(apiVersion), apiVersion);
});

test("the fields of an inlined struct are inline in JSON, and a message of its own in protobuf", () => {
  const volume = schemaOf(`${CORE}.Volume`);
  const source = schemaOf(`${CORE}.VolumeSource`);

  assert.deepEqual([...volume.fields.keys()], ["name", ...source.fields.keys()]);
  assert.deepEqual(volume.protobuf, [
    { number: 1, field: "name" },
    { number: 2, inlined: source },
  ]);
});

test("the enumerations of an inlined struct's fields are known", () => {
  const policy = fieldOf(`${CORE}.EphemeralContainer`, "imagePullPolicy").schema;

  assert.deepEqual(policy, { type: "string", enum: ["Always", "IfNotPresent", "Never"] });
});

test("a message numbers each of its fields once, in order, except apiVersion and kind", () => {
  for (const schema of objectSchemas()) {
    if (schema.protobuf === undefined) continue;
    const numbers = schema.protobuf.map(({ number }) => number);
    assert.deepEqual(
      numbers,
      [...new Set(numbers)].sort((a, b) => a - b),
      schema.name,
    );
    const numbered = new Set(schema.protobuf.flatMap((field) => ("field" in field ? [field.field] : [...field.inlined.fields.keys()])));
    const missing = [...schema.fields.keys()].filter((name) => !numbered.has(name));
    assert.deepEqual(
      missing.filter((name) => name !== "apiVersion" && name !== "kind"),
      [],
      schema.name,
    );
    for (const name of numbered) assert.ok(schema.fields.has(name), `${schema.name} has no field ${name}`);
  }
});

test("list map keys and merge keys are fields of the items", () => {
  for (const { name, fields, required } of objectSchemas()) {
    for (const key of required) assert.ok(fields.has(key), `${name}.${key}`);
    for (const { name: field, schema, patchMergeKey } of fields.values()) {
      if (schema.type !== "list") continue;
      assert.equal(schema.listType === "map", schema.mapKeys !== undefined, `${name}.${field}`);
      const keys = [...(schema.mapKeys ?? []), ...(patchMergeKey === undefined ? [] : [patchMergeKey])];
      for (const key of keys) assert.ok(objectOf(schema.items).fields.has(key), `${name}.${field} ${key}`);
    }
  }
});

test("schemas do not depend on the order of lookups", () => {
  const forward = linkSchemas(schemaData);
  const backward = linkSchemas(schemaData);
  const names = [...forward.names()];
  for (const name of names) forward.get(name);
  for (const name of names.toReversed()) backward.get(name);

  for (const name of names) assert.deepEqual(outline(forward.get(name)), outline(backward.get(name)), name);
});

test("looking up an unknown type returns undefined, and schemaOf throws", () => {
  for (const name of ["", "Pod", "__proto__", `${CORE}.constructor`, `${CORE}.Pods`]) assert.equal(schemas.get(name), undefined, name);
  assert.throws(() => schemaOf(`${CORE}.Pods`), { message: `There is no built-in type "${CORE}.Pods" that is made of fields` });
  assert.throws(() => schemaOf(`${META}.Time`), /no built-in type/);
});

test("a field may have any name", () => {
  const schema = objectOf(
    setOf({
      Odd: {
        fields: [
          ["constructor", "string", 0, "omit"],
          ["__proto__", "int32", 0, "omit"],
        ],
      },
    }).get("q.Odd"),
  );

  assert.deepEqual([...schema.fields.keys()], ["constructor", "__proto__"]);
});

test("a map inside of a list does not inherit the list's merge strategy", () => {
  const { fields } = objectOf(setOf({ A: { fields: [["f", "[]{}string", 0, "omit", { merge: "atomic" }]] } }).get("q.A"));

  assert.deepEqual(fields.get("f")?.schema, { type: "list", items: { type: "map", values: { type: "string" } }, listType: "atomic" });
});

test("schema data that reference a missing type are rejected", () => {
  const set = setOf({ A: { fields: [["b", "p.B", 0, "keep"]] } });

  assert.throws(() => set.get("q.A"), { message: 'The schema data names the type "p.B" and does not have it' });
});

function objectSchemas(): ObjectSchema[] {
  return [...schemas.names()].map((name) => schemas.get(name)).filter((schema) => schema?.type === "object");
}

/** A schema without its references, which may be recursive. */
function outline(schema: Schema | undefined): unknown {
  if (schema?.type !== "object") return schema;
  const fields = [...schema.fields.values()].map((field) => `${field.name} ${field.zero} ${field.schema.type}`);
  const numbers = schema.protobuf?.map((field) => `${field.number} ${"field" in field ? field.field : field.inlined.name}`);
  return { fields, numbers, required: schema.required, kinds: schema.groupVersionKinds };
}
