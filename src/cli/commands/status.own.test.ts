import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { K8tsMachine } from "../../testing/servers/k8ts-program.ts";
import { needs, toolPath } from "../../testing/needs.ts";

test("`k8ts status` shows nodes and Pods of a running cluster, also as JSON, and exits with 3 if none runs", async (context) => {
  const machine = await K8tsMachine.make(context);
  const never = await machine.k8ts("status");
  deepEqual([never.exitCode, never.stdout.split("\n")[0]], [3, 'cluster "default": stopped']);
  match(
    never.stderr,
    /^There is no cluster in .*: start one with "k8ts up", or list the clusters of this machine with "k8ts status --all"\n$/,
  );

  await machine.start(["up", "--in-memory", "--containers=false", "--listen", "127.0.0.1:0", "--simulated-nodes", "1"]);

  const text = await machine.k8ts("status");
  equal(text.exitCode, 0);
  match(text.stdout, /^cluster "default": running\n[^]* node: +node-0 Ready[^]* pods: +none\n/);
  const json = await machine.k8ts("status", "-o", "json");
  const { state, api } = JSON.parse(json.stdout) as { state: string; api: { answers: boolean; nodes: object[] } };
  deepEqual([state, api.answers, api.nodes.length], ["running", true, 1]);
});

test("a stopped (SIGSTOP) server is shown as not responding", { timeout: 120_000 }, async (context) => {
  const machine = await K8tsMachine.make(context);
  const { child } = await machine.start(["up", "--in-memory", "--containers=false", "--listen", "127.0.0.1:0"]);
  child.kill("SIGSTOP");
  const { stdout, exitCode } = await machine.k8ts("status");
  child.kill("SIGCONT");
  equal(exitCode, 0);
  match(stdout, /API server: .*does not respond: no response within 5 s/);
});

for (const [what, text] of [
  ["empty", ""],
  ["half", '{"name":"default","pro'],
  ["garbage", "\0\0\0"],
] as const) {
  test(`a running cluster with a corrupt record is found, and stopped as k8ts up suggests (${what})`, async (context) => {
    const machine = await K8tsMachine.make(context);
    const words = ["up", "--in-memory", "--containers=false", "--listen", "127.0.0.1:0"];
    const { child, lines } = await machine.start(words);
    const closed = once(child, "close");
    await writeFile(join(machine.home(), "run", "cluster.json"), text);

    const { exitCode, stdout } = await machine.k8ts("status");
    equal(exitCode, 0);
    match(stdout, new RegExp(`^cluster "default": running\n[^]* process: +${child.pid}\n[^]*cluster.json is corrupt`));
    const json = JSON.parse((await machine.k8ts("status", "-o", "json")).stdout) as { state: string; process: { pid: number } };
    deepEqual([json.state, json.process.pid], ["running", child.pid]);
    const second = await machine.k8ts(...words, "--detach");
    match(
      second.stderr,
      new RegExp(`^Error: Cannot start cluster "default": it is already running as process ${child.pid}; "k8ts status" shows`),
    );

    const stopped = await machine.k8ts(...(what === "half" ? ["reset", "--yes"] : ["down"]));
    equal(stopped.exitCode, 0);
    match(stopped.stdout, new RegExp(`stopped process ${child.pid}`));
    deepEqual(await closed, [0, null]);
    match(lines.at(-1) ?? "", /stopped cluster/);
    equal((await machine.k8ts("status")).exitCode, 3);
  });
}

