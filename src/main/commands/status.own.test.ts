import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { K8tsMachine } from "../../testing/k8ts-program.ts";

test("status shows nodes and Pods of a cluster that runs, as JSON, too, and ends with 3 if none does", async (context) => {
  const machine = await K8tsMachine.make(context);
  const never = await machine.k8ts("status");
  deepEqual([never.exitCode, never.stdout.split("\n")[0]], [3, 'cluster "default": stopped']);

  await machine.start(["up", "--in-memory", "--containers=false", "--listen", "127.0.0.1:0", "--simulated-nodes", "1"]);

  const text = await machine.k8ts("status");
  equal(text.exitCode, 0);
  match(text.stdout, /^cluster "default": running\n[^]* node: +node-0 Ready[^]* pods: +none\n/);
  const json = await machine.k8ts("status", "-o", "json");
  const { state, api } = JSON.parse(json.stdout) as { state: string; api: { answers: boolean; nodes: object[] } };
  deepEqual([state, api.answers, api.nodes.length], ["running", true, 1]);
});

test("a server that is stopped in its tracks is told not to answer", { timeout: 60_000 }, async (context) => {
  const machine = await K8tsMachine.make(context);
  const { child } = await machine.start(["up", "--in-memory", "--containers=false", "--listen", "127.0.0.1:0"]);
  child.kill("SIGSTOP");
  const { stdout, exitCode } = await machine.k8ts("status");
  child.kill("SIGCONT");
  equal(exitCode, 0);
  match(stdout, /API server: .*does not answer: it has not answered within 5 s/);
});

test("--all and a name contradict each other", async (context) => {
  const machine = await K8tsMachine.make(context);
  const { exitCode, stderr } = await machine.k8ts("status", "--all", "--name", "a");
  equal(exitCode, 2);
  match(stderr, /^--all shows every cluster: leave --name and --data-dir out/);
});
