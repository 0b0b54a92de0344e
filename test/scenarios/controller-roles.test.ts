import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { PolicyRule } from "../../src/api/generated/rbac.authorization.k8s.io/v1.ts";
import { KUBE_CONTROLLER_MANAGER } from "../../src/api/identities.ts";
import { describeParts, missingParts } from "../../src/api/rbac.authorization.k8s.io/v1/rule-covering.ts";
import { componentRoles } from "../../src/apiserver/bootstrap/policy/component-roles.ts";
import { controllerRoles } from "../../src/apiserver/bootstrap/policy/controller-roles.ts";
import { namespacedRoles } from "../../src/apiserver/bootstrap/policy/namespaced-roles.ts";
import { all } from "../../src/controllers/all.ts";
import { TEST_SETTINGS } from "../../src/testing/fixtures/controller-settings.ts";

/** Permissions of the role of a controller's account, in any namespace. */
function givenTo(account: string): readonly PolicyRule[] {
  const name = account === KUBE_CONTROLLER_MANAGER.name ? account : `system:controller:${account}`;
  return [...controllerRoles, ...componentRoles, ...namespacedRoles].flatMap(({ role }) =>
    role.metadata.name === name ? (role.rules ?? []) : [],
  );
}

describe("every cluster grants each controller's account the rules that the controller declares", () => {
  for (const { name, account, rules } of all(TEST_SETTINGS)) {
    test(name, () => assert.deepEqual(describeParts(missingParts(givenTo(account), rules).parts), []));
  }
});

test("controller names and aliases are unique", () => {
  const names = all(TEST_SETTINGS).flatMap(({ name, aliases = [] }) => [name, ...aliases]);

  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
});
