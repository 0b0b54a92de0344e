import { deepEqual, doesNotMatch, equal } from "node:assert/strict";
import { test } from "node:test";
import type { TransportRequest } from "../../../api/machinery/transport.ts";
import { CAUSES_MAX } from "../../causes.ts";
import { startGuardedServer, startServer, type SentHeaders, type StartedServer } from "../../testing/server.ts";
import { CAUSES_PATH } from "./causes.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const CAUSE = { controller: "deployment-controller", key: "default/web", revision: "7" };
const CAUSE_HEADERS = { "k8ts-cause": "controller=deployment-controller,key=default%2Fweb,revision=7" };

interface ShownWrite {
  readonly verb: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly user: string;
  readonly userAgent: string;
  readonly cause?: typeof CAUSE;
}

/** What is shown, without what every start of a server writes first. */
async function shown({ call }: Pick<StartedServer, "call">, query = "resource=configmaps&namespace=default") {
  const { code, body } = await call("GET", `${CAUSES_PATH}?${query}`);
  equal(code, 200);
  return body.items as ShownWrite[];
}

/** One line each: "create a deployment-controller". */
async function lines(server: StartedServer, query?: string): Promise<readonly string[]> {
  const writes = await shown(server, query);
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

test("a write over HTTP is shown with who made it, when, and why", async () => {
  await using server = await startServer();
  await makeMap(server, "a", CAUSE_HEADERS);

  const { body: map } = await server.call("GET", `${MAPS}/a`);
  deepEqual(await shown(server), [
    {
      time: "2026-01-01T00:00:00.000000Z",
      resourceVersion: map.metadata.resourceVersion,
      verb: "create",
      resource: "configmaps",
      namespace: "default",
      name: "a",
      user: "kubernetes-admin",
      userAgent: "test/1.0",
      cause: CAUSE,
    },
  ]);
});

test("a write from the same process is shown with the cause that was handed over", async () => {
  await using server = await startServer();
  const transport = server.server.transport({ user: { name: "somebody", groups: ["system:masters"] }, userAgent: "part" });
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "a-" } };
  const made = await transport.request(inProcess({ object, cause: CAUSE }));

  const [write] = await shown(server);

  const name = made.is === "object" ? made.object.metadata.name : "";
  deepEqual([write?.name, write?.user, write?.userAgent, write?.cause], [name, "somebody", "part", CAUSE]);
});

test("every verb that writes is shown in order, reads are not", async () => {
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
    "deletecollection deployment-controller",
  ]);
});

test("what was only tried is not shown: dry runs, however they are asked for, and what was refused", async () => {
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

test("an eviction is shown as such, and none that was a dry run", async () => {
  await using server = await startServer();
  const pods = "/api/v1/namespaces/default/pods";
  await server.call("POST", pods, { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } });
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } };
  equal((await server.call("POST", `${pods}/p/eviction`, { ...eviction, deleteOptions: { dryRun: ["All"] } })).code, 201);
  equal((await server.call("POST", `${pods}/p/eviction`, eviction)).code, 201);

  deepEqual(await lines(server, "resource=pods"), ["create p", "create eviction p"]);
});

test("a review writes nothing and is not shown", async () => {
  await using server = await startServer();
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  equal((await server.call("POST", path, { spec: { nonResourceAttributes: { path: "/", verb: "get" } } })).code, 201);

  deepEqual(await shown(server, "resource=selfsubjectaccessreviews.authorization.k8s.io"), []);
});

test("leases and events, which are written by the clock and explain nothing, are not shown", async () => {
  await using server = await startServer();
  const before = await lines(server, "namespace=default");
  const lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
  const about = { kind: "ConfigMap", namespace: "default", name: "a" };
  const told = { reason: "Told", reportingController: "k8ts.io/test", reportingInstance: "test", action: "Tell", type: "Normal" };
  const series = { ...told, metadata: { name: "two" }, eventTime: "2026-01-01T00:00:00.000000Z", regarding: about };
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

test("filters leave out others, and each counts", async () => {
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

test("only the last writes are kept, the oldest first", async () => {
  await using server = await startServer();
  await makeMap(server, "a");
  const transport = server.transport();
  const writes = CAUSES_MAX + 10;
  for (let index = 0; index < writes; index++) {
    const patch = { type: "merge", value: { data: { index: String(index) } } } as const;
    await transport.request(inProcess({ verb: "patch", name: "a", patch, cause: { controller: "c", key: String(index) } }));
  }

  const kept = (await shown(server, "")).map(({ cause }) => cause?.key);

  deepEqual([kept.length, kept[0], kept.at(-1)], [CAUSES_MAX, "10", String(writes - 1)]);
});

test("neither content of objects nor a secret is in it, and what programs call themselves is cut", async () => {
  await using server = await startServer();
  const headers = { authorization: "Bearer known-secret", "user-agent": "u".repeat(10_000) };
  const secret = { metadata: { name: "s", annotations: { a: "known-secret" } }, stringData: { password: "known-secret" } };
  equal((await server.call("POST", "/api/v1/namespaces/default/secrets", secret, headers)).code, 201);

  const { text } = await server.call("GET", CAUSES_PATH);
  const [write] = await shown(server, "resource=secrets");

  doesNotMatch(text, /known-secret/);
  equal(write?.userAgent.length, 256);
});

test("a header that is no cause, or too long for one, is as good as none", async () => {
  await using server = await startServer();
  await makeMap(server, "a", { "k8ts-cause": "because" });
  await makeMap(server, "b", { "k8ts-cause": `controller=${"c".repeat(2_000)},key=k` });

  deepEqual(await lines(server), ["create a", "create b"]);
});

test("only who is given the path may read it", async () => {
  await using server = await startGuardedServer();
  const anybody = server.as({ name: "anybody", groups: [] });
  const { code, body } = await anybody.call("GET", CAUSES_PATH);
  const inOneProcess = server.server.transport({ user: { name: "anybody", groups: [] }, userAgent: "part" });

  deepEqual([code, body.message], [403, `forbidden: User "anybody" cannot get path "${CAUSES_PATH}"`]);
  await inOneProcess.document(CAUSES_PATH).then(
    () => equal("allowed", "refused"),
    ({ reason }: { readonly reason: string }) => equal(reason, "Forbidden"),
  );
  const role = { metadata: { name: "why" }, rules: [{ nonResourceURLs: [CAUSES_PATH], verbs: ["get"] }] };
  await server.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles", role);
  await server.call("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: "why" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "why" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "anybody" }],
  });
  await server.clock.settle();
  equal((await anybody.call("GET", CAUSES_PATH)).code, 200);
});

test("it is JSON, and nothing else", async () => {
  await using server = await startServer();
  const { body, headers } = await server.call("GET", CAUSES_PATH);

  deepEqual([body.kind, body.apiVersion, headers["content-type"]], ["CauseList", "debug.k8ts.io/v1", "application/json"]);
  equal((await server.call("GET", CAUSES_PATH, undefined, { accept: "text/html" })).code, 406);
  equal((await server.call("POST", CAUSES_PATH, {})).code, 405);
});
