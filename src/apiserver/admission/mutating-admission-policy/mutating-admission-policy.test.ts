import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { onlyPlugins } from "../../testing/admission.ts";
import { startServer, type StartedServer } from "../../testing/server.ts";

const GROUP = "/apis/admissionregistration.k8s.io/v1";
const MAPS = "/api/v1/namespaces/default/configmaps";
const RULE = { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE", "UPDATE"] };

interface World extends AsyncDisposable, Pick<StartedServer, "call"> {
  /** A policy and its binding of the same name. */
  bind(name: string, spec: JsonObject, binding?: JsonObject): Promise<void>;
}

async function given(): Promise<World> {
  const server = await startServer({ config: { admission: onlyPlugins("MutatingAdmissionPolicy") } });
  const create = async (plural: string, body: JsonObject): Promise<void> => {
    const { code, text } = await server.call("POST", `${GROUP}/${plural}`, body);
    equal(code, 201, text);
  };
  return {
    ...server,
    async bind(name, spec, binding = {}) {
      const whole = { matchConstraints: { resourceRules: [RULE] }, reinvocationPolicy: "Never", ...spec };
      await create("mutatingadmissionpolicies", { metadata: { name }, spec: whole });
      await create("mutatingadmissionpolicybindings", { metadata: { name }, spec: { policyName: name, ...binding } });
    },
  };
}

function applied(expression: string): JsonObject {
  return { patchType: "ApplyConfiguration", applyConfiguration: { expression } };
}

function patched(expression: string): JsonObject {
  return { patchType: "JSONPatch", jsonPatch: { expression } };
}

const MAP = { metadata: { name: "m" }, data: { a: "1" } };

for (const { title, mutations, data } of [
  { title: "an apply configuration", mutations: [applied('Object{data: {"b": object.data.a + "2"}}')], data: { a: "1", b: "12" } },
  {
    title: "a JSON patch",
    mutations: [patched('[JSONPatch{op: "add", path: "/data/" + jsonpatch.escapeKey("b.c"), value: "2"}]')],
    data: { a: "1", "b.c": "2" },
  },
  {
    title: "a JSON patch whose test fails",
    mutations: [patched('[JSONPatch{op: "test", path: "/data/a", value: "9"}, JSONPatch{op: "remove", path: "/data/a"}]')],
    data: { a: "1" },
  },
  {
    title: "two mutations, the second after the first",
    mutations: [applied('Object{data: {"b": "2"}}'), applied("Object{data: {'c': object.data.b}}")],
    data: { a: "1", b: "2", c: "2" },
  },
]) {
  test(`a mutating policy with ${title} changes the object`, async () => {
    await using world = await given();
    await world.bind("p", { mutations });
    const { code, body } = await world.call("POST", MAPS, MAP);
    equal(code, 201, JSON.stringify(body));
    deepEqual(body.data, data);
  });
}

test("an apply configuration merges lists by their keys, and the result is defaulted", async () => {
  await using world = await given();
  const expression = `Object{spec: Object.spec{
    containers: [Object.spec.containers{name: "side", image: "sidecar"}],
    initContainers: object.spec.containers.map(c, Object.spec.initContainers{name: "init-" + c.name, image: c.image})}}`;
  const rule = { apiGroups: [""], apiVersions: ["v1"], resources: ["pods"], operations: ["CREATE"] };
  await world.bind("p", { matchConstraints: { resourceRules: [rule] }, mutations: [applied(expression)] });

  const pod = { metadata: { name: "web" }, spec: { containers: [{ name: "web", image: "web" }] } };
  const { body } = await world.call("POST", "/api/v1/namespaces/default/pods", pod);

  const shown = (containers: readonly { name: string; image: string; imagePullPolicy: string }[]) =>
    containers.map(({ name, image, imagePullPolicy }) => `${name} ${image} ${imagePullPolicy}`);
  deepEqual(shown(body.spec.containers), ["web web Always", "side sidecar Always"]);
  deepEqual(shown(body.spec.initContainers), ["init-web web Always"]);
});

test("a policy with reinvocationPolicy IfNeeded is evaluated again after a later one has changed the object", async () => {
  await using world = await given();
  await world.bind("a", { reinvocationPolicy: "IfNeeded", mutations: [applied("Object{data: {'keys': string(size(object.data))}}")] });
  await world.bind("b", { mutations: [applied("Object{data: {'b': '2'}}")] });

  const { body } = await world.call("POST", MAPS, MAP);

  deepEqual(body.data, { a: "1", keys: "3", b: "2" });
});

test("parameters and variables are known to mutations", async () => {
  await using world = await given();
  await world.call("POST", "/api/v1/namespaces/default/secrets", { metadata: { name: "s", labels: { team: "x" } } });
  await world.bind(
    "p",
    {
      paramKind: { apiVersion: "v1", kind: "Secret" },
      variables: [{ name: "team", expression: "params.metadata.labels.team" }],
      mutations: [applied("Object{metadata: Object.metadata{labels: {'team': variables.team}}}")],
    },
    { paramRef: { name: "s", parameterNotFoundAction: "Deny" } },
  );

  const { body } = await world.call("POST", MAPS, MAP);

  deepEqual(body.metadata.labels, { team: "x" });
});

const DENIED = "policy 'p' with binding 'p' denied request: ";

for (const { title, mutations, message } of [
  {
    title: "fails",
    mutations: [applied("Object{data: {'b': object.data.missing}}")],
    message: `${DENIED}expression 'Object{data: {'b': object.data.missing}}' resulted in error: no such key: missing`,
  },
  {
    title: "names a type after another field",
    mutations: [applied("Object{metadata: Object.spec{name: 'x'}}")],
    message: `${DENIED}type mismatch: unexpected type name "Object.spec", expected "Object.metadata", which matches field name path from root Object type`,
  },
  {
    title: "sets an unknown field",
    mutations: [applied("Object{other: 'x'}")],
    message: `${DENIED}error applying patch: failed to convert patch object to typed object: .other: field not declared in schema`,
  },
  {
    title: "is a patch that does not apply",
    mutations: [patched('[JSONPatch{op: "remove", path: "/spec/x"}]')],
    message: `${DENIED}JSON Patch: remove operation does not apply: doc is missing path: "/spec/x": missing value`,
  },
]) {
  test(`a mutation that ${title} denies the request, and is left out with failurePolicy Ignore`, async () => {
    await using world = await given();
    await world.bind("p", { mutations });

    const { code, body } = await world.call("POST", MAPS, MAP);

    deepEqual([code, body.reason, body.message], [403, "Invalid", message]);
    const merge = { "content-type": "application/merge-patch+json" };
    await world.call("PATCH", `${GROUP}/mutatingadmissionpolicies/p`, { spec: { failurePolicy: "Ignore" } }, merge);
    equal((await world.call("POST", MAPS, MAP)).code, 201);
  });
}

test("an apply configuration must not set atomic values", async () => {
  await using world = await given();
  const rule = { apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"], operations: ["CREATE"] };
  const expression = "Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'a': 'b'}}}}";
  await world.bind("p", { matchConstraints: { resourceRules: [rule] }, mutations: [applied(expression)] });

  const template = { metadata: { labels: { app: "web" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  const spec = { selector: { matchLabels: { app: "web" } }, template };
  const { body } = await world.call("POST", "/apis/apps/v1/namespaces/default/deployments", { metadata: { name: "web" }, spec });

  const why = "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.selector";
  equal(body.message, `${DENIED}${why}`);
});

test("a mutation must return an object or a list of JSON patches", async () => {
  await using world = await given();
  const policy = (mutation: JsonObject) => ({
    metadata: { name: "p" },
    spec: { matchConstraints: { resourceRules: [RULE] }, reinvocationPolicy: "Never", mutations: [mutation] },
  });
  const refusal = async (mutation: JsonObject) =>
    (await world.call("POST", `${GROUP}/mutatingadmissionpolicies`, policy(mutation))).body.details.causes[0].message as string;

  equal(await refusal(applied("'x'")), `Invalid value: "'x'": must evaluate to Object but got string`);
  equal(await refusal(patched("'x'")), `Invalid value: "'x'": must evaluate to list(JSONPatch) but got string`);
});

for (const { title, operation, code, message } of [
  {
    title: "an unknown field",
    operation: { path: "/zap", value: "1" },
    code: 500,
    message: 'Internal error occurred: strict decoding error: unknown field "zap"',
  },
  {
    title: "another kind",
    operation: { path: "/kind", value: "Secret" },
    code: 500,
    message: "Internal error occurred: the JSON patch of a MutatingAdmissionPolicy may not change apiVersion or kind",
  },
  {
    title: "another namespace",
    operation: { path: "/metadata/namespace", value: "kube-system" },
    code: 400,
    message: "the namespace of the provided object does not match the namespace sent on the request",
  },
]) {
  test(`a JSON patch of a policy that sets ${title} is an error`, async () => {
    await using world = await given();
    await world.bind("p", { mutations: [patched(`[JSONPatch{op: "add", path: "${operation.path}", value: "${operation.value}"}]`)] });
    const answer = await world.call("POST", MAPS, MAP);
    deepEqual([answer.code, answer.body.message], [code, message]);
  });
}
