import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { once } from "node:events";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { K8tsMachine } from "../../testing/servers/k8ts-program.ts";

const OTHERS = "apiVersion: v1\nkind: Config\nclusters:\n- cluster: { server: https://prod }\n  name: prod\ncurrent-context: prod\n";

test("`k8ts reset` stops and deletes a cluster, and removes only its own context from the kubeconfig", async (context) => {
  const machine = await K8tsMachine.make(context);
  await mkdir(join(machine.root, "kube"));
  await writeFile(machine.kubeconfig, OTHERS);
  await machine.k8ts("up", "--detach", "--containers=false", "--listen", "127.0.0.1:0");
  match(await readFile(machine.kubeconfig, "utf8"), /current-context: k8ts\n/);

  const unsure = await machine.k8ts("reset");
  equal(unsure.exitCode, 1);
  match(unsure.stderr, /Cannot ask for confirmation to delete cluster "default" .*: standard input is not a terminal; confirm with --yes/);

  const { exitCode, stdout } = await machine.k8ts("reset", "--yes");

  equal(exitCode, 0);
  match(stdout, /stopped process \d+ [^]*Removed context "k8ts" from [^]*Deleted cluster "default"/);
  await rejects(stat(machine.home()), { code: "ENOENT" });
  const left = (await readFile(machine.kubeconfig, "utf8"))
    .replace("users: []\ncontexts: []\n", "")
    .replace("contexts: []\nusers: []\n", "");
  match(left, /name: prod\n/);
  match(left, /current-context: ""\n/);
  equal(left.includes("k8ts"), false);
  deepEqual((await machine.k8ts("reset", "--yes")).stdout, `Nothing to delete: there is no cluster in ${machine.home()}\n`);
});

test("a directory that is not a cluster's is rejected", async (context) => {
  const machine = await K8tsMachine.make(context);
  await writeFile(join(machine.root, "precious"), "x");
  const { exitCode, stderr } = await machine.k8ts("reset", "--yes", "--data-dir", machine.root);
  equal(exitCode, 1);
  match(stderr, /it is not the directory of a cluster/);
  equal(await readFile(join(machine.root, "precious"), "utf8"), "x");
});

test("a data directory without a home marker can be deleted, but not while another program uses it", async (context) => {
  const machine = await K8tsMachine.make(context);
  const directory = join(machine.root, "old");
  const { child } = await machine.start(["apiserver", "--data-dir", directory, "--secure-port", "0"], /KUBECONFIG/);
  const used = await machine.k8ts("reset", "--yes", "--data-dir", directory);
  match(used.stderr, /Cannot delete .*old: process \d+ .* holds its lock; stop that process first/);
  child.kill("SIGTERM");
  await once(child, "close");

  equal((await machine.k8ts("reset", "--yes", "--data-dir", directory)).exitCode, 0);
  await rejects(stat(directory), { code: "ENOENT" });
});
