import assert from "node:assert/strict";
import test from "node:test";
import { all } from "./all.ts";
import { apiVersionOf, groupResourceOf } from "./machinery/object.ts";
import { schemaOf } from "./schemas.ts";

test("the groups first occur in the order in which discovery lists them", () => {
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
    ],
  );
});

test("no two kinds are served under the same name", () => {
  const names = all.flatMap(({ plural, served }) => served.map((version) => `${apiVersionOf(version)} ${plural}`));

  assert.equal(new Set(names).size, names.length);
});

for (const resource of all) {
  const title = groupResourceOf(resource.storage.group, resource.plural);

  test(`${title} has a schema for every version, of its own kind`, () => {
    for (const { schema, group, version } of resource.served) {
      assert.deepEqual(schemaOf(schema).groupVersionKinds, [{ group, version, kind: resource.kind }]);
    }
  });

  test(`${title} is stored in a version that it serves, and every other can be converted`, () => {
    const { storage } = resource;
    const isStorage = (version: { group: string; version: string }): boolean =>
      version.group === storage.group && version.version === storage.version;

    assert.equal(resource.served.filter(isStorage).length, 1);
    for (const served of resource.served.filter((version) => !isStorage(version))) {
      assert.deepEqual([typeof served.toStorage, typeof served.fromStorage], ["function", "function"]);
    }
  });

  test(`${title} indexes only fields that can be selected`, () => {
    for (const field of resource.indexedFields ?? []) assert.ok(field in resource.selectableFields, field);
  });
}
