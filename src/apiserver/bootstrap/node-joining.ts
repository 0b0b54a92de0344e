/**
 * Permissions of joining and joined nodes. With kubeadm's names: what a bootstrap token of its default group may do (request a client
 * certificate, which is approved automatically), and that nodes renew their own certificates. And of k8ts (docs/decisions/0033): what the
 * network components of a node read, since they share the node's identity. Existing objects are not changed: an administrator can remove
 * the subjects.
 */
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding, Subject } from "../../api/generated/rbac.authorization.k8s.io/v1.ts";
import { CLUSTER_NETWORK, DEFAULT_NODE_TOKEN_GROUP } from "../../api/node-joining.ts";
import type { BootstrapStep } from "./bootstrap.ts";
import { CORE, DISCOVERY, FOLLOW, group, may, NETWORKING, RBAC, READ, RECORD_EVENTS } from "./policy/grants.ts";

const API_VERSION = `${RBAC}/v1`;
const CLUSTER_ROLES = { group: RBAC, version: "v1", plural: "clusterroles", namespace: "" };
const CLUSTER_ROLE_BINDINGS = { ...CLUSTER_ROLES, plural: "clusterrolebindings" };
const ROLES = { ...CLUSTER_ROLES, plural: "roles", namespace: CLUSTER_NETWORK.namespace };
const ROLE_BINDINGS = { ...ROLES, plural: "rolebindings" };

const JOINING = group(DEFAULT_NODE_TOKEN_GROUP);
const NODES = group("system:nodes");

const REQUESTS = "system:certificates.k8s.io:certificatesigningrequests";
const GET_NODES = "kubeadm:get-nodes";
const NODE_NETWORK = "k8ts:node-network";
const CLUSTER_NETWORK_READER = "k8ts:cluster-network";

const clusterRoles: readonly ClusterRole[] = [
  // A joining machine checks that no other node has its name.
  { apiVersion: API_VERSION, kind: "ClusterRole", metadata: { name: GET_NODES }, rules: [may("get").of(CORE, "nodes")] },
  {
    apiVersion: API_VERSION,
    kind: "ClusterRole",
    metadata: { name: NODE_NETWORK },
    rules: [
      may(...READ).of(CORE, "services", "endpoints", "nodes", "namespaces", "pods"),
      may(...READ).of(DISCOVERY, "endpointslices"),
      may(...READ).of(NETWORKING, "networkpolicies"),
      may(...FOLLOW).of(NETWORKING, "servicecidrs"),
      RECORD_EVENTS,
    ],
  },
];

const clusterRoleBindings: readonly ClusterRoleBinding[] = [
  binding("kubeadm:kubelet-bootstrap", "system:node-bootstrapper", JOINING),
  binding("kubeadm:node-autoapprove-bootstrap", `${REQUESTS}:nodeclient`, JOINING),
  binding("kubeadm:node-autoapprove-certificate-rotation", `${REQUESTS}:selfnodeclient`, NODES),
  binding(GET_NODES, GET_NODES, JOINING),
  binding(NODE_NETWORK, NODE_NETWORK, NODES),
];

function binding(name: string, role: string, subject: Subject): ClusterRoleBinding {
  return {
    apiVersion: API_VERSION,
    kind: "ClusterRoleBinding",
    metadata: { name },
    roleRef: { apiGroup: RBAC, kind: "ClusterRole", name: role },
    subjects: [subject],
  };
}

const networkRole: Role = {
  apiVersion: API_VERSION,
  kind: "Role",
  metadata: { name: CLUSTER_NETWORK_READER, namespace: CLUSTER_NETWORK.namespace },
  rules: [may("get").ofNamed(CORE, "configmaps", CLUSTER_NETWORK.name)],
};

const networkRoleBinding: RoleBinding = {
  apiVersion: API_VERSION,
  kind: "RoleBinding",
  metadata: { name: CLUSTER_NETWORK_READER, namespace: CLUSTER_NETWORK.namespace },
  roleRef: { apiGroup: RBAC, kind: "Role", name: CLUSTER_NETWORK_READER },
  subjects: [NODES],
};

export const nodeJoining: BootstrapStep = {
  async make({ server, requests }) {
    // Without RBAC nothing evaluates them.
    if (!server.config.authorizationModes.includes("RBAC")) return;
    for (const role of clusterRoles) await requests.make(CLUSTER_ROLES, role);
    for (const one of clusterRoleBindings) await requests.make(CLUSTER_ROLE_BINDINGS, one);
    await requests.make(ROLES, networkRole);
    await requests.make(ROLE_BINDINGS, networkRoleBinding);
  },
  keeps: [],
};
