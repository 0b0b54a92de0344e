import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import type { CauseItem } from "../../../explain/explain-api.ts";
import { FLOW_WRITES_MAX, flowRoots, flowSteps, stageTimes } from "./flow-graph.ts";
import { DRAWN_MAX, flowLayout, SHOWN_MAX } from "./flow-layout.ts";
import { NEW_PLAYER, playerAfter, type Player, type PlayerAction } from "./flow-player.ts";

const BASE = { time: "2026-01-01T00:00:01.250000Z", verb: "create", namespace: "shop", user: "jane", userAgent: "kubectl" };

function write(revision: number, resource: string, name: string, causedBy?: { readonly by: string; readonly revision: number }): CauseItem {
  const cause = causedBy && { controller: causedBy.by, key: `shop/${name}`, reason: "Added", revision: String(causedBy.revision) };
  return { ...BASE, id: revision, resourceVersion: String(revision), resource, name, ...(cause === undefined ? {} : { cause }) };
}

const ROOT = write(1, "deployments.apps", "web");
const SET = write(2, "replicasets.apps", "web-1", { by: "deployment-controller", revision: 1 });
const POD = write(4, "pods", "web-1-x", { by: "replicaset-controller", revision: 2 });
const BINDING = { ...write(3, "pods", "web-1-x", { by: "default-scheduler", revision: 4 }), resourceVersion: "5", subresource: "binding" };
const OTHER = write(6, "configmaps", "other");

test("a flow begins with the stages of its request, then has each woken component and its writes", () => {
  deepEqual(
    flowSteps([ROOT, SET, BINDING, POD, OTHER], ROOT).map(({ id, parent, title, subtitle }) => [id, parent, title, subtitle]),
    [
      ["request:1", undefined, "create deployments", "web"],
      ["authentication:1", "request:1", "authentication", "jane"],
      ["authorization:1", "authentication:1", "authorization", "allowed"],
      ["admission:1", "authorization:1", "admission", "unchanged"],
      ["store:1", "admission:1", "stored", "revision 1"],
      ["controller:deployment-controller:shop/web-1:Added:1", "store:1", "deployment-controller", "Added: web-1"],
      ["store:2", "controller:deployment-controller:shop/web-1:Added:1", "create replicasets", "web-1"],
      ["controller:replicaset-controller:shop/web-1-x:Added:2", "store:2", "replicaset-controller", "Added: web-1-x"],
      ["store:4", "controller:replicaset-controller:shop/web-1-x:Added:2", "create pods", "web-1-x"],
      // Recorded before its cause, and yet after it.
      ["controller:default-scheduler:shop/web-1-x:Added:4", "store:4", "default-scheduler", "Added: web-1-x"],
      ["store:5", "controller:default-scheduler:shop/web-1-x:Added:4", "create pods/binding", "web-1-x"],
    ],
  );
});

test("a refused request ends at the stage that refused it", () => {
  for (const [stage, plugin, expected] of [
    ["authorization", undefined, ["create deployments", "authentication", "authorization refused"]],
    ["admission", "ResourceQuota", ["create deployments", "authentication", "authorization", "admission refused"]],
    ["write", undefined, ["create deployments", "authentication", "authorization", "admission", "store refused"]],
  ] as const) {
    const { resourceVersion: _none, ...request } = ROOT;
    const refusal = { code: 403, reason: "Forbidden", message: "no", stage, ...(plugin === undefined ? {} : { plugin }) };
    const steps = flowSteps([], { ...request, refusal });
    deepEqual(
      steps.map(({ title }) => title),
      expected,
    );
    deepEqual([steps.at(-1)?.isRefused, steps.at(-1)?.subtitle], [true, plugin ?? "Forbidden"]);
  }
});

test("a step of admission names the plugins that changed the object", () => {
  const admission = [{ plugin: "ServiceAccount", changed: ["spec.volumes"] }];
  equal(flowSteps([], { ...ROOT, admission })[3]?.sentence, "Admission changed the object: ServiceAccount (spec.volumes)");
});

test("flows start with the requests that nothing recorded caused, newest first", () => {
  deepEqual(
    flowRoots([ROOT, SET, OTHER]).map(({ id }) => id),
    [6, 1],
  );
});

