import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { rounds, testSeed } from "../../../testing/rounds.ts";
import { deepFreeze } from "../../../base/deep.ts";
import type { Json, JsonObject } from "../object.ts";
import { decodeBySchema } from "./decode.ts";
import { MISTAKES_MAX } from "./json-parser.ts";
import { objectOf } from "./testing/arbitrary.ts";
import { CHOOSING, KEEPING, POD } from "./testing/schemas.ts";

const settings = { seed: testSeed(), numRuns: rounds({ quick: 100, full: 3_000 }) };

const decode = (value: Json) => decodeBySchema(deepFreeze(value), POD);
/** Members that are written into every Pod of the test schema. */
const ZEROS = { metadata: {}, spec: {}, status: {} };

test("a canonical object is returned as is, and so are the canonical parts of another", () => {
  const clean = { metadata: { name: "a", labels: { b: "c" } }, spec: { containers: [{ name: "a", resources: {} }] }, status: {} };

  assert.equal(decode(clean).object, clean);
  const changed = decode({ ...clean, metadata: { name: "a", namespace: "" } }).object as JsonObject;
  assert.deepEqual(changed, { ...clean, metadata: { name: "a" } });
  assert.equal(changed["spec"], clean.spec);
});

const ROWS: readonly { title: string; given: JsonObject; gives: JsonObject }[] = [
  { title: "nulls are dropped", given: { metadata: null, spec: { nodeSelector: null, priority: null, containers: null } }, gives: ZEROS },
  {
    title: "a zero is dropped where Go would leave it out",
    given: { metadata: { name: "", generation: 0, labels: {}, finalizers: [] } },
    gives: ZEROS,
  },
  {
    title: "an explicit zero is kept where Go has a pointer",
    given: { spec: { priority: 0, containers: [] } },
    gives: { ...ZEROS, spec: { priority: 0, containers: [] } },
  },
  {
    title: "zeros are written where Go writes them, structs with what they write themselves",
    given: { spec: { containers: [{ ports: [{}], livenessProbe: { httpGet: {} } }] } },
    gives: {
      ...ZEROS,
      spec: { containers: [{ ports: [{ containerPort: 0 }], livenessProbe: { httpGet: { port: 0 } }, name: "", resources: {} }] },
    },
  },
  {
    title: "null in a list or map is the zero value",
    given: {
      spec: { containers: [null, { name: "a", args: [null, "b"], resources: { limits: { cpu: null } } }], nodeSelector: { a: null } },
    },
    gives: {
      ...ZEROS,
      spec: {
        containers: [
          { name: "", resources: {} },
          { name: "a", args: ["", "b"], resources: { limits: { cpu: "0" } } },
        ],
        nodeSelector: { a: "" },
      },
    },
  },
  {
    title: "quantities become canonical, also those that are numbers",
    given: { spec: { containers: [{ name: "a", resources: { limits: { a: "1000m", b: 1.5, c: " 1 ", d: "0.5Gi", e: 2 } } }] } },
    gives: { ...ZEROS, spec: { containers: [{ name: "a", resources: { limits: { a: "1", b: "1500m", c: "1", d: "512Mi", e: "2" } } }] } },
  },
  {
    title: "times are in UTC, without or with six digits of a fraction",
    given: { metadata: { creationTimestamp: "2026-01-02T03:04:05.9+02:00" }, status: { renewTime: "2026-01-02T03:04:05.123456+02:00" } },
    gives: { ...ZEROS, metadata: { creationTimestamp: "2026-01-02T01:04:05Z" }, status: { renewTime: "2026-01-02T01:04:05.123456Z" } },
  },
  {
    title: "the time that was never set is dropped, and kept where there is a pointer",
    given: { metadata: { creationTimestamp: "0001-01-01T00:00:00Z", deletionTimestamp: "0001-01-01T00:00:00Z" } },
    gives: { ...ZEROS, metadata: { deletionTimestamp: "0001-01-01T00:00:00Z" } },
  },
  {
    title: "bytes become canonical",
    given: { data: { a: "YR==", b: "", c: "Y\nQ==" } },
    gives: { ...ZEROS, data: { a: "YQ==", b: "", c: "YQ==" } },
  },
  {
    title: "a float is a float, however large it is",
    given: { ratios: [9007199254740993n] },
    gives: { ...ZEROS, ratios: [9007199254740992] },
  },
  { title: "durations become canonical", given: { spec: { timeout: "90s" } }, gives: { ...ZEROS, spec: { timeout: "1m30s" } } },
  {
    title: "values of any shape are not touched",
    given: { extension: { a: null, b: [0, ""] }, fieldsV1: {} },
    gives: { ...ZEROS, extension: { a: null, b: [0, ""] }, fieldsV1: {} },
  },
  {
    title: "whole numbers of 64 bits are kept, and a port may be a name",
    given: {
      metadata: { generation: 9223372036854775807n },
      spec: { containers: [{ name: "a", resources: {}, livenessProbe: { httpGet: { port: "http" } } }] },
    },
    gives: {
      ...ZEROS,
      metadata: { generation: 9223372036854775807n },
      spec: { containers: [{ name: "a", resources: {}, livenessProbe: { httpGet: { port: "http" } } }] },
    },
  },
];
for (const { title, given, gives } of ROWS) {
  test(title, () => {
    const { object, unknownFields } = decode(given);

    assert.deepEqual(object, gives);
    assert.deepEqual(unknownFields, []);
    assert.equal(decodeBySchema(object, POD).object, object, "there must be nothing left to do");
  });
}

