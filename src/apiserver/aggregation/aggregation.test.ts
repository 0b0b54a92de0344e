import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { startGuardedServer, startServer, type StartedServer } from "../testing/server.ts";
import {
  API_SERVICE,
  API_SERVICES_PATH,
  apiService,
  availability,
  GROUP,
  json,
  register,
  remoteStub,
  SERVICE,
  SLICE,
} from "./testing/remote-api.ts";

const FLUNDERS = `/apis/${GROUP}/v1/namespaces/default/flunders`;
const AGGREGATED = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };

test("every built-in group and version has a local APIService with upstream's label and priority", async () => {
  await using started = await startServer();

  const { body } = await started.call("GET", API_SERVICES_PATH);

  const names = body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
  const apps = body.items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === "v1.apps");
  equal(names.includes("v1."), true);
  equal(names.includes("v1.apiregistration.k8s.io"), false);
  equal(names.includes("v1beta1.metrics.k8s.io"), false);
  deepEqual(apps.metadata.labels, { "kube-aggregator.kubernetes.io/automanaged": "onstart" });
  deepEqual(apps.spec, { group: "apps", version: "v1", groupPriorityMinimum: 17_800, versionPriority: 15 });
  equal(await availability(started, "v1.apps"), "True Local: Local APIServices are always available");
});

for (const { title, missing, expected } of [
  {
    title: "without its Service",
    missing: ["service", "slice"],
    expected: 'False ServiceNotFound: service/api in "default" is not present',
  },
  {
    title: "without EndpointSlices",
    missing: ["slice"],
    expected: 'False EndpointsNotFound: cannot find endpointslices for service/api in "default"',
  },
  {
    title: "without a ready endpoint",
    missing: ["ready"],
    expected: 'False MissingEndpoints: endpointslices for service/api in "default" have no addresses with port name "https"',
  },
  {
    title: "whose Service has another port",
    missing: ["port"],
    expected: 'False ServicePortError: service/api in "default" is not listening on port 443',
  },
  { title: "whose server responds", missing: [], expected: "True Passed: all checks passed" },
] as const) {
  test(`an APIService ${title} is ${expected.split(":", 1)[0]}`, async () => {
    await using started = await startServer({ remoteConnector: remoteStub().connector });
    const lacks: readonly string[] = missing;

    const ports = lacks.includes("port") ? [{ name: "https", port: 8443 }] : SERVICE.spec.ports;
    if (!lacks.includes("service")) await started.call("POST", "/api/v1/namespaces/default/services", { ...SERVICE, spec: { ports } });
    const endpoints = lacks.includes("ready") ? [{ addresses: ["192.0.2.7"], conditions: { ready: false } }] : SLICE.endpoints;
    if (!lacks.includes("slice"))
      await started.call("POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", { ...SLICE, endpoints });
    await started.call("POST", API_SERVICES_PATH, apiService() as never);
    await started.clock.advance(1_000);

    equal(await availability(started), expected);
  });
}

test("an APIService whose server fails is unavailable with the failure, and available when it works again", async () => {
  const remote = remoteStub();
  await using started = await startServer({ remoteConnector: remote.connector });
  remote.answer = () => Promise.reject(new Error("dial tcp 192.0.2.7:8443: connect: connection refused"));
  await register(started);
  const url = `https://192.0.2.7:8443/apis/${GROUP}/v1`;
  equal(
    await availability(started),
    `False FailedDiscoveryCheck: failing or missing response from ${url}: Get "${url}": dial tcp 192.0.2.7:8443: connect: connection refused`,
  );
  const { code, text } = await started.call("GET", FLUNDERS);
  deepEqual([code, text], [503, "service unavailable\n"]);

  remote.answer = () => json({}, 500);
  await started.clock.advance(60_000);
  match(await availability(started), /: bad status from .*: 500$/);
  remote.answer = undefined;
  await started.clock.advance(60_000);

  equal(await availability(started), "True Passed: all checks passed");
});

