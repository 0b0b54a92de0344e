import { deepEqual, equal, match } from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject } from "../api/machinery/object.ts";
import { CAUSES_PATH, type CauseList } from "../explain/explain-api.ts";
import { DEFAULT_ADMISSION_CONFIG } from "./framework/admission-config.ts";
import type { AuditPolicy, AuditRule } from "./framework/audit.ts";
import { startGuardedServer, startServer, TEST_IDENTITY } from "./testing/server.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const PODS = "/api/v1/namespaces/default/pods";
const ANY: AuditRule = {
  ...{ level: "Metadata", users: [], userGroups: [], verbs: [], resources: [], namespaces: [], nonResourceUrls: [], omitStages: [] },
};
const JANE = { name: "jane", groups: ["developers"], uid: "1", extra: { team: ["a"] } };

/** Events of requests with a user agent of the test; the server's own ones have another. */
class Recorded {
  readonly #lines: string[] = [];
  readonly policy: AuditPolicy;
  lostCount = 0;

  constructor(...rules: Partial<AuditRule>[]) {
    this.policy = { rules: rules.map((rule) => ({ ...ANY, ...rule })), omitStages: [], omitManagedFields: false };
  }

  get audit() {
    return { policy: this.policy, sink: this };
  }

  write(event: string): void {
    this.#lines.push(event);
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- a test looks at any member of an event
  get events(): any[] {
    return this.#lines.map((line) => JSON.parse(line) as JsonObject).filter((event) => event["userAgent"] === "test/1.0");
  }
}

test("a request has an event when it is received and one when its response is complete, with the members that upstream writes", async () => {
  const recorded = new Recorded({ level: "Metadata" });
  await using server = await startServer({ audit: recorded.audit });
  const { body, headers } = await server
    .as({ ...JANE, groups: ["system:masters"] })
    .call("POST", `${MAPS}?fieldManager=m`, { metadata: { name: "a" } });

  const [received, complete] = recorded.events;

  const common = {
    kind: "Event",
    apiVersion: "audit.k8s.io/v1",
    level: "Metadata",
    auditID: headers["audit-id"],
    requestURI: `${MAPS}?fieldManager=m`,
    verb: "create",
    user: { username: "jane", uid: "1", groups: ["system:masters", "system:authenticated"], extra: { team: ["a"] } },
    sourceIPs: ["127.0.0.1"],
    userAgent: "test/1.0",
    objectRef: { resource: "configmaps", namespace: "default", apiVersion: "v1" },
  };
  const time = (body.metadata.creationTimestamp as string).replace("Z", ".000000Z");
  const times = { requestReceivedTimestamp: time, stageTimestamp: time };
  deepEqual(received, { ...common, stage: "RequestReceived", ...times });
  deepEqual(complete, {
    ...{ ...common, stage: "ResponseComplete", ...times },
    objectRef: { ...common.objectRef, name: "a" },
    responseStatus: { metadata: {}, code: 201 },
    annotations: { "authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": "" },
  });
  equal(recorded.events.length, 2);
});

describe("the level decides what an event has of the bodies", () => {
  for (const [level, hasRequest, hasResponse] of [
    ["Metadata", false, false],
    ["Request", true, false],
    ["RequestResponse", true, true],
  ] as const) {
    test(level, async () => {
      const recorded = new Recorded({ level, omitStages: ["RequestReceived"] });
      await using server = await startServer({ audit: recorded.audit });
      await server.call("POST", MAPS, { metadata: { name: "a" }, data: { a: "1" } });
      await server.call("PATCH", `${MAPS}/a`, { data: { a: "2" } }, { "content-type": "application/merge-patch+json" });
      await server.call("DELETE", `${MAPS}/a`, { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0 });
      await server.call("GET", MAPS);

      const [created, patched, deleted, listed] = recorded.events;

      deepEqual(
        [created, patched, deleted].map(({ requestObject }) => requestObject !== undefined),
        [hasRequest, hasRequest, hasRequest],
      );
      deepEqual(
        [created, patched, deleted, listed].map(({ responseObject }) => responseObject?.kind),
        hasResponse ? ["ConfigMap", "ConfigMap", "Status", "ConfigMapList"] : [undefined, undefined, undefined, undefined],
      );
      if (hasRequest) deepEqual([created.requestObject.data, patched.requestObject], [{ a: "1" }, { data: { a: "2" } }]);
    });
  }

  test("None: nothing is recorded", async () => {
    const recorded = new Recorded({ level: "None" });
    await using server = await startServer({ audit: recorded.audit });
    await server.call("GET", MAPS);

    deepEqual(recorded.events, []);
  });
});

test("integers beyond those of JavaScript are recorded", async () => {
  const recorded = new Recorded({ level: "RequestResponse", omitStages: ["RequestReceived"] });
  await using server = await startServer({ audit: recorded.audit });
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "maps.example.com" },
    spec: {
      ...{ group: "example.com", scope: "Namespaced", names: { plural: "maps", kind: "Map" } },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  };
  const bound = '"openAPIV3Schema":{"maximum":9007199254740993,';

  const body = JSON.stringify(definition).replace('"openAPIV3Schema":{', bound);
  const { code } = await server.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body, {
    "content-type": "application/json",
  });

