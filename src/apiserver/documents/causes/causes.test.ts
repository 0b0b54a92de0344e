import { deepEqual, doesNotMatch, equal, match } from "node:assert/strict";
import { test } from "node:test";
import type { TransportRequest } from "../../../api/machinery/transport.ts";
import { CAUSES_PATH, type CauseItem } from "../../../explain/explain-api.ts";
import { startGuardedServer, startServer, type SentHeaders, type StartedServer } from "../../testing/server.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const CAUSE = { controller: "deployment-controller", key: "default/web", revision: "7" };
const CAUSE_HEADERS = { "k8ts-cause": "controller=deployment-controller,key=default%2Fweb,revision=7" };

/** The entries, without those of the server's start. */
async function shown({ call }: Pick<StartedServer, "call">, query = "resource=configmaps&namespace=default") {
  const { code, body } = await call("GET", `${CAUSES_PATH}?${query}`);
  equal(code, 200);
  return body.items as CauseItem[];
}

/** One line each: "create a deployment-controller". */
async function lines(server: StartedServer, query?: string): Promise<readonly string[]> {
  const writes = (await shown(server, query)).filter(({ refusal }) => refusal === undefined);
  return writes.map(({ verb, subresource, name, cause }) =>
    [verb, subresource, name, cause?.controller].filter((word) => word !== undefined).join(" "),
  );
}

async function makeMap({ call }: Pick<StartedServer, "call">, name: string, headers: SentHeaders = {}): Promise<void> {
  const { code } = await call("POST", MAPS, { metadata: { name }, data: { key: "content" } }, headers);
  equal(code, 201);
}

function inProcess(request: Partial<TransportRequest>): TransportRequest {
  return { verb: "create", group: "", version: "v1", plural: "configmaps", namespace: "default", ...request };
}

test("/debug/k8ts/causes lists a write over HTTP with its user, time and cause", async () => {
  await using server = await startServer();
  await makeMap(server, "a", CAUSE_HEADERS);

  const { body: map } = await server.call("GET", `${MAPS}/a`);
  const [write] = await shown(server);
  const { id, requestID, ...rest } = write ?? { id: 0 };
  equal(id > 0, true);
  match(requestID ?? "", /^[0-9a-f-]{36}$/);
  deepEqual(rest, {
    time: "2026-01-01T00:00:00.000000Z",
    resourceVersion: map.metadata.resourceVersion,
    verb: "create",
    resource: "configmaps",
    namespace: "default",
    name: "a",
    user: "kubernetes-admin",
    userAgent: "test/1.0",
    cause: CAUSE,
    stages: {
      authentication: { by: "", microseconds: 0 },
      authorization: { by: "system:masters", microseconds: 0 },
      admission: { microseconds: 0 },
      store: { microseconds: 0 },
    },
  });
});

test("/debug/k8ts/causes names the authorizer of a write with its reason, and the stages that a refused request reached", async () => {
  await using server = await startGuardedServer();
  const jane = server.as({ name: "jane", groups: [] });
  await jane.call("POST", MAPS, { metadata: { name: "early" } });
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create"] }];
  await server.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", { metadata: { name: "writer" }, rules });
  await server.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: "writers" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "writer" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }],
  });
  await makeMap(jane, "late");

  const [refused, written] = await shown(server, "user=jane");
  deepEqual(Object.keys(refused?.stages ?? {}), ["authentication"]);
  deepEqual(written?.stages?.authorization, {
    by: "RBAC",
    reason: 'RBAC: allowed by ClusterRoleBinding "writers" of ClusterRole "writer" to User "jane"',
    microseconds: 0,
  });
});

test("/debug/k8ts/causes lists a write from the same process with the cause that the caller passed", async () => {
  await using server = await startServer();
  const transport = server.server.transport({ user: { name: "jane", groups: ["system:masters"] }, userAgent: "part" });
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "a-" } };
  const made = await transport.request(inProcess({ object, cause: CAUSE }));

  const [write] = await shown(server);

  const name = made.is === "object" ? made.object.metadata.name : "";
  deepEqual([write?.name, write?.user, write?.userAgent, write?.cause], [name, "jane", "part", CAUSE]);
});

