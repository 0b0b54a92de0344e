import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { Fault, matches, type FaultMatch, type FaultSpec } from "./fault.ts";
import type { RequestFacts } from "./request-facts.ts";

const UPDATE: RequestFacts = {
  path: "/apis/apps/v1/namespaces/shop/deployments/web/status",
  userAgent: "operator/1.2 (linux)",
  user: "system:serviceaccount:shop:operator",
  resource: { verb: "update", group: "apps", resource: "deployments", subresource: "status", namespace: "shop", name: "web" },
};
const VERSION: RequestFacts = { path: "/version", userAgent: "kubectl/v1.36.0", user: "kubernetes-admin" };

const ROWS: readonly { match: FaultMatch; facts?: RequestFacts; is: boolean }[] = [
  { match: {}, is: true },
  { match: {}, facts: VERSION, is: true },
  { match: { verb: "update", resource: "deployments" }, is: true },
  { match: { verb: "patch", resource: "deployments" }, is: false },
  { match: { resource: "deployments", subresource: "" }, is: false },
  { match: { resource: "deployments", subresource: "status" }, is: true },
  { match: { group: "" }, is: false },
  { match: { namespace: "shop", name: "w*" }, is: true },
  { match: { name: "we" }, is: false },
  { match: { userAgent: "operator*" }, is: true },
  { match: { userAgent: "operator" }, is: false },
  { match: { user: "system:serviceaccount:shop:*" }, is: true },
  { match: { resource: "*" }, facts: VERSION, is: false },
  { match: { path: "/version" }, facts: VERSION, is: true },
];

for (const { match, facts = UPDATE, is } of ROWS) {
  test(`${JSON.stringify(match)} ${is ? "matches" : "does not match"} ${facts.path}`, () => equal(matches(match, facts), is));
}

function applied(spec: FaultSpec, requests: number): string {
  const fault = new Fault("fault-1", spec);
  return Array.from({ length: requests }, () => (fault.appliesTo(UPDATE) ? "x" : ".")).join("");
}

test("a fault skips requests, applies to a number of them, and counts both", () => {
  equal(applied({ skip: 2, times: 3 }, 8), "..xxx...");
  const fault = new Fault("fault-1", { times: 1 });
  fault.appliesTo(UPDATE);
  fault.appliesTo(UPDATE);
  deepEqual(fault.counts, { matched: 2, injected: 1 });
});

test("a fault with a probability chooses the same requests from the same seed", () => {
  const chosen = applied({ probability: 0.5, seed: 7 }, 200);

  equal(applied({ probability: 0.5, seed: 7 }, 200), chosen);
  equal(applied({ probability: 0.5, seed: 8 }, 200) === chosen, false);
  const share = chosen.replaceAll(".", "").length / 200;
  equal(share > 0.3 && share < 0.7, true);
  equal(applied({ probability: 0 }, 10), "..........");
});

test("a fault that drops watches applies to watches only", () => {
  const fault = new Fault("fault-1", { dropWatch: {} });

  equal(fault.appliesTo(UPDATE), false);
  equal(fault.appliesTo({ ...UPDATE, resource: { ...UPDATE.resource, verb: "watch" } as NonNullable<RequestFacts["resource"]> }), true);
});