test("a server that does not answer the probe within five seconds is unavailable", async () => {
  const remote = remoteStub();
  await using started = await startServer({ remoteConnector: remote.connector });
  remote.answer = ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));

  await register(started);
  await started.clock.advance(15_000);

  match(await availability(started), /FailedDiscoveryCheck: .*context deadline exceeded$/);
});

test("a request is forwarded with the user's identity and without the client's own identity headers", async () => {
  const remote = remoteStub();
  await using started = await startGuardedServer({ remoteConnector: remote.connector });
  await register(started);
  const jane = { name: "jané", uid: "u1", groups: ["system:masters", "dev"], extra: { "example.com/scopes": ["a", "b"] } };
  remote.calls.length = 0;

  const spoofed = { "x-remote-user": "root", "x-remote-group": "system:masters", authorization: "Bearer x", "x-custom": "kept" };
  const { code, body } = await started.as(jane).call("POST", `${FLUNDERS}?dryRun=All`, { kind: "Flunder" }, spoofed);

  const [call] = remote.calls;
  const { accept: _accept, "user-agent": _agent, "test-user": _user, "x-forwarded-for": _for, ...headers } = call?.headers ?? {};
  deepEqual([code, body.kind], [200, "Flunder"]);
  deepEqual([call?.method, call?.target, call?.host, call?.port], ["POST", `${FLUNDERS}?dryRun=All`, "192.0.2.7", 8443]);
  deepEqual([call?.serverName, call?.isInsecure], ["api.default.svc", true]);
  deepEqual(headers, {
    "x-custom": ["kept"],
    "x-remote-user": "jan\u00c3\u00a9",
    "x-remote-uid": "u1",
    "x-remote-group": ["system:masters", "dev", "system:authenticated"],
    "x-remote-extra-example.com%2Fscopes": ["a", "b"],
  });
  deepEqual(new TextDecoder().decode(call?.body), '{"kind":"Flunder"}');
});

test("a user without permission is rejected before the request is forwarded", async () => {
  const remote = remoteStub();
  await using started = await startGuardedServer({ remoteConnector: remote.connector });
  await register(started);
  remote.calls.length = 0;

  const { code, body } = await started.as({ name: "jane", groups: [] }).call("GET", FLUNDERS);

  equal(code, 403);
  match(body.message, /^flunders\.wardle\.example\.com is forbidden: User "jane" cannot list resource "flunders"/);
  deepEqual(remote.calls, []);
});

for (const { title, answer, code, text } of [
  {
    title: "a redirect",
    answer: () => json({}, 302, { location: "https://elsewhere.example.com/" }),
    code: 502,
    text: "the backend attempted to redirect this request, which is not permitted",
  },
  {
    title: "a broken connection",
    answer: () => Promise.reject(new Error("EOF")),
    code: 503,
    text: "error trying to reach service: EOF\n",
  },
]) {
  test(`${title} of an aggregated API server is answered with ${code}`, async () => {
    const remote = remoteStub();
    await using started = await startServer({ remoteConnector: remote.connector });
    await register(started);
    remote.answer = ({ target }) => (target.startsWith(FLUNDERS) ? answer() : undefined);

    const answered = await started.call("GET", FLUNDERS);

    deepEqual([answered.code, answered.text], [code, text]);
  });
}

test("a forwarded request ends with the request timeout", async () => {
  const remote = remoteStub();
  await using started = await startServer({ remoteConnector: remote.connector });
  await register(started);
  remote.answer = ({ target, signal }) =>
    target.startsWith(FLUNDERS)
      ? new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)))
      : undefined;

  const answering = started.call("GET", FLUNDERS);
  await started.clock.advance(61_000);
  const { code, body } = await answering;

  deepEqual([code, body.reason], [504, "Timeout"]);
});

test("a forwarded response whose body never ends is broken off at the request timeout", async () => {
  const remote = remoteStub();
  await using started = await startServer({ remoteConnector: remote.connector });
  await register(started);
  remote.answer = ({ target }) => (target.startsWith(FLUNDERS) ? { code: 200, headers: {}, stream: () => undefined } : undefined);

  const answered = await started.watch(FLUNDERS);
  await started.clock.advance(59_000);
  const before = answered.isAborted;
  await started.clock.advance(2_000);

  deepEqual([before, answered.isAborted], [false, true]);
});

