import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pods } from "../../api/core/v1/pod.ts";
import { startTestApiServer, type TestApiServer } from "../../testing/servers/api-server.ts";
import { refused } from "../../testing/servers/refused-command.ts";
import { RunningCommand } from "../../testing/servers/running-command.ts";
import { observeCluster, until } from "../../testing/servers/observed-cluster.ts";
import { startSilentServer } from "../../testing/servers/silent-server.ts";
import { commandHelp } from "../framework/help.ts";
import { scheduler } from "./scheduler.ts";

function run(...argv: readonly string[]): RunningCommand {
  return new RunningCommand(scheduler, ...argv);
}

const PAGE = "--metrics-address=127.0.0.1:0";

async function get(url: string): Promise<string> {
  return (await fetch(url)).text();
}

/** The path of a file in the server's directory that says this. */
async function configFile({ directory }: TestApiServer, written: object): Promise<string> {
  const file = join(directory, "scheduler.yaml");
  const head = { apiVersion: "kubescheduler.config.k8s.io/v1", kind: "KubeSchedulerConfiguration" };
  await writeFile(file, JSON.stringify({ ...head, ...written }));
  return file;
}

async function leaseOf(server: TestApiServer, name: string, namespace = "kube-system"): Promise<Record<string, unknown> | undefined> {
  const { code, body } = await server.ask("GET", `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`);
  return code === 404 ? undefined : (JSON.parse(body) as { readonly spec: Record<string, unknown> }).spec;
}

async function post(server: TestApiServer, path: string, body: object): Promise<void> {
  const answer = await server.ask("POST", path, body);
  equal(answer.code, 201, answer.body);
}

/** Resolves when the Pod has one. */
async function nodeOf({ kubeconfig }: TestApiServer, name: string): Promise<string> {
  await using seen = await observeCluster(kubeconfig);
  const informer = seen.informers.of(pods);
  const node = () => informer.get({ namespace: "default", name })?.spec?.nodeName ?? "";
  await until(informer, () => node() !== "");
  return node();
}

test("the leader schedules Pods and explains its decisions, both instances serve metrics, and after a graceful stop the standby takes over immediately", async () => {
  await using server = await startTestApiServer();
  const one = run(`--kubeconfig=${server.kubeconfig}`, PAGE);
  await one.says("active as ");
  const other = run(`--kubeconfig=${server.kubeconfig}`, PAGE);
  match(await other.says("scheduler for "), new RegExp(`^${server.url}, leader election with kube-system/kube-scheduler as `));
  equal(await one.says("scheduling Pods of "), "default-scheduler");
  const [its, others] = [await one.says("metrics at "), await other.says("metrics at ")];
  const allocatable = { cpu: "1", memory: "1Gi", pods: "10" };
  await post(server, "/api/v1/nodes", {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n1" },
    status: { allocatable, capacity: allocatable },
  });
  await post(server, "/api/v1/namespaces/default/pods", {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p" },
    spec: { containers: [{ name: "c", image: "i" }], tolerations: [{ operator: "Exists" }] },
  });

  equal(await nodeOf(server, "p"), "n1");

  const decisions = (url: string, query: string) => fetch(url.replace("/metrics", `/debug/k8ts/decisions${query}`));
  const { items } = (await (await decisions(its, "?pod=default/p")).json()) as { readonly items: readonly Record<string, unknown>[] };
  deepEqual(
    items.map(({ outcome, nodeName, message }) => [outcome, nodeName, message]),
    [["placed", "n1", "Successfully assigned default/p to n1"]],
  );
  deepEqual(await (await decisions(its, "?pod=default/unknown")).json(), { items: [] });
  const refused = [await decisions(its, "?pod=p"), await decisions(its, ""), await decisions(others, "?pod=default/p")];
  deepEqual(await Promise.all(refused.map(async (answer) => `${answer.status} ${await answer.text()}`)), [
    '400 The parameter "pod" must be a namespace and a name, as in ?pod=default/web-0, is "p"\n',
    '400 The parameter "pod" must be a namespace and a name, as in ?pod=default/web-0, is missing\n',
    "503 This process is not the leader; query the current leader\n",
  ]);
  match(await get(its), /^scheduler_schedule_attempts_total\{result="scheduled",profile="default-scheduler"\} 1$/m);
  match(await get(its), /^leader_election_master_status\{name="kube-scheduler"\} 1$/m);
  match(await get(others), /^leader_election_master_status\{name="kube-scheduler"\} 0$/m);
  equal((await get(others)).includes("scheduler_"), false, "a standby instance schedules nothing");

  await one.stop();
  await other.says("active as ");
  deepEqual(one.lines.slice(-2), ["Stopping", "on standby"]);
  await rejects(fetch(its));
  await other.stop();
});

test("without leader election the scheduler does not mention it", async () => {
  await using server = await startTestApiServer();
  const one = run(`--kubeconfig=${server.kubeconfig}`, "--leader-elect=false", PAGE);
  await one.says("active as ");

  equal(await one.says("scheduler for "), server.url);
  equal((await get(await one.says("metrics at "))).includes("leader_election"), false);
  equal(await leaseOf(server, "kube-scheduler"), undefined);
  await one.stop();
});

