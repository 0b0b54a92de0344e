/**
 * Which requests a webhook or a policy applies to: rules of operations and resources, and selectors. Not here: matching requests
 * (apiserver/admission).
 */
import type { MatchResources, NamedRuleWithOperations, RuleWithOperations } from "../../generated/admissionregistration.k8s.io/v1.ts";
import { changedItems, withChanges } from "../../changes.ts";
import { child, duplicate, element, invalid, notSupported, required, type FieldError } from "../../machinery/field-error.ts";
import { validateLabelSelectorObject } from "../../machinery/selectors/label-selector.ts";
import { validatePathSegmentName } from "../../machinery/names.ts";

const ANY = "*";
const SCOPES: readonly string[] = [ANY, "Cluster", "Namespaced"];
const OPERATIONS: readonly string[] = [ANY, "CONNECT", "CREATE", "DELETE", "UPDATE"];
const MATCH_POLICIES: readonly string[] = ["Equivalent", "Exact"];

export function defaultRule<R extends RuleWithOperations>(rule: R): R {
  return rule.scope === undefined ? { ...rule, scope: ANY } : rule;
}

export function defaultMatchResources(match: MatchResources): MatchResources {
  const { matchPolicy = "Equivalent", namespaceSelector = {}, objectSelector = {} } = match;
  return withChanges(match, {
    matchPolicy,
    namespaceSelector,
    objectSelector,
    resourceRules: changedItems(match.resourceRules, defaultRule),
    excludeResourceRules: changedItems(match.excludeResourceRules, defaultRule),
  });
}

export function* validateMatchPolicy(policy: string | undefined, at: string): Iterable<FieldError> {
  if (policy !== undefined && !MATCH_POLICIES.includes(policy)) yield notSupported(child(at, "matchPolicy"), policy, MATCH_POLICIES);
}

/** The match policy and both selectors have defaults. */
export function* validateMatchResources(match: MatchResources | undefined, at: string): Iterable<FieldError> {
  if (match === undefined) return;
  yield* validateMatchPolicy(match.matchPolicy, at);
  yield* validateLabelSelectorObject(match.namespaceSelector, child(at, "namespaceSelector"));
  yield* validateLabelSelectorObject(match.objectSelector, child(at, "objectSelector"));
  for (const list of ["resourceRules", "excludeResourceRules"] as const) {
    for (const [index, rule] of (match[list] ?? []).entries()) yield* validateNamedRule(rule, element(child(at, list), index));
  }
}

/** A deleted object cannot be changed. */
const MUTABLE_OPERATIONS = OPERATIONS.filter((operation) => operation !== "DELETE");

export function* validateMutableOperations(match: MatchResources | undefined, at: string): Iterable<FieldError> {
  for (const { operations = [] } of match?.resourceRules ?? []) {
    for (const operation of operations) {
      // Upstream does not report which rule it is.
      if (!MUTABLE_OPERATIONS.includes(operation))
        yield notSupported(child(at, "resourceRules", "operations"), operation, MUTABLE_OPERATIONS);
    }
  }
}

function* validateNamedRule(rule: NamedRuleWithOperations, at: string): Iterable<FieldError> {
  const names = new Set<string>();
  for (const [index, name] of (rule.resourceNames ?? []).entries()) {
    const here = element(child(at, "resourceNames"), index);
    for (const wrong of validatePathSegmentName(name)) yield invalid(here, name, wrong);
    if (names.has(name)) yield duplicate(here, name);
    names.add(name);
  }
  yield* validateRule(rule, at);
}

export function* validateRule(rule: RuleWithOperations, at: string): Iterable<FieldError> {
  const { operations = [], apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  yield* validateAnyAlone(operations, child(at, "operations"), "operations");
  for (const [index, operation] of operations.entries()) {
    if (!OPERATIONS.includes(operation)) yield notSupported(element(child(at, "operations"), index), operation, OPERATIONS);
  }
  // A group may be empty: the core group.
  yield* validateAnyAlone(apiGroups, child(at, "apiGroups"), "API groups");
  yield* validateAnyAlone(apiVersions, child(at, "apiVersions"), "API versions");
  for (const [index, version] of apiVersions.entries()) if (version === "") yield required(element(child(at, "apiVersions"), index));
  yield* validateResources(resources, child(at, "resources"));
  if (scope !== undefined && !SCOPES.includes(scope)) yield notSupported(child(at, "scope"), scope, SCOPES);
}

function* validateAnyAlone(values: readonly string[], at: string, what: string): Iterable<FieldError> {
  if (values.length === 0) yield required(at);
  if (values.length > 1 && values.includes(ANY)) yield invalid(at, values, `if '*' is present, must not specify other ${what}`);
}

/** "pods", "pods/status", and wildcards for either: what a wildcard covers may not be repeated after it. */
function* validateResources(resources: readonly string[], at: string): Iterable<FieldError> {
  if (resources.length === 0) yield required(at);
  const withAllSubresources = new Set<string>();
  const subresourcesOfAll = new Set<string>();
  let lastPlainIsNamed = false;
  for (const [index, resource] of resources.entries()) {
    const here = element(at, index);
    if (resource === "") {
      yield required(here);
      continue;
    }
    const slash = resource.indexOf("/");
    if (slash < 0) {
      lastPlainIsNamed = resource !== ANY;
      continue;
    }
    const [name, subresource] = [resource.slice(0, slash), resource.slice(slash + 1)];
    if (withAllSubresources.has(name)) yield invalid(here, resource, `if '${name}/*' is present, must not specify ${resource}`);
    if (subresourcesOfAll.has(subresource)) yield invalid(here, resource, `if '*/${subresource}' is present, must not specify ${resource}`);
    if (subresource === ANY) withAllSubresources.add(name);
    if (name === ANY) subresourcesOfAll.add(subresource);
  }
  if (resources.length > 1 && resources.includes("*/*"))
    yield invalid(at, resources, "if '*/*' is present, must not specify other resources");
  // Upstream validates the last resource without a subresource only.
  if (resources.includes(ANY) && lastPlainIsNamed) {
    yield invalid(at, resources, "if '*' is present, must not specify other resources without subresources");
  }
}
