import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test, type TestContext } from "node:test";
import type { Node, NodeList, Pod } from "../../api/generated/core/v1.ts";
import { Disposables } from "../../base/disposables.ts";
import type { ClientProgram } from "../../testing/clients/client-program.ts";
import { startKubectlCluster, type KubectlCluster } from "../../testing/clients/kubectl-cluster.ts";
import { aDeployment, aPod } from "../../testing/clients/manifests.ts";
import { SIMULATED_VERSION } from "../../kubelet/runtime/simulated/simulated-runtime.ts";
import { needs } from "../../testing/needs.ts";
import { refused } from "../../testing/servers/refused-command.ts";
import { RunningCommand } from "../../testing/servers/running-command.ts";
import { startSilentServer } from "../../testing/servers/silent-server.ts";
import { simulatedNodes } from "./simulated-nodes.ts";

function run(...argv: readonly string[]): RunningCommand {
  return new RunningCommand(simulatedNodes, ...argv);
}

/** Resolves when it says so; whatever becomes of the test, it is stopped. */
async function runUntil(context: TestContext, says: string, ...argv: readonly string[]): Promise<RunningCommand> {
  const command = run(...argv);
  context.after(() => command.stop());
  await command.says(says);
  return command;
}

test("all problems of the flags are reported at once", async () => {
  const words = ["--count=0", "--name-prefix=No_", "--node-ip=here", "--tls-cert-file=/none/crt", "--client-ca-file=/none/ca", "--prot=1"];
  const { exitCode, notes } = await refused(simulatedNodes, ...words);

  equal(exitCode, 2);
  const reported = notes.join("\n");
  for (const expected of [
    /Unknown flag "--prot"; did you mean --port\?/,
    /--count must be an integer from 1 to 20000, is "0"/,
    /--name-prefix must be lower-case letters, digits, "-" and "\.", is "No_"/,
    /--node-ip must be an IP address such as 192\.0\.2\.10, is "here"/,
    /--tls-cert-file and --tls-private-key-file must be set together/,
    /Cannot read \/none\/ca: the file does not exist; .* --client-ca-file/,
  ])
    match(reported, expected);
});

for (const { length, count, max } of [
  { length: 260, count: 1, max: 62 },
  { length: 64, count: 1, max: 62 },
  { length: 62, count: 11, max: 61 },
]) {
  test(`a prefix of ${length} letters is rejected as too long for ${count} nodes before any request`, async () => {
    const { exitCode, notes } = await refused(simulatedNodes, `--count=${count}`, `--name-prefix=${"a".repeat(length)}`);

    equal(exitCode, 2);
    const expected = `--name-prefix must have at most ${max} characters \\(63 with the number: .* kubernetes\\.io/hostname\\), has ${length}`;
    match(notes.join("\n"), new RegExp(expected));
  });
}

test("the longest prefix that leaves enough characters for the numbers is accepted", () => {
  equal(simulatedNodes.parse([`--name-prefix=${"a".repeat(61)}`, "--count=100"], {}).ok, true);
});