test("leader election and kubeconfig are read from the file, unless a flag overrides them", async () => {
  await using server = await startTestApiServer();
  const config = await configFile(server, {
    leaderElection: { leaseDuration: "40s", renewDeadline: "30s", retryPeriod: "3s", resourceName: "mine", resourceNamespace: "default" },
    clientConnection: { kubeconfig: server.kubeconfig },
    profiles: [{ schedulerName: "mine" }, { schedulerName: "mine-too" }],
  });
  const one = run(`--config=${config}`, "--leader-elect-lease-duration=50s");
  await one.says("active as ");

  equal(await one.says("scheduling Pods of "), "mine, mine-too");
  equal((await leaseOf(server, "mine", "default"))?.["leaseDurationSeconds"], 50);
  equal(await leaseOf(server, "kube-scheduler"), undefined);
  await one.stop();

  const other = run(`--config=${config}`, "--leader-elect=false");
  await other.says("active as ");
  equal(await other.says("scheduler for "), server.url);
  await other.stop();
});

describe("all problems of a configuration file are reported before anything runs", () => {
  for (const [title, written, message] of [
    [
      "fields and names",
      { podInitialBackoffSeconds: -1, profiles: [{ schedulerName: "a" }, { schedulerName: "a" }] },
      /^UnusableFiles: Cannot use .*scheduler\.yaml:\n {2}profiles\[1\]\.schedulerName: Duplicate value: "a"\n {2}podInitialBackoffSeconds: Invalid value/,
    ],
    [
      "plugins that are not for a point",
      { profiles: [{ plugins: { score: { enabled: [{ name: "NodeName" }] } } }] },
      /^UnusableFiles: Cannot use .*scheduler\.yaml:\n {2}initializing profiles: .*NodeName/,
    ],
    [
      "times of the election, with those of the flags",
      { leaderElection: { leaseDuration: "20s" } },
      /^UnusableFiles: Cannot take part in leader election: --leader-elect-lease-duration must be greater than --leader-elect-renew-deadline \(20000\), is 20000 \(in ms\)$/,
    ],
  ] as const) {
    test(title, async () => {
      await using server = await startTestApiServer({ controllers: [] });
      const config = await configFile(server, written);
      await rejects(run(`--kubeconfig=${server.kubeconfig}`, `--config=${config}`, "--leader-elect-renew-deadline=20s").ended, message);
    });
  }

  test("a missing file", async () => {
    await rejects(
      run("--config=/none/scheduler.yaml").ended,
      /^UnusableFiles: Cannot read \/none\/scheduler\.yaml: the file does not exist; set --config to a readable file$/,
    );
  });

  test("together with problems of the flags and of other files", async () => {
    await using server = await startTestApiServer({ controllers: [] });
    const config = await configFile(server, { podInitialBackoffSeconds: -1 });

    const { exitCode, notes } = await refused(scheduler, "--frob", `--config=${config}`, "--kubeconfig=/none/kubeconfig");

    equal(exitCode, 2);
    deepEqual(notes, [
      'Unknown flag "--frob"',
      `Cannot use ${config}:\n  podInitialBackoffSeconds: Invalid value: -1: must be greater than 0`,
      "Cannot read /none/kubeconfig: the file does not exist; set --kubeconfig to a readable file",
      "k8ts it --help describes the flags",
    ]);
  });
});

describe("with an unresponsive API server", () => {
  for (const elects of [true, false]) {
    // Less than it waits for a connection.
    test(
      `k8ts scheduler waits and can be stopped, ${elects ? "with leader election" : "without leader election"}`,
      { timeout: 15_000 },
      async () => {
        await using silent = await startSilentServer();
        const one = run(`--kubeconfig=${silent.kubeconfig}`, `--leader-elect=${elects}`);
        await one.says("scheduler for ");

        await one.stop();

        equal(one.lines.at(-1), "Stopping");
      },
    );
  }
});

test("an address in use is reported before leader election starts", async () => {
  await using server = await startTestApiServer({ controllers: [] });
  await using taken = await startSilentServer();

  await rejects(
    run(`--kubeconfig=${server.kubeconfig}`, `--metrics-address=127.0.0.1:${taken.port}`).ended,
    new RegExp(
      `^Error: Cannot listen on 127\\.0\\.0\\.1:${taken.port}: process ${process.pid} \\(.*\\) already listens there; stop it, or choose another port with --metrics-address HOST:PORT`,
    ),
  );

  equal(await leaseOf(server, "kube-scheduler"), undefined);
});

test("all problems of the flags are reported at once", () => {
  const parsed = scheduler.parse(["--metrics-address=0.0.0.0:80", "--leader-elect-lease-duration=1s", "--frob", "x"], {});

  deepEqual(parsed.ok || parsed.problems, [
    '--metrics-address must be a loopback address such as 127.0.0.1:10257, is "0.0.0.0:80"',
    'Unknown flag "--frob"',
    'Unexpected argument "x"',
    "--leader-elect-lease-duration must be greater than --leader-elect-renew-deadline (10000), is 1000 (in ms)",
  ]);
  ok(scheduler.parse(["--leader-elect=false", "--leader-elect-lease-duration=1s"], {}).ok, "times of no election do not matter");
});

test("the help lists the possible settings", () => {
  const help = commandHelp("scheduler", scheduler).join(" ");
  for (const word of ["--config FILE", "--metrics-address HOST:PORT", "--leader-elect", "kube-scheduler"]) ok(help.includes(word), word);
});
