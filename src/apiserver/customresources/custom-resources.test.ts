import { deepEqual, equal, match, ok } from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../api/machinery/object.ts";
import type { StartedServer } from "../testing/server.ts";
import { startServer } from "../testing/server.ts";
import { aDefinition, CRDS, createDefinition, cronTab, CRON_TABS, settled } from "./testing/definitions.ts";

const SCHEMA: JsonObject = {
  type: "object",
  properties: {
    spec: {
      type: "object",
      required: ["cronSpec"],
      properties: {
        cronSpec: { type: "string", pattern: "^(\\S+ ){4}\\S+$" },
        image: { type: "string", default: "busybox" },
        replicas: { type: "integer", minimum: 1, maximum: 10 },
        ports: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: { type: "object", required: ["name"], properties: { name: { type: "string" }, port: { type: "integer" } } },
        },
      },
    },
    status: { type: "object", properties: { replicas: { type: "integer" }, selector: { type: "string" } } },
  },
};

test("a new definition is established and serves its resource when its status is written", async () => {
  await using started = await startServer();

  const created = await started.call("POST", CRDS, aDefinition({ schema: SCHEMA }));
  await settled(started);
  const { body } = await started.call("GET", `${CRDS}/crontabs.example.com`);

  equal(created.code, 201);
  deepEqual(
    body.status.conditions.map(({ type, status, reason, message }: Record<string, string>) => [type, status, reason, message]),
    [
      ["NamesAccepted", "True", "NoConflicts", "no conflicts found"],
      ["Established", "True", "InitialNamesAccepted", "the initial names have been accepted"],
    ],
  );
  deepEqual(body.status.acceptedNames, {
    plural: "crontabs",
    singular: "crontab",
    kind: "CronTab",
    listKind: "CronTabList",
    shortNames: ["ct"],
  });
  deepEqual(body.status.storedVersions, ["v1"]);
  deepEqual((await started.call("GET", CRON_TABS)).body.kind, "CronTabList");
});

test("a custom resource is defaulted, pruned, validated and stored with generation 1", async () => {
  await using started = await startedWith(SCHEMA);

  const created = await started.call("POST", CRON_TABS, cronTab("a", { cronSpec: "* * * * *", unknown: 1 }));
  const invalid = await started.call("POST", CRON_TABS, cronTab("b", { cronSpec: "x", replicas: "3" }));

  equal(created.code, 201);
  deepEqual(created.body.spec, { cronSpec: "* * * * *", image: "busybox" });
  equal(created.body.metadata.generation, 1);
  match(String(created.headers["warning"]), /unknown field \\"spec.unknown\\"/);
  equal(invalid.code, 422);
  equal(
    invalid.body.message,
    'CronTab.example.com "b" is invalid: [spec.cronSpec: Invalid value: "x": spec.cronSpec in body should match \'^(\\S+ ){4}\\S+$\', spec.replicas: Invalid value: "string": spec.replicas in body must be of type integer: "string"]',
  );
});

test("strict field validation lists duplicates before unknown fields, also those of metadata", async () => {
  await using started = await startedWith(SCHEMA);
  const body = `{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"a","unknownMeta":1},"spec":{"foo":1,"cronSpec":"* * * * *","cronSpec":"* * * * *"}}`;

  const strict = await started.call("POST", `${CRON_TABS}?fieldValidation=Strict`, body, { "content-type": "application/json" });

  equal(strict.code, 400);
  match(
    strict.body.message,
    /strict decoding error: duplicate field "spec.cronSpec", unknown field "metadata.unknownMeta", unknown field "spec.foo"$/,
  );
});

test("the status subresource writes only the status, and the object only the rest", async () => {
  await using started = await startedWith(SCHEMA, { subresources: { status: {} } });
  const created = await started.call("POST", CRON_TABS, { ...cronTab("a", { cronSpec: "* * * * *" }), status: { replicas: 5 } });
  const changed = { ...created.body, spec: { cronSpec: "1 * * * *" }, status: { replicas: 2 } };

  const status = await started.call("PUT", `${CRON_TABS}/a/status`, changed);
  const object = await started.call("PUT", `${CRON_TABS}/a`, { ...changed, metadata: status.body.metadata, status: { replicas: 9 } });

  equal(created.body.status, undefined);
  deepEqual([status.body.spec.cronSpec, status.body.status.replicas, status.body.metadata.generation], ["* * * * *", 2, 1]);
  deepEqual([object.body.spec.cronSpec, object.body.status.replicas, object.body.metadata.generation], ["1 * * * *", 2, 2]);
});

