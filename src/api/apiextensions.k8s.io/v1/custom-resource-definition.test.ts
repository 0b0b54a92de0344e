import assert from "node:assert/strict";
import { test } from "node:test";
import type { CustomResourceDefinition, CustomResourceDefinitionStatus } from "../../generated/apiextensions.k8s.io/v1.ts";
import { cellsOf, changedObject, columnNames, newObject, problemsOfChange, type Sent, warningsOfNew } from "../../testing/kind.ts";
import { customResourceDefinitions } from "./custom-resource-definition.ts";
import { aDefinition, aVersion, withSchema } from "./testing/definition.ts";

const ESTABLISHED: CustomResourceDefinitionStatus = {
  conditions: [{ type: "Established", status: "True" }],
  acceptedNames: { plural: "crontabs", kind: "CronTab" },
  storedVersions: ["v1"],
};

function stored(sent: Sent = aDefinition(), status: CustomResourceDefinitionStatus = ESTABLISHED): CustomResourceDefinition {
  return { ...newObject(customResourceDefinitions, sent), status };
}

test("names of a CustomResourceDefinition are completed, and the conversion strategy defaults to None", () => {
  const { spec } = newObject(customResourceDefinitions, aDefinition());

  assert.deepEqual(spec.names, { plural: "crontabs", kind: "CronTab", singular: "crontab", listKind: "CronTabList" });
  assert.deepEqual(spec.conversion, { strategy: "None" });
});

test("given names are kept, and without a kind none are derived", () => {
  const names = { plural: "crontabs", kind: "CronTab", singular: "tab", listKind: "Tabs" };

  assert.deepEqual(newObject(customResourceDefinitions, aDefinition({ names })).spec.names, names);
  assert.deepEqual(newObject(customResourceDefinitions, aDefinition({ names: { plural: "a" } })).spec.names, { plural: "a", kind: "" });
});

test("the port of a webhook Service defaults to 443", () => {
  const webhook = { clientConfig: { service: { name: "a", namespace: "b" } }, conversionReviewVersions: ["v1"] };

  const { spec } = newObject(customResourceDefinitions, aDefinition({ conversion: { strategy: "Webhook", webhook } }));

  assert.equal(spec.conversion?.webhook?.clientConfig?.service?.port, 443);
});

test("a new CustomResourceDefinition has an empty status", () => {
  const { status } = newObject(customResourceDefinitions, {
    ...aDefinition(),
    status: { storedVersions: ["v0"], acceptedNames: { plural: "x" } },
  });

  assert.deepEqual(status, { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions: ["v1"] });
});

test("an update of a CustomResourceDefinition keeps its status, except for a new stored version", () => {
  const versions = [aVersion({ storage: false }), aVersion({ name: "v2" })];

  const next = changedObject(customResourceDefinitions, stored(), { ...aDefinition({ versions }), status: { storedVersions: ["x"] } });

  assert.deepEqual(next.status, { ...ESTABLISHED, storedVersions: ["v1", "v2"] });
});

test("a status write of a CustomResourceDefinition keeps the spec, and may change metadata as upstream", () => {
  const sent = { ...aDefinition({ scope: "Cluster" }, { labels: { a: "b" } }), status: { storedVersions: ["v1"] } };

  const next = changedObject(customResourceDefinitions, stored(), sent, "status");

  assert.equal(next.spec.scope, "Namespaced");
  assert.deepEqual(next.metadata.labels, { a: "b" });
  assert.deepEqual(next.status, { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions: ["v1"] });
});

test("only a change of the spec increments the generation of a CustomResourceDefinition", () => {
  const { changesGeneration } = customResourceDefinitions;
  const before = stored();

  assert.equal(changesGeneration?.(stored(aDefinition({ scope: "Cluster" })), before), true);
  assert.equal(changesGeneration?.({ ...before, status: {} }, before), false);
});

const IMMUTABLE = "field is immutable";
const GONE = "missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration";

const WEBHOOK = { clientConfig: { service: { name: "b", namespace: "c" } }, conversionReviewVersions: ["v1"] };
const HOOKED = aDefinition({ conversion: { strategy: "Webhook", webhook: WEBHOOK } });
function hookedWith(caBundle: string): Sent {
  return aDefinition({ conversion: { strategy: "Webhook", webhook: { ...WEBHOOK, clientConfig: { ...WEBHOOK.clientConfig, caBundle } } } });
}

const NOT_ESTABLISHED: CustomResourceDefinitionStatus = { ...ESTABLISHED, conditions: [{ type: "Established", status: "False" }] };
const KUBERNETES = "api-approved.kubernetes.io";
function approved(text: string): Sent {
  return aDefinition({ group: "k8s.io" }, { name: "crontabs.k8s.io", annotations: { [KUBERNETES]: text } });
}

const WITHOUT_SCHEMAS = aDefinition({
  versions: [aVersion({ schema: undefined }), aVersion({ name: "v2", schema: undefined, served: false, storage: false })],
});

