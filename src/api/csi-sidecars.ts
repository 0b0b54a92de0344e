/** Names that the built-in sidecars of CSI drivers (csi/sidecars) share with users, their identity and their permissions. */
import { serviceAccountIdentity } from "./identities.ts";
import type { PolicyRule } from "./generated/rbac.authorization.k8s.io/v1.ts";

/** "true" as an annotation or parameter of a StorageClass: k8ts calls the controller service of its driver, instead of sidecar containers. */
export const BUILT_IN_SIDECARS = "k8ts.dev/builtin-sidecars";

export const CSI_SIDECARS_ACCOUNT = { namespace: "kube-system", name: "k8ts-csi-sidecars" } as const;
export const CSI_SIDECARS = serviceAccountIdentity(CSI_SIDECARS_ACCOUNT.namespace, CSI_SIDECARS_ACCOUNT.name);

const READ = ["get", "list", "watch"];

export const CSI_SIDECAR_RULES: readonly PolicyRule[] = [
  { apiGroups: [""], resources: ["persistentvolumes"], verbs: [...READ, "create", "update", "patch", "delete"] },
  { apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: [...READ, "patch"] },
  { apiGroups: [""], resources: ["persistentvolumeclaims/status"], verbs: ["update"] },
  { apiGroups: [""], resources: ["nodes", "pods"], verbs: READ },
  { apiGroups: [""], resources: ["secrets"], verbs: ["get"] },
  { apiGroups: ["storage.k8s.io"], resources: ["storageclasses", "csinodes"], verbs: READ },
  { apiGroups: ["storage.k8s.io"], resources: ["volumeattachments"], verbs: [...READ, "update", "patch"] },
  { apiGroups: ["storage.k8s.io"], resources: ["volumeattachments/status"], verbs: ["update"] },
  { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "update", "patch"] },
];
