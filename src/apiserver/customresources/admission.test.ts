/** Policies and webhooks together with custom resources: as what they decide on, in several versions, and as parameters. */
import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../api/machinery/object.ts";
import { onlyPlugins } from "../testing/admission.ts";
import { startServer, type StartedServer } from "../testing/server.ts";
import { allowed, reviewReply, testWebhooks, webhookAt, type WebhookOfTest } from "../testing/webhooks.ts";
import { CRDS, createDefinition, cronTab, CRON_TABS, settled } from "./testing/definitions.ts";

const GROUP = "/apis/admissionregistration.k8s.io/v1";
const PLUGINS = onlyPlugins(
  "MutatingAdmissionPolicy",
  "MutatingAdmissionWebhook",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionWebhook",
);

const spec = (...names: readonly string[]): JsonObject => ({
  type: "object",
  properties: { spec: { type: "object", properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])) } },
});

const version = (name: string, ...names: readonly string[]) => ({
  name,
  served: true,
  storage: name === "v1",
  schema: { openAPIV3Schema: spec(...names) },
});

const CONVERSION = {
  strategy: "Webhook",
  webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "https://hooks.example/convert" } },
};

interface ConversionReview {
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly JsonObject[] };
}

/** v1 has `name`, v2 `title`. */
const convert: WebhookOfTest = (_request, { body }) => {
  const { uid, desiredAPIVersion: apiVersion, objects } = (JSON.parse(body) as ConversionReview).request;
  const convertedObjects = objects.map((object) => {
    const { name, title } = object["spec"] as { readonly name?: string; readonly title?: string };
    const text = name ?? title ?? "";
    return { ...object, apiVersion, spec: apiVersion.endsWith("/v2") ? { title: text } : { name: text } };
  });
  const response = { uid, result: { status: "Success" }, convertedObjects };
  return reviewReply({ kind: "ConversionReview", apiVersion: "apiextensions.k8s.io/v1", response });
};

async function startedWith(webhooks: Readonly<Record<string, WebhookOfTest>> = {}) {
  const hooks = testWebhooks({ "/convert": convert, ...webhooks });
  const started = await startServer({ config: { admission: PLUGINS }, webhookTransport: hooks });
  const create = async (plural: string, name: string, body: JsonObject): Promise<void> => {
    const { code, text } = await started.call("POST", `${GROUP}/${plural}`, { metadata: { name }, ...body });
    equal(code, 201, text);
    await settled(started);
  };
  return { started, hooks, create };
}

function twoVersions(started: StartedServer): Promise<void> {
  const versions = [version("v1", "name"), version("v2", "title")];
  return createDefinition(started, { schema: {}, spec: { versions, conversion: CONVERSION } });
}

const V2_RULE = { apiGroups: ["example.com"], apiVersions: ["v2"], resources: ["crontabs"], operations: ["CREATE"] };

test("webhooks get a custom resource in the version of their rule, converted by its conversion webhook, and their patch is converted back", async () => {
  const replace = [{ op: "replace", path: "/spec/title", value: "patched" }];
  const { started, hooks, create } = await startedWith({ "/mutate": () => allowed(replace), "/validate": () => allowed() });
  await using _server = started;
  await twoVersions(started);
  const hook = (name: string) => ({ webhooks: [webhookAt(name, { rules: [V2_RULE] })] });
  await create("mutatingwebhookconfigurations", "m", hook("mutate"));
  await create("validatingwebhookconfigurations", "v", hook("validate"));

  const created = await started.call("POST", CRON_TABS, cronTab("a", { name: "sent" }));

  deepEqual([created.code, created.body.apiVersion, created.body.spec], [201, "example.com/v1", { name: "patched" }]);
  const reviews = hooks.reviews.filter(({ path }) => path !== "/convert");
  deepEqual(
    reviews.map(({ path, kind, requestKind, object }) => [path, kind.version, requestKind.version, object.spec]),
    [
      ["/mutate", "v2", "v1", { title: "sent" }],
      ["/validate", "v2", "v1", { title: "patched" }],
    ],
  );
});

test("a policy evaluates a custom resource in the version of its rule", async () => {
  const { started, create } = await startedWith();
  await using _server = started;
  await twoVersions(started);
  const validations = [{ expression: "object.spec.title != 'bad'", messageExpression: "'not ' + object.spec.title" }];
  await create("validatingadmissionpolicies", "p", { spec: { matchConstraints: { resourceRules: [V2_RULE] }, validations } });
  await create("validatingadmissionpolicybindings", "b", { spec: { policyName: "p", validationActions: ["Deny"] } });

  const bad = await started.call("POST", CRON_TABS, cronTab("a", { name: "bad" }));
  const good = await started.call("POST", CRON_TABS, cronTab("a", { name: "good" }));

  deepEqual([bad.code, good.code], [422, 201]);
  match(bad.body.message, /denied request: not bad$/);
});