test("/debug/k8ts/causes lists every writing verb in order, and no reads", async () => {
  await using server = await startServer();
  await makeMap(server, "a");
  await makeMap(server, "b", CAUSE_HEADERS);
  await server.call("GET", `${MAPS}/a`, undefined, CAUSE_HEADERS);
  await server.call("GET", MAPS);
  await server.call("PUT", `${MAPS}/a`, { metadata: { name: "a" } });
  await server.call("PATCH", `${MAPS}/a`, { data: { a: "b" } }, { "content-type": "application/merge-patch+json" });
  await server.call("DELETE", `${MAPS}/a`);
  await server.call("DELETE", MAPS, undefined, CAUSE_HEADERS);

  deepEqual(await lines(server), [
    "create a",
    "create b deployment-controller",
    "update a",
    "patch a",
    "delete a",
    "deletecollection b deployment-controller",
  ]);
});

/** "MODIFIED a 7 going": the events of a watch since `after`, with a mark for terminating objects. */
async function watched({ transport, clock }: StartedServer, plural: string, after: string): Promise<readonly string[]> {
  const events: string[] = [];
  const watch = await transport().watch(
    { group: "", version: "v1", plural, namespace: "default", options: { resourceVersion: after } },
    {
      event(event) {
        if (!("object" in event)) return;
        const { name, resourceVersion, deletionTimestamp } = event.object.metadata;
        const isGone = event.type === "DELETED" ? " deleted" : "";
        events.push(`${name} ${resourceVersion}${isGone}${deletionTimestamp === undefined || isGone !== "" ? "" : " going"}`);
      },
      ended() {},
    },
  );
  await clock.settle();
  watch.stop();
  return events;
}

test("/debug/k8ts/causes lists a deletion with the revisions that watches see: of deletionTimestamp and of the removal", async () => {
  await using server = await startServer();
  const finalizers = ["example.com/hold"];
  const { body: held } = await server.call("POST", MAPS, { metadata: { name: "held", finalizers } });
  await makeMap(server, "b");
  await makeMap(server, "c");
  await server.call("DELETE", `${MAPS}/held`);
  await server.call("DELETE", `${MAPS}/b`);
  await server.call("PUT", `${MAPS}/held`, { metadata: { name: "held" } });
  await server.call("DELETE", MAPS);

  const writes = await shown(server);
  const line = ({ name, resourceVersion, deleted }: CauseItem) => `${name} ${resourceVersion}${deleted === true ? " deleted" : ""}`;

  const after = held.metadata.resourceVersion as string;
  deepEqual(
    writes.slice(-6).map(line),
    (await watched(server, "configmaps", after)).map((event) => event.replace(" going", "")),
  );
  deepEqual(
    writes.slice(-4).map(({ verb, name, deleted }) => `${verb} ${name} ${deleted ?? false}`),
    ["delete held false", "delete b true", "update held true", "deletecollection c true"],
  );
});

test("/debug/k8ts/causes lists each step of a graceful Pod deletion with its revision", async () => {
  await using server = await startServer();
  const pods = "/api/v1/namespaces/default/pods";
  const { body } = await server.call("POST", pods, {
    metadata: { name: "p" },
    spec: { nodeName: "n", containers: [{ name: "c", image: "i" }] },
  });
  await server.call("DELETE", `${pods}/p`);
  await server.call("DELETE", `${pods}/p?gracePeriodSeconds=0`);

  const writes = (await shown(server, "resource=pods")).slice(1);

  deepEqual(
    writes.map(({ name, resourceVersion, deleted }) => `${name} ${resourceVersion}${deleted === true ? " deleted" : " going"}`),
    await watched(server, "pods", body.metadata.resourceVersion as string),
  );
});

test("/debug/k8ts/causes omits a write without changes, which has no revision", async () => {
  await using server = await startServer();
  await makeMap(server, "a");
  equal((await server.call("PUT", `${MAPS}/a`, { metadata: { name: "a" }, data: { key: "content" } })).code, 200);

  deepEqual(await lines(server), ["create a"]);
});