  equal(code, 201);
  equal(recorded.events.at(-1).requestObject.spec.versions[0].schema.openAPIV3Schema.type, "object");
});

test("managed fields are left out of both bodies if the policy says so", async () => {
  const recorded = new Recorded({ level: "RequestResponse", omitStages: ["RequestReceived"], omitManagedFields: true });
  await using server = await startServer({ audit: recorded.audit });
  await server.call("POST", MAPS, { metadata: { name: "a" } });
  await server.call("GET", MAPS);

  const [{ responseObject: created }, { responseObject: listed }] = recorded.events;

  deepEqual([created.metadata.managedFields, listed.items[0].metadata.managedFields], [undefined, undefined]);
});

test("a watch has an event when its response starts, and one when it ends", async () => {
  const recorded = new Recorded({});
  await using server = await startServer({ audit: recorded.audit });
  const watch = await server.watch(`${MAPS}?watch=true`);
  const stages = () => recorded.events.map(({ stage, verb }) => `${verb} ${stage}`);
  const before = stages();

  watch.close();

  deepEqual(before, ["watch RequestReceived", "watch ResponseStarted"]);
  deepEqual(stages(), [...before, "watch ResponseComplete"]);
});

test("a request that authorization refuses is recorded with the decision and its status", async () => {
  const recorded = new Recorded({ omitStages: ["RequestReceived"] });
  await using server = await startGuardedServer({ audit: recorded.audit });
  await server.as(JANE).call("GET", `${MAPS}/a`);

  const [{ responseStatus, annotations }] = recorded.events;

  deepEqual(annotations, { "authorization.k8s.io/decision": "forbid", "authorization.k8s.io/reason": "" });
  deepEqual([responseStatus.code, responseStatus.reason, responseStatus.status], [403, "Forbidden", "Failure"]);
});

test("a request whose authentication fails is recorded once, without a user", async () => {
  const recorded = new Recorded({});
  await using server = await startServer({ audit: recorded.audit, identity: { ...TEST_IDENTITY, anonymous: false } });
  await server.call("GET", MAPS);

  const [event, ...more] = recorded.events;

  deepEqual(
    [event.stage, event.user, event.responseStatus.code, event.responseStatus.reason],
    ["ResponseStarted", {}, 401, "Unauthorized"],
  );
  equal(more.length, 0);
});

test("an error of the server itself is recorded as Panic", async () => {
  const recorded = new Recorded({ omitStages: ["RequestReceived"] });
  await using server = await startServer({ audit: recorded.audit });
  server.store.commit = () => Promise.reject(new Error("the disk is gone"));
  const { code } = await server.call("POST", MAPS, { metadata: { name: "a" } });

  const [{ stage, responseStatus }] = recorded.events;

  equal(code, 500);
  deepEqual([stage, responseStatus.code, responseStatus.reason], ["Panic", 500, "InternalError"]);
  match(responseStatus.message, /^APIServer panic'd: the disk is gone/);
});

test("impersonation is recorded beside the user, and the policy is for the user", async () => {
  const recorded = new Recorded({ users: ["kubernetes-admin"], omitStages: ["RequestReceived"] });
  await using server = await startServer({ audit: recorded.audit });
  await server.call("GET", MAPS, undefined, { "impersonate-user": "jane" });

  const [{ user, impersonatedUser }] = recorded.events;

  deepEqual([user.username, impersonatedUser], ["kubernetes-admin", { username: "jane", groups: ["system:authenticated"] }]);
});

test("documents are recorded by their path", async () => {
  const recorded = new Recorded({ nonResourceUrls: ["/version"], omitStages: ["RequestReceived"] });
  await using server = await startServer({ audit: recorded.audit });
  await server.call("GET", "/version");
  await server.call("GET", "/healthz");

  const { events } = recorded;

  deepEqual(
    events.map(({ requestURI, verb, objectRef, responseStatus }) => [requestURI, verb, objectRef, responseStatus.code]),
    [["/version", "get", undefined, 200]],
  );
});

test("a request of a component in the server's process is recorded like one over HTTP", async () => {
  const recorded = new Recorded({ omitStages: ["RequestReceived"] });
  await using server = await startServer({ audit: recorded.audit });
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "default" } };
  await server.transport().request({ verb: "create", group: "", version: "v1", plural: "configmaps", namespace: "default", object });

  const [event] = recorded.events;

  deepEqual(
    [event.requestURI, event.verb, event.user.username, event.responseStatus.code, event.objectRef.name],
    [MAPS, "create", "kubernetes-admin", 201, "a"],
  );
});

