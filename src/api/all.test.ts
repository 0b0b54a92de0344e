import assert from "node:assert/strict";
import test from "node:test";
import { all } from "./all.ts";
import { apiVersionOf, groupResourceOf } from "./machinery/object.ts";
import type { Resource } from "./machinery/resource.ts";
import { schemaOf } from "./schemas.ts";

test("groups are listed in the order of upstream's discovery", () => {
  const groups = new Set(all.flatMap(({ served }) => served.map(({ group }) => group)));

  assert.deepEqual(
    [...groups],
    [
      "",
      "apiregistration.k8s.io",
      "apps",
      "events.k8s.io",
      "authentication.k8s.io",
      "authorization.k8s.io",
      "autoscaling",
      "batch",
      "certificates.k8s.io",
      "networking.k8s.io",
      "policy",
      "rbac.authorization.k8s.io",
      "storage.k8s.io",
      "admissionregistration.k8s.io",
      "apiextensions.k8s.io",
      "scheduling.k8s.io",
      "coordination.k8s.io",
      "node.k8s.io",
      "discovery.k8s.io",
      "resource.k8s.io",
      "flowcontrol.apiserver.k8s.io",
      "metrics.k8s.io",
    ],
  );
});

test("no two kinds are served under the same name", () => {
  const names = all.flatMap(({ plural, served }) => served.map((version) => `${apiVersionOf(version)} ${plural}`));

  assert.equal(new Set(names).size, names.length);
});

/** From upstream's strategies; kinds not named have the opposite value. */
const WRITE_RULES: readonly [rule: string, holds: (resource: Resource) => boolean, plurals: readonly string[]][] = [
  [
    "must name the version that they saw when they are updated",
    ({ unconditionalUpdate }) => !unconditionalUpdate,
    [
      ...["apiservices", "csidrivers", "csinodes", "csistoragecapacities", "customresourcedefinitions", "leases"],
      ...["mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "mutatingwebhookconfigurations", "poddisruptionbudgets"],
      ...["runtimeclasses", "validatingadmissionpolicies", "validatingadmissionpolicybindings", "validatingwebhookconfigurations"],
      "volumeattachments",
    ],
  ],
  [
    "are answered when they are deleted, in the place of a Status",
    ({ returnsDeletedObject }) => returnsDeletedObject === true,
    [
      ...["csidrivers", "csinodes", "deviceclasses", "namespaces", "persistentvolumeclaims", "persistentvolumes", "pods", "podtemplates"],
      ...["resourceclaims", "resourceclaimtemplates", "resourcequotas", "resourceslices", "serviceaccounts", "services"],
      ...["storageclasses", "volumeattachments", "volumeattributesclasses"],
    ],
  ],
  [
    "are created by a PUT",
    ({ createOnUpdate }) => createOnUpdate,
    [
      ...["clusterrolebindings", "clusterroles", "endpoints", "events", "leases", "limitranges", "rolebindings", "roles"],
      ...["runtimeclasses", "services"],
    ],
  ],
  [
    "leave their dependents behind unless the delete says otherwise",
    ({ defaultPropagation }) => defaultPropagation === "Orphan",
    ["jobs", "replicationcontrollers"],
  ],
];

for (const [rule, holds, plurals] of WRITE_RULES) {
  test(`exactly these kinds ${rule}`, () => {
    const found = all.filter((resource) => resource.stored && holds(resource)).map(({ plural }) => plural);

    assert.deepEqual(found.toSorted(), plurals.toSorted());
  });
}

for (const resource of all) {
  const title = groupResourceOf(resource.storage.group, resource.plural);

  test(`${title} has a schema of its own kind for every version`, () => {
    for (const { schema, group, version } of resource.served) {
      assert.deepEqual(schemaOf(schema).groupVersionKinds, [{ group, version, kind: resource.kind }]);
    }
  });

  test(`${title} is stored in a served version, and every other version has a conversion`, () => {
    const { storage } = resource;
    const isStorage = (version: { group: string; version: string }): boolean =>
      version.group === storage.group && version.version === storage.version;

    assert.equal(resource.served.filter(isStorage).length, 1);
    for (const served of resource.served.filter((version) => !isStorage(version))) {
      assert.deepEqual([typeof served.toStorage, typeof served.fromStorage], ["function", "function"]);
    }
  });

  test(`${title} indexes only selectable fields`, () => {
    for (const field of resource.indexedFields ?? []) assert.ok(field in resource.selectableFields, field);
  });
}
