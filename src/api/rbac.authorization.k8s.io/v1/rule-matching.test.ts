import assert from "node:assert/strict";
import test from "node:test";
import type { PolicyRule } from "../../generated/rbac.authorization.k8s.io/v1.ts";
import { ruleAllowsName, ruleAllowsPath, ruleAllowsResource } from "./rule-matching.ts";

const rule = (verbs: string, groups: string, resources: string): PolicyRule => ({
  verbs: verbs.split(" "),
  apiGroups: groups.split(" "),
  resources: resources.split(" "),
});

const RESOURCES: readonly [rule: PolicyRule, asked: string, allowed: boolean][] = [
  [rule("get", "", "pods"), "get pods", true],
  [rule("get", "", "pods"), "list pods", false],
  [rule("get list", "", "pods secrets"), "list secrets", true],
  [rule("*", "", "pods"), "fly pods", true],
  [rule("get*", "", "pods"), "get pods", false],
  [rule("get", "apps", "pods"), "get pods", false],
  [rule("get", "*", "pods"), "get pods", true],
  [rule("get", "", "*"), "get pods", true],
  [rule("get", "", "*"), "get pods/log", true],
  [rule("get", "", "pods"), "get pods/log", false],
  [rule("get", "", "pods/log"), "get pods/log", true],
  [rule("get", "", "pods/log"), "get pods", false],
  [rule("get", "", "pods/*"), "get pods/log", false],
  [rule("get", "", "*/scale"), "get pods/scale", true],
  [rule("get", "", "*/scale"), "get pods", false],
  [rule("get", "", "*/scale"), "get pods/autoscale", false],
  [rule("get", "", "*/log"), "get */log", true],
  [{ verbs: ["get"], nonResourceURLs: ["*"] }, "get pods", false],
  [{ verbs: ["get"] }, "get pods", false],
];

for (const [allowing, asked, allowed] of RESOURCES) {
  test(`a rule of ${JSON.stringify(allowing)} ${allowed ? "allows" : "does not allow"} to ${asked}`, () => {
    const [verb = "", resource = ""] = asked.split(" ");
    const [plural = "", subresource = ""] = resource.split("/");

    assert.equal(ruleAllowsResource(allowing, { verb, group: "", plural, subresource }), allowed);
  });
}

test("a rule with resourceNames allows objects with these names, and no collection", () => {
  const named = { ...rule("get", "", "pods"), resourceNames: ["a", "b"] };
  const allowed = ["a", "b", "c", "*", ""].filter((name) => ruleAllowsName(named, name));

  assert.deepEqual(allowed, ["a", "b"]);
  assert.equal(ruleAllowsName({ ...named, resourceNames: ["*"] }, "a"), false);
  assert.equal(ruleAllowsName({ ...named, resourceNames: [] }, ""), true);
});

const PATHS: readonly [pattern: string, path: string, allowed: boolean][] = [
  ["/healthz", "/healthz", true],
  ["/healthz", "/healthz/", false],
  ["/healthz/*", "/healthz/ping", true],
  ["/healthz/*", "/healthz", false],
  ["/healthz*", "/healthzero", true],
  ["/api**", "/api/v1", true],
  ["/*/v1", "/api/v1", false],
  ["*", "/anything", true],
  ["*", "", true],
];

for (const [pattern, path, allowed] of PATHS) {
  test(`a rule for the path ${pattern} ${allowed ? "allows" : "does not allow"} "${path}"`, () => {
    assert.equal(ruleAllowsPath({ verbs: ["get"], nonResourceURLs: [pattern] }, { verb: "get", path }), allowed);
    assert.equal(ruleAllowsPath({ verbs: ["get"], nonResourceURLs: [pattern] }, { verb: "post", path }), false);
  });
}
