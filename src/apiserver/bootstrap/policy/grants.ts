/**
 * Builders for the bootstrap roles (the files beside this one): a rule has verbs and resources, a grant is a ClusterRole with its subjects.
 * Lists inside a rule are sorted like upstream's, so that they can be compared; rules keep the order in which they are written.
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
/** Former API group of workloads. Nothing is served there, but old rules still name it. */
export const EXTENSIONS = "extensions";
export const AUTHENTICATION = "authentication.k8s.io";
export const AUTHORIZATION = "authorization.k8s.io";
export const AUTOSCALING = "autoscaling";
export const BATCH = "batch";
export const CERTIFICATES = "certificates.k8s.io";
export const COORDINATION = "coordination.k8s.io";
export const DISCOVERY = "discovery.k8s.io";
export const METRICS = "metrics.k8s.io";
export const NETWORKING = "networking.k8s.io";
export const POLICY = "policy";
export const RBAC = "rbac.authorization.k8s.io";
export const RESOURCE = "resource.k8s.io";
export const STORAGE = "storage.k8s.io";
export const EVERY = "*";

/** Read access. */
export const FOLLOW = ["list", "watch"] as const;
export const READ = ["get", ...FOLLOW] as const;
export const CHANGE = ["update", "patch"] as const;
export const WRITE = ["create", ...CHANGE, "delete", "deletecollection"] as const;

export interface RuleStart {
  /** One group or several. */
  of(groups: string | readonly string[], ...resources: readonly string[]): PolicyRule;
  /** Only objects of these names. */
  ofNamed(group: string, resource: string, ...names: readonly string[]): PolicyRule;
  /** Non-resource paths. */
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

/** Permission to emit events, which every component has. */
export const RECORD_EVENTS = may("create", ...CHANGE).of([CORE, EVENTS], "events");

/** Permission to delegate authentication and authorization to the API server. */
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
export const AUTHENTICATED = group("system:authenticated");
export const UNAUTHENTICATED = group("system:unauthenticated");
export const SERVICE_ACCOUNTS = group("system:serviceaccounts");

export interface Grant {
  readonly role: ClusterRole;
  /** Has the role's name. Absent: the role is for administrators to bind. */
  readonly binding?: ClusterRoleBinding;
}

export interface GrantOptions {
  readonly labels?: Readonly<Record<string, string>>;
  /** A controller aggregates the rules of the roles with this label. */
  readonly aggregates?: string;
  /** Initial subjects. An empty list creates a binding without subjects. */
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
  /** If it differs from the role's. */
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

/** "false" disables reconciliation at start. */
export const AUTO_UPDATE = "rbac.authorization.kubernetes.io/autoupdate";

function marks(labels: Readonly<Record<string, string>>) {
  return { annotations: { [AUTO_UPDATE]: "true" }, labels: { "kubernetes.io/bootstrapping": "rbac-defaults", ...labels } };
}
