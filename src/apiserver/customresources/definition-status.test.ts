import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { CustomResourceDefinition, CustomResourceDefinitionNames } from "../../api/generated/apiextensions.k8s.io/v1.ts";
import { withNextStatus, type UsedNames } from "./definition-status.ts";

const NAMES: CustomResourceDefinitionNames = { plural: "foos", singular: "foo", kind: "Foo", listKind: "FooList", shortNames: ["f"] };
const FREE: UsedNames = { resources: new Set(), kinds: new Set() };
const NOW_MS = Date.UTC(2026, 0, 1);

function definition(group: string, annotations: Readonly<Record<string, string>> = {}): CustomResourceDefinition {
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `foos.${group}`, annotations },
    spec: { group, scope: "Namespaced", names: NAMES, versions: [version] },
  };
}

function conditions({ status }: CustomResourceDefinition): readonly string[] {
  return (status?.conditions ?? []).map(({ type, status: state, reason }) => `${type}=${state} ${reason}`);
}

const rows: readonly { readonly name: string; readonly used: UsedNames; readonly conditions: readonly string[] }[] = [
  { name: "free names are accepted", used: FREE, conditions: ["NamesAccepted=True NoConflicts", "Established=True InitialNamesAccepted"] },
  {
    name: "a used plural is refused",
    used: { resources: new Set(["foos"]), kinds: new Set() },
    conditions: ["NamesAccepted=False PluralConflict", "Established=False NotAccepted"],
  },
  {
    name: "a used short name is refused",
    used: { resources: new Set(["f"]), kinds: new Set() },
    conditions: ["NamesAccepted=False ShortNamesConflict", "Established=False NotAccepted"],
  },
  {
    name: "of several conflicts the last is reported",
    used: { resources: new Set(["foo"]), kinds: new Set(["Foo", "FooList"]) },
    conditions: ["NamesAccepted=False ListKindConflict", "Established=False NotAccepted"],
  },
];

for (const { name, used, conditions: expected } of rows) {
  test(`status of a definition: ${name}`, () => {
    deepEqual(conditions(withNextStatus(definition("example.com"), used, NOW_MS)), expected);
  });
}

test("status of a definition: names that are free are accepted beside one that is not", () => {
  const { status } = withNextStatus(definition("example.com"), { resources: new Set(["f"]), kinds: new Set() }, NOW_MS);

  deepEqual(status?.acceptedNames, { plural: "foos", singular: "foo", kind: "Foo", listKind: "FooList" });
});

test("status of a definition: a complete status stays the same value", () => {
  const next = withNextStatus(definition("example.com"), FREE, NOW_MS);

  equal(withNextStatus(next, FREE, NOW_MS + 1_000), next);
});

const approvals: readonly (readonly [annotation: string, condition: string])[] = [
  ["https://github.com/kubernetes/kubernetes/pull/1", "True ApprovedAnnotation"],
  ["unapproved, a test", "False UnapprovedAnnotation"],
  ["", "False MissingAnnotation"],
  ["nonsense", "False InvalidAnnotation"],
];

for (const [annotation, condition] of approvals) {
  test(`status of a definition: a protected group with the approval ${JSON.stringify(annotation)} is ${condition}`, () => {
    const given = definition("foo.k8s.io", annotation === "" ? {} : { "api-approved.kubernetes.io": annotation });

    deepEqual(conditions(withNextStatus(given, FREE, NOW_MS)).at(-1), `KubernetesAPIApprovalPolicyConformant=${condition}`);
  });
}