test("a layout has the stages below each other, then a column per depth; a first child continues the row", () => {
  const second = write(7, "replicasets.apps", "web-2", { by: "deployment-controller", revision: 1 });
  const { steps, links, rests } = flowLayout(flowSteps([ROOT, SET, second, POD], ROOT));
  const at = new Map(steps.map(({ step, x, y }) => [step.id, { x, y }]));
  const stages = ["request:1", "authentication:1", "authorization:1", "admission:1", "store:1"].map((id) => at.get(id));
  equal(new Set(stages.map((stage) => stage?.x)).size, 1);
  deepEqual(
    stages.map((stage) => stage?.y),
    stages.map((stage) => stage?.y ?? 0).toSorted((a, b) => a - b),
  );
  equal(at.get("store:2")?.y, at.get("store:4")?.y);
  equal(at.get("store:2")?.x, at.get("store:7")?.x);
  equal(at.get("store:2")?.y === at.get("store:7")?.y, false);
  deepEqual([links.length, rests.length], [steps.length - 1, 0]);
});

test("a layout shows the first of many writes of one pass and the number of the others", () => {
  const many = Array.from({ length: 100 }, (_, index) => ({
    ...write(10 + index, "pods", `p-${index}`),
    cause: { controller: "replicaset-controller", key: "shop/web", reason: "Added", revision: "1" },
  }));
  const { steps, rests, height } = flowLayout(flowSteps([ROOT, ...many], ROOT));
  deepEqual([steps.length, rests.map(({ count }) => count)], [6 + SHOWN_MAX, [100 - SHOWN_MAX]]);
  equal(height < 1_000, true);
});

test("a flow and its layout are bounded, and a chain as long as the record does not overflow the stack", () => {
  const chain = Array.from({ length: 8_000 }, (_, index) => write(index + 2, "pods", "p", { by: "controller", revision: index + 1 }));

  const steps = flowSteps([ROOT, ...chain], ROOT);
  const { steps: drawn, rests, links } = flowLayout(steps);

  equal(steps.length, 5 + 2 * FLOW_WRITES_MAX);
  deepEqual([drawn.length, rests.length, links.length], [DRAWN_MAX, 1, DRAWN_MAX]);
});

test("a step names the authenticator, the authorizer with its reason, and the time of its stage", () => {
  const stages = {
    authentication: { by: "client certificate", impersonator: "root", microseconds: 90 },
    authorization: { by: "RBAC", reason: 'RBAC: allowed by ClusterRoleBinding "x"', microseconds: 1_500 },
    store: { microseconds: 2_000_000 },
  };

  const item = { ...ROOT, stages };
  const [, authentication, authorization, admission] = flowSteps([item], item);

  equal(authentication?.sentence, "The request was authenticated by client certificate as root, who impersonates jane, in 90 µs");
  equal(authorization?.subtitle, "allowed by RBAC");
  match(authorization?.sentence ?? "", /by RBAC \(RBAC: allowed by ClusterRoleBinding "x"\), in 1\.5 ms$/);
  equal(admission?.title, "admission");
  equal(stageTimes(item), "authentication 90 µs, authorization 1.5 ms, store 2.0 s");
});

test("playback advances while it plays, stops at the last step and continues when more are recorded", () => {
  const play = (actions: readonly (PlayerAction | number)[], start: Player = NEW_PLAYER) => {
    let [player, count] = [start, 3];
    for (const action of actions) {
      if (typeof action === "number") count = action;
      else player = playerAfter(player, action, count);
    }
    return [player.shown, player.isPlaying];
  };
  const tick: PlayerAction = { is: "tick" };
  for (const [actions, expected] of [
    [
      [tick, tick],
      [2, true],
    ],
    [
      [tick, tick, tick, tick],
      [3, true],
    ],
    [
      [tick, tick, tick, 5, tick],
      [4, true],
    ],
    [
      [tick, { is: "pause" }, tick],
      [1, false],
    ],
    [
      [tick, { is: "step", by: -1 }],
      [1, false],
    ],
    [
      [
        { is: "step", by: 1 },
        { is: "step", by: 1 },
      ],
      [2, false],
    ],
    [[{ is: "jump", to: 99 }], [3, false]],
    [
      [{ is: "jump", to: 99 }, { is: "play" }],
      [1, true],
    ],
    [
      [0, tick],
      [0, true],
    ],
  ] as const)
    deepEqual(play(actions), expected, JSON.stringify(actions));
});
