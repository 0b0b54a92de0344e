import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { describeFieldError } from "./field-error.ts";
import { errorsOf } from "./findings.ts";
import {
  ANNOTATIONS_SIZE_MAX_BYTES,
  validateFieldManager,
  validateObjectMeta,
  validateObjectMetaUpdate,
  type MetadataRules,
} from "./metadata-validation.ts";
import { validateDns1035Label, validateDnsLabel, validateLabelValue, validateQualifiedName } from "./names.ts";
import type { ManagedFieldsEntry, ObjectMeta, OwnerReference } from "./object.ts";
import { stub } from "../../base/testing/stub.ts";

const owner: OwnerReference = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "u1" };
const stored: ObjectMeta = {
  name: "web",
  namespace: "default",
  uid: "u1",
  resourceVersion: "5",
  generation: 2,
  creationTimestamp: "2024-01-01T00:00:00Z",
};

function problemsOf(meta: Partial<ObjectMeta>, rules: Partial<MetadataRules> = {}): string[] {
  const whole = { name: "web", namespace: "default", ...meta } as ObjectMeta;
  return errorsOf((errors) => validateObjectMeta(errors, whole, { namespaced: true, ...rules })).map(describeFieldError);
}

function updateProblemsOf(next: Partial<ObjectMeta>, previous: Partial<ObjectMeta> = {}): string[] {
  return errorsOf((errors) => validateObjectMetaUpdate(errors, { ...stored, ...previous, ...next }, { ...stored, ...previous })).map(
    describeFieldError,
  );
}

test("valid metadata has no errors", () => {
  deepEqual(
    problemsOf({
      generateName: "web-",
      labels: { "example.com/App": "web", empty: "" },
      annotations: { "Example.COM/note": "anything: at all" },
      ownerReferences: [
        { ...owner, controller: true },
        { ...owner, name: "other" },
      ],
      finalizers: ["foregroundDeletion", "example.com/clean-up"],
      managedFields: [{ manager: "kubectl", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: {} }],
      generation: 1,
    }),
    [],
  );
  deepEqual(updateProblemsOf({ labels: { a: "b" } }), []);
});

test("a missing or malformed name is rejected", () => {
  deepEqual(problemsOf({ name: "" }), ["metadata.name: Required value: name or generateName is required"]);
  const [wrong] = validateDns1035Label("1");
  deepEqual(problemsOf({ name: "1" }, { validateName: validateDns1035Label }), [`metadata.name: Invalid value: "1": ${wrong}`]);
  deepEqual(problemsOf({ name: "1", generateName: "1-" }, { validateName: validateDns1035Label, at: "spec.template.metadata" }), [
    `spec.template.metadata.name: Invalid value: "1": ${wrong}`,
  ]);
  deepEqual(problemsOf({ generateName: "1x-" }, { validateName: validateDns1035Label }), [
    `metadata.generateName: Invalid value: "1x-": ${wrong}`,
  ]);
});

test("a namespace is required exactly for namespaced kinds", () => {
  deepEqual(problemsOf({ namespace: "" }), ["metadata.namespace: Required value"]);
  deepEqual(problemsOf({ namespace: "A" }), [`metadata.namespace: Invalid value: "A": ${validateDnsLabel("A")[0]}`]);
  deepEqual(problemsOf({}, { namespaced: false }), ["metadata.namespace: Forbidden: not allowed on this type"]);
});

test("errors in labels and annotations name the map, not the key", () => {
  deepEqual(problemsOf({ generation: -1, labels: { "a b": "-" }, annotations: { "a b": "-" } }), [
    "metadata.generation: Invalid value: -1: must be greater than or equal to 0",
    `metadata.labels: Invalid value: "a b": ${validateQualifiedName("a b")[0]}`,
    `metadata.labels: Invalid value: "-": ${validateLabelValue("-")[0]}`,
    `metadata.annotations: Invalid value: "a b": ${validateQualifiedName("a b")[0]}`,
  ]);
});

test("annotations are limited to a total size in bytes", () => {
  const half = ANNOTATIONS_SIZE_MAX_BYTES / 2;
  deepEqual(problemsOf({ annotations: { a: "é".repeat(half / 2), b: "x".repeat(half - 2) } }), []);
  deepEqual(problemsOf({ annotations: { a: "é".repeat(half / 2), b: "x".repeat(half - 1) } }), [
    "metadata.annotations: Too long: may not be more than 262144 bytes",
  ]);
});

