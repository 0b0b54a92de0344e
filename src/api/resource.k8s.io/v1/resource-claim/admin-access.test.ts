import assert from "node:assert/strict";
import test from "node:test";
import type { ResourceClaimStatus } from "../../../generated/resource.k8s.io/v1.ts";
import { problems } from "../../../testing/kind.ts";
import { validateAdminAccess, validateAdminAccessOfStatus } from "./admin-access.ts";

const LABELLED = { "resource.kubernetes.io/admin-access": "true" };
const WHY = "Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace";

function statusWith(...adminAccess: readonly boolean[]): ResourceClaimStatus {
  const result = { request: "r", driver: "d", pool: "p", device: "e" };
  return { allocation: { devices: { results: adminAccess.map((access) => ({ ...result, adminAccess: access })) } } };
}

test("admin access may be requested only in namespaces with the admin access label", () => {
  const requests = [false, true].map((adminAccess) => ({ name: "r", exactly: { deviceClassName: "c", adminAccess } }));

  assert.deepEqual(problems(validateAdminAccess(requests, LABELLED)), []);
  assert.deepEqual(problems(validateAdminAccess(requests.slice(0, 1), {})), []);
  assert.deepEqual(problems(validateAdminAccess(requests.slice(1), {})), [`spec.devices.requests[0].adminAccess: ${WHY}`]);
  assert.deepEqual(problems(validateAdminAccess(requests, { "resource.kubernetes.io/admin-access": "yes" })), [
    `spec.devices.requests[1].adminAccess: ${WHY}`,
  ]);
});

test("admin access is granted only in namespaces with the admin access label, and stays granted", () => {
  const next = statusWith(false, true);

  assert.deepEqual(problems(validateAdminAccessOfStatus(next, {}, LABELLED)), []);
  assert.deepEqual(problems(validateAdminAccessOfStatus(next, next, {})), []);
  assert.deepEqual(problems(validateAdminAccessOfStatus(statusWith(false), {}, {})), []);
  assert.deepEqual(problems(validateAdminAccessOfStatus(statusWith(true), {}, {})), [
    `status.allocation.devices.results[0].adminAccess: ${WHY}`,
  ]);
  assert.deepEqual(problems(validateAdminAccessOfStatus(next, {}, {})), [`status.allocation.devices.results[1].adminAccess: ${WHY}`]);
});
