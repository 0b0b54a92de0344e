import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../machinery/object.ts";
import type { Resource } from "../../machinery/resource.ts";
import {
  cellsOf,
  changedObject,
  columnNames,
  newObject,
  problemsOfChange,
  problemsOfNew,
  received,
  warningsOfNew,
} from "../../testing/kind.ts";
import { mutatingWebhookConfigurations } from "./mutating-webhook-configuration.ts";
import { validatingWebhookConfigurations } from "./validating-webhook-configuration.ts";

const RULE: JsonObject = { operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] };
const HOOK: JsonObject = {
  name: "a.example.com",
  clientConfig: { url: "https://x.y/z" },
  rules: [RULE],
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
};
const KINDS: readonly Resource[] = [validatingWebhookConfigurations, mutatingWebhookConfigurations];

function configuration(...webhooks: readonly JsonObject[]) {
  return { webhooks };
}

test("a webhook gets its defaults, idempotently, and reinvocationPolicy of a mutating one defaults to Never", () => {
  const service = { namespace: "a", name: "b" };
  const sent = configuration({ ...HOOK, clientConfig: { service } });
  const defaults = {
    failurePolicy: "Fail",
    matchPolicy: "Equivalent",
    namespaceSelector: {},
    objectSelector: {},
    timeoutSeconds: 10,
    clientConfig: { service: { ...service, port: 443 } },
    rules: [{ ...RULE, scope: "*" }],
  };

  assert.deepEqual(received(validatingWebhookConfigurations, sent).webhooks, [{ ...HOOK, ...defaults }]);
  assert.deepEqual(received(mutatingWebhookConfigurations, sent).webhooks, [{ ...HOOK, ...defaults, reinvocationPolicy: "Never" }]);
  for (const resource of KINDS) {
    const object = received(resource, sent);
    assert.equal(resource.served[0]?.defaults?.(object), object);
  }
});