test("the Audit-ID of a request is that of its events and of its record in /debug/k8ts/causes", async () => {
  const recorded = new Recorded({});
  await using server = await startServer({ audit: recorded.audit });
  const sent = { "audit-id": "the-id-of-the-client" };
  const { headers } = await server.call("POST", MAPS, { metadata: { name: "a" } }, sent);
  const { body } = await server.call("GET", `${CAUSES_PATH}?requestID=the-id-of-the-client`);

  const ids = recorded.events.slice(0, 2).map(({ auditID }) => auditID as string);

  deepEqual([headers["audit-id"], ...ids], Array(3).fill("the-id-of-the-client"));
  deepEqual(
    (body as CauseList).items.map(({ verb, name }) => [verb, name]),
    [["create", "a"]],
  );
});

test("a Pod that violates the audit level of its namespace is admitted, and the violation is an annotation of its event", async () => {
  const recorded = new Recorded({
    omitStages: ["RequestReceived"],
    verbs: ["create"],
    resources: [{ group: "", resources: ["pods"], resourceNames: [] }],
  });
  const admission = { ...DEFAULT_ADMISSION_CONFIG, disabledPlugins: ["ServiceAccount"] };
  await using server = await startServer({ audit: recorded.audit, config: { admission } });
  const labels = { "pod-security.kubernetes.io/audit": "baseline" };
  await server.call("PATCH", "/api/v1/namespaces/default", { metadata: { labels } }, { "content-type": "application/merge-patch+json" });
  const containers = [{ name: "c", image: "i", securityContext: { privileged: true } }];
  const { code } = await server.call("POST", PODS, { metadata: { name: "p" }, spec: { containers } });

  const [{ annotations }] = recorded.events;

  equal(code, 201);
  equal(annotations["pod-security.kubernetes.io/enforce-policy"], "privileged:latest");
  equal(
    annotations["pod-security.kubernetes.io/audit-violations"],
    'would violate PodSecurity "baseline:latest": privileged (container "c" must not set securityContext.privileged=true)',
  );
});

test("a policy with the action Audit, and its audit annotations, are annotations of the event", async () => {
  const recorded = new Recorded({
    omitStages: ["RequestReceived"],
    verbs: ["create"],
    resources: [{ group: "", resources: ["configmaps"], resourceNames: [] }],
  });
  await using server = await startServer({ audit: recorded.audit });
  const rule = { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE"] };
  const group = "/apis/admissionregistration.k8s.io/v1";
  await server.call("POST", `${group}/validatingadmissionpolicies`, {
    metadata: { name: "p.example.com" },
    spec: {
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: "has(object.data)", message: "no data" }],
      auditAnnotations: [{ key: "who", valueExpression: "'by ' + request.userInfo.username" }],
    },
  });
  await server.call("POST", `${group}/validatingadmissionpolicybindings`, {
    metadata: { name: "b" },
    spec: { policyName: "p.example.com", validationActions: ["Audit"] },
  });
  const { code } = await server.call("POST", MAPS, { metadata: { name: "a" } });

  const [{ annotations }] = recorded.events;

  equal(code, 201);
  equal(annotations["p.example.com/who"], "by kubernetes-admin");
  deepEqual(JSON.parse(annotations["validation.policy.admission.k8s.io/validation_failure"]), [
    { message: "no data", policy: "p.example.com", binding: "b", expressionIndex: 0, validationActions: ["Audit"] },
  ]);
});

test("/metrics counts audit events, levels, and events that were lost", async () => {
  const recorded = new Recorded({});
  await using server = await startServer({ audit: recorded.audit });
  await server.call("GET", MAPS);
  recorded.lostCount = 3;

  const { text } = await server.call("GET", "/metrics");

  match(text, /^apiserver_audit_event_total [1-9]/m);
  match(text, /^apiserver_audit_level_total\{level="Metadata"\} [1-9]/m);
  match(text, /^apiserver_audit_error_total\{plugin="log"\} 3$/m);
  match(text, /^apiserver_audit_requests_rejected_total 0$/m);
});
