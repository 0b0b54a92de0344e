/** Validation of one entry of a FlowSchema's `rules`. A client may omit any list, whatever the types say. */
import type {
  GroupSubject,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  ServiceAccountSubject,
  Subject,
  UserSubject,
} from "../../../generated/flowcontrol.apiserver.k8s.io/v1.ts";
import { child, element, forbidden, invalid, notSupported, required, type FieldError } from "../../../machinery/field-error.ts";
import { validateDnsLabel, validateDnsSubdomain } from "../../../machinery/names.ts";

const ALL = "*";
const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];

export function* validateRule(rule: Partial<PolicyRulesWithSubjects>, at: string): Iterable<FieldError> {
  const { subjects = [], resourceRules = [], nonResourceRules = [] } = rule;
  if (subjects.length === 0) yield required(child(at, "subjects"), "subjects must contain at least one value");
  for (const [index, subject] of subjects.entries()) yield* validateSubject(subject, element(child(at, "subjects"), index));
  if (resourceRules.length === 0 && nonResourceRules.length === 0) {
    yield required(at, "at least one of resourceRules and nonResourceRules has to be non-empty");
  }
  for (const [index, each] of resourceRules.entries()) yield* validateResourceRule(each, element(child(at, "resourceRules"), index));
  for (const [index, each] of nonResourceRules.entries()) {
    yield* validateNonResourceRule(each, element(child(at, "nonResourceRules"), index));
  }
}

/** Exactly the member that matches the kind must be set. */
function* validateSubject(subject: Subject, at: string): Iterable<FieldError> {
  const { kind, user, group, serviceAccount } = subject;
  if (kind === "ServiceAccount") yield* validateServiceAccount(serviceAccount, child(at, "serviceAccount"));
  else if (kind === "User") yield* validateNamed(user, "user", kind, at);
  else if (kind === "Group") yield* validateNamed(group, "group", kind, at);
  else return yield notSupported(child(at, "kind"), kind, ["Group", "ServiceAccount", "User"]);
  if (serviceAccount !== undefined && kind !== "ServiceAccount") yield notOfKind("serviceAccount", "ServiceAccount", at);
  if (user !== undefined && kind !== "User") yield notOfKind("user", "User", at);
  if (group !== undefined && kind !== "Group") yield notOfKind("group", "Group", at);
}

function notOfKind(member: string, kind: string, at: string): FieldError {
  return forbidden(child(at, member), `${member} is forbidden when subject kind is not '${kind}'`);
}

function* validateNamed(subject: UserSubject | GroupSubject | undefined, member: string, kind: string, at: string): Iterable<FieldError> {
  if (subject === undefined) yield required(child(at, member), `${member} is required when subject kind is '${kind}'`);
  else if (subject.name === "") yield required(child(at, member, "name"));
}

function* validateServiceAccount(subject: ServiceAccountSubject | undefined, at: string): Iterable<FieldError> {
  if (subject === undefined) return yield required(at, "serviceAccount is required when subject kind is 'ServiceAccount'");
  const { name, namespace } = subject;
  if (name === "") yield required(child(at, "name"));
  else if (name !== ALL) for (const wrong of validateDnsSubdomain(name)) yield invalid(child(at, "name"), name, wrong);
  if (namespace === "") yield required(child(at, "namespace"), "must specify namespace for service account");
  else for (const wrong of validateDnsLabel(namespace)) yield invalid(child(at, "namespace"), namespace, wrong);
}

function* validateResourceRule(rule: Partial<ResourcePolicyRule>, at: string): Iterable<FieldError> {
  const { verbs = [], apiGroups = [], resources = [], clusterScope = false } = rule;
  const namespaces = rule.namespaces ?? [];
  yield* validateVerbs(verbs, child(at, "verbs"));
  if (apiGroups.length === 0) yield required(child(at, "apiGroups"), "resource rules must supply at least one api group");
  yield* validateAllAlone(apiGroups, child(at, "apiGroups"), "api groups");
  if (resources.length === 0) yield required(child(at, "resources"), "resource rules must supply at least one resource");
  yield* validateAllAlone(resources, child(at, "resources"), "resources");
  if (namespaces.length === 0 && !clusterScope) {
    yield required(child(at, "namespaces"), "resource rules that are not cluster scoped must supply at least one namespace");
  }
  yield* validateNamespaces(namespaces, child(at, "namespaces"));
}

function* validateNamespaces(namespaces: readonly string[], at: string): Iterable<FieldError> {
  if (namespaces.includes(ALL)) return yield* validateAllAlone(namespaces, at, "namespaces");
  for (const [index, namespace] of namespaces.entries()) {
    for (const wrong of validateDnsLabel(namespace)) {
      yield invalid(element(at, index), namespace, `each member of this list must be '*' or a DNS-1123 label; ${wrong}`);
    }
  }
}

function* validateNonResourceRule(rule: Partial<NonResourcePolicyRule>, at: string): Iterable<FieldError> {
  const { verbs = [], nonResourceURLs = [] } = rule;
  const here = child(at, "nonResourceURLs");
  yield* validateVerbs(verbs, child(at, "verbs"));
  if (nonResourceURLs.length === 0) yield required(here, "nonResourceURLs must contain at least one value");
  if (nonResourceURLs.includes(ALL)) return yield* validateAllAlone(nonResourceURLs, here, "non-resource URLs");
  for (const [index, path] of nonResourceURLs.entries()) {
    const wrong = pathProblem(path);
    if (wrong !== undefined) yield invalid(element(here, index), path, wrong);
  }
}

function* validateVerbs(verbs: readonly string[], at: string): Iterable<FieldError> {
  if (verbs.length === 0) yield required(at, "verbs must contain at least one value");
  else if (verbs.includes(ALL)) yield* validateAllAlone(verbs, at, "verbs");
  else if (!verbs.every((verb) => VERBS.includes(verb))) yield notSupported(at, verbs, VERBS);
}

/** A wildcard must be the only entry. */
function* validateAllAlone(list: readonly string[], at: string, what: string): Iterable<FieldError> {
  if (list.length > 1 && list.includes(ALL)) yield invalid(at, list, `if '*' is present, must not specify other ${what}`);
}

/** A path, or a prefix: "/debug/*". */
function pathProblem(path: string): string | undefined {
  if (path === "") return "must not be empty";
  if (!path.startsWith("/")) return "must start with slash";
  if (path.includes(" ")) return "must not contain white-space";
  if (path.includes("//")) return "must not contain double slash";
  const isOnlyAtEnd = !path.includes(ALL) || (path.endsWith("/*") && path.indexOf(ALL) === path.length - 1);
  return isOnlyAtEnd ? undefined : "wildcard can only do suffix matching";
}
