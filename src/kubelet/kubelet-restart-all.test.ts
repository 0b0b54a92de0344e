/** Restart rules with the action RestartAllContainers: the whole Pod runs again in place. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container, Pod, PodSpec } from "../api/generated/core/v1.ts";
import type { Transport } from "../api/machinery/transport.ts";
import { kubeletIdentity } from "./kubelet.ts";
import { startWorld, type World } from "./testing/world.ts";

const RULE = { action: "RestartAllContainers", exitCodes: { operator: "In", values: [42] } } as const;
const RESTARTED_BY_RULE = { restartPolicy: "Never", restartPolicyRules: [RULE] } as const;

function aContainer(name: string, more: Partial<Container> = {}): Container {
  return { name, image: "web:1", ...more };
}

function scripted(settings: Readonly<Record<string, string>>) {
  return { annotations: Object.fromEntries(Object.entries(settings).map(([name, value]) => [`simulated.k8ts.dev/${name}`, value])) };
}

function statusesOf({ status }: Pod) {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}

/** "Running AllContainersRestarting=False init#1:terminated c#1:running" */
function summaryOf(pod: Pod): string {
  const restarting = pod.status?.conditions?.find(({ type }) => type === "AllContainersRestarting")?.status;
  const containers = statusesOf(pod).map(({ name, restartCount, state = {} }) => {
    const [is] = Object.keys(state);
    return `${name}#${restartCount}:${state.waiting?.reason ?? is}`;
  });
  return `${pod.status?.phase} ${restarting} ${containers.join(" ")}`;
}

/** The statuses that a kubelet writes, without repetitions. */
function recorded(world: World, written: string[]): Transport {
  const inner = world.transportFor(kubeletIdentity("n1"));
  return {
    ...inner,
    watch: (request, listener) => inner.watch(request, listener),
    document: (path, options) => inner.document(path, options),
    async request(request) {
      const answer = await inner.request(request);
      if (request.plural === "pods" && request.subresource === "status") {
        const line = summaryOf((await world.get("p")) as Pod);
        if (line !== written.at(-1)) written.push(line);
      }
      return answer;
    },
  };
}

const SPEC: Partial<PodSpec> = {
  restartPolicy: "Never",
  initContainers: [aContainer("setup"), aContainer("side", { restartPolicy: "Always" })],
  containers: [aContainer("other"), aContainer("worker", RESTARTED_BY_RULE)],
};

test("a container that exits with the code of a rule restarts all containers, from the first init container on", async () => {
  await using world = await startWorld();
  const written: string[] = [];
  await world.kubelet("n1", { transport: recorded(world, written) });
  await world.pod("p", SPEC, scripted({ "fail-times.worker": "1", "fail-after.worker": "3s", "fail-exit-code.worker": "42" }));
  await world.clock.advance(60_000);

  assert.deepEqual(written.slice(-4), [
    "Running False setup#0:terminated side#0:running other#0:running worker#0:running",
    "Running True setup#0:terminated side#0:running other#0:running worker#0:terminated",
    "Running False setup#1:RestartingAllContainers side#1:RestartingAllContainers other#1:RestartingAllContainers worker#1:RestartingAllContainers",
    "Running False setup#1:terminated side#1:running other#1:running worker#1:running",
  ]);
  const pod = (await world.get("p")) as Pod;
  for (const { lastState } of statusesOf(pod)) {
    const { exitCode, reason, message } = lastState?.terminated ?? {};
    assert.deepEqual(
      [exitCode, reason, message],
      [137, "RestartingAllContainers", "The container is removed because RestartAllContainers in place"],
    );
  }
  const condition = pod.status?.conditions?.find(({ type }) => type === "AllContainersRestarting");
  assert.deepEqual([condition?.status, condition?.observedGeneration, condition?.reason], ["False", undefined, undefined]);
  const killed = (await world.eventsOf("p")).filter((line) => line.includes(" Killing "));
  assert.deepEqual(killed, ["Normal Killing killing", "Normal Killing killing"]);
});

test("an init container can restart all containers", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  const initContainers = [aContainer("first"), aContainer("second", RESTARTED_BY_RULE)];
  const settings = { "fail-times.second": "1", "fail-after.second": "1s", "fail-exit-code.second": "42" };
  await world.pod("p", { restartPolicy: "Never", initContainers }, scripted(settings));
  await world.clock.advance(60_000);

  assert.equal(summaryOf((await world.get("p")) as Pod), "Running False first#1:terminated second#1:terminated c#0:running");
});

test("containers that demand it again and again are restarted with the back-off of crashes", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  await world.pod("p", SPEC, scripted({ "run-for.worker": "1s", "exit-code.worker": "42" }));
  await world.clock.advance(4_000);
  const { waiting } = statusesOf((await world.get("p")) as Pod).at(-1)?.state ?? {};
  assert.equal(waiting?.reason, "CrashLoopBackOff");
  assert.match(waiting?.message ?? "", /^back-off 10s restarting failed container=worker pod=p_default\(/);

  // It ends after 1, 2, 13, 34, 75 and 156 seconds.
  await world.clock.advance(96_000);
  assert.deepEqual(
    statusesOf((await world.get("p")) as Pod).map(({ restartCount }) => restartCount),
    [5, 5, 5, 5],
  );
});

test("other exit codes, and rules that come first, do not restart all containers", async () => {
  await using world = await startWorld();
  await world.kubelet("n1");
  const one = { action: "Restart", exitCodes: { operator: "In", values: [42] } } as const;
  const containers = [aContainer("other"), aContainer("worker", { restartPolicy: "Never", restartPolicyRules: [one, RULE] })];
  const settings = { "fail-times.worker": "1", "fail-after.worker": "1s", "fail-exit-code.worker": "42" };
  await world.pod("p", { restartPolicy: "Never", containers }, scripted(settings));
  await world.pod("q", SPEC, scripted({ "run-for.worker": "1s", "exit-code.worker": "43" }));
  await world.clock.advance(20_000);

  assert.equal(summaryOf((await world.get("p")) as Pod), "Running False other#0:running worker#1:running");
  assert.equal(
    summaryOf((await world.get("q")) as Pod),
    "Running False setup#0:terminated side#0:running other#0:running worker#0:terminated",
  );
});
