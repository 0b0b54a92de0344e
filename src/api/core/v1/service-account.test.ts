import assert from "node:assert/strict";
import test from "node:test";
import { cellsOf, changedObject, newObject, warningsOfNew } from "../../testing/kind.ts";
import { serviceAccounts } from "./service-account.ts";

const ENFORCED = { annotations: { "kubernetes.io/enforce-mountable-secrets": "true" } };

test("a ServiceAccount keeps only the names of its secrets", () => {
  const secrets = [{ name: "a", namespace: "n", uid: "u" }, { kind: "Secret" }, { name: "b" }];

  const account = newObject(serviceAccounts, { secrets });

  assert.deepEqual(account.secrets, [{ name: "a" }, {}, { name: "b" }]);
  assert.deepEqual(changedObject(serviceAccounts, account, { secrets: [{ name: "c", uid: "u" }] }).secrets, [{ name: "c" }]);
  assert.equal(changedObject(serviceAccounts, account, { imagePullSecrets: [{ name: "i" }] }).secrets, undefined);
});

test("a ServiceAccount with enforce-mountable-secrets is stored with a warning, once", () => {
  const strict = newObject(serviceAccounts, { metadata: ENFORCED });
  const plain = newObject(serviceAccounts, {});
  const warning =
    "metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets";

  assert.deepEqual(warningsOfNew(serviceAccounts, {}), []);
  assert.deepEqual(warningsOfNew(serviceAccounts, { metadata: ENFORCED }), [warning]);
  assert.deepEqual([...(serviceAccounts.warnings?.(strict, plain) ?? [])], [warning]);
  assert.deepEqual([...(serviceAccounts.warnings?.(strict, strict) ?? [])], []);
});

test("a ServiceAccount has the subresource token, and its table shows the name", () => {
  const { token } = serviceAccounts.subresources;

  assert.equal(token?.of === "action" && token.takes.kind, "TokenRequest");
  assert.deepEqual(cellsOf(serviceAccounts, newObject(serviceAccounts, {})), { Name: "x", Age: "<unknown>" });
});