function groupNames(body: { groups: readonly { name: string }[] }): readonly string[] {
  return body.groups.map(({ name }) => name);
}

/** Its entry in aggregated discovery. */
async function discovered({ call }: StartedServer) {
  const { body } = await call("GET", "/apis", undefined, AGGREGATED);
  return body.items.find(({ metadata }: { metadata: { name: string } }) => metadata.name === GROUP);
}

test("discovery merges an aggregated API by its priority, in both forms", async () => {
  await using started = await startServer({ remoteConnector: remoteStub().connector });
  await register(started);

  const plain = await started.call("GET", "/apis");
  const group = await started.call("GET", `/apis/${GROUP}`);
  const resources = await started.call("GET", `/apis/${GROUP}/v1`);

  const names = groupNames(plain.body);
  equal(names[0], "apiregistration.k8s.io");
  equal(names.indexOf(GROUP) < names.indexOf("metrics.k8s.io") && names.indexOf(GROUP) > names.indexOf("storagemigration.k8s.io"), true);
  deepEqual(group.body.preferredVersion, { groupVersion: `${GROUP}/v1`, version: "v1" });
  equal(resources.body.resources[0].name, "flunders");
  deepEqual(await discovered(started), {
    metadata: { name: GROUP },
    versions: [
      {
        version: "v1",
        freshness: "Current",
        resources: [
          {
            resource: "flunders",
            responseKind: { group: "", version: "", kind: "Flunder" },
            scope: "Namespaced",
            singularResource: "flunder",
            verbs: ["get", "list", "delete"],
            shortNames: ["fl"],
            subresources: [{ subresource: "status", responseKind: { group: "", version: "", kind: "Flunder" }, verbs: ["get"] }],
          },
        ],
      },
    ],
  });
});

test("a local APIService of a group that is not served is in plain discovery only", async () => {
  await using started = await startServer();
  const spec = { group: GROUP, version: "v1", groupPriorityMinimum: 17_900, versionPriority: 15 };
  await started.call("POST", API_SERVICES_PATH, { metadata: { name: API_SERVICE }, spec });

  const names = groupNames((await started.call("GET", "/apis")).body);
  const group = await started.call("GET", `/apis/${GROUP}`);
  const resources = await started.call("GET", `/apis/${GROUP}/v1`);

  equal(names.indexOf(GROUP) + 1, names.indexOf("apps"));
  deepEqual(group.body.versions, [{ groupVersion: `${GROUP}/v1`, version: "v1" }]);
  deepEqual([resources.code, resources.text], [404, "404 page not found\n"]);
  equal(await discovered(started), undefined);

  await started.call("DELETE", `${API_SERVICES_PATH}/${API_SERVICE}`);
  equal(groupNames((await started.call("GET", "/apis")).body).includes(GROUP), false);
  equal((await started.call("GET", `/apis/${GROUP}`)).code, 404);
});

test("an unavailable aggregated API is listed as stale, and other groups are unaffected", async () => {
  const remote = remoteStub();
  await using started = await startServer({ remoteConnector: remote.connector });
  remote.answer = () => Promise.reject(new Error("EOF"));
  await register(started);

  deepEqual(await discovered(started), { metadata: { name: GROUP }, versions: [{ version: "v1", freshness: "Stale" }] });
  equal(groupNames((await started.call("GET", "/apis")).body).includes(GROUP), true);
  equal((await started.call("GET", `/apis/${GROUP}/v1`)).code, 503);
  equal((await started.call("GET", "/apis/apps/v1")).code, 200);
});

