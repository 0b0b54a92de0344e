import { deepEqual, equal, match } from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { K8tsMachine } from "../../testing/servers/k8ts-program.ts";
import { needs, toolPath } from "../../testing/needs.ts";

/** A machine whose kubectl says what it was given. */
async function machineWithKubectl(context: Parameters<typeof K8tsMachine.make>[0]): Promise<K8tsMachine> {
  const machine = await K8tsMachine.make(context);
  const bin = join(machine.root, "bin");
  await mkdir(bin);
  await writeFile(join(bin, "kubectl"), '#!/bin/sh\necho "$KUBECONFIG" "$@"\nexit 7\n', { mode: 0o755 });
  machine.environment["PATH"] = `${bin}:${process.env["PATH"] ?? ""}`;
  return machine;
}

test("`k8ts kubectl` passes its arguments unchanged, with the kubeconfig of the cluster, and exits with kubectl's exit code", async (context) => {
  const machine = await machineWithKubectl(context);
  await machine.start(["up", "--name", "second", "--in-memory", "--containers=false", "--listen", "127.0.0.1:0"]);

  const words = ["get", "pods", "--name", "x", "--yes", "--help", "--", "-h"];
  const { exitCode, stdout, stderr } = await machine.k8ts("kubectl", "--name", "second", ...words);
  const afterDashes = await machine.k8ts("kubectl", "--name", "second", "--", ...words);

  deepEqual([exitCode, stdout, stderr], [7, `${machine.home("second")}/kubeconfig ${words.join(" ")}\n`, ""]);
  equal(afterDashes.stdout, stdout);
  const other = await machine.k8ts("kubectl", "get", "pods");
  equal(other.exitCode, 1);
  match(
    other.stderr,
    /^Error: Cannot find cluster "default": .* does not exist; create the cluster with "k8ts up", or list .* with "k8ts status --all"/,
  );
});

test("`k8ts kubectl` for a stopped cluster reports that, and still runs kubectl", async (context) => {
  const machine = await machineWithKubectl(context);
  await machine.k8ts("up", "--detach", "--containers=false", "--listen", "127.0.0.1:0");
  await machine.k8ts("down");
  const { exitCode, stdout, stderr } = await machine.k8ts("kubectl", "version");
  equal(exitCode, 7);
  match(stdout, /kubeconfig version\n$/);
  equal(stderr, 'Cluster "default" is not running; start it with "k8ts up"\n');
});

test("k8ts kubectl does not run programs that the cluster's kubeconfig names", async (context) => {
  const machine = await machineWithKubectl(context);
  await machine.start(["up", "--in-memory", "--containers=false", "--listen", "127.0.0.1:0"]);
  const users = [{ name: "a", user: { exec: { command: "touch" } } }];
  const clusters = [{ name: "a", cluster: { server: "https://127.0.0.1:1" } }];
  await writeFile(join(machine.home(), "kubeconfig"), JSON.stringify({ clusters, users }));
  const { exitCode, stdout, stderr } = await machine.k8ts("kubectl", "get", "pods");
  deepEqual([exitCode, stdout], [1, ""]);
  match(stderr, /it contains "exec", which k8ts does not write/);
});

test("kubectl lists nodes through `k8ts kubectl`, also after it has changed its namespace", { ...needs("kubectl") }, async (context) => {
  const machine = await K8tsMachine.make(context);
  machine.environment["PATH"] = `${join(toolPath("kubectl"), "..")}:${process.env["PATH"] ?? ""}`;
  await machine.start(["up", "--in-memory", "--simulated-nodes", "1", "--listen", "127.0.0.1:0"]);
  match((await machine.k8ts("kubectl", "get", "nodes")).stdout, /\nnode-0 +Ready +control-plane /);
  equal((await machine.k8ts("kubectl", "config", "set-context", "--current", "--namespace=kube-system")).exitCode, 0);
  equal((await machine.k8ts("kubectl", "config", "view", "--minify", "-o", "jsonpath={..namespace}")).stdout, "kube-system");
  match((await machine.k8ts("status")).stdout, / node: +node-0 Ready/);
});