test("owner references must be complete, must not be Events, and at most one is the controller", () => {
  deepEqual(problemsOf({ ownerReferences: [{} as OwnerReference] }), [
    'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
    'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
    'metadata.ownerReferences.name: Invalid value: "": must not be empty',
    'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
  ]);
  const event = { apiVersion: "v1", kind: "Event", name: "e", uid: "u" };
  deepEqual(problemsOf({ ownerReferences: [event] }), [
    `metadata.ownerReferences: Invalid value: ${JSON.stringify(event)}: /v1, Kind=Event is disallowed from being an owner`,
  ]);
  const two = [
    { ...owner, controller: true },
    { ...owner, name: "b", controller: true },
  ];
  deepEqual(problemsOf({ ownerReferences: two }), [
    `metadata.ownerReferences: Invalid value: ${JSON.stringify(two)}: Only one reference can have Controller set to true. Found "true" in references for ReplicaSet/web and ReplicaSet/b`,
  ]);
  for (const apiVersion of ["a/", "a/b/c"]) equal(problemsOf({ ownerReferences: [{ ...owner, apiVersion }] }).length, 1, apiVersion);
});

test("finalizers are qualified names, and orphan and foregroundDeletion exclude each other", () => {
  deepEqual(problemsOf({ finalizers: ["a b"] }), [`metadata.finalizers: Invalid value: "a b": ${validateQualifiedName("a b")[0]}`]);
  deepEqual(problemsOf({ finalizers: ["orphan", "foregroundDeletion"] }), [
    'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
  ]);
});

test("managedFields entries must name a valid operation, manager and fieldsType", () => {
  const entries = [
    stub<ManagedFieldsEntry>({ operation: "Guess", fieldsType: "FieldsV2" }),
    { operation: "Update", manager: "m".repeat(129), subresource: "s".repeat(257) } as const,
  ];
  deepEqual(problemsOf({ managedFields: entries }), [
    'metadata.managedFields[0].operation: Invalid value: "Guess": must be `Apply` or `Update`',
    'metadata.managedFields[0].fieldsType: Invalid value: "FieldsV2": must be `FieldsV1`',
    "metadata.managedFields[1].manager: Too long: may not be more than 128 bytes",
    "metadata.managedFields[1].subresource: Too long: may not be more than 256 bytes",
  ]);
});

test("a field manager must consist of printable characters", () => {
  deepEqual(errorsOf((errors) => validateFieldManager(errors, "é kubectl\t", "fieldManager")).map(describeFieldError), [
    'fieldManager: Invalid value: "é kubectl\\t": invalid character U+0009 (at position 10)',
  ]);
});

test("an update cannot change immutable metadata", () => {
  deepEqual(
    updateProblemsOf({
      name: "b",
      namespace: "",
      uid: "u2",
      creationTimestamp: "2025-01-01T00:00:00Z",
      deletionTimestamp: "2025-01-01T00:00:00Z",
      deletionGracePeriodSeconds: 30,
    }),
    [
      'metadata.name: Invalid value: "b": field is immutable',
      'metadata.namespace: Invalid value: "": field is immutable',
      'metadata.uid: Invalid value: "u2": field is immutable',
      'metadata.creationTimestamp: Invalid value: "2025-01-01T00:00:00Z": field is immutable',
      'metadata.deletionTimestamp: Invalid value: "2025-01-01T00:00:00Z": field is immutable',
      "metadata.deletionGracePeriodSeconds: Invalid value: 30: field is immutable",
    ],
  );
});

test("an update requires a resourceVersion and must not decrease the generation", () => {
  deepEqual(updateProblemsOf({ resourceVersion: "", generation: 1 }), [
    'metadata.resourceVersion: Invalid value: "": must be specified for an update',
    "metadata.generation: Invalid value: 1: must not be decremented",
  ]);
});

test("an object that is being deleted accepts no new finalizers but may lose some", () => {
  const deleting = { deletionTimestamp: "2025-01-01T00:00:00Z", finalizers: ["a", "b"] };
  deepEqual(updateProblemsOf({ finalizers: ["b"] }, deleting), []);
  deepEqual(updateProblemsOf({ finalizers: ["b", "d", "c"] }, deleting), [
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"c", "d"}',
  ]);
  deepEqual(updateProblemsOf({ finalizers: ["c"] }), []);
});

test("an update also validates the mutable metadata", () => {
  const errors = updateProblemsOf({
    labels: { a: "-" },
    annotations: { "a b": "" },
    ownerReferences: [{ ...owner, uid: "" }],
    managedFields: [{ operation: "Update", manager: "m".repeat(129) }],
  });
  deepEqual(
    errors.map((error) => error.split(":")[0]),
    ["metadata.labels", "metadata.annotations", "metadata.ownerReferences.uid", "metadata.managedFields[0].manager"],
  );
});
