import assert from "node:assert/strict";
import test from "node:test";
import type { Namespace } from "../../api/generated/core/v1.ts";
import type { DiscoveredKind } from "../../client/discovery.ts";
import { conditionsOf, type NamespaceFindings } from "./namespace-conditions.ts";
import type { KindRemainder } from "./namespace-content.ts";

const NOW_MS = Date.parse("2026-01-01T00:00:10Z");
const GOING: Namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "space" }, status: { phase: "Terminating" } };
const WELL: NamespaceFindings = { undiscovered: [], problems: [], remainders: [] };

function left(plural: string, group: string, count: number, finalizers: Readonly<Record<string, number>>): KindRemainder {
  const kind: DiscoveredKind = {
    kind: "",
    plural,
    scope: "Namespaced",
    storage: { group, version: "v1" },
    singular: "",
    shortNames: [],
    categories: [],
    verbs: [],
  };
  return { kind, count, finalizers: new Map(Object.entries(finalizers)), estimateSeconds: 15 };
}

test("without problems every condition is False, in upstream's order", () => {
  assert.deepEqual(
    conditionsOf(GOING, WELL, NOW_MS).map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`),
    [
      "NamespaceDeletionDiscoveryFailure=False ResourcesDiscovered: All resources successfully discovered",
      "NamespaceDeletionGroupVersionParsingFailure=False ParsedGroupVersions: All legacy kube types successfully parsed",
      "NamespaceDeletionContentFailure=False ContentDeleted: All content successfully deleted, may be waiting on finalization",
      "NamespaceContentRemaining=False ContentRemoved: All content successfully removed",
      "NamespaceFinalizersRemaining=False ContentHasNoFinalizers: All content-preserving finalizers finished",
    ],
  );
});

const ROWS: readonly { readonly it: string; readonly findings: Partial<NamespaceFindings>; readonly says: readonly string[] }[] = [
  {
    it: "groups that do not respond",
    findings: {
      undiscovered: [
        { groupVersion: "metrics.k8s.io/v1beta1", error: new Error("the server is currently unable to handle the request") },
        { groupVersion: "a.example.com/v1", error: new Error("no") },
      ],
    },
    says: [
      "NamespaceDeletionDiscoveryFailure DiscoveryFailed Discovery failed for some groups, 2 failing: unable to retrieve the complete list of server APIs: a.example.com/v1: no, metrics.k8s.io/v1beta1: the server is currently unable to handle the request",
    ],
  },
  {
    it: "what could not be deleted",
    findings: { problems: ["second", "first"] },
    says: ["NamespaceDeletionContentFailure ContentDeletionFailed Failed to delete all resource types, 2 remaining: first, second"],
  },
  {
    it: "what remains, and the finalizers of all kinds together",
    findings: { remainders: [left("secrets", "", 2, { b: 2, a: 1 }), left("pods", "", 0, {}), left("deployments", "apps", 1, { b: 1 })] },
    says: [
      "NamespaceContentRemaining SomeResourcesRemain Some resources are remaining: deployments.apps has 1 resource instances, secrets. has 2 resource instances",
      "NamespaceFinalizersRemaining SomeFinalizersRemain Some content in the namespace has finalizers remaining: a in 1 resource instances, b in 3 resource instances",
    ],
  },
];

for (const { it, findings, says } of ROWS) {
  test(`a namespace reports ${it}`, () => {
    const wrong = conditionsOf(GOING, { ...WELL, ...findings }, NOW_MS).filter(({ status }) => status === "True");
    assert.deepEqual(
      wrong.map(({ type, reason, message }) => `${type} ${reason} ${message}`),
      says,
    );
  });
}

test("unchanged conditions are the same list, and a transition time changes only with the status", () => {
  const first = { ...GOING, status: { conditions: conditionsOf(GOING, { ...WELL, problems: ["one"] }, NOW_MS) } };

  assert.equal(conditionsOf(first, { ...WELL, problems: ["one"] }, NOW_MS + 5_000), first.status.conditions);
  const other = conditionsOf(first, { ...WELL, problems: ["other"] }, NOW_MS + 5_000)[2];
  assert.deepEqual([other?.lastTransitionTime, other?.message?.endsWith("other")], ["2026-01-01T00:00:10Z", true]);
  const well = conditionsOf(first, WELL, NOW_MS + 5_000)[2];
  assert.deepEqual([well?.status, well?.lastTransitionTime], ["False", "2026-01-01T00:00:15Z"]);
});
