/** Roles in the system namespaces: reading trust anchors, leader election, and publishing cluster-info. */
import {
  COORDINATION,
  CORE,
  grantIn,
  KUBE_CONTROLLER_MANAGER,
  KUBE_SCHEDULER,
  may,
  READ,
  RECORD_EVENTS,
  serviceAccount,
  type NamespacedGrant,
} from "./grants.ts";

const SYSTEM = "kube-system";
const PUBLIC = "kube-public";

const LEADER_ELECTION = [
  may(...READ, "create", "update").of(COORDINATION, "leases"),
  may(...READ, "create", "update").of(COORDINATION, "leasecandidates"),
];

export const namespacedRoles: readonly NamespacedGrant[] = [
  grantIn(
    SYSTEM,
    "extension-apiserver-authentication-reader",
    [may(...READ).ofNamed(CORE, "configmaps", "extension-apiserver-authentication")],
    { to: [KUBE_CONTROLLER_MANAGER, KUBE_SCHEDULER], bindingName: "system::extension-apiserver-authentication-reader" },
  ),
  grantIn(SYSTEM, "system::leader-locking-kube-controller-manager", LEADER_ELECTION, {
    to: [KUBE_CONTROLLER_MANAGER, serviceAccount(SYSTEM, "kube-controller-manager"), serviceAccount(SYSTEM, "leader-election-controller")],
  }),
  grantIn(SYSTEM, "system::leader-locking-kube-scheduler", LEADER_ELECTION, {
    to: [KUBE_SCHEDULER, serviceAccount(SYSTEM, "kube-scheduler")],
  }),

  controllerIn(SYSTEM, "bootstrap-signer", may(...READ).of(CORE, "secrets")),
  controllerIn(SYSTEM, "cloud-provider", may(...READ, "create").of(CORE, "configmaps")),
  controllerIn(SYSTEM, "token-cleaner", may(...READ, "delete").of(CORE, "secrets"), RECORD_EVENTS),
  controllerIn(
    PUBLIC,
    "bootstrap-signer",
    may(...READ).of(CORE, "configmaps"),
    may("update").ofNamed(CORE, "configmaps", "cluster-info"),
    RECORD_EVENTS,
  ),
];

/** The controller is in kube-system, whatever the namespace. */
function controllerIn(namespace: string, name: string, ...rules: Parameters<typeof grantIn>[2]): NamespacedGrant {
  return grantIn(namespace, `system:controller:${name}`, rules, { to: [serviceAccount(SYSTEM, name)] });
}
