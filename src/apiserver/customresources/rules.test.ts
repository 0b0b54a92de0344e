import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../api/machinery/object.ts";
import { startServer, type StartedServer } from "../testing/server.ts";
import { aDefinition, CRDS, createDefinition, cronTab, CRON_TABS, settled } from "./testing/definitions.ts";

function withRules(rules: readonly JsonObject[], properties: JsonObject = {}): JsonObject {
  return {
    type: "object",
    properties: {
      spec: {
        type: "object",
        "x-kubernetes-validations": rules,
        properties: {
          replicas: { type: "integer" },
          maxReplicas: { type: "integer" },
          name: { type: "string", maxLength: 30 },
          ...properties,
        },
      },
    },
  };
}

async function startedWith(schema: JsonObject): Promise<StartedServer> {
  const started = await startServer();
  await createDefinition(started, { schema });
  return started;
}

const causesOf = (body: { readonly details: { readonly causes: readonly Record<string, string>[] } }) =>
  body.details.causes.map(({ reason, field, message }) => [reason, field, message]);

test("a violated rule is reported with its message, reason and field path", async () => {
  await using started = await startedWith(
    withRules([
      { rule: "self.replicas <= self.maxReplicas", message: "too many" },
      { rule: "self.replicas != 5", fieldPath: ".replicas", reason: "FieldValueForbidden", messageExpression: "'not for ' + self.name" },
      { rule: "self.replicas >= 0" },
    ]),
  );

  const { code, body } = await started.call("POST", CRON_TABS, cronTab("a", { replicas: 5, maxReplicas: 4, name: "x" }));
  const negative = await started.call("POST", CRON_TABS, cronTab("b", { replicas: -1, maxReplicas: 4 }));

  equal(code, 422);
  deepEqual(causesOf(body), [
    ["FieldValueInvalid", "spec", "Invalid value: too many"],
    ["FieldValueForbidden", "spec.replicas", "Forbidden: not for x"],
  ]);
  equal(negative.body.message, 'CronTab.example.com "b" is invalid: spec: Invalid value: failed rule: self.replicas >= 0');
});

test("rules of an object without a name are not evaluated", async () => {
  await using started = await startedWith(withRules([{ rule: "self.replicas >= 0" }]));

  const { code, body } = await started.call("POST", CRON_TABS, { apiVersion: "example.com/v1", kind: "CronTab", spec: { replicas: -1 } });

  equal(code, 422);
  deepEqual(
    causesOf(body).map(([reason, field]) => [reason, field]),
    [
      ["FieldValueRequired", "metadata.name"],
      ["FieldValueInvalid", "<nil>"],
    ],
  );
});

test("a violated rule of the whole object is reported without a path, as upstream prints it", async () => {
  const rules = [{ rule: "self.metadata.name.startsWith('c')", message: "must start with c" }];
  await using started = await startedWith({ type: "object", "x-kubernetes-validations": rules });

  const { body } = await started.call("POST", CRON_TABS, { apiVersion: "example.com/v1", kind: "CronTab", metadata: { name: "a" } });

  equal(body.message, 'CronTab.example.com "a" is invalid: <nil>: Invalid value: must start with c');
});

test("transition rules apply to updates only, optional ones to creates, too", async () => {
  await using started = await startedWith(
    withRules([
      { rule: "self.replicas >= oldSelf.replicas", message: "may not shrink" },
      { rule: "oldSelf.hasValue() || self.replicas == 1", optionalOldSelf: true, message: "starts with one" },
    ]),
  );

  const two = await started.call("POST", CRON_TABS, cronTab("a", { replicas: 2 }));
  const one = await started.call("POST", CRON_TABS, cronTab("a", { replicas: 1 }));
  const grown = await started.call("PUT", `${CRON_TABS}/a`, { ...one.body, spec: { replicas: 3 } });
  const shrunk = await started.call("PUT", `${CRON_TABS}/a`, { ...grown.body, spec: { replicas: 2 } });

  deepEqual([two.code, one.code, grown.code, shrunk.code], [422, 201, 200, 422]);
  deepEqual(causesOf(shrunk.body), [["FieldValueInvalid", "spec", "Invalid value: may not shrink"]]);
});

test("rules of the members of an atomic map compare with the previous members", async () => {
  const name = { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "is immutable" }] };
  const spec = { type: "object", "x-kubernetes-map-type": "atomic", properties: { name, other: { type: "string" } } };
  await using started = await startedWith({ type: "object", properties: { spec } });

  const created = await started.call("POST", CRON_TABS, cronTab("a", { name: "x" }));
  const same = await started.call("PUT", `${CRON_TABS}/a`, { ...created.body, spec: { name: "x", other: "y" } });
  const renamed = await started.call("PUT", `${CRON_TABS}/a`, { ...same.body, spec: { name: "z" } });

  deepEqual([created.code, same.code, renamed.code], [201, 200, 422]);
  deepEqual(causesOf(renamed.body), [["FieldValueInvalid", "spec.name", 'Invalid value: "z": is immutable']]);
});

