import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../api/machinery/object.ts";
import { clusterRoles } from "../../api/rbac.authorization.k8s.io/v1/cluster-role.ts";
import { everyStepMayBeTheLast } from "../../testing/every-step.ts";
import { rounds } from "../../testing/rounds.ts";
import { startControlledServer, type ControlledServer } from "../../testing/servers/controlled-server.ts";
import { clusterRoleAggregationController } from "./cluster-role-aggregation-controller.ts";

const ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const CONTROLLERS = ["clusterrole-aggregation-controller"];
const MERGE = { "content-type": "application/merge-patch+json" };

const may = (verb: string): JsonObject => ({ apiGroups: [""], resources: ["things"], verbs: [verb] });

function role(name: string, labels: Readonly<Record<string, string>>, ...verbs: readonly string[]): JsonObject {
  return { metadata: { name, labels }, rules: verbs.map(may) };
}

function whole(name: string, labels: Readonly<Record<string, string>>, ...of: readonly Readonly<Record<string, string>>[]): JsonObject {
  return { metadata: { name, labels }, aggregationRule: { clusterRoleSelectors: of.map((matchLabels) => ({ matchLabels })) } };
}

async function make(server: ControlledServer, object: JsonObject): Promise<void> {
  const { code, text } = await server.call("POST", ROLES, object);
  assert.equal(code, 201, text);
}

async function verbsOf(server: ControlledServer, name: string): Promise<readonly string[]> {
  await server.clock.settle();
  const { body } = await server.call("GET", `${ROLES}/${name}`);
  return (body.rules ?? []).flatMap(({ verbs }: { verbs: readonly string[] }) => verbs);
}

test("an aggregated ClusterRole has the rules of the selected ones, as these are created, changed and deleted", async () => {
  await using server = await startControlledServer(CONTROLLERS);
  await make(server, role("b", { to: "all" }, "b", "both"));
  await make(server, whole("all", {}, { to: "all" }));
  assert.deepEqual(await verbsOf(server, "all"), ["b", "both"]);

  await make(server, role("a", { to: "all" }, "a", "both"));
  assert.deepEqual(await verbsOf(server, "all"), ["a", "both", "b"]);
  await server.call("PATCH", `${ROLES}/a`, { metadata: { labels: { to: "none" } } }, MERGE);
  assert.deepEqual(await verbsOf(server, "all"), ["b", "both"]);
  await server.call("PATCH", `${ROLES}/all`, { rules: [may("made-up")] }, MERGE);
  assert.deepEqual(await verbsOf(server, "all"), ["b", "both"]);
  await server.call("DELETE", `${ROLES}/b`);
  await make(server, role("c", { to: "all" }, "c"));
  assert.deepEqual(await verbsOf(server, "all"), ["c"]);
});

test("the aggregated rules are owned by the controller's field manager, and nothing else", async () => {
  await using server = await startControlledServer(CONTROLLERS);
  await make(server, role("a", { to: "all" }, "a"));
  await make(server, whole("all", { mine: "yes" }, { to: "all" }));
  await server.clock.settle();

  const { managedFields } = (await server.call("GET", `${ROLES}/all`)).body.metadata;
  const controllers = managedFields.find(({ manager }: { manager: string }) => manager === "clusterrole-aggregation-controller");
  assert.deepEqual([controllers.operation, controllers.fieldsV1], ["Apply", { "f:rules": {} }]);
});

test("ClusterRoles that aggregate each other converge", async () => {
  await using server = await startControlledServer(CONTROLLERS);
  await make(server, role("a", { to: "x" }, "a"));
  await make(server, whole("x", { to: "y" }, { to: "x" }, { to: "z" }));
  await make(server, whole("y", { to: "z" }, { to: "y" }));
  await make(server, whole("z", { to: "x" }, { to: "z" }, { to: "y" }));
  await server.clock.settle();

  const before = await server.store.currentRevision();
  await server.clock.advance(60_000);

  assert.equal(await server.store.currentRevision(), before);
  for (const name of ["x", "y", "z"]) assert.deepEqual(await verbsOf(server, name), ["a"]);
});

test("a failed write is retried until it succeeds", async () => {
  await using server = await startControlledServer(CONTROLLERS);
  const binding = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/system:controller:clusterrole-aggregation-controller";
  await server.call("PATCH", binding, { subjects: [] }, MERGE);
  await make(server, role("a", { to: "all" }, "a"));
  await make(server, whole("all", {}, { to: "all" }));
  assert.deepEqual(await verbsOf(server, "all"), []);

  const controller = { kind: "ServiceAccount", name: "clusterrole-aggregation-controller", namespace: "kube-system" };
  await server.call("PATCH", binding, { subjects: [controller] }, MERGE);
  await server.clock.advance(1_000);

  assert.deepEqual(await verbsOf(server, "all"), ["a"]);
});

test("after a crash at any step the rules are complete", () => {
  const of = (object: JsonObject): JsonObject => ({ apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", ...object });
  return everyStepMayBeTheLast(
    {
      objects: [of(role("a", { to: "x" }, "a")), of(whole("x", { to: "y" }, { to: "x" })), of(whole("y", {}, { to: "y" }))],
      controllers: () => [clusterRoleAggregationController],
      restMs: 20_000,
      steps: [async ({ client }) => void (await client.create(clusterRoles, of(role("b", { to: "x" }, "b")) as never))],
    },
    { disturbedRuns: rounds({ quick: 2, full: 50 }) },
  );
});
