/** Roles of control plane components other than single controllers: scheduler, controller manager, DNS, provisioners. */
import {
  APPS,
  CHANGE,
  COORDINATION,
  CORE,
  DELEGATE_ACCESS,
  DISCOVERY,
  EVERY,
  EXTENSIONS,
  FOLLOW,
  grant,
  KUBE_CONTROLLER_MANAGER,
  KUBE_SCHEDULER,
  may,
  NETWORKING,
  POLICY,
  READ,
  RECORD_EVENTS,
  RESOURCE,
  serviceAccount,
  STORAGE,
  WRITE,
  type Grant,
} from "./grants.ts";

const KUBE_CONTROLLER_MANAGER_RULES = [
  RECORD_EVENTS,
  may("create").of(COORDINATION, "leases"),
  may("get", "update").ofNamed(COORDINATION, "leases", "kube-controller-manager"),
  // It creates the service accounts of its controllers and their tokens; each controller has its own role (controller-roles.ts).
  may("create").of(CORE, "secrets", "serviceaccounts"),
  may("delete").of(CORE, "secrets"),
  may("get").of(CORE, "namespaces", "secrets", "serviceaccounts", "configmaps"),
  may("update").of(CORE, "secrets", "serviceaccounts"),
  ...DELEGATE_ACCESS,
  // Its controllers share one cache, which may hold any resource.
  may(...FOLLOW).of(EVERY, EVERY),
  may("create").of(CORE, "serviceaccounts/token"),
];

const KUBE_SCHEDULER_RULES = [
  RECORD_EVENTS,
  may("create").of(COORDINATION, "leases"),
  may("get", "list", "update", "watch").ofNamed(COORDINATION, "leases", "kube-scheduler"),
  may(...READ, ...WRITE).of(COORDINATION, "leasecandidates"),
  // Binding and preemption of pods.
  may(...READ).of(CORE, "nodes"),
  may(...READ, "delete").of(CORE, "pods"),
  may("create").of(CORE, "pods/binding", "bindings"),
  may(...CHANGE).of(CORE, "pods/status"),
  // For spreading pods of one owner.
  may(...READ).of(CORE, "services", "replicationcontrollers"),
  may(...READ).of([APPS, EXTENSIONS], "replicasets"),
  may(...READ).of(APPS, "statefulsets"),
  may(...READ).of(POLICY, "poddisruptionbudgets"),
  may(...READ).of(CORE, "persistentvolumeclaims", "persistentvolumes"),
  ...DELEGATE_ACCESS,
  // For volume limits and volume topology of nodes.
  may(...READ).of(STORAGE, "csinodes"),
  may(...READ).of(STORAGE, "volumeattachments"),
  may(...READ).of(CORE, "namespaces"),
  may(...READ).of(STORAGE, "csidrivers"),
  may(...READ).of(STORAGE, "csistoragecapacities"),
  // Devices.
  may(...READ).of(RESOURCE, "deviceclasses"),
  may(...READ, ...CHANGE).of(RESOURCE, "resourceclaims"),
  may(...READ, ...CHANGE).of(RESOURCE, "resourceclaims/status"),
  may("update").of(CORE, "pods/finalizers"),
  may(...READ).of(RESOURCE, "resourceslices"),
  may("create", "delete").of(RESOURCE, "resourceclaims"),
  may(...CHANGE).of(RESOURCE, "resourceclaims/binding"),
];

const VOLUME_SCHEDULER_RULES = [
  may(...READ, ...CHANGE).of(CORE, "persistentvolumes"),
  may(...READ).of(STORAGE, "storageclasses"),
  may(...READ, ...CHANGE).of(CORE, "persistentvolumeclaims"),
];

const VOLUME_PROVISIONER_RULES = [
  may(...READ, "create", "delete").of(CORE, "persistentvolumes"),
  // To report why a claim is pending.
  may(...READ, "update").of(CORE, "persistentvolumeclaims"),
  may(...READ).of(STORAGE, "storageclasses"),
  may("watch").of(CORE, "events"),
  RECORD_EVENTS,
];

/** Ours: upstream has no ingress controller. Of Secrets it follows those that Ingresses name, each by a watch of its own. */
const INGRESS_RULES = [
  RECORD_EVENTS,
  may(...READ).of(NETWORKING, "ingresses", "ingressclasses"),
  may(...CHANGE).of(NETWORKING, "ingresses/status"),
  may("create").of(NETWORKING, "ingressclasses"),
  may(...FOLLOW).of(CORE, "services"),
  may(...FOLLOW).of(DISCOVERY, "endpointslices"),
  may(...FOLLOW).of(CORE, "secrets"),
];

export const componentRoles: readonly Grant[] = [
  grant("system:kube-controller-manager", KUBE_CONTROLLER_MANAGER_RULES, { to: [KUBE_CONTROLLER_MANAGER] }),
  grant("system:kube-scheduler", KUBE_SCHEDULER_RULES, { to: [KUBE_SCHEDULER] }),
  grant("system:volume-scheduler", VOLUME_SCHEDULER_RULES, { to: [KUBE_SCHEDULER] }),
  grant("system:persistent-volume-provisioner", VOLUME_PROVISIONER_RULES),
  grant("system:kube-dns", [may(...FOLLOW).of(CORE, "endpoints", "services")], { to: [serviceAccount("kube-system", "kube-dns")] }),
  grant("system:k8ts-ingress", INGRESS_RULES, { to: [serviceAccount("kube-system", "k8ts-ingress")] }),
  grant("system:kube-aggregator", [may(...READ).of(CORE, "services", "endpoints")]),
];
