import { equal } from "node:assert/strict";
import { test } from "node:test";
import type { PolicyRulesWithSubjects, Subject } from "../../api/generated/flowcontrol.apiserver.k8s.io/v1.ts";
import type { FlowRequest } from "../framework/flow-request.ts";
import { matchesFlowSchema, matchesRequest, matchesSubject } from "./matching.ts";
import { documentRequest, flowRequest, flowSchema, JANE, user } from "./testing/flow-requests.ts";

const ROBOT = user("system:serviceaccount:ci:robot", "system:serviceaccounts");

test("a FlowSchema subject matches users, groups and service accounts, and * matches all of them", () => {
  const rows: readonly [subject: Subject, jane: boolean, robot: boolean][] = [
    [{ kind: "User", user: { name: "jane" } }, true, false],
    [{ kind: "User", user: { name: "*" } }, true, true],
    [{ kind: "User" }, false, false],
    [{ kind: "Group", group: { name: "system:authenticated" } }, true, true],
    [{ kind: "Group", group: { name: "system:serviceaccounts" } }, false, true],
    [{ kind: "Group", group: { name: "*" } }, true, true],
    [{ kind: "ServiceAccount", serviceAccount: { namespace: "ci", name: "robot" } }, false, true],
    [{ kind: "ServiceAccount", serviceAccount: { namespace: "ci", name: "*" } }, false, true],
    [{ kind: "ServiceAccount", serviceAccount: { namespace: "c", name: "*" } }, false, false],
    [{ kind: "ServiceAccount", serviceAccount: { namespace: "other", name: "robot" } }, false, false],
    [{ kind: "Other" }, false, false],
  ];
  for (const [subject, jane, robot] of rows) {
    equal(matchesSubject(JANE, subject), jane, JSON.stringify(subject));
    equal(matchesSubject(ROBOT, subject), robot, JSON.stringify(subject));
  }
});

test("a resource rule matches by verb, group, resource, subresource, namespace and scope", () => {
  const rule = (changes: object): PolicyRulesWithSubjects => ({
    subjects: [],
    resourceRules: [{ verbs: ["list"], apiGroups: [""], resources: ["pods"], namespaces: ["default"], ...changes }],
  });
  const cluster = flowRequest({ plural: "nodes", namespace: "" });
  const rows: readonly [changes: object, request: FlowRequest, matches: boolean][] = [
    [{}, flowRequest(), true],
    [{ verbs: ["get", "*"] }, flowRequest(), false],
    [{ verbs: ["*"] }, flowRequest({ verb: "create" }), true],
    [{}, flowRequest({ verb: "create" }), false],
    [{}, flowRequest({ group: "apps" }), false],
    [{}, flowRequest({ subresource: "status" }), false],
    [{ resources: ["pods/status"] }, flowRequest({ subresource: "status" }), true],
    [{ resources: ["*"] }, flowRequest({ subresource: "status" }), true],
    [{}, flowRequest({ namespace: "other" }), false],
    [{ namespaces: ["*"] }, flowRequest({ namespace: "other" }), true],
    [{ namespaces: ["*"] }, flowRequest({ namespace: "" }), false],
    [{ resources: ["nodes"] }, cluster, false],
    [{ resources: ["nodes"], clusterScope: true }, cluster, true],
    // A Namespace object is in its own namespace, as in upstream's RequestInfo.
    [{ resources: ["namespaces"], namespaces: ["n"] }, flowRequest({ plural: "namespaces", namespace: "", name: "n" }), true],
    [{}, documentRequest("/version"), false],
  ];
  for (const [changes, request, matches] of rows)
    equal(matchesRequest(request, rule(changes)), matches, JSON.stringify([changes, request]));
});

test("a non-resource rule matches a path and everything below it, and * matches all paths", () => {
  const rows: readonly [url: string, path: string, matches: boolean][] = [
    ["*", "/version", true],
    ["/healthz", "/healthz", true],
    ["/healthz", "/healthz/etcd", true],
    ["/healthz", "/healthzz", false],
    ["/debug/*", "/debug/pprof", true],
    ["/debug/*", "/debug", false],
  ];
  for (const [url, path, matches] of rows) {
    const rule = { subjects: [], nonResourceRules: [{ verbs: ["get"], nonResourceURLs: [url] }] };
    equal(matchesRequest(documentRequest(path), rule), matches, `${url} ${path}`);
    equal(matchesRequest({ ...documentRequest(path), verb: "post" }, rule), false);
  }
});

test("a FlowSchema matches if one of its rules matches both subject and request", () => {
  const subject = { kind: "User", user: { name: "jane" } };
  const rules = [
    { subjects: [subject], nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }] },
    {
      subjects: [{ kind: "User", user: { name: "joe" } }],
      resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"] }],
    },
  ];
  const schema = flowSchema("s", { level: "l", rules });
  equal(matchesFlowSchema(flowRequest(), schema), false);
  equal(matchesFlowSchema(documentRequest("/version"), schema), true);
  equal(matchesFlowSchema(flowRequest({ user: user("joe") }), schema), true);
});
