import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject, KubeObject } from "../../../api/machinery/object.ts";
import { onlyPlugins } from "../../testing/admission.ts";
import { startServer, type CallAnswer, type StartedServer } from "../../testing/server.ts";
import { allowed, reviewReply, testWebhooks, webhookAt, type TestWebhooks, type WebhookOfTest } from "../../testing/webhooks.ts";

const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const MERGE = { "content-type": "application/merge-patch+json" };
const MAPS = "/api/v1/namespaces/default/configmaps";

interface World extends AsyncDisposable, Pick<StartedServer, "call" | "clock" | "as"> {
  readonly webhooks: TestWebhooks;
  configure(name: string, ...webhooks: readonly JsonObject[]): Promise<void>;
}

async function given(handlers: Readonly<Record<string, WebhookOfTest>>): Promise<World> {
  const webhooks = testWebhooks(handlers);
  const server = await startServer({
    webhookTransport: webhooks,
    config: { admission: onlyPlugins("NamespaceLifecycle", "MutatingAdmissionWebhook", "ValidatingAdmissionWebhook") },
  });
  return {
    ...server,
    webhooks,
    async configure(name, ...list) {
      const { code, text } = await server.call("POST", CONFIGURATIONS, { metadata: { name }, webhooks: list });
      equal(code, 201, text);
    },
  };
}

function map(name: string, more: JsonObject = {}): JsonObject {
  return { metadata: { name, ...more }, data: { a: "1" } };
}

function shown({ code, body }: CallAnswer): JsonObject {
  const { message, reason, details } = body;
  return { code, message, ...(reason === undefined ? {} : { reason }), ...(details === undefined ? {} : { details }) };
}

test("a webhook gets the request as an AdmissionReview", async () => {
  await using world = await given({ "/a": () => allowed() });
  await world.configure("a", webhookAt("a"));

  const { code } = await world.call("POST", `${MAPS}?fieldManager=me`, map("m"));

  equal(code, 201);
  const [{ object, uid, ...review } = {} as never] = world.webhooks.reviews;
  match(uid, /^[0-9a-f-]{36}$/);
  equal((object as JsonObject)["kind"], "ConfigMap");
  match(((object as JsonObject)["metadata"] as JsonObject)["uid"] as string, /^[0-9a-f-]{36}$/);
  const kind = { group: "", version: "v1", kind: "ConfigMap" };
  const resource = { group: "", version: "v1", resource: "configmaps" };
  deepEqual(review, {
    path: "/a",
    kind,
    resource,
    requestKind: kind,
    requestResource: resource,
    name: "m",
    namespace: "default",
    operation: "CREATE",
    userInfo: { username: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] },
    oldObject: null,
    dryRun: false,
    options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1", fieldManager: "me" },
  });
});

test("the deletion of a collection has no name, as upstream", async () => {
  await using world = await given({ "/a": () => allowed() });
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["DELETE"] }];
  await world.configure("a", webhookAt("a", { rules }));
  await world.call("POST", MAPS, map("m"));

  equal((await world.call("DELETE", `${MAPS}?fieldSelector=metadata.name%3Dm`)).code, 200);

  deepEqual(
    world.webhooks.reviews.map(({ operation, name, oldObject }) => [operation, name, (oldObject as KubeObject).metadata.name]),
    [["DELETE", undefined, "m"]],
  );
});

test("a webhook gets the managedFields of the object and of the old object", async () => {
  await using world = await given({ "/a": () => allowed() });
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["*"] }];
  await world.configure("a", webhookAt("a", { rules }));

  equal((await world.call("POST", `${MAPS}?fieldManager=first`, map("m"))).code, 201);
  equal((await world.call("PATCH", `${MAPS}/m?fieldManager=second`, { data: { b: "2" } }, MERGE)).code, 200);
  equal((await world.call("DELETE", `${MAPS}/m`)).code, 200);

  deepEqual(
    world.webhooks.reviews.map(({ operation, object, oldObject }) => [operation, managersOf(object), managersOf(oldObject)]),
    [
      ["CREATE", ["first"], []],
      ["UPDATE", ["first", "second"], ["first"]],
      ["DELETE", [], ["first", "second"]],
    ],
  );
});

function managersOf(object: unknown): readonly string[] {
  const { metadata } = (object ?? {}) as { readonly metadata?: { readonly managedFields?: readonly { readonly manager: string }[] } };
  return (metadata?.managedFields ?? []).map(({ manager }) => manager);
}

