import { equal } from "node:assert/strict";
import { test } from "node:test";
import { legacyKeyToCurrent } from "./legacy-keys.ts";

for (const { old, current } of [
  { old: "/core/pods/default/web", current: "/pods/default/web" },
  { old: "/core/services/default/web", current: "/services/specs/default/web" },
  { old: "/core/endpoints/default/web", current: "/services/endpoints/default/web" },
  { old: "/core/nodes/node-1", current: "/minions/node-1" },
  { old: "/core/replicationcontrollers/default/web", current: "/controllers/default/web" },
  { old: "/core/namespaces/core", current: "/namespaces/core" },
  { old: "/networking.k8s.io/ingresses/default/web", current: "/ingress/default/web" },
  { old: "/networking.k8s.io/ingressclasses/nginx", current: "/ingressclasses/nginx" },
  { old: "/apps/deployments/default/web", current: "/deployments/default/web" },
  { old: "/rbac.authorization.k8s.io/clusterroles/system:node", current: "/clusterroles/system:node" },
  { old: "/apiregistration.k8s.io/apiservices/v1.apps", current: "/apiregistration.k8s.io/apiservices/v1.apps" },
  {
    old: "/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com",
    current: "/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com",
  },
  { old: "/example.com/widgets/default/web", current: "/example.com/widgets/default/web" },
  { old: "/k8ts/compaction/state", current: "/k8ts/compaction/state" },
  { old: "/k8ts/quotamarks/default", current: "/k8ts/quotamarks/default" },
  { old: "/k8ts/expiry/0001790000000000/core/events/default/web.1", current: "/k8ts/expiry/0001790000000000/events/default/web.1" },
  { old: "/k8ts/expiry/0001790000000000/k8ts/quotamarks/default", current: "/k8ts/expiry/0001790000000000/k8ts/quotamarks/default" },
]) {
  test(`the legacy key ${old} becomes ${current}`, () => equal(legacyKeyToCurrent(old), current));
}
