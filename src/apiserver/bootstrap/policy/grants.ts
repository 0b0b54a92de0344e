/**
 * The words in which the roles of every cluster are written (the files beside this one): a rule says verbs and what they are for, a
 * grant is a ClusterRole together with whom it is given to. Lists inside a rule are sorted, as upstream's are, so that ours can be
 * compared with its; the order of rules is the order in which they are written.
 */
import type {
  ClusterRole,
  ClusterRoleBinding,
  PolicyRule,
  Role,
  RoleBinding,
  Subject,
} from "../../../api/generated/rbac.authorization.k8s.io/v1.ts";

export const CORE = "";
export const EVENTS = "events.k8s.io";
export const APPS = "apps";
/** Where workloads once were. Nothing is served there, but rules of old are still given out. */
export const EXTENSIONS = "extensions";
export const AUTHENTICATION = "authentication.k8s.io";
export const AUTHORIZATION = "authorization.k8s.io";
export const AUTOSCALING = "autoscaling";
export const BATCH = "batch";
export const CERTIFICATES = "certificates.k8s.io";
export const COORDINATION = "coordination.k8s.io";
export const DISCOVERY = "discovery.k8s.io";
export const NETWORKING = "networking.k8s.io";
export const POLICY = "policy";
export const RBAC = "rbac.authorization.k8s.io";
export const RESOURCE = "resource.k8s.io";
export const STORAGE = "storage.k8s.io";
export const EVERY = "*";

/** To know what there is and what becomes of it. */
export const FOLLOW = ["list", "watch"] as const;
export const READ = ["get", ...FOLLOW] as const;
export const CHANGE = ["update", "patch"] as const;
export const WRITE = ["create", ...CHANGE, "delete", "deletecollection"] as const;

export interface RuleStart {
  /** Of one group or of several. */
  of(groups: string | readonly string[], ...resources: readonly string[]): PolicyRule;
  /** Only of objects with these names. */
  ofNamed(group: string, resource: string, ...names: readonly string[]): PolicyRule;
  /** Of paths that are no resources. */
  at(...paths: readonly string[]): PolicyRule;
}

export function may(...verbs: readonly string[]): RuleStart {
  return {
    of: (groups, ...resources) => ({
      apiGroups: typeof groups === "string" ? [groups] : groups.toSorted(),
      resources: resources.toSorted(),
      verbs: verbs.toSorted(),
    }),
    ofNamed: (group, resource, ...names) => ({
      apiGroups: [group],
      resourceNames: names.toSorted(),
      resources: [resource],
      verbs: verbs.toSorted(),
    }),
    at: (...paths) => ({ nonResourceURLs: paths.toSorted(), verbs: verbs.toSorted() }),
  };
}

/** Whoever acts in a cluster tells of it. */
export const RECORD_EVENTS = may("create", ...CHANGE).of([CORE, EVENTS], "events");

/** Who serves something of its own asks the API server who comes, and what they may. */
export const DELEGATE_ACCESS = [may("create").of(AUTHENTICATION, "tokenreviews"), may("create").of(AUTHORIZATION, "subjectaccessreviews")];

export function user(name: string): Subject {
  return { apiGroup: RBAC, kind: "User", name };
}

export function group(name: string): Subject {
  return { apiGroup: RBAC, kind: "Group", name };
}

export function serviceAccount(namespace: string, name: string): Subject {
  return { kind: "ServiceAccount", name, namespace };
}

export const KUBE_CONTROLLER_MANAGER = user("system:kube-controller-manager");
export const KUBE_SCHEDULER = user("system:kube-scheduler");
export const KUBE_PROXY = user("system:kube-proxy");
export const EVERYBODY_KNOWN = group("system:authenticated");
export const EVERYBODY_UNKNOWN = group("system:unauthenticated");
export const SERVICE_ACCOUNTS = group("system:serviceaccounts");

export interface Grant {
  readonly role: ClusterRole;
  /** Of the same name as the role. Absent: the role is there for people to give out. */
  readonly binding?: ClusterRoleBinding;
}

export interface GrantOptions {
  readonly labels?: Readonly<Record<string, string>>;
  /** The rules come from the roles that have this label, put together by a controller. */
  readonly aggregates?: string;
  /** Whom it is given to from the start. An empty list makes a binding for others to fill. */
  readonly to?: readonly Subject[];
}

export function grant(name: string, rules: readonly PolicyRule[], { labels = {}, aggregates, to }: GrantOptions = {}): Grant {
  const role: ClusterRole = {
    ...(aggregates === undefined ? {} : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [aggregates]: "true" } }] } }),
    apiVersion: API_VERSION,
    kind: "ClusterRole",
    metadata: { name, ...marks(labels) },
    ...(aggregates === undefined ? { rules } : {}),
  };
  if (to === undefined) return { role };
  const binding: ClusterRoleBinding = {
    apiVersion: API_VERSION,
    kind: "ClusterRoleBinding",
    metadata: { name, ...marks({}) },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name },
    ...(to.length === 0 ? {} : { subjects: to }),
  };
  return { role, binding };
}

export interface NamespacedGrant {
  readonly role: Role;
  readonly binding?: RoleBinding;
}

export interface NamespacedGrantOptions {
  readonly to?: readonly Subject[];
  /** If it is not that of the role. */
  readonly bindingName?: string;
}

export function grantIn(
  namespace: string,
  name: string,
  rules: readonly PolicyRule[],
  options: NamespacedGrantOptions = {},
): NamespacedGrant {
  const { to, bindingName = name } = options;
  const role: Role = { apiVersion: API_VERSION, kind: "Role", metadata: { name, namespace, ...marks({}) }, rules };
  if (to === undefined) return { role };
  const binding: RoleBinding = {
    apiVersion: API_VERSION,
    kind: "RoleBinding",
    metadata: { name: bindingName, namespace, ...marks({}) },
    roleRef: { apiGroup: RBAC, kind: "Role", name },
    subjects: to,
  };
  return { role, binding };
}

const API_VERSION = `${RBAC}/v1`;

/** "false" keeps the server from adding to what somebody has changed. */
export const AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate";

function marks(labels: Readonly<Record<string, string>>) {
  return { annotations: { [AUTO_UPDATE]: "true" }, labels: { "kubernetes.io/bootstrapping": "rbac-defaults", ...labels } };
}