test("a killed cluster is shown as killed after a failed start, while it has leftovers", needs("tmpfs"), async (context) => {
  const machine = await K8tsMachine.make(context);
  const words = ["up", "--in-memory", "--listen", "127.0.0.1:0"];
  const { child } = await machine.start([...words, "--containers=false"]);
  child.kill("SIGKILL");
  await once(child, "close");
  // As a volume of a Pod that still runs.
  const volume = join(machine.home(), "kubelet", "volume");
  await mkdir(volume, { recursive: true });
  execFileSync(toolPath("tmpfs"), ["-t", "tmpfs", "none", volume]);
  const before = await machine.k8ts("status");
  match(before.stdout, /^cluster "default": stopped \(its process was killed;/);

  const endpoint = `unix://${machine.root}/no.sock`;
  equal((await machine.k8ts(...words, "--container-runtime-endpoint", endpoint)).exitCode, 1);

  deepEqual(await machine.k8ts("status"), before);
  match((await machine.k8ts("down")).stdout, /Cleaned up: 1 mount/);
  match((await machine.k8ts("status")).stdout, /^cluster "default": stopped\n/);
});

test("a killed cluster with a corrupt record is shown as killed", async (context) => {
  const machine = await K8tsMachine.make(context);
  const { child } = await machine.start(["up", "--in-memory", "--containers=false", "--listen", "127.0.0.1:0"]);
  child.kill("SIGKILL");
  await once(child, "close");
  await writeFile(join(machine.home(), "run", "cluster.json"), "");

  match((await machine.k8ts("status")).stdout, /^cluster "default": stopped \(its process was killed;/);
  equal((await machine.k8ts("down")).exitCode, 0);
  match((await machine.k8ts("status")).stdout, /^cluster "default": stopped\n/);
});

test("--all and a name are mutually exclusive", async (context) => {
  const machine = await K8tsMachine.make(context);
  const { exitCode, stderr } = await machine.k8ts("status", "--all", "--name", "a");
  equal(exitCode, 2);
  match(stderr, /^--all lists every cluster; leave out --name and --data-dir/);
});

/** An unused uid. */
const MALLORY = 61_234;
const asRoot = { skip: process.geteuid?.() === 0 ? false : "only root can give files to another user" };

/** A kubeconfig that runs a program, which leaves `trace`. */
function execKubeconfig(trace: string): string {
  const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "touch", args: [trace], interactiveMode: "Never" };
  return JSON.stringify({
    clusters: [{ name: "a", cluster: { server: "https://127.0.0.1:1" } }],
    users: [{ name: "a", user: { exec } }],
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    "current-context": "a",
  });
}

test("status --all ignores a cluster that another user has planted in the temporary directory", asRoot, async (context) => {
  const machine = await K8tsMachine.make(context);
  const { child } = await machine.start(["up", "--in-memory", "--containers=false", "--listen", "127.0.0.1:0"]);
  const temporary = join(machine.root, "tmp");
  await mkdir(temporary);
  await chmod(temporary, 0o1777);
  machine.environment["TMPDIR"] = temporary;
  const [planted, trace] = [join(temporary, "home"), join(machine.root, "trace")];
  const place = join(temporary, `k8ts-run-${process.getuid?.() ?? 0}`);
  const files: Readonly<Record<string, string>> = {
    [join(place, "12345678", "home")]: planted,
    [join(planted, "k8ts.json")]: '{"format":1,"name":"planted"}',
    [join(planted, "kubeconfig")]: execKubeconfig(trace),
    // As of a cluster that runs.
    [join(planted, "run", "cluster.json")]: (await readFile(join(machine.home(), "run", "cluster.json"), "utf8")).replaceAll(
      machine.home(),
      planted,
    ),
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(path, ".."), { recursive: true });
    await writeFile(path, text);
  }
  for (const path of [place, join(place, "12345678"), planted, join(planted, "run"), ...Object.keys(files)])
    await chown(path, MALLORY, MALLORY);

  const { exitCode, stdout, stderr } = await machine.k8ts("status", "--all");

  equal(exitCode, 0);
  match(stdout, new RegExp(`process: +${child.pid}`));
  equal(stdout.includes(planted), false);
  match(stderr, /^Ignored: Cannot trust .*k8ts-run-0: it is owned by user 61234; /m);
  await rejects(stat(trace), { code: "ENOENT" });
  match(
    (await machine.k8ts("status", "--data-dir", planted)).stderr,
    /^Error: Cannot trust .*: .* is owned by user 61234; run this as that user/,
  );
  match((await machine.k8ts("down", "--data-dir", planted)).stderr, /^Error: Cannot trust /);
  equal(child.exitCode, null);
});

test("`k8ts status` runs no program that the kubeconfig in the home names", async (context) => {
  const machine = await K8tsMachine.make(context);
  await machine.start(["up", "--in-memory", "--containers=false", "--listen", "127.0.0.1:0"]);
  const trace = join(machine.root, "trace");
  await writeFile(join(machine.home(), "kubeconfig"), execKubeconfig(trace));

  const { exitCode, stdout } = await machine.k8ts("status");

  equal(exitCode, 0);
  match(stdout, /does not respond: Cannot use .*kubeconfig: it contains "exec", which k8ts does not write; restart the cluster/);
  await rejects(stat(trace), { code: "ENOENT" });
});