const DENIED = 'admission webhook "a.example.com" denied the request';
const FAILED = 'Internal error occurred: failed calling webhook "a.example.com": ';
const INVALID = `${FAILED}received invalid webhook response: `;
const UNDECODABLE = `${FAILED}failed to call webhook: `;

interface Row {
  readonly title: string;
  readonly answer: WebhookOfTest;
  readonly says: JsonObject;
}

const rows: readonly Row[] = [
  { title: "denies without a status", answer: () => ({ allowed: false }), says: { code: 400, message: `${DENIED} without explanation` } },
  {
    title: "denies with a message",
    answer: () => ({ allowed: false, status: { message: "no" } }),
    says: { code: 400, message: `${DENIED}: no` },
  },
  {
    title: "denies with a reason of its own",
    answer: () => ({ allowed: false, status: { reason: "Because" } }),
    says: { code: 400, message: `${DENIED}: Because`, reason: "Because" },
  },
  {
    title: "denies with code, reason and details",
    answer: () => ({
      allowed: false,
      status: { code: 418, reason: "Forbidden", message: "no", details: { causes: [{ field: "data", message: "bad" }] } },
    }),
    says: { code: 418, message: `${DENIED}: no`, reason: "Forbidden", details: { causes: [{ field: "data", message: "bad" }] } },
  },
  {
    title: "denies with a code of success",
    answer: () => ({ allowed: false, status: { code: 200, status: "Success" } }),
    says: { code: 400, message: `${DENIED} without explanation` },
  },
];

for (const { title, answer, says } of rows) {
  test(`the client gets upstream's status from a webhook that ${title}`, async () => {
    await using world = await given({ "/a": answer });
    await world.configure("a", webhookAt("a"));
    deepEqual(shown(await world.call("POST", MAPS, map("m"))), says);
  });
}

