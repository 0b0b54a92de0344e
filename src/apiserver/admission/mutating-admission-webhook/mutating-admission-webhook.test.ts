import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { createLogger, silentLogger, type Logger, type LogLine } from "../../../base/logger.ts";
import { CAUSES_PATH, type CauseItem } from "../../../explain/explain-api.ts";
import { virtualClock } from "../../../testing/virtual-clock.ts";
import { onlyPlugins } from "../../testing/admission.ts";
import { startServer, type StartedServer } from "../../testing/server.ts";
import { allowed, testWebhooks, webhookAt, type TestWebhooks, type WebhookOfTest } from "../../testing/webhooks.ts";

const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
const MAPS = "/api/v1/namespaces/default/configmaps";

interface World extends AsyncDisposable, Pick<StartedServer, "call"> {
  readonly webhooks: TestWebhooks;
  configure(name: string, ...webhooks: readonly JsonObject[]): Promise<void>;
}

async function given(handlers: Readonly<Record<string, WebhookOfTest>>, log: Logger = silentLogger): Promise<World> {
  const webhooks = testWebhooks(handlers);
  const server = await startServer({ log, webhookTransport: webhooks, config: { admission: onlyPlugins("MutatingAdmissionWebhook") } });
  return {
    ...server,
    webhooks,
    async configure(name, ...list) {
      const { code, text } = await server.call("POST", CONFIGURATIONS, { metadata: { name }, webhooks: list });
      equal(code, 201, text);
    },
  };
}

const MAP = { metadata: { name: "m" }, data: { a: "1" } };

function add(name: string, value: unknown): JsonObject {
  return { op: "add", path: `/data/${name}`, value: value as string };
}

test("webhooks are called in the order of their configurations, each with the changes of the previous ones", async () => {
  await using world = await given({
    "/a": ({ object }) => allowed([add("seen", Object.keys(object.data).join())]),
    "/b": () => allowed([add("b", "2")]),
  });
  await world.configure("2", webhookAt("a"));
  await world.configure("1", webhookAt("b"));

  const { code, body } = await world.call("POST", MAPS, MAP);

  equal(code, 201);
  deepEqual(body.data, { a: "1", b: "2", seen: "a,b" });
});

test("a webhook with reinvocationPolicy IfNeeded is called again after a later one has changed the object", async () => {
  await using world = await given({
    "/a": ({ object }) => allowed([add("keys", String(Object.keys(object.data).length))]),
    "/b": () => allowed([add("b", "2")]),
  });
  await world.configure("1", webhookAt("a", { reinvocationPolicy: "IfNeeded" }), webhookAt("b"));

  const { body } = await world.call("POST", MAPS, MAP);

  deepEqual(body.data, { a: "1", keys: "3", b: "2" });
  deepEqual(
    world.webhooks.reviews.map(({ path }) => path),
    ["/a", "/b", "/a"],
  );
});

test("without a later change no webhook is called again", async () => {
  await using world = await given({ "/a": () => allowed([add("b", "2")]), "/c": () => allowed() });
  await world.configure("1", webhookAt("a", { reinvocationPolicy: "IfNeeded" }), webhookAt("c", { reinvocationPolicy: "IfNeeded" }));

  await world.call("POST", MAPS, MAP);

  deepEqual(
    world.webhooks.reviews.map(({ path }) => path),
    ["/a", "/c"],
  );
});

test("a mutating webhook gets managedFields as the client's write leaves them, and the next one as it left them", async () => {
  await using world = await given({
    "/a": ({ object }) => allowed([add("b", owners(object).join()), ownedBy("webhook")]),
    "/c": ({ object }) => allowed([add("c", owners(object).join())]),
  });
  await world.configure("1", webhookAt("a"), webhookAt("c"));

  const { body } = await world.call("POST", `${MAPS}?fieldManager=me`, MAP);
  const { body: changed } = await world.call("PUT", `${MAPS}/${body.metadata.name}?fieldManager=you`, { ...body, data: { a: "2" } });

  deepEqual([body.data, owners(body)], [{ a: "1", b: "me", c: "webhook" }, ["webhook"]]);
  deepEqual(owners(changed), ["webhook", "you"]);
});