const ROWS: readonly [title: string, webhook: JsonObject, problems: readonly string[]][] = [
  ["all it needs", HOOK, []],
  [
    "nothing",
    {},
    [
      "webhooks[0].name: Required value",
      "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
      "webhooks[0].clientConfig: Required value: exactly one of url or service is required",
      "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1",
    ],
  ],
  [
    "a short name",
    { ...HOOK, name: "a.b" },
    ['webhooks[0].name: Invalid value: "a.b": should be a domain with at least three segments separated by dots'],
  ],
  [
    "a name that is none",
    { ...HOOK, name: "A.b.c" },
    [
      "webhooks[0].name: Invalid value: \"A.b.c\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "words that mean nothing",
    { ...HOOK, failurePolicy: "x", matchPolicy: "y", sideEffects: "Some" },
    [
      'webhooks[0].failurePolicy: Unsupported value: "x": supported values: "Fail", "Ignore"',
      'webhooks[0].matchPolicy: Unsupported value: "y": supported values: "Equivalent", "Exact"',
      'webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"',
    ],
  ],
  [
    "no time",
    { ...HOOK, timeoutSeconds: 0 },
    ["webhooks[0].timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds"],
  ],
  [
    "too much time",
    { ...HOOK, timeoutSeconds: 31 },
    ["webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"],
  ],
  [
    "selectors that select nothing",
    {
      ...HOOK,
      namespaceSelector: { matchExpressions: [{ key: "a", operator: "In" }] },
      objectSelector: { matchExpressions: [{ key: "a", operator: "Like" }] },
    },
    [
      "webhooks[0].namespaceSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      'webhooks[0].objectSelector.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator',
    ],
  ],
  [
    "both a URL and a service",
    { ...HOOK, clientConfig: { url: "https://x", service: { name: "a", namespace: "b" } } },
    ["webhooks[0].clientConfig: Required value: exactly one of url or service is required"],
  ],
  [
    "a service without a name, of which upstream says that the namespace is missing",
    { ...HOOK, clientConfig: { service: { namespace: "b", port: 70_000 } } },
    [
      "webhooks[0].clientConfig.service.namespace: Required value",
      "webhooks[0].clientConfig.service.port: Invalid value: 70000: port is not valid: must be between 1 and 65535, inclusive",
    ],
  ],
  [
    "a service without a namespace",
    { ...HOOK, clientConfig: { service: { name: "a" } } },
    ["webhooks[0].clientConfig.service.name: Required value"],
  ],
  [
    "versions that are none, or twice",
    { ...HOOK, admissionReviewVersions: ["v2", "v2", "V1"] },
    [
      'webhooks[0].admissionReviewVersions[1]: Invalid value: "v2": duplicate version',
      "webhooks[0].admissionReviewVersions[2]: Invalid value: \"V1\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
      'webhooks[0].admissionReviewVersions: Invalid value: ["v2","v2","V1"]: must include at least one of v1, v1beta1',
    ],
  ],
  [
    "conditions without names and expressions, and two of one name",
    {
      ...HOOK,
      matchConditions: [
        { name: "", expression: " " },
        { name: "a", expression: "true" },
        { name: "a", expression: "true" },
        { name: "a/b/c", expression: "true" },
      ],
    },
    [
      "webhooks[0].matchConditions[0].expression: Required value",
      "webhooks[0].matchConditions[0].name: Required value",
      'webhooks[0].matchConditions[2].name: Duplicate value: "a"',
      "webhooks[0].matchConditions[3].name: Invalid value: \"a/b/c\": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
    ],
  ],
  [
    "too many conditions",
    { ...HOOK, matchConditions: Array.from({ length: 65 }, (_, index) => ({ name: `n${index}`, expression: "true" })) },
    ["webhooks[0].matchConditions: Too many: 65: must have at most 64 items"],
  ],
];

for (const [title, webhook, problems] of ROWS) {
  test(`a webhook with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    for (const resource of KINDS) assert.deepEqual(problemsOfNew(resource, configuration(webhook)), problems);
  });
}

test("duplicate webhook names and an unknown reinvocationPolicy are rejected", () => {
  for (const resource of KINDS) {
    assert.deepEqual(problemsOfNew(resource, configuration(HOOK, HOOK)), ['webhooks[1].name: Duplicate value: "a.example.com"']);
  }
  assert.deepEqual(problemsOfNew(mutatingWebhookConfigurations, configuration({ ...HOOK, reinvocationPolicy: "x" })), [
    'webhooks[0].reinvocationPolicy: Unsupported value: "x": supported values: "IfNeeded", "Never"',
  ]);
});

/** Values that could be stored before some rules existed. */
const LENIENT: readonly [title: string, stored: readonly JsonObject[], sent: readonly JsonObject[]][] = [
  ["side effects", [{ ...HOOK, sideEffects: "Some" }], [{ ...HOOK, sideEffects: "Unknown" }]],
  ["unknown versions", [{ ...HOOK, admissionReviewVersions: ["v2"] }], [{ ...HOOK, admissionReviewVersions: ["v3"] }]],
  ["equal names", [HOOK, HOOK], [HOOK, HOOK, HOOK]],
  [
    "values that no label has",
    [{ ...HOOK, objectSelector: { matchExpressions: [{ key: "a", operator: "In", values: ["a b"] }] } }],
    [{ ...HOOK, objectSelector: { matchExpressions: [{ key: "a", operator: "In", values: ["c d"] }] } }],
  ],
  [
    "conditions without names that stay as they are",
    [{ ...HOOK, matchConditions: [{ name: "", expression: "" }] }],
    [{ ...HOOK, timeoutSeconds: 5, matchConditions: [{ name: "", expression: "" }] }],
  ],
];

for (const [title, stored, sent] of LENIENT) {
  test(`a stored webhook with ${title} remains valid, and new ones are rejected`, () => {
    for (const resource of KINDS) {
      assert.deepEqual(problemsOfChange(resource, received(resource, configuration(...stored)), configuration(...sent)), []);
      assert.notDeepEqual(problemsOfChange(resource, received(resource, configuration(HOOK)), configuration(...sent)), []);
    }
  });
}

test("sideEffects must be a known value even where all are allowed", () => {
  const stored = received(validatingWebhookConfigurations, configuration({ ...HOOK, sideEffects: "Some" }));

  assert.deepEqual(problemsOfChange(validatingWebhookConfigurations, stored, configuration({ ...HOOK, sideEffects: "x" })), [
    'webhooks[0].sideEffects: Unsupported value: "x": supported values: "None", "NoneOnDryRun", "Some", "Unknown"',
  ]);
});

test("a change of the webhooks increments the generation", () => {
  for (const resource of KINDS) {
    const previous = newObject(resource, configuration(HOOK));
    const labelled = changedObject(resource, previous, { ...configuration(HOOK), metadata: { labels: { a: "b" } } });
    const emptied = changedObject(resource, previous, configuration());

    assert.deepEqual(
      [labelled, emptied].map((next) => resource.changesGeneration?.(next, previous)),
      [false, true],
    );
  }
});

test("the table of webhook configurations shows the number of webhooks", () => {
  for (const resource of KINDS) {
    assert.deepEqual(columnNames(resource), ["Name", "Webhooks", "Age"]);
    assert.deepEqual(Object.values(cellsOf(resource, newObject(resource, configuration(HOOK, HOOK)))), ["x", 2, "<unknown>"]);
    assert.equal(cellsOf(resource, newObject(resource, {}))["Webhooks"], 0);
  }
});

test("a reserved name produces a warning", () => {
  for (const resource of KINDS) {
    assert.deepEqual(warningsOfNew(resource, { metadata: { name: "a.static.k8s.io" } }), [
      'metadata.name: names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API',
    ]);
    assert.deepEqual(warningsOfNew(resource, {}), []);
  }
});
