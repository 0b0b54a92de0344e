import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../api/machinery/object.ts";
import type { WebhookTransport } from "../framework/webhook-caller.ts";
import { startServer, type StartedServer } from "../testing/server.ts";
import { aDefinition, CRDS, createDefinition, settled } from "./testing/definitions.ts";

const V1 = "/apis/example.com/v1/namespaces/default/crontabs";
const V2 = "/apis/example.com/v2/namespaces/default/crontabs";

const texts = (...names: readonly string[]): JsonObject => ({
  type: "object",
  properties: { spec: { type: "object", properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])) } },
});

const NAMES = { plural: "crontabs", kind: "CronTab" };

/** v1 has `hostPort`, v2 `host` and `port`. */
function versions(storage: "v1" | "v2"): readonly JsonObject[] {
  const version = (name: string, schema: JsonObject, field: string): JsonObject => ({
    name,
    served: true,
    storage: name === storage,
    schema: { openAPIV3Schema: schema },
    selectableFields: [{ jsonPath: `.spec.${field}` }],
  });
  return [version("v1", texts("hostPort", "note"), "hostPort"), version("v2", texts("host", "port", "note"), "host")];
}

const WEBHOOK = {
  strategy: "Webhook",
  webhook: { conversionReviewVersions: ["v1"], clientConfig: { url: "https://converter.example.com/convert" } },
};

interface Review {
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly JsonObject[] };
}

type Convert = (review: Review) => JsonObject;

function converted({ request: { uid, desiredAPIVersion, objects } }: Review): JsonObject {
  const convertedObjects = objects.map((object) => {
    const { note, hostPort = "", host, port } = object["spec"] as Record<string, string | undefined>;
    const [first = "", second = ""] = hostPort.split(":");
    const spec = desiredAPIVersion.endsWith("/v2") ? { host: first, port: second } : { hostPort: `${host}:${port}` };
    return { ...object, apiVersion: desiredAPIVersion, spec: { ...spec, ...(note === undefined ? {} : { note }) } };
  });
  return { uid, result: { status: "Success" }, convertedObjects };
}

/** Converts, and lies about the metadata. */
function withMetadata(review: Review, metadata: JsonObject): JsonObject {
  const answer = converted(review) as { convertedObjects: readonly JsonObject[] };
  const changed = answer.convertedObjects.map((object) => ({
    ...object,
    metadata: { ...(object["metadata"] as JsonObject), ...metadata },
  }));
  return { ...answer, convertedObjects: changed };
}

interface Converter {
  readonly transport: WebhookTransport;
  /** Number of objects of each call. */
  readonly calls: number[];
}

function converter(respond: Convert = converted): Converter {
  const calls: number[] = [];
  return {
    calls,
    transport: {
      post({ body }) {
        const review = JSON.parse(body) as Review;
        calls.push(review.request.objects.length);
        const answer = { kind: "ConversionReview", apiVersion: "apiextensions.k8s.io/v1", response: respond(review) };
        return Promise.resolve({ code: 200, contentType: "application/json", body: new TextEncoder().encode(JSON.stringify(answer)) });
      },
    },
  };
}

async function startedWith({ transport }: Converter, storage: "v1" | "v2" = "v1"): Promise<StartedServer> {
  const started = await startServer({ webhookTransport: transport });
  await createDefinition(started, { schema: {}, spec: { names: NAMES, versions: versions(storage), conversion: WEBHOOK } });
  return started;
}

function v1(name: string, hostPort: string): JsonObject {
  return { apiVersion: "example.com/v1", kind: "CronTab", metadata: { name }, spec: { hostPort } };
}

function v2(name: string, host: string, port: string): JsonObject {
  return { apiVersion: "example.com/v2", kind: "CronTab", metadata: { name }, spec: { host, port } };
}

interface Shown {
  readonly metadata: { readonly name: string };
  readonly spec: JsonObject;
}

test("without a webhook only the version changes, and fields that the other version lacks are dropped", async () => {
  await using started = await startServer();
  await createDefinition(started, { schema: {}, spec: { names: NAMES, versions: versions("v1") } });

  await started.call("POST", V1, { ...v1("a", "h:1"), spec: { hostPort: "h:1", note: "n" } });
  const read = await started.call("GET", `${V2}/a`);

  deepEqual([read.body.apiVersion, read.body.spec], ["example.com/v2", { note: "n" }]);
});

