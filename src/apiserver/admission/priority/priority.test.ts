import assert from "node:assert/strict";
import { test } from "node:test";
import { onlyPlugins } from "../../testing/admission.ts";
import { startServer, type StartedServer } from "../../testing/server.ts";

const PODS = "/api/v1/namespaces/default/pods";
const CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses";
const MERGE = { "content-type": "application/merge-patch+json" };

async function withClasses(...defaults: readonly string[]): Promise<StartedServer> {
  const server = await startServer({ config: { admission: onlyPlugins("Priority") } });
  for (const [name, value, preemptionPolicy] of [
    ["high", 1000, "PreemptLowerPriority"],
    ["never", 5, "Never"],
    ["zero", 0, "Never"],
  ] as const) {
    const object = { metadata: { name }, value, preemptionPolicy, globalDefault: defaults.includes(name) };
    assert.equal((await server.call("POST", CLASSES, object)).code, 201);
  }
  return server;
}

function pod(spec: object) {
  return { metadata: { generateName: "p-" }, spec: { containers: [{ name: "c", image: "i" }], ...spec } };
}

for (const [what, spec, name, number, policy] of [
  ["names no class", {}, undefined, 0, "PreemptLowerPriority"],
  ["names a class", { priorityClassName: "high" }, "high", 1000, "PreemptLowerPriority"],
  ["names a class and its number", { priorityClassName: "high", priority: 1000 }, "high", 1000, "PreemptLowerPriority"],
  ["names a class that does not preempt", { priorityClassName: "never" }, "never", 5, "Never"],
  ["names a class of value 0", { priorityClassName: "zero" }, "zero", 0, "Never"],
  [
    "names a class of the cluster, in any namespace",
    { priorityClassName: "system-node-critical" },
    "system-node-critical",
    2000001000,
    "PreemptLowerPriority",
  ],
] as const) {
  test(`a pod that ${what} gets the priority ${number} and ${policy}`, async () => {
    await using server = await withClasses();

    const { body } = await server.call("POST", PODS, pod(spec));

    assert.deepEqual([body.spec.priorityClassName, body.spec.priority, body.spec.preemptionPolicy], [name, number, policy]);
  });
}

const NUMBER = "must not be provided in pod spec; priority admission controller computed";

for (const [what, spec, why] of [
  ["an unknown class", { priorityClassName: "nope" }, "no PriorityClass with name nope was found"],
  ["a number", { priority: 7 }, `the integer value of priority (7) ${NUMBER} 0 from the given PriorityClass name`],
  [
    "another number than its class",
    { priorityClassName: "high", priority: 7 },
    `the integer value of priority (7) ${NUMBER} 1000 from the given PriorityClass name`,
  ],
  [
    "another policy than its class",
    { priorityClassName: "never", preemptionPolicy: "PreemptLowerPriority" },
    `the string value of PreemptionPolicy (PreemptLowerPriority) ${NUMBER} Never from the given PriorityClass name`,
  ],
  [
    "a policy",
    { preemptionPolicy: "Never" },
    `the string value of PreemptionPolicy (Never) ${NUMBER} PreemptLowerPriority from the given PriorityClass name`,
  ],
] as const) {
  test(`the Priority plugin rejects a pod that names ${what}`, async () => {
    await using server = await withClasses();

    const { code, body } = await server.call("POST", PODS, pod(spec));

    assert.deepEqual([code, body.message], [403, `pods "p-" is forbidden: ${why}`]);
  });
}

test("a pod without a priority class gets the current global default", async () => {
  await using server = await withClasses("never");
  const made = async () => {
    const { spec } = (await server.call("POST", PODS, pod({}))).body;
    return [spec.priorityClassName, spec.priority, spec.preemptionPolicy];
  };

  assert.deepEqual(await made(), ["never", 5, "Never"]);
  await server.call("DELETE", `${CLASSES}/never`);
  assert.deepEqual(await made(), [undefined, 0, "PreemptLowerPriority"]);
});

test("an update that omits the defaulted priority fields keeps them", async () => {
  await using server = await withClasses();
  const { body } = await server.call("POST", PODS, pod({ priorityClassName: "never" }));
  const patch = { metadata: { labels: { a: "b" } }, spec: { priority: null, preemptionPolicy: null } };

  const updated = await server.call("PATCH", `${PODS}/${body.metadata.name}`, patch, MERGE);

  assert.deepEqual([updated.code, updated.body.spec.priority, updated.body.spec.preemptionPolicy], [200, 5, "Never"]);
  // The client set it neither before nor now.
  const fields = Object.keys(updated.body.metadata.managedFields[0].fieldsV1["f:spec"]);
  assert.deepEqual([fields.includes("f:priorityClassName"), fields.includes("f:priority")], [true, false]);
});

test("at most one PriorityClass can be the global default", async () => {
  await using server = await withClasses("never");
  const message = (name: string) =>
    `priorityclasses.scheduling.k8s.io "${name}" is forbidden: PriorityClass never is already marked as default. Only one default can exist`;

  const created = await server.call("POST", CLASSES, { metadata: { name: "new" }, value: 1, globalDefault: true });
  const again = await server.call("POST", CLASSES, { metadata: { name: "never" }, value: 5, globalDefault: true });
  const other = await server.call("PATCH", `${CLASSES}/high`, { globalDefault: true }, MERGE);
  const same = await server.call("PATCH", `${CLASSES}/never`, { description: "d" }, MERGE);

  assert.deepEqual([created.code, created.body.message], [403, message("new")]);
  assert.deepEqual([again.code, again.body.message], [403, message("never")]);
  assert.deepEqual([other.code, other.body.message], [403, message("high")]);
  assert.equal(same.code, 200);
  await server.call("DELETE", `${CLASSES}/never`);
  assert.equal((await server.call("PATCH", `${CLASSES}/high`, { globalDefault: true }, MERGE)).code, 200);
});
