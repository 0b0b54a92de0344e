/**
 * `k8ts up --processes` on real containers: each component can be killed and is restarted, and no container or acknowledged write is lost;
 * and however the supervisor exits, no component process outlives it.
 */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Pod, PodList } from "../../src/api/generated/core/v1.ts";
import { waitForProcessExit, signalProcess } from "../../src/host/processes/detached-program.ts";
import { isAlive } from "../../src/host/processes/process-identity.ts";
import { findProcesses } from "../../src/host/processes/process-table.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { becomes } from "../../src/testing/becomes.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { aDeployment } from "../../src/testing/clients/manifests.ts";
import { networkComponents } from "../../src/components/network/all.ts";
import { needs } from "../../src/testing/needs.ts";
import { aRealContainer, REAL_CLUSTER_NEEDS, SLEEP, startRealCluster, type RealCluster } from "../../src/testing/servers/real-cluster.ts";
import type { ClusterRecord } from "../../src/cluster/home/cluster-record.ts";

async function recordOf(cluster: RealCluster): Promise<ClusterRecord> {
  const { stdout } = await cluster.k8ts("status", "-o", "json");
  return (JSON.parse(stdout) as { readonly record: ClusterRecord }).record;
}

/** Container IDs and restart counts of the Pods of a Deployment. */
async function runsOf(kubectl: ClientProgram): Promise<readonly string[]> {
  const { items } = JSON.parse(await kubectl("get pods -l app=web -o json")) as PodList;
  return items.map(runOf).toSorted();
}

function runOf({ status }: Pod): string {
  const [main] = status?.containerStatuses ?? [];
  return `${main?.containerID} ${main?.restartCount} ${main?.ready}`;
}

async function rolledOut(kubectl: ClientProgram): Promise<void> {
  await kubectl("rollout status deployment/web --timeout=90s", { timeoutMs: ROLLED_OUT_WITHIN_MS });
}

/** The component processes with their command lines. */
async function childrenOf({ directory }: RealCluster) {
  const all = await findProcesses((words) => words.some((word) => word.includes(directory)));
  return all.filter(({ arguments: words }) => words.some((word) => COMMANDS.includes(word)));
}

const COMMANDS = ["apiserver", "controller-manager", "scheduler", "kubelet"];

describe("one process per component", { ...needs(...REAL_CLUSTER_NEEDS) }, () => {
  let cluster: RealCluster;
  let kubectl: ClientProgram;
  let runs: readonly string[];

  before(async () => {
    // Started in one process first, with its images: the other mode continues with the same data.
    cluster = await startRealCluster();
    await cluster.interrupt();
    await cluster.up("--processes");
    kubectl = await cluster.inNamespace("processes");
  });

  after(() => cluster[Symbol.asyncDispose]());

  test("each component is a process of its own with a log", async () => {
    const { mode, parts = [] } = await recordOf(cluster);
    equal(mode, "one process per component");
    const own = parts.filter(({ process }) => process !== undefined);
    deepEqual(
      own.map(({ name }) => name),
      ["API server", "controllers", "scheduler", "node", ...networkComponents.map(({ name }) => name)],
    );
    for (const { process } of own) ok(process !== undefined && isAlive(process));
    match((await cluster.k8ts("status")).stdout, /controllers: +running\n/);
    match((await cluster.k8ts("status")).stdout, /processes: +API server \d+, controllers \d+, scheduler \d+, node \d+/);
    match((await cluster.k8ts("logs", "kubelet")).stdout, /^registered node \S+ with https:/m);
    match((await cluster.k8ts("logs", "apiserver")).stdout, /^listening on https:/m);
  });

  test("a Deployment rolls out with one process per component", async () => {
    const containers = [aRealContainer("web", SLEEP)];
    await kubectl("apply -f -", { input: aDeployment("web", { replicas: 2, containers }) });
    await rolledOut(kubectl);
    runs = await runsOf(kubectl);

    equal(runs.length, 2);
  });

  for (const [index, [name, command]] of (
    [
      ["API server", "apiserver"],
      ["controllers", "controller-manager"],
      ["scheduler", "scheduler"],
      ["kubelet", "kubelet"],
    ] as const
  ).entries()) {
    test(`a killed ${command} is restarted, and containers keep running`, async () => {
      const children = await childrenOf(cluster);
      const killed = children.find(({ arguments: words }) => words.includes(command));
      ok(killed !== undefined);

      signalProcess(killed, "SIGKILL");
      // Longer than a second if it had exited before: a component whose API server is down for long does so.
      await cluster.says(new RegExp(`^The ${name} was killed by SIGKILL; restarting it in \\d+ s$`));

      // Requires all four: created by a controller, bound to a node, run there, and reported.
      await within(() => kubectl(`scale deployment/web --replicas=${3 + index}`));
      await rolledOut(kubectl);
      const now = await runsOf(kubectl);
      deepEqual(
        runs.filter((run) => !now.includes(run)),
        [],
      );
      equal(now.length, 3 + index);
    });
  }

  test("components whose supervisor was killed exit on their own, and the next start continues with running containers", async () => {
    runs = await runsOf(kubectl);
    const children = await childrenOf(cluster);
    await cluster.kill();
    for (const child of children) ok(await waitForProcessExit(child, { timeoutMs: ENDED_WITHIN_MS, clock: realClock }));
    await cluster.up("--processes");

    await rolledOut(kubectl);
    // A program that one of them starts briefly has that one's name.
    await becomes(async () => (await childrenOf(cluster)).length, COMMANDS.length);
    deepEqual(await runsOf(kubectl), runs);
  });

  test("a node is added to a cluster with one process per component", async () => {
    deepEqual((await cluster.k8ts("node", "add", "worker")).stdout, "Added node worker\n");
    await kubectl("wait --for=condition=Ready node/worker --timeout=90s", { timeoutMs: ROLLED_OUT_WITHIN_MS });
    const { parts = [] } = await recordOf(cluster);
    match(parts.at(-1)?.description ?? "", /^worker \(198\.1[89]\.\d+\.2, running\)$/);
  });

  test("Ctrl-C leaves nothing on the machine with one process per component", async () => {
    equal(await cluster.interrupt(), 0);

    deepEqual(
      (await cluster.onMachine()).filter((one) => !one.startsWith("link veth")),
      [],
    );
  });
});

/** kubectl fails at once while the API server is down, so it is retried. */
async function within(ask: () => Promise<string>): Promise<string> {
  const endMs = Date.now() + BACK_WITHIN_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (Date.now() > endMs) throw error;
    }
  }
}

const BACK_WITHIN_MS = 60_000;
/** Without SIGKILL. */
const ENDED_WITHIN_MS = 60_000;
/** Timeout of kubectl for a rollout. */
const ROLLED_OUT_WITHIN_MS = 100_000;