test("a status that is sent on creation is dropped, and the defaults of the schema take its place", async () => {
  const status = { type: "object", default: { phase: "Pending" }, properties: { phase: { type: "string" } } };
  const schema = { ...SCHEMA, properties: { ...(SCHEMA["properties"] as JsonObject), status } };
  await using started = await startedWith(schema, { subresources: { status: {} } });
  const sent = { ...cronTab("a", { cronSpec: "* * * * *" }), status: { phase: "Done" } };

  const created = await started.call("POST", CRON_TABS, sent);
  const read = await started.call("GET", `${CRON_TABS}/a`);

  deepEqual([created.body.status, read.body.status], [{ phase: "Pending" }, { phase: "Pending" }]);
});

test("a subresource that the definition does not have is answered like a missing object", async () => {
  await using started = await startedWith(SCHEMA);
  await started.call("POST", CRON_TABS, cronTab("a", { cronSpec: "* * * * *" }));

  const { code, body } = await started.call("GET", `${CRON_TABS}/a/status`);

  deepEqual([code, body.message], [404, 'crontabs.example.com "a" not found']);
});

test("the scale subresource reads and writes the replicas at the paths of the definition", async () => {
  await using started = await startedWith(SCHEMA, {
    subresources: {
      status: {},
      scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas", labelSelectorPath: ".status.selector" },
    },
  });
  await started.call("POST", CRON_TABS, cronTab("a", { cronSpec: "* * * * *", replicas: 3 }));

  const scale = await started.call("GET", `${CRON_TABS}/a/scale`);
  const scaled = await started.call("PUT", `${CRON_TABS}/a/scale`, { ...scale.body, spec: { replicas: 4 } });
  const { body } = await started.call("GET", `${CRON_TABS}/a`);

  deepEqual([scale.body.kind, scale.body.spec, scale.body.status], ["Scale", { replicas: 3 }, { replicas: 0 }]);
  deepEqual([scaled.code, scaled.body.spec.replicas, body.spec.replicas, body.metadata.generation], [200, 4, 4, 2]);
});

test("a Scale of a custom resource may be written without a resourceVersion, and is validated as the whole object", async () => {
  const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };
  await using started = await startedWith(SCHEMA, { subresources: { scale } });
  await started.call("POST", CRON_TABS, cronTab("a", { cronSpec: "* * * * *", replicas: 3 }));
  const write = (replicas: number) =>
    started.call("PUT", `${CRON_TABS}/a/scale`, { metadata: { name: "a", namespace: "default" }, spec: { replicas } });

  const scaled = await write(4);
  const negative = await write(-1);

  deepEqual([scaled.code, scaled.body.spec], [200, { replicas: 4 }]);
  equal(
    negative.body.message,
    'CronTab.example.com "a" is invalid: [spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 1, .spec.replicas: Invalid value: -1: should be a non-negative integer]',
  );
});

test("items of a list of custom resources have kind and apiVersion, also when it is indented or YAML", async () => {
  await using started = await startedWith(SCHEMA);
  await started.call("POST", CRON_TABS, cronTab("a", { cronSpec: "* * * * *" }));

  const plain = await started.call("GET", CRON_TABS);
  const indented = await started.call("GET", `${CRON_TABS}?pretty=true`);

  for (const { body } of [plain, indented]) {
    deepEqual([body.items[0].kind, body.items[0].apiVersion, body.metadata.continue], ["CronTab", "example.com/v1", ""]);
  }
});

