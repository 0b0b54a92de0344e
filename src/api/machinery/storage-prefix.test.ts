import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { storagePrefix } from "./storage-prefix.ts";

/** Keys of an etcd that upstream's API server 1.36 has filled. */
const FACTS: readonly (readonly [resource: string, prefix: string])[] = [
  ["admissionregistration.k8s.io/mutatingadmissionpolicies", "/mutatingadmissionpolicies/"],
  ["admissionregistration.k8s.io/mutatingadmissionpolicybindings", "/mutatingadmissionpolicybindings/"],
  ["admissionregistration.k8s.io/mutatingwebhookconfigurations", "/mutatingwebhookconfigurations/"],
  ["admissionregistration.k8s.io/validatingadmissionpolicies", "/validatingadmissionpolicies/"],
  ["admissionregistration.k8s.io/validatingadmissionpolicybindings", "/validatingadmissionpolicybindings/"],
  ["admissionregistration.k8s.io/validatingwebhookconfigurations", "/validatingwebhookconfigurations/"],
  ["apiextensions.k8s.io/customresourcedefinitions", "/apiextensions.k8s.io/customresourcedefinitions/"],
  ["apiregistration.k8s.io/apiservices", "/apiregistration.k8s.io/apiservices/"],
  ["apps/controllerrevisions", "/controllerrevisions/"],
  ["apps/daemonsets", "/daemonsets/"],
  ["apps/deployments", "/deployments/"],
  ["apps/replicasets", "/replicasets/"],
  ["apps/statefulsets", "/statefulsets/"],
  ["autoscaling/horizontalpodautoscalers", "/horizontalpodautoscalers/"],
  ["batch/cronjobs", "/cronjobs/"],
  ["batch/jobs", "/jobs/"],
  ["certificates.k8s.io/certificatesigningrequests", "/certificatesigningrequests/"],
  ["coordination.k8s.io/leases", "/leases/"],
  ["configmaps", "/configmaps/"],
  ["endpoints", "/services/endpoints/"],
  ["events", "/events/"],
  ["limitranges", "/limitranges/"],
  ["namespaces", "/namespaces/"],
  ["nodes", "/minions/"],
  ["persistentvolumeclaims", "/persistentvolumeclaims/"],
  ["persistentvolumes", "/persistentvolumes/"],
  ["pods", "/pods/"],
  ["podtemplates", "/podtemplates/"],
  ["replicationcontrollers", "/controllers/"],
  ["resourcequotas", "/resourcequotas/"],
  ["secrets", "/secrets/"],
  ["serviceaccounts", "/serviceaccounts/"],
  ["services", "/services/specs/"],
  ["discovery.k8s.io/endpointslices", "/endpointslices/"],
  ["flowcontrol.apiserver.k8s.io/flowschemas", "/flowschemas/"],
  ["flowcontrol.apiserver.k8s.io/prioritylevelconfigurations", "/prioritylevelconfigurations/"],
  ["networking.k8s.io/ingressclasses", "/ingressclasses/"],
  ["networking.k8s.io/ingresses", "/ingress/"],
  ["networking.k8s.io/ipaddresses", "/ipaddresses/"],
  ["networking.k8s.io/networkpolicies", "/networkpolicies/"],
  ["networking.k8s.io/servicecidrs", "/servicecidrs/"],
  ["node.k8s.io/runtimeclasses", "/runtimeclasses/"],
  ["policy/poddisruptionbudgets", "/poddisruptionbudgets/"],
  ["rbac.authorization.k8s.io/clusterrolebindings", "/clusterrolebindings/"],
  ["rbac.authorization.k8s.io/clusterroles", "/clusterroles/"],
  ["rbac.authorization.k8s.io/rolebindings", "/rolebindings/"],
  ["rbac.authorization.k8s.io/roles", "/roles/"],
  ["resource.k8s.io/deviceclasses", "/deviceclasses/"],
  ["resource.k8s.io/resourceclaims", "/resourceclaims/"],
  ["resource.k8s.io/resourceclaimtemplates", "/resourceclaimtemplates/"],
  ["resource.k8s.io/resourceslices", "/resourceslices/"],
  ["scheduling.k8s.io/priorityclasses", "/priorityclasses/"],
  ["storage.k8s.io/csidrivers", "/csidrivers/"],
  ["storage.k8s.io/csinodes", "/csinodes/"],
  ["storage.k8s.io/csistoragecapacities", "/csistoragecapacities/"],
  ["storage.k8s.io/storageclasses", "/storageclasses/"],
  ["storage.k8s.io/volumeattachments", "/volumeattachments/"],
  ["storage.k8s.io/volumeattributesclasses", "/volumeattributesclasses/"],
];

for (const [resource, prefix] of FACTS) {
  test(`${resource} is stored under ${prefix}, as upstream stores it`, () => {
    const [plural = "", group = ""] = resource.split("/").toReversed();
    equal(storagePrefix({ group, plural }), prefix);
  });
}

test("a custom resource is stored under its group and plural name, also if the group ends in .k8s.io", () =>
  deepEqual(
    [
      { group: "example.com", plural: "widgets" },
      { group: "snapshot.storage.k8s.io", plural: "volumesnapshots" },
      { group: "example.com", plural: "services" },
    ].map(storagePrefix),
    ["/example.com/widgets/", "/snapshot.storage.k8s.io/volumesnapshots/", "/example.com/services/"],
  ));
