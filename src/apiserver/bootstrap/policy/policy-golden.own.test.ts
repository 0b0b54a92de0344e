/**
 * Compares all roles and bindings of a new cluster, line by line, with policy.golden.txt, which was compared with upstream's `kubectl get
 * clusterroles,clusterrolebindings,roles,rolebindings -A -o yaml`. After an intended change rewrite the file with K8TS_WRITE_GOLDEN=1 and
 * compare its diff with upstream's.
 */
import { deepEqual } from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { AggregationRule, PolicyRule, RoleRef, Subject } from "../../../api/generated/rbac.authorization.k8s.io/v1.ts";
import { packageDirectory } from "../../../testing/package-directory.ts";
import { clusterRoleBindings, clusterRoles, roleBindings, roles } from "./all.ts";
import type { Granted } from "./reconcile.ts";

const GOLDEN = join(packageDirectory(import.meta.dirname), "src/apiserver/bootstrap/policy/policy.golden.txt");

/** The union of their fields. */
interface Said {
  readonly aggregationRule?: AggregationRule;
  readonly rules?: readonly PolicyRule[] | null;
  readonly roleRef?: RoleRef;
  readonly subjects?: readonly Subject[];
}

function linesOf(object: Granted): readonly string[] {
  const { kind, apiVersion, metadata, ...content } = object;
  const { name, namespace, labels = {}, annotations = {}, ...more } = metadata;
  const { aggregationRule, rules, roleRef, subjects = [], ...others }: Said = content;
  const lines = [
    ...Object.entries(labels).map(([key, value]) => `label ${key}=${value}`),
    ...Object.entries(annotations).map(([key, value]) => `annotation ${key}=${value}`),
    ...(aggregationRule === undefined ? [] : [`gathers ${JSON.stringify(aggregationRule)}`]),
    ...(rules ?? []).map(ruleLine),
    ...(roleRef === undefined ? [] : [`gives ${roleRef.kind} ${roleRef.name} of ${roleRef.apiGroup}`]),
    ...subjects.map(subjectLine),
    ...rest({ ...more, ...others }),
  ];
  const title = `${kind} ${namespace === undefined ? name : `${namespace}/${name}`}`;
  return [`${title}: ${apiVersion}`, ...lines.map((line) => `${title}: ${line}`)];
}

function ruleLine({ verbs, apiGroups, resources, resourceNames, nonResourceURLs, ...others }: PolicyRule): string {
  const parts = [
    verbs.join(","),
    ...(resources === undefined ? [] : [resources.join(",")]),
    ...(resourceNames === undefined ? [] : [`named ${resourceNames.join(",")}`]),
    ...(apiGroups === undefined ? [] : [`of ${apiGroups.map((group) => (group === "" ? '""' : group)).join(",")}`]),
    ...(nonResourceURLs === undefined ? [] : [`at ${nonResourceURLs.join(",")}`]),
    ...rest(others),
  ];
  return parts.join(" ");
}

function subjectLine({ kind, name, namespace, apiGroup, ...others }: Subject): string {
  const who = namespace === undefined ? name : `${namespace}/${name}`;
  return [`to ${kind} ${who}`, ...(apiGroup === undefined ? [] : [`of ${apiGroup}`]), ...rest(others)].join(" ");
}

/** Unknown fields are printed as JSON, so that nothing is omitted. */
function rest(others: object): readonly string[] {
  return Object.keys(others).length === 0 ? [] : [JSON.stringify(others)];
}

test("the bootstrap roles and bindings equal those that were compared with upstream's", () => {
  const all: readonly Granted[] = [...clusterRoles, ...clusterRoleBindings, ...roles, ...roleBindings];
  const described = all.map(linesOf).toSorted(([left = ""], [right = ""]) => (left < right ? -1 : 1));
  const lines = described.flat();
  if (process.env["K8TS_WRITE_GOLDEN"] === "1") writeFileSync(GOLDEN, `${lines.join("\n")}\n`);

  deepEqual(lines, readFileSync(GOLDEN, "utf8").trimEnd().split("\n"));
});