test("custom resources are parameters of a policy as soon as they and their definition exist", async () => {
  const { started, create } = await startedWith();
  await using _server = started;
  const rule = { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE"] };
  await create("validatingadmissionpolicies", "p", {
    spec: {
      paramKind: { apiVersion: "example.com/v1", kind: "CronTab" },
      matchConstraints: { resourceRules: [rule] },
      validations: [{ expression: "object.metadata.name == params.spec.name", messageExpression: "'must be ' + params.spec.name" }],
    },
  });
  const paramRef = { selector: {}, namespace: "default", parameterNotFoundAction: "Allow" };
  await create("validatingadmissionpolicybindings", "b", { spec: { policyName: "p", paramRef, validationActions: ["Deny"] } });
  const configMap = (name: string) => started.call("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name } });

  const withoutKind = await configMap("a");
  await createDefinition(started, { schema: spec("name") });
  const withoutParams = await configMap("b");
  await started.call("POST", CRON_TABS, cronTab("limit", { name: "only" }));
  await settled(started);
  const other = await configMap("c");
  const only = await configMap("only");

  match(withoutKind.body.message, /failed to find resource referenced by paramKind: 'example.com\/v1, Kind=CronTab'$/);
  deepEqual([withoutParams.code, other.code, only.code], [201, 422, 201]);
  match(other.body.message, /denied request: must be only$/);
});

for (const subresource of ["exec", "attach", "portforward", "proxy"]) {
  test(`a webhook for CONNECT decides on pods/${subresource} and gets the options`, async () => {
    const denies: WebhookOfTest = () => ({ allowed: false, status: { message: "not here", code: 403 } });
    const { started, hooks, create } = await startedWith({ "/connect": denies });
    await using _server = started;
    const rules = [{ apiGroups: [""], apiVersions: ["v1"], resources: ["pods/*"], operations: ["CONNECT"] }];
    await create("validatingwebhookconfigurations", "c", { webhooks: [webhookAt("connect", { rules })] });

    const { code, body } = await started.call("POST", `/api/v1/namespaces/default/pods/p/${subresource}?container=c`);

    equal(code, 403);
    match(body.message, /admission webhook "connect\.example\.com" denied the request: not here$/);
    deepEqual(
      hooks.reviews.map((review) => [review.operation, review.subResource, review.name]),
      [["CONNECT", subresource, "p"]],
    );
    match(hooks.reviews[0]?.["object"].kind, /^Pod\w+Options$/);
  });
}

test("dry runs of a custom resource default and validate it, and store nothing", async () => {
  await using started = await startServer();
  const schema = {
    type: "object",
    properties: { spec: { type: "object", properties: { size: { type: "integer", default: 3, maximum: 9 } } } },
  };
  await createDefinition(started, { schema });
  await started.call("POST", CRON_TABS, cronTab("kept", { size: 1 }));
  const stored = (await started.call("GET", `${CRON_TABS}/kept`)).body;
  const dry = "dryRun=All";

  const created = await started.call("POST", `${CRON_TABS}?${dry}`, cronTab("new", {}));
  const rejected = await started.call("POST", `${CRON_TABS}?${dry}`, cronTab("new", { size: 10 }));
  const updated = await started.call("PUT", `${CRON_TABS}/kept?${dry}`, { ...stored, spec: { size: 2 } });
  const applied = await started.call("PATCH", `${CRON_TABS}/applied?${dry}&fieldManager=test`, JSON.stringify(cronTab("applied", {})), {
    "content-type": "application/apply-patch+yaml",
  });
  const deleted = await started.call("DELETE", `${CRON_TABS}/kept?${dry}`);

  deepEqual(
    [created, rejected, updated, applied, deleted].map(({ code, body }) => [code, body.spec?.size]),
    [
      [201, 3],
      [422, undefined],
      [200, 2],
      [201, 3],
      [200, undefined],
    ],
  );
  deepEqual((await started.call("GET", CRON_TABS)).body.items, [stored]);
});

test("a create that a webhook delays until the definition is deleted stores nothing that the next definition of that name would have", async () => {
  let respond: (response: JsonObject) => void = () => undefined;
  const slow = () => new Promise<JsonObject>((resolve) => (respond = resolve));
  const { started, hooks, create } = await startedWith({ "/slow": slow });
  await using _server = started;
  await createDefinition(started, { schema: spec("name") });
  const rules = [{ apiGroups: ["example.com"], apiVersions: ["*"], resources: ["crontabs"], operations: ["CREATE"] }];
  await create("validatingwebhookconfigurations", "v", { webhooks: [webhookAt("slow", { rules })] });

  const creating = started.call("POST", CRON_TABS, cronTab("late", { name: "late" }));
  await settled(started);
  await started.call("DELETE", `${CRDS}/crontabs.example.com`);
  await settled(started);
  const gone = await started.call("GET", `${CRDS}/crontabs.example.com`);
  respond(allowed());
  const { code, body } = await creating;
  await createDefinition(started, { schema: spec("name") });
  const next = await started.call("GET", CRON_TABS);

  deepEqual([hooks.reviews.length, gone.code, next.body.items], [1, 404, []]);
  deepEqual(
    [code, body.message],
    [403, 'crontabs.example.com "late" is forbidden: create not allowed while custom resource definition is terminating'],
  );
});
