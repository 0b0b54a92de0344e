/** The operator's RBAC objects for `kubectl apply`, generated from the controller's rules so that they cannot get out of date. */
import { websiteController } from "./website-controller.ts";

const NAME = "website-operator";

export function rbac({ namespace }: { readonly namespace: string }): object {
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: NAME };
  const leases = { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "create", "update", "watch"] };
  return {
    apiVersion: "v1",
    kind: "List",
    items: [
      { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: NAME, namespace } },
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRole",
        metadata: { name: NAME },
        rules: [...websiteController.rules, leases],
      },
      {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: "ClusterRoleBinding",
        metadata: { name: NAME },
        roleRef,
        subjects: [{ kind: "ServiceAccount", name: NAME, namespace }],
      },
    ],
  };
}