test("unknown fields are dropped and reported with their path", () => {
  const { object, unknownFields } = decode({
    foo: 1,
    spec: { bar: {}, containers: [{ name: "a", resources: { x: null } }] },
    constructor: 1,
  });

  assert.deepEqual(object, { ...ZEROS, spec: { containers: [{ name: "a", resources: {} }] } });
  assert.deepEqual(unknownFields, ["foo", "spec.bar", "spec.containers[0].resources.x", "constructor"]);
});

test("unknown fields are reported up to upstream's limit", () => {
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`x${index}`, 1]));

  assert.equal(decode(many).unknownFields.length, MISTAKES_MAX);
});

test("a field called __proto__ is an unknown field like any other, and a label like any other", () => {
  const { object, unknownFields } = decode(JSON.parse('{"__proto__":{"a":1},"metadata":{"labels":{"__proto__":null}}}') as Json);

  assert.deepEqual(unknownFields, ["__proto__"]);
  assert.deepEqual(Object.keys(object as object), ["metadata", "spec", "status"]);
  const { labels } = (object as { metadata: { labels: object } }).metadata;
  assert.deepEqual(Object.getOwnPropertyDescriptor(labels, "__proto__")?.value, "");
});

test("unknown fields are kept where the schema preserves them", () => {
  const object = { kept: { known: "a", other: { deep: null } } };

  assert.deepEqual(decodeBySchema(object, KEEPING), { object, unknownFields: [] });
});

