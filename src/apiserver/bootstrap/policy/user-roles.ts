/**
 * User-facing roles: cluster-admin, and the three that are mostly bound per namespace (admin, edit, view). Those three have no rules of
 * their own: they aggregate all roles with their label, so that new resources can add to them.
 */
import {
  APPS,
  AUTHORIZATION,
  AUTOSCALING,
  BATCH,
  COORDINATION,
  CORE,
  DISCOVERY,
  EVENTS,
  EVERY,
  EXTENSIONS,
  grant,
  group,
  may,
  METRICS,
  NETWORKING,
  POLICY,
  RBAC,
  READ,
  RESOURCE,
  WRITE,
  type Grant,
} from "./grants.ts";

const TO_ADMIN = "rbac.authorization.k8s.io/aggregate-to-admin";
const TO_EDIT = "rbac.authorization.k8s.io/aggregate-to-edit";
const TO_VIEW = "rbac.authorization.k8s.io/aggregate-to-view";

/** Permission to delegate one's own permissions in a namespace. */
const ADMIN_RULES = [
  may("create").of(AUTHORIZATION, "localsubjectaccessreviews"),
  may(...READ, ...WRITE).of(RBAC, "roles", "rolebindings"),
];

const EDIT_RULES = [
  // Reading these is more than viewing: it gives access to running workloads and their permissions.
  may(...READ).of(CORE, "pods/attach", "pods/proxy", "pods/exec", "pods/portforward", "secrets", "services/proxy"),
  may("impersonate").of(CORE, "serviceaccounts"),
  may(...WRITE).of(CORE, "pods", "pods/attach", "pods/proxy", "pods/exec", "pods/portforward"),
  may("create").of(CORE, "pods/eviction"),
  may(...WRITE).of(
    CORE,
    "replicationcontrollers",
    "replicationcontrollers/scale",
    "serviceaccounts",
    "services",
    "services/proxy",
    "persistentvolumeclaims",
    "configmaps",
    "secrets",
  ),
  may("create").of(CORE, "serviceaccounts/token"),
  may(...WRITE).of([CORE, EVENTS], "events"),
  may(...WRITE).of(
    APPS,
    "statefulsets",
    "statefulsets/scale",
    "daemonsets",
    "deployments",
    "deployments/scale",
    "deployments/rollback",
    "replicasets",
    "replicasets/scale",
  ),
  may(...WRITE).of(AUTOSCALING, "horizontalpodautoscalers"),
  may(...WRITE).of(BATCH, "jobs", "cronjobs"),
  may(...WRITE).of(
    EXTENSIONS,
    "daemonsets",
    "deployments",
    "deployments/scale",
    "deployments/rollback",
    "ingresses",
    "replicasets",
    "replicasets/scale",
    "replicationcontrollers/scale",
    "networkpolicies",
  ),
  may(...WRITE).of(POLICY, "poddisruptionbudgets"),
  may(...WRITE).of(NETWORKING, "networkpolicies", "ingresses"),
  may(...READ, ...WRITE).of(COORDINATION, "leases"),
  may(...WRITE).of(RESOURCE, "resourceclaims", "resourceclaimtemplates"),
];

/** Neither Secrets nor Roles: tokens and rules would allow a reader to escalate. */
const VIEW_RULES = [
  may(...READ).of(
    CORE,
    "pods",
    "replicationcontrollers",
    "replicationcontrollers/scale",
    "serviceaccounts",
    "services",
    "services/status",
    "endpoints",
    "persistentvolumeclaims",
    "persistentvolumeclaims/status",
    "configmaps",
  ),
  may(...READ).of(
    CORE,
    "limitranges",
    "resourcequotas",
    "bindings",
    "pods/status",
    "resourcequotas/status",
    "namespaces/status",
    "replicationcontrollers/status",
    "pods/log",
  ),
  // Bound in one namespace it covers that Namespace object, and shows its subjects.
  may(...READ).of(CORE, "namespaces"),
  may(...READ).of([CORE, EVENTS], "events"),
  may(...READ).of(DISCOVERY, "endpointslices"),
  may(...READ).of(
    APPS,
    "controllerrevisions",
    "statefulsets",
    "statefulsets/status",
    "statefulsets/scale",
    "daemonsets",
    "daemonsets/status",
    "deployments",
    "deployments/status",
    "deployments/scale",
    "replicasets",
    "replicasets/status",
    "replicasets/scale",
  ),
  may(...READ).of(AUTOSCALING, "horizontalpodautoscalers", "horizontalpodautoscalers/status"),
  may(...READ).of(BATCH, "jobs", "jobs/status", "cronjobs", "cronjobs/status"),
  may(...READ).of(
    EXTENSIONS,
    "daemonsets",
    "daemonsets/status",
    "deployments",
    "deployments/scale",
    "deployments/status",
    "ingresses",
    "ingresses/status",
    "replicasets",
    "replicasets/scale",
    "replicasets/status",
    "replicationcontrollers/scale",
    "networkpolicies",
  ),
  may(...READ).of(POLICY, "poddisruptionbudgets", "poddisruptionbudgets/status"),
  may(...READ).of(NETWORKING, "networkpolicies", "ingresses", "ingresses/status"),
  may(...READ).of(RESOURCE, "resourceclaims", "resourceclaims/status", "resourceclaimtemplates"),
];

export const userRoles: readonly Grant[] = [
  grant("cluster-admin", [may("*").of(EVERY, EVERY), may("*").at("*")], { to: [group("system:masters")] }),

  grant("admin", [], { aggregates: TO_ADMIN }),
  grant("edit", [], { aggregates: TO_EDIT, labels: { [TO_ADMIN]: "true" } }),
  grant("view", [], { aggregates: TO_VIEW, labels: { [TO_EDIT]: "true" } }),

  grant("system:aggregate-to-admin", ADMIN_RULES, { labels: { [TO_ADMIN]: "true" } }),
  grant("system:aggregate-to-edit", EDIT_RULES, { labels: { [TO_EDIT]: "true" } }),
  grant("system:aggregate-to-view", VIEW_RULES, { labels: { [TO_VIEW]: "true" } }),
  // From the manifests of metrics-server, whose API is built in here.
  grant("system:aggregated-metrics-reader", [may(...READ).of(METRICS, "pods", "nodes")], {
    labels: { [TO_ADMIN]: "true", [TO_EDIT]: "true", [TO_VIEW]: "true" },
  }),
];