const changes: readonly (readonly [it: string, previous: CustomResourceDefinition, sent: Sent, problems: readonly string[]])[] = [
  [
    "what objects are stored under may not change once it is established",
    stored(),
    aDefinition({ scope: "Cluster", group: "x.example.com", names: { plural: "foos", kind: "Other" } }),
    [
      `spec.scope: Invalid value: "Cluster": ${IMMUTABLE}`,
      `spec.names.kind: Invalid value: "Other": ${IMMUTABLE}`,
      `spec.group: Invalid value: "x.example.com": ${IMMUTABLE}`,
      `spec.names.plural: Invalid value: "foos": ${IMMUTABLE}`,
    ],
  ],
  [
    "scope and kind may change before",
    stored(aDefinition(), NOT_ESTABLISHED),
    aDefinition({ scope: "Cluster", names: { plural: "crontabs", kind: "Other" } }),
    [],
  ],
  [
    "a version stays for as long as objects are stored in it",
    stored(),
    aDefinition({ versions: [aVersion({ name: "v2" })] }),
    [
      `status.storedVersions[0]: Invalid value: "v1": ${GONE} ensures no data remains persisted in v1 and removes v1 from status.storedVersions`,
    ],
  ],
  [
    "unknown fields may not come to be preserved",
    stored(),
    aDefinition({ preserveUnknownFields: true }),
    [
      "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead",
    ],
  ],
  [
    "unknown fields may continue to be preserved",
    { ...stored(), spec: { ...stored().spec, preserveUnknownFields: true } },
    aDefinition({ preserveUnknownFields: true }),
    [],
  ],
  [
    "a schema that was never there may still not be, where unknown fields are preserved or nothing is served",
    stored(WITHOUT_SCHEMAS),
    WITHOUT_SCHEMAS,
    ["spec.versions[0].schema.openAPIV3Schema: Required value: because otherwise all fields are pruned"],
  ],
  [
    "a bundle of certificates that is none is refused once it is used",
    stored(HOOKED),
    hookedWith("aGk="),
    [
      'spec.conversion.webhookClientConfig.caBundle: Invalid value: "aGk=": unable to load root certificates: unable to parse bytes as PEM block',
    ],
  ],
  [
    "a bundle of something else is refused too",
    stored(HOOKED),
    hookedWith("LS0tLS1CRUdJTiBGT08tLS0tLQpNVEl6Ci0tLS0tRU5EIEZPTy0tLS0tCg=="),
    [
      'spec.conversion.webhookClientConfig.caBundle: Invalid value: "LS0tLS1CRUdJTiBGT08tLS0tLQpNVEl6Ci0tLS0tRU5EIEZPTy0tLS0tCg==": unable to load root certificates: no valid certificate authority data seen',
    ],
  ],
  ["a bundle that was none before may be none", stored(hookedWith("eHg=")), hookedWith("aGk="), []],
  ["a bundle that is not used yet may be none", stored(HOOKED, NOT_ESTABLISHED), hookedWith("aGk="), []],
  ["an approval may be withdrawn if there was none", stored(approved("unapproved")), approved("unapproved, still"), []],
  [
    "an approval may not become none",
    stored(approved("unapproved")),
    approved("x"),
    [
      `metadata.annotations[${KUBERNETES}]: Invalid value: "x": protected groups must have approval annotation "${KUBERNETES}" with either a URL or a reason starting with "unapproved", see https://github.com/kubernetes/enhancements/pull/1111`,
    ],
  ],
  [
    "a schema without structure may stay so while unknown fields are preserved",
    { ...stored(withSchema({ properties: { a: { type: "file" } } })), spec: lenientSpec() },
    { metadata: aDefinition().metadata ?? {}, spec: { ...lenientSpec(), scope: "Namespaced" } },
    [],
  ],
];

function lenientSpec() {
  return { ...stored(withSchema({ properties: { a: { type: "file" } } })).spec, preserveUnknownFields: true };
}

for (const [it, previous, sent, problems] of changes) {
  test(`validation of a CustomResourceDefinition: ${it}`, () => {
    assert.deepEqual(problemsOfChange(customResourceDefinitions, previous, sent), problems);
  });
}

test("accepted names in the status are DNS labels too", () => {
  const acceptedNames = { plural: "A_", singular: "b", kind: "c", listKind: "c", shortNames: ["E"] };
  const label =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

  assert.deepEqual(problemsOfChange(customResourceDefinitions, stored(), { ...aDefinition(), status: { acceptedNames } }, "status"), [
    `status.acceptedNames.plural: Invalid value: "A_": ${label}`,
    `status.acceptedNames.shortNames[0]: Invalid value: "E": ${label}`,
    'status.acceptedNames.listKind: Invalid value: "c": kind and listKind may not be the same',
  ]);
});

test("an unrecognized format produces a warning for each occurrence, but not if it was there before", () => {
  const schema = (...formats: readonly string[]) =>
    withSchema({
      type: "object",
      properties: Object.fromEntries(formats.map((format, index) => [`p${index}`, { type: "string", format }])),
    });
  const { warnings } = customResourceDefinitions;

  assert.deepEqual(warningsOfNew(customResourceDefinitions, schema("foo", "date", "foo")), [
    'unrecognized format "foo"',
    'unrecognized format "foo"',
  ]);
  assert.deepEqual([...(warnings?.(stored(schema("foo", "bar")), stored(schema("foo"))) ?? [])], ['unrecognized format "bar"']);
});

test("the table of CustomResourceDefinitions shows the creation timestamp", () => {
  const definition = { ...stored(), metadata: { name: "crontabs.example.com", creationTimestamp: "2026-01-01T00:00:00Z" } };

  assert.deepEqual(columnNames(customResourceDefinitions), ["Name", "Created At"]);
  assert.deepEqual(cellsOf(customResourceDefinitions, definition), { Name: "crontabs.example.com", "Created At": "2026-01-01T00:00:00Z" });
});
