/**
 * The users of the permission table: all built-in identities of a new cluster, and users bound to the user-facing roles, cluster-wide and
 * in the namespace "team". And the objects that questions refer to.
 */
import {
  controllerIdentity,
  KUBE_CONTROLLER_MANAGER,
  KUBE_PROXY,
  KUBE_SCHEDULER,
  nodeIdentity,
  serviceAccountIdentity,
} from "../../../api/identities.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import type { User } from "../../framework/request.ts";

const known = (user: User): User => ({ ...user, groups: [...user.groups, "system:authenticated"] });
const person = (name: string): User => known({ name, groups: [] });

/** Users with all permissions: not mentioned in the table. */
export const ALMIGHTY: Readonly<Record<string, User>> = {
  master: known({ name: "root", groups: ["system:masters"] }),
  "cluster-admin": person("cluster-admin"),
};

export const USERS: Readonly<Record<string, User>> = {
  anonymous: { name: "system:anonymous", groups: ["system:unauthenticated"] },
  user: person("user"),
  admin: person("admin"),
  edit: person("edit"),
  view: person("view"),
  "team-admin": person("team-admin"),
  "team-edit": person("team-edit"),
  "team-view": person("team-view"),
  monitoring: known({ name: "prometheus", groups: ["system:monitoring"] }),
  "service-account": known(serviceAccountIdentity("team", "app")),
  "kube-controller-manager": known(KUBE_CONTROLLER_MANAGER),
  "kube-scheduler": known(KUBE_SCHEDULER),
  "kube-proxy": known(KUBE_PROXY),
  "kube-dns": known(serviceAccountIdentity("kube-system", "kube-dns")),
  deployment: known(controllerIdentity("deployment-controller")),
  replicaset: known(controllerIdentity("replicaset-controller")),
  namespace: known(controllerIdentity("namespace-controller")),
  garbage: known(controllerIdentity("generic-garbage-collector")),
  autoscaler: known(controllerIdentity("horizontal-pod-autoscaler")),
  endpoint: known(controllerIdentity("endpoint-controller")),
  quota: known(controllerIdentity("resourcequota-controller")),
  certificate: known(controllerIdentity("certificate-controller")),
  aggregation: known(controllerIdentity("clusterrole-aggregation-controller")),
  bootstrapper: known({ name: "system:bootstrap:abcdef", groups: ["system:bootstrappers"] }),
  "node-1": known(nodeIdentity("node-1")),
};

const RBAC = "rbac.authorization.k8s.io";
const ROLES_FOR_PEOPLE = ["admin", "edit", "view"];

export interface SetUpObject {
  readonly path: string;
  readonly object: JsonObject;
}

function subject(name: string): JsonObject {
  return { apiGroup: RBAC, kind: "User", name };
}

function bound(role: string, to: JsonObject, binding: string): SetUpObject {
  const roleRef = { apiGroup: RBAC, kind: "ClusterRole", name: role };
  return { path: `/apis/${RBAC}/v1/clusterrolebindings`, object: { metadata: { name: binding }, roleRef, subjects: [to] } };
}

function boundInTeam(role: string): SetUpObject {
  const roleRef = { apiGroup: RBAC, kind: "ClusterRole", name: role };
  const path = `/apis/${RBAC}/v1/namespaces/team/rolebindings`;
  return { path, object: { metadata: { name: role }, roleRef, subjects: [subject(`team-${role}`)] } };
}

/** A pod on a node, and the objects it references. */
function onNode(node: string): readonly SetUpObject[] {
  const name = `of-${node}`;
  const volumes = [
    { name: "s", secret: { secretName: name } },
    { name: "c", configMap: { name } },
  ];
  const spec = { nodeName: node, serviceAccountName: name, containers: [{ name: "c", image: "i" }], volumes };
  return [
    { path: "/api/v1/namespaces/team/serviceaccounts", object: { metadata: { name } } },
    { path: "/api/v1/namespaces/team/pods", object: { metadata: { name: `on-${node}` }, spec } },
  ];
}

/** Objects created, in this order, before the questions. */
export const SET_UP_OBJECTS: readonly SetUpObject[] = [
  { path: "/api/v1/namespaces", object: { metadata: { name: "team" } } },
  bound("cluster-admin", subject("cluster-admin"), "table:cluster-admin"),
  ...ROLES_FOR_PEOPLE.map((role) => bound(role, subject(role), `table:${role}`)),
  ...ROLES_FOR_PEOPLE.map(boundInTeam),
  bound("system:node-bootstrapper", { apiGroup: RBAC, kind: "Group", name: "system:bootstrappers" }, "table:bootstrappers"),
  ...onNode("node-1"),
  ...onNode("node-2"),
];