test("an object written in another version has the defaults of the storage version at once, as after a restart", async () => {
  await using started = await startServer();
  const [first, second] = versions("v1") as [JsonObject, JsonObject];
  const note = { type: "string", default: "of v1" };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: { note } } } } };
  await createDefinition(started, { schema: {}, spec: { names: NAMES, versions: [{ ...first, schema, selectableFields: [] }, second] } });

  const created = await started.call("POST", V2, { ...v2("a", "h", "1"), spec: {} });
  const patched = await started.call("PATCH", `${V2}/a`, { spec: { note: null } }, { "content-type": "application/merge-patch+json" });
  const read = await started.call("GET", `${V1}/a`);

  deepEqual([created.code, patched.code, read.code], [201, 200, 200]);
  deepEqual([created.body.spec, patched.body.spec, read.body.spec], [{ note: "of v1" }, { note: "of v1" }, { note: "of v1" }]);
});

test("a conversion webhook converts written and read objects, a list in one call", async () => {
  const webhook = converter();
  await using started = await startedWith(webhook);
  await started.call("POST", V1, v1("a", "h:1"));
  await started.call("POST", V1, v1("b", "h:2"));
  webhook.calls.length = 0;

  const list = await started.call("GET", V2);
  const again = await started.call("GET", V2);
  const created = await started.call("POST", V2, v2("c", "x", "3"));
  const stored = await started.call("GET", `${V1}/c`);

  deepEqual(
    list.body.items.map(({ spec }: Shown) => spec),
    [
      { host: "h", port: "1" },
      { host: "h", port: "2" },
    ],
  );
  deepEqual(again.body.items, list.body.items);
  deepEqual([created.code, created.body.spec, stored.body.spec], [201, { host: "x", port: "3" }, { hostPort: "x:3" }]);
  // Once for the list, to the storage version and back for the create.
  deepEqual(webhook.calls, [2, 1, 1]);
});

test("conversions by a webhook are counted by definition and versions", async () => {
  await using started = await startedWith(converter());
  await started.call("POST", V1, v1("a", "h:1"));

  await started.call("GET", `${V2}/a`);

  const { text } = await started.call("GET", "/metrics");
  const labels = 'crd_name="crontabs.example.com",from_version="v1",to_version="v2",succeeded="true"';
  match(text, new RegExp(`apiserver_crd_conversion_webhook_duration_seconds_count\\{${labels}\\} \\d`));
  match(text, /apiserver_conversion_webhook_duration_seconds_count\{result="success",failure_type=""\} \d/);
});

test("a watch delivers converted objects in order, each converted once for all watches", async () => {
  const webhook = converter();
  await using started = await startedWith(webhook);
  const watches = await Promise.all([1, 2].map(() => started.watch(`${V2}?watch=1&resourceVersion=0`)));
  await started.clock.advance(1);
  webhook.calls.length = 0;

  for (const name of ["a", "b", "c"]) await started.call("POST", V1, v1(name, `${name}:1`));
  await settled(started);

  for (const { events } of watches)
    deepEqual(
      events.map(({ type, object }) => `${type} ${object.spec.host}`),
      ["ADDED a", "ADDED b", "ADDED c"],
    );
  equal(webhook.calls.length, 3);
});

test("selectable fields select by the version of the request", async () => {
  await using started = await startedWith(converter());
  await started.call("POST", V1, v1("a", "x:1"));
  await started.call("POST", V2, v2("b", "y", "1"));

  const byHost = await started.call("GET", `${V2}?fieldSelector=spec.host%3Dx`);
  const byHostPort = await started.call("GET", `${V1}?fieldSelector=spec.hostPort%3Dy:1`);
  await started.call("DELETE", `${V2}?fieldSelector=spec.host%3Dx`);
  const rest = await started.call("GET", V1);

  deepEqual(
    byHost.body.items.map(({ metadata }: Shown) => metadata.name),
    ["a"],
  );
  deepEqual(
    byHostPort.body.items.map(({ metadata }: Shown) => metadata.name),
    ["b"],
  );
  deepEqual(
    rest.body.items.map(({ metadata }: Shown) => metadata.name),
    ["b"],
  );
});

test("two managers apply in two versions, and each keeps its fields", async () => {
  await using started = await startedWith(converter());
  const apply = (path: string, manager: string, object: JsonObject) =>
    started.call("PATCH", `${path}/a?fieldManager=${manager}`, JSON.stringify(object), { "content-type": "application/apply-patch+yaml" });

  await apply(V1, "one", v1("a", "h:1"));
  const noted = await apply(V2, "two", { ...v2("a", "", ""), spec: { note: "n" } });
  const conflict = await apply(V2, "two", { ...v2("a", "", ""), spec: { note: "n", host: "other" } });

  deepEqual(noted.body.spec, { host: "h", port: "1", note: "n" });
  equal(conflict.code, 409);
});