test("a mutating webhook can remove managedFields", async () => {
  await using world = await given({ "/a": () => allowed([{ op: "remove", path: "/metadata/managedFields" }]) });
  await world.configure("1", webhookAt("a"));

  const { body } = await world.call("POST", MAPS, MAP);

  deepEqual(owners(body), []);
});

test("invalid managedFields of a mutating webhook are dropped with upstream's warning", async () => {
  await using world = await given({
    "/a": () => allowed([{ op: "replace", path: "/metadata/managedFields/0/operation", value: "Guess" }]),
  });
  await world.configure("1", webhookAt("a"));

  const { body, headers } = await world.call("POST", `${MAPS}?fieldManager=me`, MAP);

  deepEqual(owners(body), ["me"]);
  match(
    String(headers["warning"]),
    /^299 - "\.metadata\.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: operation must be `Apply` or `Update`"$/,
  );
});

/** Gives the first entry another manager. */
function ownedBy(manager: string): JsonObject {
  return { op: "replace", path: "/metadata/managedFields/0/manager", value: manager };
}

function owners(object: unknown): readonly string[] {
  const { metadata } = object as { readonly metadata: { readonly managedFields?: readonly { readonly manager: string }[] } };
  return (metadata.managedFields ?? []).map(({ manager }) => manager);
}

test("fields that a webhook adds are defaulted", async () => {
  await using world = await given({
    "/a": () => allowed([{ op: "add", path: "/spec/ports/-", value: { name: "more", port: 81 } }]),
  });
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], resources: ["services"], operations: ["CREATE"] }];
  await world.configure("1", webhookAt("a", { rules }));

  const service = { metadata: { name: "web" }, spec: { ports: [{ name: "web", port: 80 }] } };
  const { body } = await world.call("POST", "/api/v1/namespaces/default/services", service);

  deepEqual(body.spec.ports[1], { name: "more", protocol: "TCP", port: 81, targetPort: 81 });
});

test("the result of a webhook's patch is validated", async () => {
  await using world = await given({ "/a": () => allowed([{ op: "add", path: "/metadata/labels", value: { "!": "x" } }]) });
  await world.configure("1", webhookAt("a"));
  const { code, body } = await world.call("POST", MAPS, MAP);
  deepEqual([code, body.reason], [422, "Invalid"]);
});

const FAILED = 'failed calling webhook "a.example.com": ';

for (const { title, answer, message } of [
  {
    title: "a patch without its type",
    answer: () => ({ allowed: true, patch: btoa("[]") }),
    message: `${FAILED}received invalid webhook response: webhook returned response.patch but not response.patchType`,
  },
  {
    title: "a type without a patch",
    answer: () => ({ allowed: true, patchType: "JSONPatch" }),
    message: `${FAILED}received invalid webhook response: webhook returned response.patchType but not response.patch`,
  },
  {
    title: "a patch of an unknown type",
    answer: () => ({ allowed: true, patch: btoa('[{"op":"remove","path":"/data"}]'), patchType: "Merge" }),
    message: `${FAILED}unsupported patch type "Merge"`,
  },
  {
    title: "a patch that is no JSON",
    answer: () => ({ allowed: true, patch: btoa("]"), patchType: "JSONPatch" }),
    message: `${FAILED}received undecodable patch in webhook response: invalid character ']' looking for beginning of value`,
  },
  {
    title: "a patch that does not apply",
    answer: () => allowed([{ op: "add", path: "/spec/x/y", value: 1 }]),
    message: 'add operation does not apply: doc is missing path: "/spec/x/y": missing value',
  },
  {
    title: "a value of a wrong type",
    answer: () => allowed([{ op: "add", path: "/data/b", value: 1 }]),
    message: "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
  },
] as const) {
  test(`a mutating webhook that responds with ${title} fails with upstream's message`, async () => {
    await using world = await given({ "/a": answer });
    await world.configure("1", webhookAt("a"));
    const { code, body } = await world.call("POST", MAPS, MAP);
    deepEqual([code, body.message], [500, `Internal error occurred: ${message}`]);
  });
}

