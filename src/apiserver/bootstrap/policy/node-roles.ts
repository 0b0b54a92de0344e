/**
 * Roles of nodes and node agents, and for access to kubelets. The Node authorizer and NodeRestriction limit a node to its own objects; so
 * the role system:node has no subjects here, and its binding exists for clusters without them.
 */
import {
  AUTHENTICATION,
  AUTHORIZATION,
  CERTIFICATES,
  CHANGE,
  COORDINATION,
  CORE,
  DISCOVERY,
  FOLLOW,
  grant,
  KUBE_PROXY,
  may,
  NETWORKING,
  READ,
  RECORD_EVENTS,
  RESOURCE,
  STORAGE,
  type Grant,
} from "./grants.ts";

export const NODE_RULES = [
  // For delegated authentication and authorization of kubelet requests.
  may("create").of(AUTHENTICATION, "tokenreviews"),
  may("create").of(AUTHORIZATION, "subjectaccessreviews", "localsubjectaccessreviews"),
  // For environment variables of Services in containers.
  may(...READ).of(CORE, "services"),
  // Its own Node.
  may(...READ, "create").of(CORE, "nodes"),
  may(...CHANGE).of(CORE, "nodes/status"),
  may(...CHANGE).of(CORE, "nodes"),
  RECORD_EVENTS,
  // Its pods; those it creates and deletes are mirror pods.
  may(...READ).of(CORE, "pods"),
  may("create", "delete").of(CORE, "pods"),
  may(...CHANGE).of(CORE, "pods/status"),
  may("create").of(CORE, "pods/eviction"),
  // Objects referenced by its pods.
  may(...READ).of(CORE, "secrets", "configmaps"),
  may("get").of(CORE, "persistentvolumeclaims", "persistentvolumes"),
  may("get").of(CORE, "endpoints"),
  // Rotation of its own certificates.
  may(...READ, "create").of(CERTIFICATES, "certificatesigningrequests"),
  // Its heartbeat.
  may("get", "create", ...CHANGE, "delete").of(COORDINATION, "leases"),
  may("get").of(STORAGE, "volumeattachments"),
  may("create").of(CORE, "serviceaccounts/token"),
  may("get", ...CHANGE).of(CORE, "persistentvolumeclaims/status"),
  may(...READ).of(STORAGE, "csidrivers"),
  may("get", "create", ...CHANGE, "delete").of(STORAGE, "csinodes"),
  may(...READ).of("node.k8s.io", "runtimeclasses"),
  may("get").of(RESOURCE, "resourceclaims"),
  may("deletecollection").of(RESOURCE, "resourceslices"),
  may("get").of(CORE, "serviceaccounts"),
];

const NODE_PROXIER_RULES = [
  may(...FOLLOW).of(CORE, "services", "endpoints"),
  may(...READ).of(CORE, "nodes"),
  RECORD_EVENTS,
  may(...FOLLOW).of(NETWORKING, "servicecidrs"),
  may(...FOLLOW).of(DISCOVERY, "endpointslices"),
];

const KUBELET_API_ADMIN_RULES = [
  may(...READ).of(CORE, "nodes"),
  may("proxy").of(CORE, "nodes"),
  may("*").of(CORE, "nodes/proxy", "nodes/metrics", "nodes/stats", "nodes/log"),
  may("*").of(CORE, "nodes/configz", "nodes/healthz", "nodes/pods"),
];

const NODE_PROBLEM_DETECTOR_RULES = [may("get").of(CORE, "nodes"), may("patch").of(CORE, "nodes/status"), RECORD_EVENTS];

export const nodeRoles: readonly Grant[] = [
  grant("system:node", NODE_RULES, { to: [] }),
  grant("system:node-proxier", NODE_PROXIER_RULES, { to: [KUBE_PROXY] }),
  grant("system:node-problem-detector", NODE_PROBLEM_DETECTOR_RULES),
  grant("system:kubelet-api-admin", KUBELET_API_ADMIN_RULES),

  // Node bootstrapping: requesting a certificate, and automatic approval.
  grant("system:node-bootstrapper", [may(...READ, "create").of(CERTIFICATES, "certificatesigningrequests")]),
  grant("system:certificates.k8s.io:certificatesigningrequests:nodeclient", [
    may("create").of(CERTIFICATES, "certificatesigningrequests/nodeclient"),
  ]),
  grant("system:certificates.k8s.io:certificatesigningrequests:selfnodeclient", [
    may("create").of(CERTIFICATES, "certificatesigningrequests/selfnodeclient"),
  ]),
  approver("legacy-unknown"),
  approver("kubelet-serving"),
  approver("kube-apiserver-client"),
  approver("kube-apiserver-client-kubelet"),
];

function approver(signer: string): Grant {
  return grant(`system:certificates.k8s.io:${signer}-approver`, [
    may("approve").ofNamed(CERTIFICATES, "signers", `kubernetes.io/${signer}`),
  ]);
}
