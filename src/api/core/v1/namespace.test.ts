import assert from "node:assert/strict";
import test from "node:test";
import { validateObjectMeta } from "../../machinery/metadata-validation.ts";
import { errorsOf } from "../../machinery/findings.ts";
import {
  cellsOf,
  changedObject,
  columnNames,
  newObject,
  problems,
  problemsOfChange,
  problemsOfNew,
  testWrite,
} from "../../testing/kind.ts";
import { namespaces } from "./namespace.ts";

test("a new Namespace is active, carries its name as a label, and has the kubernetes finalizer", () => {
  const sent = {
    metadata: { labels: { "kubernetes.io/metadata.name": "other", a: "b" } },
    spec: { finalizers: ["a.b/c"] },
    status: { phase: "Odd" },
  };

  const { metadata, spec, status } = newObject(namespaces, sent);

  assert.deepEqual(metadata.labels, { "kubernetes.io/metadata.name": "x", a: "b" });
  assert.deepEqual(spec, { finalizers: ["a.b/c", "kubernetes"] });
  assert.deepEqual(status, { phase: "Active" });
});

test("the name label of a generated name is set once the name is known", () => {
  const unnamed = { apiVersion: "v1", kind: "Namespace", metadata: { name: "", generateName: "x-" } } as const;

  assert.equal(namespaces.served[0]?.defaults?.(unnamed), unnamed);
  const named = namespaces.prepareForCreate?.({ ...unnamed, metadata: { name: "x-abc", generateName: "x-" } }, testWrite);
  assert.deepEqual(named?.metadata.labels, { "kubernetes.io/metadata.name": "x-abc" });
});

test("the phase of an active Namespace defaults in a status write", () => {
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "x" } } as const;
  const { status } = namespaces.subresources;

  assert.equal(status?.of, "object");
  const written = status.prepareForUpdate(
    { ...namespace, status: { conditions: [] } },
    { ...namespace, status: { phase: "Active" } },
    testWrite,
  );
  assert.deepEqual(written.status, { conditions: [], phase: "Active" });
});

test("Namespace names are DNS labels and finalizers are qualified names", () => {
  assert.deepEqual(
    problems(
      errorsOf((errors) => validateObjectMeta(errors, { name: "a.b" }, { namespaced: false, validateName: namespaces.validateName })),
      "Namespace",
    ),
    ['metadata.name: Invalid value: "a.b": must not contain dots'],
  );
  assert.deepEqual(problemsOfNew(namespaces, { spec: { finalizers: ["foo"] } }), [
    'spec.finalizers: Invalid value: "foo": name is neither a standard finalizer name nor is it fully qualified',
  ]);
});

test("an empty finalizer name is rejected with all messages", () => {
  const found = problemsOfNew(namespaces, { spec: { finalizers: ["a/"] } });

  assert.equal(found[0], 'spec.finalizers: Invalid value: "a/": name part must be non-empty');
});

test("an update of the Namespace changes neither its finalizers nor its status", () => {
  const previous = newObject(namespaces, {});

  const next = changedObject(namespaces, previous, {
    metadata: { labels: { a: "b" } },
    spec: { finalizers: [] },
    status: { phase: "Terminating" },
  });

  assert.deepEqual(next.spec, { finalizers: ["kubernetes"] });
  assert.equal(next.status, previous.status);
});

test("finalize writes the finalizers and not the status, status writes the status and not the finalizers", () => {
  const previous = newObject(namespaces, {});
  const sent = { spec: { finalizers: ["a.b/d"] }, status: { phase: "Terminating" } };

  const finalized = changedObject(namespaces, previous, sent, "finalize");
  assert.deepEqual([finalized.spec, finalized.status], [{ finalizers: ["a.b/d"] }, { phase: "Active" }]);
  const reported = changedObject(namespaces, previous, sent, "status");
  assert.deepEqual([reported.spec, reported.status], [{ finalizers: ["kubernetes"] }, { phase: "Terminating" }]);

  assert.deepEqual(problemsOfChange(namespaces, previous, { spec: { finalizers: ["a/b", "foo"] } }, "finalize"), [
    'spec.finalizers[1]: Invalid value: "foo": name is neither a standard finalizer name nor is it fully qualified',
  ]);
});

const PHASES: readonly [phase: string, deletionTimestamp: string | undefined, problem: string | undefined][] = [
  ["Active", undefined, undefined],
  ["Terminating", "2024-01-01T00:00:00Z", undefined],
  ["Terminating", undefined, "status.Phase: Invalid value: \"Terminating\": may only be 'Active' if `deletionTimestamp` is empty"],
  [
    "Active",
    "2024-01-01T00:00:00Z",
    "status.Phase: Invalid value: \"Active\": may only be 'Terminating' if `deletionTimestamp` is not empty",
  ],
];

for (const [phase, deletionTimestamp, problem] of PHASES) {
  test(`phase ${phase} is ${problem === undefined ? "valid" : "rejected"} for a Namespace ${deletionTimestamp === undefined ? "without" : "with"} a deletionTimestamp`, () => {
    const metadata = deletionTimestamp === undefined ? {} : { deletionTimestamp };
    const previous = newObject(namespaces, { metadata });

    assert.deepEqual(
      problemsOfChange(namespaces, previous, { metadata, status: { phase } }, "status"),
      problem === undefined ? [] : [problem],
    );
  });
}

test("a deleted Namespace is Terminating and stays while its spec has finalizers", () => {
  const going = namespaces.deletion?.begin(newObject(namespaces, {}));

  assert.equal(going?.status?.phase, "Terminating");
  assert.equal(namespaces.deletion?.isPending(going), true);
  assert.equal(namespaces.deletion.isPending({ ...going, spec: {} }), false);
  assert.equal(namespaces.deletion.begin(going), going);
});

test("Namespaces have no deletecollection, and their table shows the phase", () => {
  assert.equal(namespaces.verbs.includes("deletecollection"), false);
  assert.deepEqual(columnNames(namespaces), ["Name", "Status", "Age"]);
  assert.deepEqual(cellsOf(namespaces, newObject(namespaces, {})), { Name: "x", Status: "Active", Age: "<unknown>" });
  assert.equal(namespaces.selectableFields["status.phase"]?.(newObject(namespaces, {})), "Active");
});
