/**
 * `k8ts up --processes` with simulated nodes: they are one more process, which can be killed and is restarted without effect on Pods; and
 * nothing of it is left when the cluster stops.
 */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import type { PodList } from "../../src/api/generated/core/v1.ts";
import { signalProcess } from "../../src/host/processes/detached-program.ts";
import { findProcesses } from "../../src/host/processes/process-table.ts";
import { SIMULATED_VERSION } from "../../src/kubelet/runtime/simulated/simulated-runtime.ts";
import { clientProgram, type ClientProgram } from "../../src/testing/clients/client-program.ts";
import { aDeployment } from "../../src/testing/clients/manifests.ts";
import { startEtcd } from "../../src/testing/servers/etcd-server.ts";
import { K8tsMachine } from "../../src/testing/servers/k8ts-program.ts";
import { needs, toolPath } from "../../src/testing/needs.ts";
import { up } from "../../src/cli/commands/up.ts";
import type { ClusterRecord } from "../../src/cluster/home/cluster-record.ts";

function kubectlOf({ kubeconfig, root }: K8tsMachine): ClientProgram {
  const environment = { PATH: process.env["PATH"] ?? "", HOME: root, TMPDIR: root, KUBECONFIG: kubeconfig };
  return clientProgram({ path: toolPath("kubectl"), environment });
}

async function recordOf(machine: K8tsMachine): Promise<ClusterRecord> {
  const { stdout } = await machine.k8ts("status", "-o", "json");
  return (JSON.parse(stdout) as { readonly record: ClusterRecord }).record;
}

/** Container IDs and restart counts of the Pods of a Deployment. */
async function runsOf(kubectl: ClientProgram): Promise<readonly string[]> {
  const { items } = JSON.parse(await kubectl("get pods -l app=web -o json")) as PodList;
  return items.map(({ metadata, status }) => {
    const [main] = status?.containerStatuses ?? [];
    return `${metadata.name} ${main?.containerID} ${main?.restartCount} ${main?.ready} ${status?.podIP}`;
  });
}

function simulatedDeployment(): object {
  const annotations = { "simulated.k8ts.dev/logs": "up\n", "simulated.k8ts.dev/exec": '{ "*": "done\\n" }' };
  const metadata = { labels: { app: "web" }, annotations };
  return aDeployment("web", { replicas: 3, template: { metadata, spec: { containers: [{ name: "web", image: "example/web:1" }] } } });
}

/** The process prints this when its nodes exist. */
const READY = /^simulated nodes node-0 to node-1 registered with https:.*, listening on port \d+$/;

async function rolledOut(kubectl: ClientProgram): Promise<void> {
  await kubectl("rollout status deployment/web --timeout=110s");
}

for (const words of [["--in-memory"], ["--processes"]]) {
  test(
    `the first node of k8ts up ${words.join(" ")} has the control-plane role and is schedulable`,
    { ...needs("kubectl") },
    async (context) => {
      const machine = await K8tsMachine.make(context);
      await machine.start(["up", ...words, "--simulated-nodes", "2", "--listen", "127.0.0.1:0"]);

      const listed = await kubectlOf(machine)("get nodes --no-headers");

      match(listed, /^node-0 +Ready +control-plane +.*\nnode-1 +Ready +<none> /);
      equal(await kubectlOf(machine)("get nodes -o jsonpath={.items[*].spec.taints}"), "");
    },
  );
}

test("the process of simulated nodes is killed without effect on Pods", { ...needs("kubectl") }, async (context) => {
  const machine = await K8tsMachine.make(context);
  const { child, lines } = await machine.start(["up", "--processes", "--simulated-nodes", "2", "--listen", "127.0.0.1:0"]);
  ok(lines.includes("  nodes: 2 simulated"), lines.join("\n"));
  ok(
    lines.some((line) => line.includes("kubectl create deployment web --image=any")),
    lines.join("\n"),
  );
  const kubectl = kubectlOf(machine);
  await kubectl("apply -f -", { input: simulatedDeployment() });
  await rolledOut(kubectl);
  equal(await kubectl("logs deployment/web"), "up\n");
  equal(await kubectl("exec deployment/web -- anything"), "done\n");
  const runs = await runsOf(kubectl);

  const { parts = [] } = await recordOf(machine);
  const killed = parts.find(({ name }) => name === "nodes")?.process;
  ok(killed !== undefined);
  signalProcess(killed, "SIGKILL");
  const ended = /^The process of the simulated nodes was killed by SIGKILL; restarting it in 1 s$/;
  const log = await machine.start(["logs", "nodes", "--follow"], ended);
  await heard(log.child, () => log.lines.filter((line) => READY.test(line)).length === 2);
  ok(
    lines.some((line) => ended.test(line)),
    lines.join("\n"),
  );
  await kubectl("scale deployment/web --replicas=5");
  await rolledOut(kubectl);

  const now = await runsOf(kubectl);
  deepEqual(
    runs.filter((run) => !now.includes(run)),
    [],
  );
  equal(now.length, 5);
  equal(await kubectl("exec deployment/web -- anything"), "done\n");
  match((await machine.k8ts("status")).stdout, /processes: +API server \d+, controllers \d+, scheduler \d+, nodes \d+\n/);

  child.kill("SIGINT");
  deepEqual(await once(child, "close"), [0, null]);
  deepEqual(await findProcesses((words) => words.some((word) => word.includes(machine.root))), []);
});