test("a mutating webhook may deny a delete, and may not patch it", async () => {
  const answers: JsonObject[] = [{ allowed: false, status: { message: "kept" } }, allowed([add("b", "2")]), allowed()];
  await using world = await given({ "/a": () => answers.shift() as JsonObject });
  await world.call("POST", MAPS, MAP);
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["DELETE"] }];
  await world.configure("1", webhookAt("a", { rules }));
  const remove = () => world.call("DELETE", `${MAPS}/m`);

  equal((await remove()).body.message, 'admission webhook "a.example.com" denied the request: kept');
  const why = 'admission webhook "a.example.com" attempted to modify the object, which is not supported for this operation';
  equal((await remove()).body.message, `Internal error occurred: ${why}`);
  equal((await remove()).code, 200);
});

test("a mutating webhook changes the replicas that a write of the scale sets", async () => {
  await using world = await given({ "/a": () => allowed([{ op: "replace", path: "/spec/replicas", value: 5 }]) });
  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  const spec = { selector: { matchLabels: { app: "web" } }, template };
  await world.call("POST", "/apis/apps/v1/namespaces/default/deployments", { metadata: { name: "web" }, spec });
  const rules = [{ apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments/scale"], operations: ["UPDATE"] }];
  await world.configure("1", webhookAt("a", { rules }));

  const scale = { metadata: { name: "web", namespace: "default" }, spec: { replicas: 3 } };
  const { body } = await world.call("PUT", "/apis/apps/v1/namespaces/default/deployments/web/scale", scale);

  equal(body.spec.replicas, 5);
});

test("a mutating webhook cannot move a new object to another namespace, nor turn it into another kind", async () => {
  const patches = [
    { op: "add", path: "/metadata/namespace", value: "kube-system" },
    { op: "replace", path: "/kind", value: "Secret" },
  ];
  await using world = await given({ "/a": () => allowed([patches.shift() as JsonObject]) });
  await world.configure("1", webhookAt("a"));
  const create = async () => {
    const { code, body } = await world.call("POST", MAPS, MAP);
    return [code, body.message];
  };

  deepEqual(await create(), [400, "the namespace of the provided object does not match the namespace sent on the request"]);
  deepEqual(await create(), [500, "converting (v1.Secret) to (core.ConfigMap): unknown conversion"]);
});

test("the record of a request has the audit annotations of webhooks, which ones were called, and which failed open, but no patched values", async () => {
  await using world = await given({
    "/a": () => allowed([add("b", "planted")], { auditAnnotations: { seen: "yes", "not/qualified": "dropped", long: "x".repeat(5_000) } }),
    "/c": () => ({ allowed: false }),
  });
  await world.configure("c", webhookAt("a"), webhookAt("dead", { failurePolicy: "Ignore" }), webhookAt("c"));

  const { code, headers } = await world.call("POST", MAPS, MAP);

  equal(code, 400);
  const { body, text } = await world.call("GET", `${CAUSES_PATH}?requestID=${String(headers["audit-id"])}`);
  const [item] = (body as { items: readonly CauseItem[] }).items;
  deepEqual(item?.stages?.admission?.auditAnnotations, {
    "a.example.com/seen": "yes",
    "a.example.com/long": "x".repeat(1_024),
    "mutation.webhook.admission.k8s.io/round_0_index_0": '{"configuration":"c","webhook":"a.example.com","mutated":true}',
    "failed-open.mutation.webhook.admission.k8s.io/round_0_index_1": "dead.example.com",
    "mutation.webhook.admission.k8s.io/round_0_index_1": '{"configuration":"c","webhook":"dead.example.com","mutated":false}',
    "mutation.webhook.admission.k8s.io/round_0_index_2": '{"configuration":"c","webhook":"c.example.com","mutated":false}',
  });
  equal(text.includes("planted"), false);
});

test("the log of a webhook that failed open has the id of the request, which its record and its response have, too", async () => {
  const lines: LogLine[] = [];
  const log = createLogger({ sink: (line) => void lines.push(line), clock: virtualClock(), level: "warn" });
  await using world = await given({}, log);
  await world.configure("c", webhookAt("dead", { failurePolicy: "Ignore" }));

  const { code, headers } = await world.call("POST", MAPS, MAP);

  equal(code, 201);
  const id = String(headers["audit-id"]);
  equal(lines.find(({ fields }) => fields["webhook"] === "dead.example.com")?.fields["requestID"], id);
  const { body } = await world.call("GET", `${CAUSES_PATH}?requestID=${id}`);
  equal((body as { items: readonly CauseItem[] }).items[0]?.requestID, id);
});
