/**
 * Roles and bindings of joining and joined nodes, which the creator of a cluster adds to the bootstrap roles. With kubeadm's names: what a
 * bootstrap token of its default group may do (request a client certificate, which is approved automatically), and that nodes renew their
 * own certificates. And of k8ts (docs/decisions/0033): what the network components of a node read and its provisioner of volumes writes,
 * since they share the node's identity.
 */
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding, Subject } from "./generated/rbac.authorization.k8s.io/v1.ts";
import { CSI_SIDECAR_RULES, CSI_SIDECARS_ACCOUNT } from "./csi-sidecars.ts";
import { LOCAL_PATH_RULES } from "./local-path.ts";
import { CLUSTER_NETWORK, DEFAULT_NODE_TOKEN_GROUP } from "./node-joining.ts";

const RBAC = "rbac.authorization.k8s.io";
const API_VERSION = `${RBAC}/v1`;

const JOINING: Subject = { apiGroup: RBAC, kind: "Group", name: DEFAULT_NODE_TOKEN_GROUP };
const NODES: Subject = { apiGroup: RBAC, kind: "Group", name: "system:nodes" };

const REQUESTS = "system:certificates.k8s.io:certificatesigningrequests";
const GET_NODES = "kubeadm:get-nodes";
const NODE_NETWORK = "k8ts:node-network";
const NODE_STORAGE = "k8ts:node-storage";
const CSI_SIDECARS = "k8ts:csi-sidecars";
const CLUSTER_NETWORK_READER = { name: "k8ts:cluster-network", namespace: CLUSTER_NETWORK.namespace };
const READ = ["get", "list", "watch"];

export const joiningClusterRoles: readonly ClusterRole[] = [
  {
    apiVersion: API_VERSION,
    kind: "ClusterRole",
    metadata: { name: GET_NODES },
    // A joining machine checks that no other node has its name.
    rules: [{ apiGroups: [""], resources: ["nodes"], verbs: ["get"] }],
  },
  {
    apiVersion: API_VERSION,
    kind: "ClusterRole",
    metadata: { name: NODE_NETWORK },
    rules: [
      { apiGroups: [""], resources: ["services", "endpoints", "nodes", "namespaces", "pods"], verbs: READ },
      { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: READ },
      { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies", "servicecidrs"], verbs: READ },
      { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "update", "patch"] },
    ],
  },
  { apiVersion: API_VERSION, kind: "ClusterRole", metadata: { name: NODE_STORAGE }, rules: LOCAL_PATH_RULES },
  { apiVersion: API_VERSION, kind: "ClusterRole", metadata: { name: CSI_SIDECARS }, rules: CSI_SIDECAR_RULES },
];

export const joiningClusterRoleBindings: readonly ClusterRoleBinding[] = [
  binding("kubeadm:kubelet-bootstrap", "system:node-bootstrapper", JOINING),
  binding("kubeadm:node-autoapprove-bootstrap", `${REQUESTS}:nodeclient`, JOINING),
  binding("kubeadm:node-autoapprove-certificate-rotation", `${REQUESTS}:selfnodeclient`, NODES),
  binding(GET_NODES, GET_NODES, JOINING),
  binding(NODE_NETWORK, NODE_NETWORK, NODES),
  binding(NODE_STORAGE, NODE_STORAGE, NODES),
  binding(CSI_SIDECARS, CSI_SIDECARS, { kind: "ServiceAccount", ...CSI_SIDECARS_ACCOUNT }),
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

export const joiningRoles: readonly Role[] = [
  {
    apiVersion: API_VERSION,
    kind: "Role",
    metadata: CLUSTER_NETWORK_READER,
    rules: [{ apiGroups: [""], resources: ["configmaps"], resourceNames: [CLUSTER_NETWORK.name], verbs: ["get"] }],
  },
];

export const joiningRoleBindings: readonly RoleBinding[] = [
  {
    apiVersion: API_VERSION,
    kind: "RoleBinding",
    metadata: CLUSTER_NETWORK_READER,
    roleRef: { apiGroup: RBAC, kind: "Role", name: CLUSTER_NETWORK_READER.name },
    subjects: [NODES],
  },
];
