/**
 * The minimal role of each controller, bound to its own service account in kube-system. So a compromised or faulty controller can damage
 * only its own resources.
 */
import type { PolicyRule } from "../../../api/generated/rbac.authorization.k8s.io/v1.ts";
import {
  APPS,
  AUTHORIZATION,
  AUTOSCALING,
  BATCH,
  CERTIFICATES,
  CHANGE,
  CORE,
  DISCOVERY,
  EVERY,
  EXTENSIONS,
  FOLLOW,
  grant,
  may,
  METRICS,
  NETWORKING,
  POLICY,
  RBAC,
  READ,
  RECORD_EVENTS,
  RESOURCE,
  serviceAccount,
  STORAGE,
  type Grant,
} from "./grants.ts";

/** Workloads may still be written in their former API group. */
const WORKLOADS = [APPS, EXTENSIONS];

/** Controllers that create pods from a template never rewrite pods, but adopt and release them. */
const OWN_PODS = may(...FOLLOW, "create", "delete", "patch").of(CORE, "pods");

const SIGNERS = ["legacy-unknown", "kubelet-serving", "kube-apiserver-client", "kube-apiserver-client-kubelet"];

const WORKLOAD_CONTROLLERS = [
  controller("cronjob-controller", [
    may(...READ, "update").of(BATCH, "cronjobs"),
    may(...READ, "create", ...CHANGE, "delete").of(BATCH, "jobs"),
    may("update").of(BATCH, "cronjobs/status"),
    may("update").of(BATCH, "cronjobs/finalizers"),
    may(...FOLLOW, "delete").of(CORE, "pods"),
    RECORD_EVENTS,
  ]),
  controller("daemon-set-controller", [
    may(...READ).of(WORKLOADS, "daemonsets"),
    may("update").of(WORKLOADS, "daemonsets/status"),
    may("update").of(WORKLOADS, "daemonsets/finalizers"),
    may(...FOLLOW).of(CORE, "nodes"),
    OWN_PODS,
    may("create").of(CORE, "pods/binding"),
    may(...READ, "create", ...CHANGE, "delete").of(APPS, "controllerrevisions"),
    RECORD_EVENTS,
  ]),
  controller("deployment-controller", [
    may(...READ, "update").of(WORKLOADS, "deployments"),
    may("update").of(WORKLOADS, "deployments/status"),
    may("update").of(WORKLOADS, "deployments/finalizers"),
    may(...READ, "create", ...CHANGE, "delete").of(WORKLOADS, "replicasets"),
    may(...READ, "update").of(CORE, "pods"),
    RECORD_EVENTS,
  ]),
  controller("disruption-controller", [
    may(...READ).of(WORKLOADS, "deployments"),
    may(...READ).of(WORKLOADS, "replicasets"),
    may(...READ).of(CORE, "replicationcontrollers"),
    may(...READ).of(POLICY, "poddisruptionbudgets"),
    may(...READ).of(APPS, "statefulsets"),
    may("update").of(POLICY, "poddisruptionbudgets/status"),
    may(...CHANGE).of(CORE, "pods/status"),
    // It reads the scale of any pod owner.
    may("get").of(EVERY, "*/scale"),
    RECORD_EVENTS,
  ]),
  controller("horizontal-pod-autoscaler", [
    may(...READ).of(AUTOSCALING, "horizontalpodautoscalers"),
    may("update").of(AUTOSCALING, "horizontalpodautoscalers/status"),
    may("get", "update").of(EVERY, "*/scale"),
    may(...FOLLOW).of(CORE, "pods"),
    may(...FOLLOW).of(METRICS, "pods"),
    may(...READ).of("custom.metrics.k8s.io", EVERY),
    may(...READ).of("external.metrics.k8s.io", EVERY),
    RECORD_EVENTS,
  ]),
  controller("job-controller", [
    may(...READ, ...CHANGE).of(BATCH, "jobs"),
    may("update").of(BATCH, "jobs/status"),
    may("update").of(BATCH, "jobs/finalizers"),
    OWN_PODS,
    RECORD_EVENTS,
  ]),
  controller("replicaset-controller", [
    may(...READ, "update").of(WORKLOADS, "replicasets"),
    may("update").of(WORKLOADS, "replicasets/status"),
    may("update").of(WORKLOADS, "replicasets/finalizers"),
    OWN_PODS,
    RECORD_EVENTS,
  ]),
  controller("replication-controller", [
    may(...READ, "update").of(CORE, "replicationcontrollers"),
    may("update").of(CORE, "replicationcontrollers/status"),
    may("update").of(CORE, "replicationcontrollers/finalizers"),
    OWN_PODS,
    RECORD_EVENTS,
  ]),
  controller("statefulset-controller", [
    may(...FOLLOW).of(CORE, "pods"),
    may(...READ).of(APPS, "statefulsets"),
    may("update").of(APPS, "statefulsets/status"),
    may("update").of(APPS, "statefulsets/finalizers"),
    may("get", "create", "delete", ...CHANGE).of(CORE, "pods"),
    may(...READ, "create", ...CHANGE, "delete").of(APPS, "controllerrevisions"),
    may(...READ, "create").of(CORE, "persistentvolumeclaims"),
    // The StatefulSet decides whether claims are deleted with their pods.
    may("update", "delete").of(CORE, "persistentvolumeclaims"),
    may("update").of(CORE, "pods/finalizers"),
    RECORD_EVENTS,
  ]),
  controller("ttl-after-finished-controller", [may(...READ, "delete").of(BATCH, "jobs"), RECORD_EVENTS]),
];