test("a custom resource must name its kind", async () => {
  await using started = await startedWith(SCHEMA);
  const body = { apiVersion: "example.com/v1", metadata: { name: "a" }, spec: { cronSpec: "* * * * *" } };
  const json = { "content-type": "application/json" };

  const without = await started.call("POST", CRON_TABS, JSON.stringify(body), json);
  const other = await started.call("POST", CRON_TABS, JSON.stringify({ ...body, kind: "Other" }), json);
  await started.call("POST", CRON_TABS, cronTab("a", { cronSpec: "* * * * *" }));
  const patched = await started.call("PATCH", `${CRON_TABS}/a`, { kind: "Other" }, { "content-type": "application/merge-patch+json" });

  equal(without.code, 400);
  match(without.body.message, /^the object provided is unrecognized \(must be of type CronTab\): Object 'Kind' is missing in '/);
  for (const { code, body: status } of [other, patched]) {
    deepEqual([code, status.message], [422, 'Other.example.com "a" is invalid: kind: Invalid value: "Other": must be CronTab']);
  }
});

test("a custom resource must name its version", async () => {
  await using started = await startedWith(SCHEMA);

  const { code, body } = await started.call("POST", CRON_TABS, { kind: "CronTab", metadata: { name: "a" } });

  const message = "the API version in the data () does not match the expected API version (example.com/v1)";
  deepEqual([code, body.message], [400, message]);
});

test("integers beyond those of JavaScript are validated by enums and kept", async () => {
  const big = `{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"NAME"},"spec":{"size":9007199254740993}}`;
  const size = { type: "integer", enum: [1, 2] };
  const definition = aDefinition({ schema: { type: "object", properties: { spec: { type: "object", properties: { size } } } } });
  const json = { "content-type": "application/json" };
  await using started = await startServer();
  await started.call("POST", CRDS, JSON.stringify(definition).replace("[1,2]", "[1,9007199254740993]"), json);
  await settled(started);

  const created = await started.call("POST", CRON_TABS, big.replace("NAME", "a"), json);
  const refused = await started.call("POST", CRON_TABS, cronTab("b", { size: 5 }));

  equal(created.code, 201);
  equal(refused.body.details.causes[0].message, 'Unsupported value: 5: supported values: "1", "9007199254740993"');
});

test("a definition that is being deleted can still be changed", async () => {
  await using started = await startedWith(SCHEMA);
  await started.call("POST", CRON_TABS, { ...cronTab("a", { cronSpec: "* * * * *" }), metadata: { name: "a", finalizers: ["x.io/kept"] } });
  await started.call("DELETE", `${CRDS}/crontabs.example.com`);

  const labels = { metadata: { labels: { a: "b" } } };
  const { code, text } = await started.call("PATCH", `${CRDS}/crontabs.example.com`, labels, {
    "content-type": "application/merge-patch+json",
  });

  equal(code, 200, text);
});

test("tables have the printer columns of the version", async () => {
  await using started = await startedWith(SCHEMA, {
    additionalPrinterColumns: [
      { name: "Spec", type: "string", jsonPath: ".spec.cronSpec", description: "The schedule" },
      { name: "Replicas", type: "integer", jsonPath: ".spec.replicas", priority: 1 },
      { name: "First", type: "integer", jsonPath: ".spec.ports[?(@.name=='web')].port" },
      { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    ],
  });
  await started.call("POST", CRON_TABS, cronTab("a", { cronSpec: "* * * * *", ports: [{ name: "web", port: 80 }] }));

  const { body } = await started.call("GET", CRON_TABS, undefined, { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" });

  deepEqual(
    body.columnDefinitions.map(({ name, priority }: Record<string, unknown>) => [name, priority]),
    [
      ["Name", 0],
      ["Spec", 0],
      ["Replicas", 1],
      ["First", 0],
      ["Age", 0],
    ],
  );
  deepEqual(body.rows[0].cells, ["a", "* * * * *", null, 80, "0s"]);
});

test("server-side apply merges lists by their keys and rejects undeclared fields", async () => {
  await using started = await startedWith(SCHEMA);
  const apply = (manager: string, spec: JsonObject) =>
    started.call("PATCH", `${CRON_TABS}/a?fieldManager=${manager}`, JSON.stringify(cronTab("a", spec)), {
      "content-type": "application/apply-patch+yaml",
    });

  await apply("one", { cronSpec: "* * * * *", ports: [{ name: "web", port: 80 }] });
  const both = await apply("two", { ports: [{ name: "admin", port: 81 }] });
  const conflict = await apply("two", { ports: [{ name: "web", port: 81 }] });
  const undeclared = await apply("two", { unknownField: 1 });

  deepEqual(both.body.spec.ports, [
    { name: "web", port: 80 },
    { name: "admin", port: 81 },
  ]);
  deepEqual([conflict.code, conflict.body.details.causes[0].field], [409, '.spec.ports[name="web"].port']);
  match(undeclared.body.message, /\.spec\.unknownField: field not declared in schema/);
});

test("a strategic merge patch is refused with the accepted types", async () => {
  await using started = await startedWith(SCHEMA);
  await started.call("POST", CRON_TABS, cronTab("a", { cronSpec: "* * * * *" }));

  const refused = await started.call("PATCH", `${CRON_TABS}/a`, "{}", { "content-type": "application/strategic-merge-patch+json" });
  const merged = await started.call("PATCH", `${CRON_TABS}/a`, JSON.stringify({ spec: { replicas: 2, image: null } }), {
    "content-type": "application/merge-patch+json",
  });

  deepEqual([refused.code, refused.body.reason], [415, "UnsupportedMediaType"]);
  equal(
    refused.body.message,
    "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
  );
  deepEqual(merged.body.spec, { cronSpec: "* * * * *", replicas: 2, image: "busybox" });
});

test("objects show new defaults when they are read, and keep stored ones", async () => {
  await using started = await startedWith(SCHEMA);
  await started.call("POST", CRON_TABS, cronTab("old", { cronSpec: "* * * * *" }));
  const { body: definition } = await started.call("GET", `${CRDS}/crontabs.example.com`);
  const [version] = definition.spec.versions;
  const spec = version.schema.openAPIV3Schema.properties.spec.properties;
  delete spec.image.default;
  spec.replicas.default = 7;

  await started.call("PUT", `${CRDS}/crontabs.example.com`, definition);
  await settled(started);
  const read = await started.call("GET", `${CRON_TABS}/old`);

  deepEqual(read.body.spec, { cronSpec: "* * * * *", image: "busybox", replicas: 7 });
});

test("an update ignores violations in unchanged parts", async () => {
  await using started = await startedWith({
    type: "object",
    properties: { spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
  });
  const created = await started.call("POST", CRON_TABS, cronTab("a", { cronSpec: "bad", replicas: 1 }));
  const { body: definition } = await started.call("GET", `${CRDS}/crontabs.example.com`);
  definition.spec.versions[0].schema.openAPIV3Schema = SCHEMA;
  await started.call("PUT", `${CRDS}/crontabs.example.com`, definition);
  await settled(started);

  const other = await started.call("PUT", `${CRON_TABS}/a`, { ...created.body, spec: { ...created.body.spec, replicas: 2 } });
  const same = await started.call("PUT", `${CRON_TABS}/a`, { ...other.body, spec: { ...other.body.spec, cronSpec: "still bad" } });

  deepEqual([other.code, same.code], [200, 422]);
});

test("selectable fields select in lists, watches and collections", async () => {
  await using started = await startedWith(SCHEMA, { selectableFields: [{ jsonPath: ".spec.image" }] });
  for (const [name, image] of [
    ["a", "x"],
    ["b", "y"],
  ] as const)
    await started.call("POST", CRON_TABS, cronTab(name, { cronSpec: "* * * * *", image }));

  const listed = await started.call("GET", `${CRON_TABS}?fieldSelector=spec.image%3Dx`);
  const refused = await started.call("GET", `${CRON_TABS}?fieldSelector=spec.cronSpec%3Dx`);
  await started.call("DELETE", `${CRON_TABS}?fieldSelector=spec.image%3Dy`);
  const rest = await started.call("GET", CRON_TABS);

  deepEqual(
    listed.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
    ["a"],
  );
  equal(refused.code, 400);
  deepEqual(
    rest.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
    ["a"],
  );
});

test("a watch whose client reads so slowly that the definition changes meanwhile ends, and does not wait for changes for ever", async () => {
  await using started = await startedWith(SCHEMA);
  for (const name of ["a", "b", "c"]) await started.call("POST", CRON_TABS, cronTab(name, { cronSpec: "* * * * *" }));
  const watch = await started.watch(`${CRON_TABS}?watch=1&resourceVersion=0`);
  watch.hold(1024 * 1024);
  await settled(started);

  const { body } = await started.call("GET", `${CRDS}/crontabs.example.com`);
  body.spec.versions[0].schema.openAPIV3Schema.description = "changed";
  await started.call("PUT", `${CRDS}/crontabs.example.com`, body);
  await started.clock.advance(2_000);
  watch.drain();
  await settled(started);

  deepEqual([watch.events.length, watch.isEnded], [3, true]);
});

test("names that another definition of the group uses are not accepted until they are free", async () => {
  await using started = await startServer();
  await createDefinition(started, { schema: SCHEMA });
  const other = aDefinition({ schema: SCHEMA, plural: "others", kind: "Other", shortNames: ["ct"] });

  await started.call("POST", CRDS, other);
  await settled(started);
  const refused = await started.call("GET", `${CRDS}/others.example.com`);
  await started.call("DELETE", `${CRDS}/crontabs.example.com`);
  await settled(started);
  const accepted = await started.call("GET", `${CRDS}/others.example.com`);

  const stateOf = ({ body }: { body: { status: { conditions: Record<string, string>[] } } }) =>
    body.status.conditions.map(({ type, status, reason, message }) => [type, status, reason, message]);
  deepEqual(stateOf(refused), [
    ["NamesAccepted", "False", "ShortNamesConflict", '"ct" is already in use'],
    ["Established", "False", "NotAccepted", "not all names are accepted"],
  ]);
  deepEqual(stateOf(accepted)[0], ["NamesAccepted", "True", "NoConflicts", "no conflicts found"]);
});

test("deleting a definition deletes its objects, waits for their finalizers, and then serves nothing", async () => {
  await using started = await startedWith(SCHEMA);
  const names = Array.from({ length: 70 }, (_, index) => `a${index}`);
  await Promise.all(names.map((name) => started.call("POST", CRON_TABS, cronTab(name, { cronSpec: "* * * * *" }))));
  const kept = cronTab("kept", { cronSpec: "* * * * *" });
  await started.call("POST", CRON_TABS, { ...kept, metadata: { name: "kept", finalizers: ["example.com/keep"] } });

  const deleted = await started.call("DELETE", `${CRDS}/crontabs.example.com`);
  await settled(started);
  const left = await started.call("GET", CRON_TABS);
  const terminating = await started.call("GET", `${CRDS}/crontabs.example.com`);
  const refused = await started.call("POST", CRON_TABS, cronTab("new", { cronSpec: "* * * * *" }));
  await started.call("PATCH", `${CRON_TABS}/kept`, JSON.stringify({ metadata: { finalizers: null } }), {
    "content-type": "application/merge-patch+json",
  });
  await started.clock.advance(10_000);
  await settled(started);

  equal(deleted.code, 200);
  deepEqual(
    left.body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
    ["kept"],
  );
  deepEqual(terminating.body.metadata.finalizers, ["customresourcecleanup.apiextensions.k8s.io"]);
  equal(terminating.body.status.conditions.at(-1).reason, "InstanceDeletionInProgress");
  deepEqual(
    [refused.code, refused.body.message],
    [403, 'crontabs.example.com "new" is forbidden: create not allowed while custom resource definition is terminating'],
  );
  equal((await started.call("GET", `${CRDS}/crontabs.example.com`)).code, 404);
  equal((await started.call("GET", CRON_TABS)).code, 404);
});

test("other requests are answered while the objects of a definition or of a collection are deleted", async () => {
  await using started = await startServer({ yieldsToEventLoop: true });
  const { clock, call } = started;
  await Promise.all([createDefinition(started, { schema: SCHEMA }), clock.settle()]);
  const names = Array.from({ length: 200 }, (_, index) => `a${index}`);
  const create = async () => {
    const all = names.map((name) => call("POST", CRON_TABS, cronTab(name, { cronSpec: "* * * * *" })));
    await Promise.all([...all, clock.settle()]);
  };
  const left = async () => (await call("GET", CRON_TABS)).body.items.length as number;

  await create();
  const deleting = call("DELETE", CRON_TABS);
  await settled(started);
  const duringCollection = await left();
  await clock.settle();
  equal((await deleting).code, 200);
  await create();
  await call("DELETE", `${CRDS}/crontabs.example.com`);
  await settled(started);
  const duringDefinition = await left();
  await clock.settle();

  for (const each of [duringCollection, duringDefinition]) ok(each > 0 && each < names.length, `${each} objects were left`);
  equal((await call("GET", CRON_TABS)).code, 404);
});

test("a definition whose objects are deleted, and which a finalizer of its own keeps, accepts no new ones", async () => {
  await using started = await startedWith(SCHEMA);
  const patch = (finalizers: readonly string[] | null) =>
    started.call("PATCH", `${CRDS}/crontabs.example.com`, JSON.stringify({ metadata: { finalizers } }), {
      "content-type": "application/merge-patch+json",
    });
  await patch(["example.com/keep"]);
  await started.call("DELETE", `${CRDS}/crontabs.example.com`);
  await settled(started);

  const kept = await started.call("GET", `${CRDS}/crontabs.example.com`);
  const refused = await started.call("POST", CRON_TABS, cronTab("new", { cronSpec: "* * * * *" }));
  await patch(null);
  await createDefinition(started, { schema: SCHEMA });
  const next = await started.call("GET", CRON_TABS);

  deepEqual(
    [kept.body.metadata.finalizers, kept.body.status.conditions.at(-1).reason],
    [["example.com/keep"], "InstanceDeletionCompleted"],
  );
  deepEqual([refused.code, next.body.items], [403, []]);
});

async function startedWith(schema: JsonObject, version: JsonObject = {}): Promise<StartedServer> {
  const started = await startServer();
  await createDefinition(started, { schema, version });
  return started;
}