test("a real node of an earlier start becomes a simulated one, as without --processes", { ...needs("kubectl") }, async (context) => {
  const machine = await K8tsMachine.make(context);
  const words = ["up", "--listen", "127.0.0.1:0"];
  const { child: before } = await machine.start([...words, "--containers=false"]);
  const kubectl = kubectlOf(machine);
  await kubectl("apply -f -", { input: { apiVersion: "v1", kind: "Node", metadata: { name: "node-0" } } });
  const status = { nodeInfo: { containerRuntimeVersion: "containerd://1.7.0" } };
  await kubectl(`patch node node-0 --subresource=status -p '${JSON.stringify({ status })}'`);
  before.kill("SIGINT");
  deepEqual(await once(before, "close"), [0, null]);

  const { child, lines } = await machine.start([...words, "--processes", "--simulated-nodes", "2"]);

  ok(lines.includes("  nodes: 2 simulated"), lines.join("\n"));
  await kubectl("wait --for=condition=Ready node --all --timeout=110s");
  equal(await kubectl("get node node-0 -o jsonpath={.status.nodeInfo.containerRuntimeVersion}"), SIMULATED_VERSION);
  child.kill("SIGINT");
  deepEqual(await once(child, "close"), [0, null]);
});

test("simulated nodes on etcd are named after the machine and the cluster", { ...needs("etcd", "kubectl") }, async (context) => {
  await using etcd = await startEtcd();
  const machine = await K8tsMachine.make(context);
  const store = ["--etcd-servers", etcd.endpoints.join(","), "--node-name", "first"];
  const { child } = await machine.start(["up", "--processes", "--simulated-nodes", "2", "--listen", "127.0.0.1:0", ...store]);

  const kubectl = kubectlOf(machine);
  await kubectl("wait --for=condition=Ready node/first-default-0 node/first-default-1 --timeout=110s");
  child.kill("SIGINT");
  deepEqual(await once(child, "close"), [0, null]);
});

/** Checks now and at every line of output. */
async function heard({ stdout }: ChildProcess, holds: () => boolean): Promise<void> {
  while (!holds()) await once(stdout as NodeJS.ReadableStream, "data");
}

/** An unprivileged user ID: without permission to run containers. */
const UNPRIVILEGED_UID = 65_534;
const needsRoot = { skip: process.getuid?.() !== 0 && "only root can switch to another user" };

test(
  "without permission to run containers, one node is simulated, also in a process of its own, and the reason is printed",
  needsRoot,
  async (context) => {
    const machine = await K8tsMachine.make(context, { user: UNPRIVILEGED_UID });
    const { child, lines } = await machine.start(["up", "--processes", "--listen", "127.0.0.1:0"]);

    ok(lines.includes("  nodes: 1 simulated"), lines.join("\n"));
    equal(lines.filter((line) => /^Pods are simulated, no containers run: ./.test(line)).length, 1, lines.join("\n"));
    match((await machine.k8ts("logs", "nodes")).stdout, /^simulated node node-0 registered with https:.*, listening on port \d+$/m);
    child.kill("SIGINT");
    deepEqual(await once(child, "close"), [0, null]);
  },
);

test("an in-memory store, which is lost with the API server process, is still rejected", () => {
  const parsed = up.parse(["--processes", "--simulated-nodes=2", "--in-memory"], { HOME: "/home/a" });

  deepEqual(parsed.ok ? [] : parsed.problems, [
    "--processes requires a persistent store, because the API server runs in another process: leave out --in-memory",
  ]);
});