for (const address of ["0.0.0.0", "::", "224.0.0.1"]) {
  test(`${address} is rejected as --node-ip and accepted as an address to listen on`, () => {
    const parsed = simulatedNodes.parse([`--node-ip=${address}`], {});

    match(parsed.ok ? "" : parsed.problems.join(), /^--node-ip must be a unicast IP address such as 192\.0\.2\.10 \(leave it out/);
    equal(simulatedNodes.parse([`--address=${address}`], {}).ok, true);
  });
}

test("an unreachable API server is awaited, and waiting can be cancelled", async (context) => {
  const silent = await startSilentServer();
  await silent[Symbol.asyncDispose]();
  const directory = await mkdtemp(join(tmpdir(), "k8ts-simulated-nodes-"));
  const kubeconfig = join(directory, "config");
  await writeFile(kubeconfig, JSON.stringify(kubeconfigFor({ server: `https://127.0.0.1:${silent.port}` }, { token: "t" })));

  const waiting = "waiting for the API server at ";
  const command = await runUntil(context, waiting, `--kubeconfig=${kubeconfig}`);

  match(await command.says(waiting), /^https:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED/);
  await command.stop();
  await rm(directory, { recursive: true });
});

function kubeconfigFor(cluster: object, user: object): object {
  const entry = (of: object) => [{ name: "a", ...of }];
  const contexts = entry({ context: { cluster: "a", user: "a" } });
  return { apiVersion: "v1", kind: "Config", "current-context": "a", clusters: entry({ cluster }), contexts, users: entry({ user }) };
}

describe("in a cluster without other nodes", { ...needs("kubectl") }, () => {
  let there: KubectlCluster;
  let kubectl: ClientProgram;
  let words: readonly string[];
  let cluster: Readonly<Record<string, string>>;
  let directory: string;
  const ends = new Disposables();

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "k8ts-simulated-nodes-"));
    ends.defer(() => rm(directory, { recursive: true }));
    there = ends.use(await startKubectlCluster({ nodes: 0 }));
    kubectl = await there.inNamespace("sim");
    const written = JSON.parse(await readFile(there.cluster.kubeconfig, "utf8")) as {
      readonly clusters: readonly [{ readonly cluster: Readonly<Record<string, string>> }];
    };
    cluster = written.clusters[0].cluster;
    const authority = join(directory, "ca.crt");
    await writeFile(authority, Buffer.from(cluster["certificate-authority-data"] ?? "", "base64"));
    words = [`--kubeconfig=${there.cluster.kubeconfig}`, "--node-ip=127.0.0.1", `--client-ca-file=${authority}`];
  });

  after(() => ends[Symbol.asyncDispose]());

  /** Resolves when the command is ready. */
  async function join3(context: TestContext): Promise<RunningCommand> {
    const names = "simulated nodes sim-0 to sim-2 registered with ";
    const command = await runUntil(context, names, ...words, "--count=3", "--name-prefix=sim-");
    match(await command.says(names), /, listening on port \d+$/);
    return command;
  }

  async function podNamed(name: string): Promise<Pod> {
    return JSON.parse(await kubectl(`get pod ${name} -o json`)) as Pod;
  }

  test("nodes become ready, Pods run on them, and the next start finds them unchanged", async (context) => {
    const command = await join3(context);
    await kubectl("wait --for=condition=Ready node --all --timeout=110s");
    const { items } = JSON.parse(await kubectl("get nodes -o json")) as NodeList;
    deepEqual(
      items.map(({ metadata, status }) => [metadata.name, status?.addresses]),
      [0, 1, 2].map((number) => [`sim-${number}`, [{ type: "InternalIP", address: "127.0.0.1" }]]),
    );

    await kubectl("apply -f -", { input: aDeployment("web", { replicas: 6 }) });
    await kubectl("rollout status deployment/web --timeout=110s");
    await kubectl("apply -f -", { input: CRASHED });
    await kubectl("wait --for=jsonpath={.status.containerStatuses[0].restartCount}=1 pod/crashed --timeout=110s");
    await kubectl("wait --for=condition=Ready pod/crashed --timeout=110s");
    const before = await podNamed("crashed");
    equal(await kubectl("logs crashed"), "listening\n");
    equal(await kubectl("logs crashed --previous"), "listening\n");
    equal(await kubectl("exec crashed -- cat /etc/hostname"), "web-0\n");
    match(await kubectl("logs deployment/web"), /^This container is simulated: /);

    await command.stop();
    const next = await join3(context);

    equal(await kubectl("exec crashed -- cat /etc/hostname"), "web-0\n");
    deepEqual((await podNamed("crashed")).status?.containerStatuses, before.status?.containerStatuses);
    await next.stop();
    deepEqual(next.lines.at(-1), "Stopping");
  });

  test("a log is followed, and unsupported operations on simulated Pods are rejected with a message", async (context) => {
    await join3(context);
    await kubectl("apply -f -", { input: CRASHED });
    await kubectl("wait --for=condition=Ready pod/crashed --timeout=110s");

    await using followed = kubectl.start("logs crashed -f");
    equal(await followed.line(), "listening");
    match(
      await kubectl.fails("attach crashed"),
      /cannot attach to container "main" in pod "crashed": it is simulated and has no process; use/,
    );
    match(
      await kubectl.fails("port-forward crashed 0:80"),
      /cannot forward ports of pod "crashed": it is simulated and has no listening sockets/,
    );
    match(await kubectl.fails("logs crashed -c other"), /container other is not valid for pod crashed/);
  });

  test("a user without the impersonation permission is rejected with the reason, and no other permission is needed", async (context) => {
    await kubectl("create serviceaccount looker");
    const token = (await kubectl("create token looker")).trim();
    const kubeconfig = join(directory, "looker");
    await writeFile(kubeconfig, JSON.stringify(kubeconfigFor(cluster, { token })));

    await rejects(run(`--kubeconfig=${kubeconfig}`).ended, /Cannot join node node-0: nodes is forbidden: .*; use the kubeconfig of an/);
    await kubectl("create clusterrole looker --verb=get,list,watch --resource=nodes,pods");
    await kubectl("create clusterrolebinding looker --clusterrole=looker --serviceaccount=sim:looker");
    await rejects(
      run(`--kubeconfig=${kubeconfig}`).ended,
      /Cannot join node node-0: users "system:node:node-0" is forbidden: .* cannot impersonate .*; use the kubeconfig of an administrator/,
    );

    await kubectl("create clusterrole actor --verb=impersonate --resource=users,groups");
    await kubectl("create clusterrolebinding actor --clusterrole=actor --serviceaccount=sim:looker");
    await runUntil(
      context,
      "simulated node acted-0 registered with ",
      `--kubeconfig=${kubeconfig}`,
      "--node-ip=127.0.0.1",
      "--name-prefix=acted-",
    );
    await kubectl("wait --for=condition=Ready node/acted-0 --timeout=110s");
  });

  test("while the server rejects the credentials, the waiting line says which kubeconfig to check", async (context) => {
    const kubeconfig = join(directory, "strange");
    const waiting = "waiting for the API server at ";
    await writeFile(kubeconfig, JSON.stringify(kubeconfigFor(cluster, { token: "unknown" })));
    const unknown = await runUntil(context, waiting, `--kubeconfig=${kubeconfig}`);
    match(
      await unknown.says(waiting),
      /: Unauthorized; check the credentials in the current context of .*strange: the server rejects them/,
    );
    await unknown.stop();

    const { "certificate-authority-data": _authority, ...withoutAuthority } = cluster;
    await writeFile(kubeconfig, JSON.stringify(kubeconfigFor(withoutAuthority, { token: "unknown" })));
    const untrusted = await runUntil(context, waiting, `--kubeconfig=${kubeconfig}`, "--context=a");
    match(await untrusted.says(waiting), /certificate.*; check the certificate authority in context "a" of .*strange: it did not sign/);
    await untrusted.stop();
  });

  test("a node reported by another runtime is taken over only with the flag for it", async (context) => {
    const real: Partial<Node> = { apiVersion: "v1", kind: "Node", metadata: { name: "real-1" } };
    await kubectl("apply -f -", { input: real });
    const nodeInfo = { containerRuntimeVersion: "containerd://1.7.0" };
    await kubectl(`patch node real-1 --subresource=status -p '${JSON.stringify({ status: { nodeInfo } })}'`);

    await rejects(
      run(...words, "--count=2", "--name-prefix=real-").ended,
      /Cannot join node real-1: the cluster has a node of this name that is not simulated; choose other names with --name-prefix, or/,
    );
    await runUntil(
      context,
      "simulated nodes real-0 to real-1 registered with ",
      ...words,
      "--count=2",
      "--name-prefix=real-",
      "--take-over",
    );
    equal(await kubectl(`get node real-1 -o jsonpath={.status.nodeInfo.containerRuntimeVersion}`), SIMULATED_VERSION);
  });

  test("a node that has not reported yet is joined, as upstream's kubelets do", async (context) => {
    await kubectl("apply -f -", { input: { apiVersion: "v1", kind: "Node", metadata: { name: "made-0", labels: { pool: "a" } } } });

    await runUntil(context, "simulated node made-0 registered with ", ...words, "--name-prefix=made-");

    equal(await kubectl("get node made-0 -o jsonpath={.metadata.labels.pool}"), "a");
  });
});

/** Its first container fails at once, the second stays. */
const CRASHED = (() => {
  const { metadata, ...pod } = aPod("crashed") as { readonly metadata: object };
  const annotations = {
    "simulated.k8ts.dev/fail-times": "1",
    "simulated.k8ts.dev/logs": "listening\n",
    "simulated.k8ts.dev/exec": '{ "cat /etc/hostname": "web-0\\n" }',
  };
  return { ...pod, metadata: { ...metadata, annotations } };
})();