test("objects stored in an older version are converted when read, and migrated by an update that changes nothing", async () => {
  const webhook = converter();
  await using started = await startedWith(webhook);
  await started.call("POST", V1, v1("a", "h:1"));
  const { body: definition } = await started.call("GET", `${CRDS}/crontabs.example.com`);
  await started.call("PUT", `${CRDS}/crontabs.example.com`, { ...definition, spec: { ...definition.spec, versions: versions("v2") } });
  await settled(started);

  const read = await started.call("GET", `${V2}/a`);
  const migrated = await started.call("PUT", `${V2}/a`, read.body);
  const unchanged = await started.call("PUT", `${V2}/a`, migrated.body);
  const status = await started.call("GET", `${CRDS}/crontabs.example.com`);

  deepEqual(read.body.spec, { host: "h", port: "1" });
  equal(migrated.body.metadata.resourceVersion === read.body.metadata.resourceVersion, false);
  equal(unchanged.body.metadata.resourceVersion, migrated.body.metadata.resourceVersion);
  deepEqual(status.body.status.storedVersions, ["v1", "v2"]);
});

const lies: readonly { readonly name: string; readonly respond: Convert; readonly message: string; readonly failure: string }[] = [
  {
    name: "another uid",
    respond: (review) => ({ ...converted(review), uid: "x" }),
    message: 'failed: expected response.uid="UID", got "x"',
    failure: "malformed_response",
  },
  {
    name: "a failure",
    respond: ({ request }) => ({ uid: request.uid, result: { status: "Failure", message: "no way" } }),
    message: "failed: no way",
    failure: "malformed_response",
  },
  {
    name: "too few objects",
    respond: (review) => ({ ...converted(review), convertedObjects: [] }),
    message: "returned 0 objects, expected 1",
    failure: "partial_response",
  },
  {
    name: "another name",
    respond: (review) => ({
      ...converted(review),
      convertedObjects: review.request.objects.map((object) => ({
        ...object,
        apiVersion: review.request.desiredAPIVersion,
        metadata: { ...(object["metadata"] as JsonObject), name: "z" },
      })),
    }),
    message: "returned invalid object: must have the same name: a != z",
    failure: "invalid_converted_object",
  },
  {
    name: "the old version",
    respond: (review) => ({ ...converted(review), convertedObjects: review.request.objects }),
    message: "returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)",
    failure: "invalid_converted_object",
  },
  {
    name: "a label that is no string",
    respond: (review) => withMetadata(review, { labels: { a: 1 } }),
    message: "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object",
    failure: "invalid_converted_object",
  },
  {
    name: "an invalid label",
    respond: (review) => withMetadata(review, { labels: { a: "b c" } }),
    message:
      "returned invalid metadata: metadata.labels: Invalid value: \"b c\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    failure: "invalid_converted_object",
  },
  {
    name: "objects of a wrong type",
    respond: (review) => ({ ...converted(review), convertedObjects: "all" }),
    message:
      "failed: json: cannot unmarshal string into Go struct field ConversionResponse.response.convertedObjects of type []runtime.RawExtension",
    failure: "call",
  },
];