const failures: readonly { readonly title: string; readonly answer: WebhookOfTest; readonly says: RegExp | string }[] = [
  {
    title: "another uid",
    answer: () => reviewReply({ kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", response: { uid: "other", allowed: true } }),
    says: /received invalid webhook response: expected response\.uid="[0-9a-f-]{36}", got "other"$/,
  },
  {
    title: "another apiVersion",
    answer: ({ uid }) => reviewReply({ kind: "AdmissionReview", apiVersion: "v2", response: { uid, allowed: true } }),
    says: `${UNDECODABLE}no kind "AdmissionReview" is registered for version "v2" in scheme "k8s.io/apiserver/pkg/util/webhook/client.go:71"`,
  },
  {
    title: "another version of a review",
    answer: ({ uid }) => reviewReply({ kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1beta1", response: { uid, allowed: true } }),
    says: `${UNDECODABLE}converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion`,
  },
  {
    title: "a value of a wrong type",
    answer: () => ({ allowed: "no" }),
    says: `${UNDECODABLE}json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool`,
  },
  {
    title: "a list",
    answer: () => ({ code: 200, contentType: "application/json", body: new TextEncoder().encode("[]") }),
    says: /failed to call webhook: couldn't get version\/kind; json parse error: json: cannot unmarshal array into Go value of type struct/,
  },
  {
    title: "no kind",
    answer: ({ uid }) => reviewReply({ response: { uid, allowed: true } }),
    says: `${INVALID}expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=`,
  },
  {
    title: "no response",
    answer: () => reviewReply({ kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1" }),
    says: `${INVALID}webhook response was absent`,
  },
  {
    title: "a patch",
    answer: () => allowed([{ op: "add", path: "/data/b", value: "2" }]),
    says: `${INVALID}validating webhook may not return response.patch`,
  },
  {
    title: "an error code",
    answer: () => ({ code: 500, contentType: "text/plain", body: new TextEncoder().encode("boom") }),
    says: `${FAILED}failed to call webhook: an error on the server ("boom") has prevented the request from succeeding`,
  },
  {
    title: "a redirect",
    answer: () => ({ code: 302, contentType: "text/plain", body: new Uint8Array() }),
    says: `${FAILED}failed to call webhook: the server responded with the status code 302 but did not return more information`,
  },
];

for (const { title, answer, says } of failures) {
  test(`a webhook that responds with ${title} fails closed with upstream's message, and is ignored with failurePolicy Ignore`, async () => {
    await using world = await given({ "/a": answer });
    await world.configure("a", webhookAt("a"));

    const { code, body } = await world.call("POST", MAPS, map("m"));

    equal(code, 500);
    if (typeof says === "string") equal(body.message, says);
    else match(body.message, says);
    await world.call("PATCH", `${CONFIGURATIONS}/a`, { webhooks: [webhookAt("a", { failurePolicy: "Ignore" })] }, MERGE);
    equal((await world.call("POST", MAPS, map("m"))).code, 201);
  });
}

test("a webhook that does not respond fails at its timeout, of which it is informed", async () => {
  const paths: string[] = [];
  await using world = await given({
    "/a": (_request, { path }) => {
      paths.push(path);
      return new Promise(() => undefined);
    },
  });
  await world.configure("a", webhookAt("a", { timeoutSeconds: 7 }));

  const waiting = world.call("POST", MAPS, map("m"));
  await world.clock.advance(7_000);

  const { code, body } = await waiting;
  equal(code, 500);
  equal(body.message, `${FAILED}failed to call webhook: Post "https://hooks.example/a?timeout=7s": context deadline exceeded`);
  deepEqual(paths, ["/a?timeout=7s"]);
});

test("an unreachable webhook is reported with its URL", async () => {
  await using world = await given({});
  await world.configure("a", webhookAt("a"));

  const { body } = await world.call("POST", MAPS, map("m"));

  const why = "dial tcp 10.0.0.9:443: connect: connection refused";
  equal(body.message, `${FAILED}failed to call webhook: Post "https://hooks.example/a?timeout=10s": ${why}`);
});

test("all matching webhooks are called at once, and the first denial in their order is reported", async () => {
  const order: string[] = [];
  const denies = (name: string) => () => {
    order.push(name);
    return { allowed: false, status: { message: name } };
  };
  await using world = await given({ "/a": denies("a"), "/b": denies("b") });
  await world.configure("2", webhookAt("a"));
  await world.configure("1", webhookAt("b"));

  const { body } = await world.call("POST", MAPS, map("m"));

  equal(body.message, 'admission webhook "b.example.com" denied the request: b');
  deepEqual(order, ["b", "a"]);
});

test("warnings of a webhook reach the client, and its metrics have upstream's names", async () => {
  await using world = await given({ "/a": () => allowed(undefined, { warnings: ["old field"] }) });
  await world.configure("a", webhookAt("a", { matchConditions: [condition("true")] }));

  const { headers } = await world.call("POST", MAPS, map("m"));

  deepEqual(headers["warning"], ['299 - "old field"']);
  const { text } = await world.call("GET", "/metrics");
  const labels = 'name="a.example.com",type="validating",operation="CREATE",code="200",rejected="false"';
  match(text, new RegExp(`apiserver_admission_webhook_request_total\\{${labels}\\} 1`));
  const owner = 'name="a.example.com",kind="webhook",type="validating",operation="CREATE"';
  match(text, new RegExp(`apiserver_admission_match_condition_evaluation_seconds_count\\{${owner}\\} 1`));
  const plugin = 'name="ValidatingAdmissionWebhook",type="validate",operation="CREATE",rejected="false"';
  match(text, new RegExp(`apiserver_admission_controller_admission_duration_seconds_count\\{${plugin}\\} \\d`));
  match(text, /apiserver_admission_step_admission_duration_seconds_count\{type="admit",operation="CREATE",rejected="false"\} \d/);
});

interface Selection {
  readonly title: string;
  readonly webhook: JsonObject;
  readonly isCalled: boolean;
}

const selections: readonly Selection[] = [
  { title: "for the labels of the namespace", webhook: { namespaceSelector: { matchLabels: { team: "a" } } }, isCalled: true },
  { title: "for other labels of the namespace", webhook: { namespaceSelector: { matchLabels: { team: "b" } } }, isCalled: false },
  { title: "for the labels of the object", webhook: { objectSelector: { matchLabels: { app: "x" } } }, isCalled: true },
  { title: "for other labels of the object", webhook: { objectSelector: { matchLabels: { app: "y" } } }, isCalled: false },
  { title: "for all resources", webhook: { rules: [rule({ apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] })] }, isCalled: true },
  { title: "for subresources only", webhook: { rules: [rule({ resources: ["configmaps/*"] })] }, isCalled: true },
  { title: "for another subresource", webhook: { rules: [rule({ resources: ["configmaps/status"] })] }, isCalled: false },
  { title: "for cluster-scoped objects", webhook: { rules: [rule({ scope: "Cluster" })] }, isCalled: false },
  {
    title: "with a true match condition",
    webhook: { matchConditions: [condition("object.data.a == '1' && request.name == 'm'")] },
    isCalled: true,
  },
  { title: "with a false match condition", webhook: { matchConditions: [condition("object.data.a == '2'")] }, isCalled: false },
  {
    title: "with a match condition that fails and is ignored",
    webhook: { matchConditions: [condition("object.data.b == '2'")], failurePolicy: "Ignore" },
    isCalled: false,
  },
  { title: "for updates", webhook: { rules: [rule({ operations: ["UPDATE"] })] }, isCalled: false },
];

function condition(expression: string): JsonObject {
  return { name: "condition", expression };
}

function rule(more: JsonObject): JsonObject {
  return { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE"], ...more };
}

for (const { title, webhook, isCalled } of selections) {
  test(`a webhook ${title} is ${isCalled ? "" : "not "}called for the creation of a ConfigMap`, async () => {
    await using world = await given({ "/a": () => allowed() });
    await world.call("POST", "/api/v1/namespaces", { metadata: { name: "shop", labels: { team: "a" } } });
    await world.configure("a", webhookAt("a", webhook));

    equal((await world.call("POST", "/api/v1/namespaces/shop/configmaps", map("m", { labels: { app: "x" } }))).code, 201);

    equal(world.webhooks.reviews.length, isCalled ? 1 : 0);
  });
}

test("a match condition that fails denies the request, and one that does not compile is refused", async () => {
  await using world = await given({ "/a": () => allowed() });
  await world.configure("a", webhookAt("a", { matchConditions: [condition("object.data.b == '2'")] }));

  const { code, body } = await world.call("POST", MAPS, map("m"));

  const why = "expression 'object.data.b == '2'' resulted in error: no such key: b";
  deepEqual([code, body.message], [403, `configmaps "m" is forbidden: ${why}`]);
  const wrong = { metadata: { name: "w" }, webhooks: [webhookAt("w", { matchConditions: [condition("object.data")] })] };
  const refused = await world.call("POST", CONFIGURATIONS, wrong);
  equal(refused.code, 422);
  match(
    refused.body.message,
    /webhooks\[0\]\.matchConditions\[0\]\.expression: Invalid value: "object\.data": must evaluate to bool but got dyn/,
  );
});

test("a rule for another version of a resource matches with matchPolicy Equivalent, and the webhook gets that version", async () => {
  await using world = await given({ "/a": () => allowed() });
  const rules = [{ apiGroups: ["autoscaling"], apiVersions: ["v2"], resources: ["horizontalpodautoscalers"], operations: ["CREATE"] }];
  await world.configure("a", webhookAt("a", { rules }));
  await world.configure("b", webhookAt("b", { rules, matchPolicy: "Exact" }));

  const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
  const body = { metadata: { name: "web" }, spec: { maxReplicas: 3, targetCPUUtilizationPercentage: 50, scaleTargetRef } };
  const { code } = await world.call("POST", "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers", body);

  equal(code, 201);
  equal(world.webhooks.reviews.length, 1);
  const [{ kind, requestKind, object }] = world.webhooks.reviews as [TestWebhooks["reviews"][number]];
  deepEqual([kind.version, requestKind.version, object.apiVersion], ["v2", "v1", "autoscaling/v2"]);
  equal(object.spec.metrics[0].resource.target.averageUtilization, 50);
});

test("deletes are reviewed with the old object and DeleteOptions, writes of a scale as a Scale", async () => {
  await using world = await given({ "/a": () => allowed() });
  const rules = [
    rule({ operations: ["DELETE"] }),
    { apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments/scale"], operations: ["UPDATE"] },
  ];
  await world.configure("a", webhookAt("a", { rules }));
  await world.call("POST", MAPS, map("m"));
  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  const spec = { selector: { matchLabels: { app: "web" } }, template };
  await world.call("POST", "/apis/apps/v1/namespaces/default/deployments", { metadata: { name: "web" }, spec });

  await world.call("DELETE", `${MAPS}/m?propagationPolicy=Foreground&dryRun=All`);
  const scale = { metadata: { name: "web", namespace: "default" }, spec: { replicas: 3 } };
  await world.call("PUT", "/apis/apps/v1/namespaces/default/deployments/web/scale", scale);

  const [deleted, scaled] = world.webhooks.reviews as [TestWebhooks["reviews"][number], TestWebhooks["reviews"][number]];
  deepEqual([deleted.object, deleted["oldObject"].metadata.name, deleted.dryRun], [null, "m", true]);
  deepEqual(deleted["options"], { kind: "DeleteOptions", apiVersion: "meta.k8s.io/v1", propagationPolicy: "Foreground", dryRun: ["All"] });
  deepEqual([scaled["kind"].kind, scaled.subResource, scaled["object"].spec], ["Scale", "scale", { replicas: 3 }]);
});

test("a dry run is refused if the webhook may have side effects", async () => {
  await using world = await given({ "/a": () => allowed() });
  await world.configure("a", webhookAt("a", { sideEffects: "NoneOnDryRun" }));
  equal((await world.call("POST", `${MAPS}?dryRun=All`, map("m"))).code, 201);
  equal(world.webhooks.reviews[0]?.dryRun, true);
});

const EVERYTHING = { rules: [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], operations: ["*"] }] };

test("a dead webhook for everything blocks neither leases, nor namespaces, nor its own removal", async () => {
  await using world = await given({});
  await world.configure("a", webhookAt("a", EVERYTHING));
  const lease = (namespace: string) =>
    world.call("POST", `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`, { metadata: { name: "n" }, spec: {} });
  const node = world.as({ name: "system:node:n", groups: ["system:nodes", "system:masters"] });

  equal((await world.call("POST", MAPS, map("m"))).code, 500);
  equal((await lease("kube-node-lease")).code, 201);
  equal((await lease("kube-system")).code, 201);
  equal((await lease("default")).code, 500);
  equal((await node.call("POST", "/api/v1/nodes", { metadata: { name: "n" } })).code, 201);
  equal((await world.call("POST", "/api/v1/namespaces", { metadata: { name: "shop" } })).code, 201);
  equal((await world.call("DELETE", "/api/v1/namespaces/shop")).code, 200);
  const shop = (await world.call("GET", "/api/v1/namespaces/shop")).body;
  equal((await world.call("PUT", "/api/v1/namespaces/shop/finalize", { ...shop, spec: {} })).code, 200);
  equal((await world.call("DELETE", `${CONFIGURATIONS}/a`)).code, 200);
  equal((await world.call("POST", MAPS, map("m"))).code, 201);
});

test("a dead webhook for everything does not stop controllers and nodes from completing a deletion", async () => {
  await using world = await given({});
  await world.call("POST", MAPS, map("m", { finalizers: ["x.io/kept"] }));
  const controller = world.as({
    name: "system:serviceaccount:kube-system:x",
    groups: ["system:serviceaccounts:kube-system", "system:masters"],
  });
  const removeFinalizer = (user: Pick<World, "call">) => user.call("PATCH", `${MAPS}/m`, { metadata: { finalizers: null } }, MERGE);

  await world.configure("a", webhookAt("a", EVERYTHING));
  equal((await removeFinalizer(controller)).code, 500);
  await world.call("DELETE", `${CONFIGURATIONS}/a`);
  await world.call("DELETE", `${MAPS}/m`);
  await world.configure("a", webhookAt("a", EVERYTHING));
  equal((await removeFinalizer(world)).code, 500);
  equal((await removeFinalizer(controller)).code, 200);
  equal((await world.call("GET", `${MAPS}/m`)).code, 404);
});

test("a dead webhook for everything does not stop controllers from working in a namespace that is being deleted", async () => {
  await using world = await given({});
  await world.call("POST", "/api/v1/namespaces", { metadata: { name: "shop" } });
  const maps = "/api/v1/namespaces/shop/configmaps";
  await world.call("POST", maps, map("m"));
  await world.configure("a", webhookAt("a", EVERYTHING));
  const controller = world.as({
    name: "system:serviceaccount:kube-system:x",
    groups: ["system:serviceaccounts:kube-system", "system:masters"],
  });
  const count = () => controller.call("PATCH", `${maps}/m`, { data: { counted: "1" } }, MERGE);

  equal((await count()).code, 500);
  await world.call("DELETE", "/api/v1/namespaces/shop");
  equal((await count()).code, 200);
});