const NETWORK_CONTROLLERS = [
  controller("endpoint-controller", [
    may(...READ).of(CORE, "services", "pods"),
    may(...READ, "create", "update", "delete").of(CORE, "endpoints"),
    // Permission to write restricted addresses into Endpoints.
    may("create").of(CORE, "endpoints/restricted"),
    RECORD_EVENTS,
  ]),
  controller("endpointslice-controller", [
    may(...READ).of(CORE, "services", "pods", "nodes"),
    // blockOwnerDeletion on a slice requires the finalizers permission on the owner.
    may("update").of(CORE, "services/finalizers"),
    may(...READ, "create", "update", "delete").of(DISCOVERY, "endpointslices"),
    RECORD_EVENTS,
  ]),
  controller("endpointslicemirroring-controller", [
    may(...READ).of(CORE, "services", "endpoints"),
    may("update").of(CORE, "services/finalizers"),
    may("update").of(CORE, "endpoints/finalizers"),
    may(...READ, "create", "update", "delete").of(DISCOVERY, "endpointslices"),
    RECORD_EVENTS,
  ]),
  controller("route-controller", [may(...FOLLOW).of(CORE, "nodes"), may("patch").of(CORE, "nodes/status"), RECORD_EVENTS]),
  controller("service-cidrs-controller", [
    may(...READ, ...CHANGE).of(NETWORKING, "servicecidrs"),
    may(...CHANGE).of(NETWORKING, "servicecidrs/finalizers"),
    may(...CHANGE).of(NETWORKING, "servicecidrs/status"),
    may(...READ).of(NETWORKING, "ipaddresses"),
    RECORD_EVENTS,
  ]),
  controller("service-controller", [
    may(...READ).of(CORE, "services"),
    may(...CHANGE).of(CORE, "services/status"),
    // Pods and Ingresses: ports of nodes that a load balancer must not take over. Upstream's needs only nodes.
    may(...FOLLOW).of(CORE, "nodes", "pods"),
    may(...FOLLOW).of(NETWORKING, "ingresses"),
    RECORD_EVENTS,
  ]),
];

const STORAGE_CONTROLLERS = [
  controller("attachdetach-controller", [
    may(...FOLLOW).of(CORE, "persistentvolumes", "persistentvolumeclaims"),
    may(...READ).of(CORE, "nodes"),
    may(...CHANGE).of(CORE, "nodes/status"),
    may(...FOLLOW).of(CORE, "pods"),
    RECORD_EVENTS,
    may(...READ, "create", "delete").of(STORAGE, "volumeattachments"),
    may(...READ).of(STORAGE, "csidrivers"),
    may(...READ).of(STORAGE, "csinodes"),
  ]),
  controller("ephemeral-volume-controller", [
    may(...READ).of(CORE, "pods"),
    may("update").of(CORE, "pods/finalizers"),
    may(...READ, "create").of(CORE, "persistentvolumeclaims"),
    RECORD_EVENTS,
  ]),
  controller("expand-controller", [
    may(...READ, ...CHANGE).of(CORE, "persistentvolumes"),
    may(...CHANGE).of(CORE, "persistentvolumeclaims/status"),
    may(...READ).of(CORE, "persistentvolumeclaims"),
    RECORD_EVENTS,
  ]),
  controller("persistent-volume-binder", [
    may(...READ, "create", "update", "delete").of(CORE, "persistentvolumes"),
    may("update").of(CORE, "persistentvolumes/status"),
    may(...READ, "update").of(CORE, "persistentvolumeclaims"),
    may("update").of(CORE, "persistentvolumeclaims/status"),
    // Recycler pods, which empty a volume before it is reused.
    may(...READ, "create", "delete").of(CORE, "pods"),
    may(...READ).of(STORAGE, "storageclasses"),
    may(...FOLLOW).of(CORE, "nodes"),
    RECORD_EVENTS,
    may("watch").of(CORE, "events"),
  ]),
  controller("pv-protection-controller", [may(...READ, "update").of(CORE, "persistentvolumes"), RECORD_EVENTS]),
  controller("pvc-protection-controller", [
    may(...READ, "update").of(CORE, "persistentvolumeclaims"),
    may("update").of(CORE, "persistentvolumeclaims/status"),
    may(...READ).of(CORE, "pods"),
    RECORD_EVENTS,
  ]),
  controller("selinux-warning-controller", [
    RECORD_EVENTS,
    may(...READ).of(CORE, "persistentvolumes"),
    may(...READ).of(CORE, "persistentvolumeclaims"),
    may(...READ).of(CORE, "pods"),
    may(...READ).of(STORAGE, "csidrivers"),
  ]),
  controller("volumeattributesclass-protection-controller", [
    may(...READ).of(CORE, "persistentvolumeclaims"),
    may(...READ).of(CORE, "persistentvolumes"),
    may(...READ, "update").of(STORAGE, "volumeattributesclasses"),
    RECORD_EVENTS,
  ]),
];