for (const { name, respond, message, failure } of lies) {
  test(`a conversion webhook that answers with ${name} fails the request and is counted`, async () => {
    await using started = await startedWith(converter(respond));
    await started.call("POST", V1, v1("a", "h:1"));

    const { code, body } = await started.call("GET", `${V2}/a`);

    equal(code, 500);
    equal(body.message.replace(/uid="[^"]+"/, 'uid="UID"'), `conversion webhook for example.com/v1, Kind=CronTab ${message}`);
    const { text } = await started.call("GET", "/metrics");
    const labels = `result="failure",failure_type="conversion_webhook_${failure}_failure"`;
    match(text, new RegExp(`apiserver_conversion_webhook_request_total\\{${labels}\\} \\d`));
  });
}

test("metadata that a conversion webhook changes is restored, except labels and annotations", async () => {
  const respond: Convert = (review) => withMetadata(review, { labels: { by: "webhook" }, generation: 99, finalizers: ["x/y"] });
  await using started = await startedWith(converter(respond));
  await started.call("POST", V1, v1("a", "h:1"));

  const { body } = await started.call("GET", `${V2}/a`);

  deepEqual([body.metadata.labels, body.metadata.generation, body.metadata.finalizers], [{ by: "webhook" }, 1, undefined]);
});

test("a definition with an unserved storage version serves the other one", async () => {
  await using started = await startServer({ webhookTransport: converter().transport });
  const [one, two] = versions("v1") as [JsonObject, JsonObject];
  const definition = aDefinition({ schema: {}, spec: { names: NAMES, versions: [{ ...one, served: false }, two], conversion: WEBHOOK } });
  await started.call("POST", CRDS, definition);
  await settled(started);

  const created = await started.call("POST", V2, v2("a", "h", "1"));

  deepEqual([created.code, created.body.spec], [201, { host: "h", port: "1" }]);
  equal((await started.call("GET", V1)).code, 404);
});

test("fields stay owned in a version that is no longer served", async () => {
  const [old, current] = versions("v2");
  await using started = await startServer();
  await createDefinition(started, { schema: {}, spec: { names: NAMES, versions: [old, current] as never } });
  await started.call("POST", `${V1}?fieldManager=before`, { ...v1("a", "x:1"), spec: { note: "kept" } });
  const merge = { "content-type": "application/merge-patch+json" };
  await started.call("PATCH", `${CRDS}/crontabs.example.com`, { spec: { versions: [{ ...old, served: false }, current] } as never }, merge);
  await settled(started);

  const { body } = await started.call("PATCH", `${V2}/a?fieldManager=after`, { spec: { host: "y" } }, merge);

  deepEqual(
    body.metadata.managedFields.map(({ manager, apiVersion, fieldsV1 }: JsonObject) => [manager, apiVersion, fieldsV1]),
    [
      ["after", "example.com/v2", { "f:spec": { "f:host": {} } }],
      ["before", "example.com/v1", { "f:spec": { ".": {}, "f:note": {} } }],
    ],
  );
});

test("a Scale is read, updated and patched in a version that is not the stored one", async () => {
  const integers = { type: "object", properties: { replicas: { type: "integer" } } };
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: integers, status: integers } } };
  const subresources = { scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } };
  const version = (name: string) => ({ name, served: true, storage: name === "v1", schema, subresources });
  await using started = await startServer();
  await createDefinition(started, { schema: {}, spec: { names: NAMES, versions: [version("v1"), version("v2")] } });
  await started.call("POST", V2, { apiVersion: "example.com/v2", kind: "CronTab", metadata: { name: "a" }, spec: { replicas: 1 } });
  const scale = (replicas: number) => ({
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: { name: "a", namespace: "default" },
    spec: { replicas },
  });
  const patch = (type: string, replicas: number) =>
    started.call("PATCH", `${V2}/a/scale`, scale(replicas), { "content-type": `application/${type}` });

  const answers = [
    await started.call("GET", `${V2}/a/scale`),
    await started.call("PUT", `${V2}/a/scale`, scale(2)),
    await patch("merge-patch+json", 3),
    await started.call("GET", `${V2}/a`),
  ];

  deepEqual(
    answers.map(({ code, body }) => [code, body.spec]),
    [1, 2, 3, 3].map((replicas) => [200, { replicas }]),
  );
});

test("a definition with a dead webhook deletes what needs no conversion, says why the rest remains, and ends when the webhook is back", async () => {
  let isDead = false;
  const failure = { status: "Failure", message: "dead" };
  await using started = await startedWith(
    converter((review) => (isDead ? { uid: review.request.uid, result: failure } : converted(review))),
  );
  const kept = v1("kept", "h:1");
  await started.call("POST", V1, { ...kept, metadata: { name: "kept", finalizers: ["example.com/keep"] } });
  for (let index = 0; index < 40; index++) await started.call("POST", V1, v1(`z${index}`, "h:1"));
  const { body: definition } = await started.call("GET", `${CRDS}/crontabs.example.com`);
  await started.call("PUT", `${CRDS}/crontabs.example.com`, { ...definition, spec: { ...definition.spec, versions: versions("v2") } });
  await settled(started);

  isDead = true;
  await started.call("DELETE", `${CRDS}/crontabs.example.com`);
  await started.clock.advance(10_000);
  const [failed, left] = [await started.call("GET", `${CRDS}/crontabs.example.com`), await started.call("GET", V1)];
  isDead = false;
  await started.clock.advance(10_000);
  const waiting = await started.call("GET", `${CRDS}/crontabs.example.com`);
  await started.call("PATCH", `${V1}/kept`, { metadata: { finalizers: null } }, { "content-type": "application/merge-patch+json" });
  await started.clock.advance(10_000);
  await settled(started);

  const { reason, message } = failed.body.status.conditions.at(-1);
  deepEqual(
    [reason, message],
    ["InstanceDeletionFailed", "could not issue all deletes: conversion webhook for example.com/v1, Kind=CronTab failed: dead"],
  );
  deepEqual(
    left.body.items.map(({ metadata }: Shown) => metadata.name),
    ["kept"],
  );
  equal(waiting.body.status.conditions.at(-1).reason, "InstanceDeletionInProgress");
  equal((await started.call("GET", `${CRDS}/crontabs.example.com`)).code, 404);
});
