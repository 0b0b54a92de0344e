/**
 * Decides whether a FlowSchema matches a request: upstream's rules (apiserver/pkg/util/flowcontrol/rule.go). A wildcard counts only
 * as the sole member of its list, which validation enforces. Not here: the order of schemas and caching (classifier.ts).
 */
import type {
  FlowSchema,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from "../../api/generated/flowcontrol.apiserver.k8s.io/v1.ts";
import { flowNamespaceOf, type FlowRequest, type FlowUser } from "../framework/flow-request.ts";

const ALL = "*";
const SERVICE_ACCOUNT_PREFIX = "system:serviceaccount:";

export function matchesFlowSchema(request: FlowRequest, { spec }: FlowSchema): boolean {
  const { user } = request.context;
  return (spec?.rules ?? []).some((rule) => matchesAnySubject(user, rule.subjects) && matchesRequest(request, rule));
}

export function matchesAnySubject(user: FlowUser, subjects: readonly Subject[]): boolean {
  for (const subject of subjects) if (matchesSubject(user, subject)) return true;
  return false;
}

export function matchesSubject({ name, groups }: FlowUser, subject: Subject): boolean {
  switch (subject.kind) {
    case "User":
      return subject.user !== undefined && (subject.user.name === ALL || subject.user.name === name);
    case "Group":
      return subject.group !== undefined && (subject.group.name === ALL || groups.includes(subject.group.name));
    case "ServiceAccount": {
      if (subject.serviceAccount === undefined) return false;
      const { namespace, name: account } = subject.serviceAccount;
      const prefix = `${SERVICE_ACCOUNT_PREFIX}${namespace}:`;
      return account === ALL ? name.startsWith(prefix) : name === `${prefix}${account}`;
    }
    default:
      return false;
  }
}

/** Hot path (called per request): must not allocate. */
export function matchesRequest(request: FlowRequest, { resourceRules, nonResourceRules }: PolicyRulesWithSubjects): boolean {
  if (request.path === undefined) {
    for (const rule of resourceRules ?? []) if (matchesResourceRule(request, rule)) return true;
  } else {
    for (const rule of nonResourceRules ?? []) if (matchesNonResourceRule(request.verb, request.path, rule)) return true;
  }
  return false;
}

function matchesResourceRule(request: FlowRequest, { verbs, resources, apiGroups, clusterScope, namespaces }: ResourcePolicyRule): boolean {
  if (!contains(verbs, request.verb) || !containsResource(resources, request) || !contains(apiGroups, request.group)) return false;
  const namespace = flowNamespaceOf(request);
  return namespace === "" ? clusterScope === true : contains(namespaces ?? NONE, namespace);
}

const NONE: readonly string[] = [];

function matchesNonResourceRule(verb: string, path: string, { verbs, nonResourceURLs }: NonResourcePolicyRule): boolean {
  return contains(verbs, verb) && nonResourceURLs.some((url) => matchesPath(path, url));
}

/** "/debug/*" and "/debug" both match everything below /debug, as upstream. */
function matchesPath(path: string, url: string): boolean {
  if (url === ALL || url === path) return true;
  const prefix = url.endsWith(ALL) ? url.slice(0, -1) : url;
  return path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`);
}

function containsResource(resources: readonly string[], { plural, subresource }: FlowRequest): boolean {
  if (resources.length === 1 && resources[0] === ALL) return true;
  return resources.includes(subresource === "" ? plural : `${plural}/${subresource}`);
}

function contains(list: readonly string[], value: string): boolean {
  return (list.length === 1 && list[0] === ALL) || list.includes(value);
}