/** Messages of upstream 1.36 for the same mistakes. */
const WRONG: readonly (readonly [given: Json, message: string])[] = [
  [[], "json: cannot unmarshal array into Go value of type v1.Pod"],
  [{ spec: "x" }, "json: cannot unmarshal string into Go struct field Pod.spec of type v1.PodSpec"],
  [{ spec: { containers: {} } }, "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container"],
  [{ spec: { containers: [1] } }, "json: cannot unmarshal number into Go struct field PodSpec.spec.containers of type v1.Container"],
  [
    { spec: { containers: [{ ports: [{ containerPort: "x" }] }] } },
    "json: cannot unmarshal string into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32",
  ],
  [{ spec: { priority: 2147483648 } }, "json: cannot unmarshal number 2147483648 into Go struct field PodSpec.spec.priority of type int32"],
  [{ spec: { graceSeconds: 1.5 } }, "json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.graceSeconds of type int64"],
  [{ spec: { hostNetwork: "yes" } }, "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool"],
  [{ spec: { nodeSelector: { a: 1 } } }, "json: cannot unmarshal number into Go struct field PodSpec.spec.nodeSelector of type string"],
  [
    { spec: { nodeSelector: "a" } },
    "json: cannot unmarshal string into Go struct field PodSpec.spec.nodeSelector of type map[string]string",
  ],
  [
    { spec: { containers: [{ livenessProbe: { httpGet: { port: true } } }] } },
    "json: cannot unmarshal bool into Go struct field HTTPGetAction.spec.containers.livenessProbe.ProbeHandler.httpGet.port of type int32",
  ],
  [{ data: { a: 5 } }, "json: cannot unmarshal number into Go struct field Pod.data of type []uint8"],
  [{ data: { a: "!!" } }, "illegal base64 data at input byte 0"],
  [
    { metadata: { creationTimestamp: 1 } },
    "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string",
  ],
  [{ metadata: { creationTimestamp: "x" } }, 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
  [
    { status: { renewTime: "2026-01-02T03:04:05Z" } },
    'parsing time "2026-01-02T03:04:05Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
  ],
  [
    { spec: { containers: [{ resources: { limits: { cpu: true } } }] } },
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  ],
  [{ spec: { timeout: "5" } }, 'time: missing unit in duration "5"'],
  [{ status: { load: "1" } }, "json: cannot unmarshal string into Go struct field PodStatus.status.load of type float64"],
];
for (const [given, message] of WRONG) {
  test(`decoding ${JSON.stringify(given)} fails with upstream's message`, () => {
    assert.throws(() => decode(given), { name: "DecodeError", message });
  });
}

test("of several values of a wrong type the first is reported, but a malformed text fails at once", () => {
  assert.throws(() => decode({ spec: { hostNetwork: 1, priority: "x" } }), /hostNetwork/);
  assert.throws(() => decode({ spec: { hostNetwork: 1, timeout: "x" } }), /invalid duration/);
});

test("decoding is idempotent for any object", () => {
  fc.assert(
    fc.property(objectOf(POD), (object) => {
      assert.equal(decodeBySchema(object, POD).object, object);
    }),
    settings,
  );
});

const CHOSEN: readonly { title: string; given: JsonObject; gives: JsonObject }[] = [
  {
    title: "an object, with its unknown fields left out and its zeros dropped",
    given: { items: { type: "a", nullable: false, bar: 1 }, additional: { bar: 1 } },
    gives: { items: { type: "a" }, additional: {} },
  },
  {
    title: "a list, whose items are objects of the type or texts",
    given: { items: [{ type: "a", bar: 1 }, null], dependencies: { a: ["x", null] } },
    gives: { items: [{ type: "a" }, {}], dependencies: { a: ["x", ""] } },
  },
  { title: "a boolean, kept although it is false", given: { additional: false }, gives: { additional: false } },
  {
    title: "nothing, if it is neither an object nor a list of one item or more",
    given: { items: [], dependencies: { a: [], b: 5, c: null } },
    gives: { dependencies: { a: null, b: null, c: null } },
  },
];
for (const { title, given, gives } of CHOSEN) {
  test(`a union is decoded as ${title}`, () => {
    assert.deepEqual(decodeBySchema(deepFreeze(given), CHOOSING), { object: gives, unknownFields: [] });
  });
}

test("unknown fields beside a union are reported, and those inside are not", () => {
  const { unknownFields } = decodeBySchema({ bar: 1, items: { bar: 1 }, baz: 1 }, CHOOSING);

  assert.deepEqual(unknownFields, ["bar", "baz"]);
});

const NOT_CHOSEN: readonly (readonly [given: JsonObject, message: string])[] = [
  [{ additional: 7 }, "boolean or JSON schema expected"],
  [{ additional: [] }, "boolean or JSON schema expected"],
  [{ items: { type: 7 } }, "json: cannot unmarshal number into Go struct field Props.items.type of type string"],
  [{ dependencies: { a: [1] } }, "json: cannot unmarshal number into Go struct field Choosing.dependencies of type string"],
  // An error in a union ends decoding, so it is reported in spite of earlier errors.
  [{ foo: 7, items: { type: true } }, "json: cannot unmarshal bool into Go struct field Props.items.type of type string"],
  [{ foo: 7, items: { type: "a" } }, "json: cannot unmarshal number into Go struct field Choosing.foo of type string"],
];
for (const [given, message] of NOT_CHOSEN) {
  test(`decoding ${JSON.stringify(given)} fails: ${message}`, () => {
    assert.throws(() => decodeBySchema(given, CHOOSING), { name: "DecodeError", message });
  });
}