test("a discovery document of wrong types is reduced to what is valid", async () => {
  const remote = remoteStub();
  await using started = await startServer({ remoteConnector: remote.connector });
  const type = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const resources = [{ resource: 5 }, null, { resource: "odd", verbs: "get", scope: [], subresources: {}, responseKind: "x" }];
  const items = [null, { metadata: { name: GROUP }, versions: [5, { version: "v1", resources }] }];
  remote.answer = ({ target }) => (target === "/apis" ? json({ items }, 200, { "content-type": type }) : undefined);

  await register(started);

  const { versions } = await discovered(started);
  deepEqual(versions[0].resources, [
    { resource: "odd", responseKind: { group: "", version: "", kind: "" }, scope: "Cluster", singularResource: "", verbs: [] },
  ]);
  const protobuf = await started.call("GET", "/apis", undefined, {
    accept: "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
  });
  equal(protobuf.code, 200);
});

test("OpenAPI documents of an aggregated API are merged, and a taken definition is renamed", async () => {
  const remote = remoteStub();
  await using started = await startServer({ remoteConnector: remote.connector });
  const pod = { type: "object", description: "another kind of Pod" };
  const document = {
    swagger: "2.0",
    paths: {
      [FLUNDERS]: { get: { responses: { 200: { schema: { $ref: "#/definitions/io.k8s.api.core.v1.Pod" } } } } },
      "/apis/other.example.com/v1/things": { get: {} },
    },
    definitions: { "io.k8s.api.core.v1.Pod": pod, unused: {} },
  };
  const url = `/openapi/v3/apis/${GROUP}/v1?hash=ABC`;
  remote.answer = ({ target }) => {
    if (target === "/openapi/v2") return json(document);
    if (target === "/openapi/v3") return json({ paths: { [`apis/${GROUP}/v1`]: { serverRelativeURL: url }, version: {} } });
    return target === url ? json({ openapi: "3.0.0" }) : undefined;
  };
  await register(started);

  const building = Promise.all([started.call("GET", "/openapi/v2"), started.call("GET", "/openapi/v3")]);
  await started.clock.advance(1_000);
  const [{ body: v2 }, { body: index }] = await building;
  const v3 = await started.call("GET", url);

  equal(v2.paths[FLUNDERS].get.responses[200].schema.$ref, "#/definitions/io.k8s.api.core.v1.Pod_v2");
  deepEqual(
    [v2.definitions["io.k8s.api.core.v1.Pod_v2"], v2.definitions.unused, v2.paths["/apis/other.example.com/v1/things"]],
    [pod, undefined, undefined],
  );
  equal(index.paths[`apis/${GROUP}/v1`].serverRelativeURL, url);
  deepEqual(v3.body, { openapi: "3.0.0" });
});

test("the OpenAPI v2 document of an aggregated API without OpenAPI v3 is served as v3", async () => {
  const remote = remoteStub();
  await using started = await startServer({ remoteConnector: remote.connector });
  const schema = { $ref: "#/definitions/Flunder" };
  const get = { produces: ["application/json"], responses: { 200: { description: "OK", schema } } };
  const document = { swagger: "2.0", paths: { [FLUNDERS]: { get } }, definitions: { Flunder: { type: "object" } } };
  remote.answer = ({ target }) => (target === "/openapi/v2" ? json(document) : undefined);
  await register(started);

  const building = started.call("GET", "/openapi/v3");
  await started.clock.advance(1_000);
  const { body: index } = await building;
  const { code, body } = await started.call("GET", index.paths[`apis/${GROUP}/v1`].serverRelativeURL);

  equal(code, 200);
  deepEqual(body.components.schemas, { Flunder: { type: "object" } });
  const { content } = body.paths[FLUNDERS].get.responses[200];
  deepEqual(content, { "application/json": { schema: { $ref: "#/components/schemas/Flunder" } } });
});

test("components of the process reach an aggregated API like any other", async () => {
  const remote = remoteStub();
  await using started = await startServer({ remoteConnector: remote.connector });
  await register(started);
  const transport = started.transport();
  const place = { group: GROUP, version: "v1", plural: "flunders", namespace: "default" };

  const found = await transport.request({ ...place, verb: "get", name: "a" });
  const document = await transport.document(`/apis/${GROUP}/v1`);

  deepEqual(found.is === "object" && found.object.metadata.name, "a");
  equal(document["groupVersion"], `${GROUP}/v1`);
});