test("rules of list items with keys compare with the previous item, and unchanged values are not reported again", async () => {
  const items = {
    type: "object",
    required: ["name"],
    properties: { name: { type: "string", maxLength: 10 }, port: { type: "integer" } },
    "x-kubernetes-validations": [{ rule: "!has(oldSelf.port) || self.port == oldSelf.port", message: "port is immutable" }],
  };
  const list = { type: "array", maxItems: 5, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], items };
  await using started = await startedWith(withRules([], { ports: list }));
  const created = await started.call("POST", CRON_TABS, cronTab("a", { ports: [{ name: "a", port: 1 }] }));
  const put = (ports: readonly JsonObject[]) => started.call("PUT", `${CRON_TABS}/a`, { ...created.body, spec: { ports } });

  const moved = await put([{ name: "a", port: 2 }]);
  const added = await put([
    { name: "b", port: 2 },
    { name: "a", port: 1 },
  ]);

  deepEqual(causesOf(moved.body), [["FieldValueInvalid", "spec.ports[0]", "Invalid value: port is immutable"]]);
  equal(added.code, 200);
});

test("a rule that a stored value violates does not block changes elsewhere, but is a warning", async () => {
  await using started = await startedWith(withRules([], { note: { type: "string" } }));
  const created = await started.call("POST", CRON_TABS, cronTab("a", { name: "bad" }));
  const { body: definition } = await started.call("GET", `${CRDS}/crontabs.example.com`);
  const { properties } = definition.spec.versions[0].schema.openAPIV3Schema.properties.spec;
  properties.name["x-kubernetes-validations"] = [{ rule: "self != 'bad'", message: "bad name" }];
  await started.call("PUT", `${CRDS}/crontabs.example.com`, definition);
  await settled(started);

  const noted = await started.call("PUT", `${CRON_TABS}/a`, { ...created.body, spec: { name: "bad", note: "x" } });
  const another = await started.call("POST", CRON_TABS, cronTab("b", { name: "bad" }));

  deepEqual([noted.code, another.code], [200, 422]);
  deepEqual(noted.headers["warning"], [String.raw`299 - "spec.name: Invalid value: \"bad\": bad name"`]);
  deepEqual(causesOf(another.body), [["FieldValueInvalid", "spec.name", 'Invalid value: "bad": bad name']]);
});

const refused: readonly {
  readonly name: string;
  readonly rules: readonly JsonObject[];
  readonly message: RegExp;
  readonly more?: JsonObject;
}[] = [
  {
    name: "a rule with a syntax error",
    rules: [{ rule: "self.replicas >" }],
    message:
      /spec\.validation\.openAPIV3Schema\.properties\[spec\]\.x-kubernetes-validations\[0\]\.rule: Invalid value: .*compilation failed: ERROR: <input>:1:\d+: Syntax error/s,
  },
  {
    name: "a rule that refers to an undefined field",
    rules: [{ rule: "self.z == 1" }],
    message: /compilation failed: ERROR: <input>:1:5: undefined field 'z'/,
  },
  { name: "a rule that is no condition", rules: [{ rule: "self.replicas" }], message: /cel expression must evaluate to a bool/ },
  {
    name: "a rule that may cost too much",
    rules: [{ rule: "self.items.all(a, self.items.all(b, self.items.all(c, a + b == c)))" }],
    more: { items: { type: "array", items: { type: "string" } } },
    message: /\.rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x \(try simplifying the rule/,
  },
  {
    name: "optionalOldSelf without oldSelf",
    rules: [{ rule: "true", optionalOldSelf: true }],
    message: /optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule/,
  },
  {
    name: "a message expression of another type",
    rules: [{ rule: "true", messageExpression: "1" }],
    message: /messageExpression: Invalid value: .*messageExpression must evaluate to a string/,
  },
];

for (const { name, rules, message, more = {} } of refused) {
  test(`a definition with ${name} is refused`, async () => {
    await using started = await startServer();

    const { code, body } = await started.call("POST", CRDS, aDefinition({ schema: withRules(rules, more) }));

    equal(code, 422);
    match(body.message, message);
  });
}

test("rules of one object share a cost budget", async () => {
  const properties = { list: { type: "array", maxItems: 100, items: { type: "integer" } } };
  const rule = { rule: "self.list.all(x, self.list.all(y, x + y >= 0))" };
  await using started = await startedWith(
    withRules(
      Array.from({ length: 12 }, () => rule),
      properties,
    ),
  );

  const { code, body } = await started.call("POST", CRON_TABS, cronTab("a", { list: Array.from({ length: 100 }, (_, index) => index) }));

  deepEqual([code, body.message?.includes("cost budget") ?? false], [201, false]);
});
