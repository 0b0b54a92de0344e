import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { kubectlCommands } from "./kubectl-commands.ts";

test("printed kubectl commands quote names and objects for the shell", () => {
  const role = { resource: "clusterroles.rbac.authorization.k8s.io", namespace: "" };
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { text: "it's\n" } };

  deepEqual(
    kubectlCommands([
      { type: "delete", target: { resource: "pods", namespace: "shop", name: "web" }, force: true },
      { type: "delete", target: { ...role, name: "--all" } },
      { type: "patch", target: { ...role, name: "$(reboot)" }, patch: { metadata: { finalizers: null } } },
      { type: "create", object },
    ]),
    [
      "kubectl delete -n shop pods/web --grace-period=0 --force",
      "kubectl delete clusterroles.rbac.authorization.k8s.io/--all",
      `kubectl patch 'clusterroles.rbac.authorization.k8s.io/$(reboot)' --type=merge -p '{"metadata":{"finalizers":null}}'`,
      String.raw`printf %s '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"text":"it'\''s\n"}}' | kubectl create -f -`,
    ],
  );
});