test("an autoscaler's request for a custom metric reaches the adapter that is registered for it", async () => {
  const remote = remoteStub();
  await using started = await startServer({ remoteConnector: remote.connector });
  await register(started);
  const spec = { group: "custom.metrics.k8s.io", version: "v1beta2" };
  const list = { kind: "MetricValueList", apiVersion: "custom.metrics.k8s.io/v1beta2", metadata: {}, items: [{ value: "5" }] };
  const path = "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/*/rate?labelSelector=app%3Dweb&metricLabelSelector=verb%3DGET";
  remote.answer = ({ target }) =>
    target.startsWith("/apis/custom.metrics.k8s.io/v1beta2") ? json(target === path ? list : {}) : undefined;
  await started.call("POST", API_SERVICES_PATH, { ...apiService(spec), metadata: { name: "v1beta2.custom.metrics.k8s.io" } });
  await started.clock.advance(1_000);

  const options = { labelSelector: "app=web", metricLabelSelector: "verb=GET" };
  const place = { ...spec, plural: "pods", namespace: "shop", name: "*", subresource: "rate" };
  const response = await started.transport().request({ ...place, verb: "get", options });

  deepEqual(response.is === "value" && response.value, list);
});

test("an APIService for metrics.k8s.io replaces this server's own metrics until it is deleted", async () => {
  const remote = remoteStub();
  await using started = await startServer({ remoteConnector: remote.connector });
  await register(started);
  const name = "v1beta1.metrics.k8s.io";
  const spec = { group: "metrics.k8s.io", version: "v1beta1", groupPriorityMinimum: 100, versionPriority: 100 };
  remote.answer = ({ target }) => (target.startsWith("/apis/metrics.k8s.io/") ? json({ from: "metrics-server" }) : undefined);

  await started.call("POST", API_SERVICES_PATH, { ...apiService(spec), metadata: { name } });
  await started.clock.advance(1_000);
  const theirs = await started.call("GET", "/apis/metrics.k8s.io/v1beta1/nodes");
  await started.call("DELETE", `${API_SERVICES_PATH}/${name}`);
  const own = await started.call("GET", "/apis/metrics.k8s.io/v1beta1/nodes");

  deepEqual([theirs.body, own.body.kind], [{ from: "metrics-server" }, "NodeMetricsList"]);
});

test("the APIService of a custom resource is created, kept and deleted with its definition", async () => {
  await using started = await startServer();
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }];
  const names = { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" };
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.shop.example.com" },
    spec: { group: "shop.example.com", scope: "Namespaced", names, versions },
  };
  const path = `${API_SERVICES_PATH}/v1.shop.example.com`;
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

  await started.call("POST", definitions, definition);
  await started.clock.advance(1_000);
  const created = await started.call("GET", path);
  await started.call("DELETE", path);
  await started.clock.advance(1_000);
  const recreated = await started.call("GET", path);
  await started.call("DELETE", `${definitions}/${definition.metadata.name}`);
  await started.clock.advance(10_000);
  const deleted = await started.call("GET", path);

  deepEqual(created.body.metadata.labels, { "kube-aggregator.kubernetes.io/automanaged": "true" });
  deepEqual([created.body.spec.groupPriorityMinimum, created.body.spec.versionPriority], [1_000, 100]);
  deepEqual([recreated.code, deleted.code], [200, 404]);
});

test("metrics name the unavailable APIServices", async () => {
  const remote = remoteStub();
  await using started = await startServer({ remoteConnector: remote.connector });
  remote.answer = () => Promise.reject(new Error("EOF"));
  await register(started);

  const { text } = await started.call("GET", "/metrics");

  match(text, new RegExp(`aggregator_unavailable_apiservice\\{name="${API_SERVICE}"\\} 1`));
  match(text, /aggregator_unavailable_apiservice\{name="v1\.apps"\} 0/);
});