test("a bootstrap object is recreated with the revision of its deletion as cause", async () => {
  await using server = await startServer();
  equal((await server.call("DELETE", "/api/v1/namespaces/default/services/kubernetes")).code, 200);
  await server.clock.settle();

  const [, removal, again] = await shown(server, "resource=services");

  deepEqual(again?.cause, {
    controller: "kube-apiserver",
    key: "default/kubernetes",
    reason: "Deleted",
    object: "services default/kubernetes",
    revision: removal?.resourceVersion,
  });
});

test("/debug/k8ts/causes omits dry runs and rejected writes", async () => {
  await using server = await startServer();
  await makeMap(server, "a");
  const dry = { apiVersion: "v1", kind: "DeleteOptions", dryRun: ["All"] };
  equal((await server.call("POST", `${MAPS}?dryRun=All`, { metadata: { name: "b" } })).code, 201);
  equal((await server.call("DELETE", `${MAPS}/a?dryRun=All`)).code, 200);
  equal((await server.call("DELETE", `${MAPS}/a`, dry)).code, 200);
  equal((await server.call("DELETE", MAPS, dry)).code, 200);
  equal((await server.call("POST", MAPS, { metadata: { name: "a" } })).code, 409);
  equal((await server.call("PUT", `${MAPS}/a`, { metadata: { name: "a", resourceVersion: "1" } })).code, 409);
  equal((await server.call("DELETE", `${MAPS}/nope`)).code, 404);
  await server.transport().request(inProcess({ verb: "delete", name: "a", object: dry }));

  deepEqual(await lines(server), ["create a"]);
});

test("/debug/k8ts/causes lists each commit of an eviction (condition, mark, removal), and none of a dry run", async () => {
  await using server = await startServer();
  const pods = "/api/v1/namespaces/default/pods";
  await server.call("POST", pods, { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } });
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } };
  equal((await server.call("POST", `${pods}/p/eviction`, { ...eviction, deleteOptions: { dryRun: ["All"] } })).code, 201);
  equal((await server.call("POST", `${pods}/p/eviction`, eviction)).code, 201);

  deepEqual(await lines(server, "resource=pods"), ["create p", ...Array.from({ length: 3 }, () => "create eviction p")]);
});

test("/debug/k8ts/causes omits reviews, which write nothing", async () => {
  await using server = await startServer();
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  equal((await server.call("POST", path, { spec: { nonResourceAttributes: { path: "/", verb: "get" } } })).code, 201);

  deepEqual(await shown(server, "resource=selfsubjectaccessreviews.authorization.k8s.io"), []);
});

test("/debug/k8ts/causes omits leases and events, which are periodic and explain nothing", async () => {
  await using server = await startServer();
  const before = await lines(server, "namespace=default");
  const lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  const about = { kind: "ConfigMap", namespace: "default", name: "a" };
  const reported = { reason: "Reported", reportingController: "k8ts.io/test", reportingInstance: "test", action: "Report", type: "Normal" };
  const series = { ...reported, metadata: { name: "two" }, eventTime: "2026-01-01T00:00:00.000000Z", regarding: about };
  equal((await server.call("POST", lease, { metadata: { name: "l" } })).code, 201);
  const merge = { "content-type": "application/merge-patch+json" };
  equal((await server.call("PATCH", `${lease}/l`, { spec: { holderIdentity: "a" } }, merge)).code, 200);
  const events = "/api/v1/namespaces/default/events";
  equal((await server.call("POST", events, { metadata: { name: "one" }, involvedObject: about })).code, 201);
  equal((await server.call("POST", "/apis/events.k8s.io/v1/namespaces/default/events", series)).code, 201);
  equal((await server.call("DELETE", events)).code, 200);
  await makeMap(server, "a");

  deepEqual(await lines(server, "namespace=default"), [...before, "create a"]);
});