const NODE_AND_DEVICE_CONTROLLERS = [
  controller("device-taint-eviction-controller", [
    may(...READ, "delete").of(CORE, "pods"),
    may(...CHANGE).of(CORE, "pods/status"),
    may(...READ).of(RESOURCE, "resourceclaims"),
    may(...READ).of(RESOURCE, "resourceslices"),
    may(...READ).of(RESOURCE, "deviceclasses"),
    RECORD_EVENTS,
  ]),
  controller("node-controller", [
    may(...READ, ...CHANGE, "delete").of(CORE, "nodes"),
    may(...CHANGE).of(CORE, "nodes/status"),
    // Pods of deleted nodes are marked, then evicted.
    may(...CHANGE).of(CORE, "pods/status"),
    may(...READ, "delete").of(CORE, "pods"),
    RECORD_EVENTS,
  ]),
  controller("pod-garbage-collector", [
    may(...FOLLOW, "delete").of(CORE, "pods"),
    may(...READ).of(CORE, "nodes"),
    may("patch").of(CORE, "pods/status"),
  ]),
  controller("resource-claim-controller", [
    may(...READ).of(CORE, "pods"),
    may("update").of(CORE, "pods/finalizers"),
    may(...READ, "create", "delete").of(RESOURCE, "resourceclaims"),
    may(...CHANGE).of(RESOURCE, "resourceclaims", "resourceclaims/status"),
    may(...CHANGE).of(CORE, "pods/status"),
    RECORD_EVENTS,
    may(...CHANGE).of(RESOURCE, "resourceclaims/binding"),
  ]),
  controller("ttl-controller", [may(...FOLLOW, ...CHANGE).of(CORE, "nodes"), RECORD_EVENTS]),
];

const CLUSTER_CONTROLLERS = [
  controller("certificate-controller", [
    may(...READ, "delete").of(CERTIFICATES, "certificatesigningrequests"),
    may("update").of(CERTIFICATES, "certificatesigningrequests/status", "certificatesigningrequests/approval"),
    may("approve").ofNamed(CERTIFICATES, "signers", "kubernetes.io/kube-apiserver-client-kubelet"),
    may("sign").ofNamed(CERTIFICATES, "signers", ...SIGNERS.map((signer) => `kubernetes.io/${signer}`)),
    may("create").of(AUTHORIZATION, "subjectaccessreviews"),
    RECORD_EVENTS,
  ]),
  // It writes rules that it does not have itself.
  controller("clusterrole-aggregation-controller", [may(...READ, ...CHANGE, "escalate").of(RBAC, "clusterroles")]),
  controller("generic-garbage-collector", [may(...READ, ...CHANGE, "delete").of(EVERY, EVERY), RECORD_EVENTS]),
  controller("legacy-service-account-token-cleaner", [
    may("get").ofNamed(CORE, "configmaps", "kube-apiserver-legacy-service-account-token-tracking"),
    may("delete", "patch").of(CORE, "secrets"),
  ]),
  controller("namespace-controller", [
    may(...READ, "delete").of(CORE, "namespaces"),
    may("update").of(CORE, "namespaces/finalize", "namespaces/status"),
    may(...READ, "delete", "deletecollection").of(EVERY, EVERY),
  ]),
  controller("resourcequota-controller", [may(...FOLLOW).of(EVERY, EVERY), may("update").of(CORE, "resourcequotas/status"), RECORD_EVENTS]),
  controller("root-ca-cert-publisher", [may("create", "update").of(CORE, "configmaps"), RECORD_EVENTS]),
  controller("service-account-controller", [may("create").of(CORE, "serviceaccounts"), RECORD_EVENTS]),
  controller("validatingadmissionpolicy-status-controller", [
    may(...READ).of("admissionregistration.k8s.io", "validatingadmissionpolicies"),
    may("get", ...CHANGE).of("admissionregistration.k8s.io", "validatingadmissionpolicies/status"),
    RECORD_EVENTS,
  ]),
];

export const controllerRoles: readonly Grant[] = [
  ...WORKLOAD_CONTROLLERS,
  ...NETWORK_CONTROLLERS,
  ...STORAGE_CONTROLLERS,
  ...NODE_AND_DEVICE_CONTROLLERS,
  ...CLUSTER_CONTROLLERS,
];

function controller(name: string, rules: readonly PolicyRule[]): Grant {
  return grant(`system:controller:${name}`, rules, { to: [serviceAccount("kube-system", name)] });
}