test("/debug/k8ts/causes combines its filters", async () => {
  await using server = await startServer();
  await makeMap(server, "a");
  await makeMap(server, "b");
  await server.call("POST", "/api/v1/namespaces", { metadata: { name: "other" } });
  await server.call("POST", "/api/v1/namespaces/other/configmaps", { metadata: { name: "a" } });
  const deployment = {
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
  };
  await server.call("POST", "/apis/apps/v1/namespaces/default/deployments", { metadata: { name: "a" }, spec: deployment });

  for (const [query, expected] of [
    ["name=a", ["configmaps default/a", "configmaps other/a", "deployments.apps default/a"]],
    ["name=a&namespace=default", ["configmaps default/a", "deployments.apps default/a"]],
    ["resource=deployments.apps", ["deployments.apps default/a"]],
    ["resource=deployments", []],
    ["namespace=other&resource=configmaps&name=a", ["configmaps other/a"]],
  ] as const) {
    const found = await shown(server, query);
    deepEqual(
      found.map(({ resource, namespace, name }) => `${resource} ${namespace}/${name}`),
      expected,
      query,
    );
  }
});

test("/debug/k8ts/causes rejects values that a parameter cannot have", async () => {
  await using server = await startServer();
  for (const query of ["outcome=maybe", "revision=x", "watch=maybe", "limit=-1", "after=x", "continue=1.5"]) {
    const { code, body } = await server.call("GET", `/debug/k8ts/causes?${query}`);
    deepEqual([query, code, (body as { readonly reason?: string }).reason], [query, 400, "BadRequest"]);
  }
});

test("/debug/k8ts/causes contains no object content or secret, and truncates user agents", async () => {
  await using server = await startServer();
  const headers = { authorization: "Bearer known-secret", "user-agent": "u".repeat(10_000) };
  const secret = { metadata: { name: "s", annotations: { a: "known-secret" } }, stringData: { password: "known-secret" } };
  equal((await server.call("POST", "/api/v1/namespaces/default/secrets", secret, headers)).code, 201);

  const { text } = await server.call("GET", CAUSES_PATH);
  const [write] = await shown(server, "resource=secrets");

  doesNotMatch(text, /known-secret/);
  equal(write?.userAgent.length, 256);
});

test("an invalid or oversized cause header is ignored", async () => {
  await using server = await startServer();
  await makeMap(server, "a", { "k8ts-cause": "because" });
  await makeMap(server, "b", { "k8ts-cause": `controller=${"c".repeat(2_000)},key=k` });

  deepEqual(await lines(server), ["create a", "create b"]);
});

test("/debug/k8ts/causes requires permission for its path", async () => {
  await using server = await startGuardedServer();
  const jane = server.as({ name: "jane", groups: [] });
  const { code, body } = await jane.call("GET", CAUSES_PATH);
  const inOneProcess = server.server.transport({ user: { name: "jane", groups: [] }, userAgent: "part" });

  deepEqual([code, body.message], [403, `forbidden: User "jane" cannot get path "${CAUSES_PATH}"`]);
  await inOneProcess.document(CAUSES_PATH).then(
    () => equal("allowed", "refused"),
    ({ reason }: { readonly reason: string }) => equal(reason, "Forbidden"),
  );
  const role = { metadata: { name: "why" }, rules: [{ nonResourceURLs: [CAUSES_PATH], verbs: ["get"] }] };
  await server.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", role);
  await server.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: "why" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "why" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }],
  });
  await server.clock.settle();
  equal((await jane.call("GET", CAUSES_PATH)).code, 200);
});

test("/debug/k8ts/causes is served as JSON only", async () => {
  await using server = await startServer();
  const { body, headers } = await server.call("GET", CAUSES_PATH);

  deepEqual([body.kind, body.apiVersion, headers["content-type"]], ["CauseList", "debug.k8ts.io/v1", "application/json"]);
  equal((await server.call("GET", CAUSES_PATH, undefined, { accept: "text/html" })).code, 406);
  equal((await server.call("POST", CAUSES_PATH, {})).code, 405);
});
