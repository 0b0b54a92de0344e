import { deepEqual, equal, match } from "node:assert/strict";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { namedNetworkNamespace, ownNetworkNamespace } from "../../host/network/network-namespace.ts";
import { BUSYBOX_1, busyboxImage } from "../../testing/fixtures/busybox-image.ts";
import { becomes } from "../../testing/becomes.ts";
import { needs, toolPath } from "../../testing/needs.ts";
import { K8tsMachine } from "../../testing/servers/k8ts-program.ts";
import { REAL_CLUSTER_NEEDS } from "../../testing/servers/real-cluster.ts";

const CLUSTER = { name: `k8tj${process.pid}-c`, address: "192.0.2.1" };
const NODE = { name: `k8tj${process.pid}-n`, address: "192.0.2.2" };

/** Two machines on one network: namespaces of this run, connected by a veth pair. */
async function connectedNamespaces(context: TestContext): Promise<void> {
  const ip = (line: string) => ownNetworkNamespace.run("ip", line.split(" "));
  context.after(async () => {
    for (const { name } of [CLUSTER, NODE]) await ip(`netns delete ${name}`);
  });
  for (const { name } of [CLUSTER, NODE]) await ip(`netns add ${name}`);
  await ip(`link add eth0 netns ${CLUSTER.name} type veth peer name eth0 netns ${NODE.name}`);
  for (const { name, address } of [CLUSTER, NODE]) {
    await ip(`-n ${name} address add ${address}/24 dev eth0`);
    for (const link of ["lo", "eth0"]) await ip(`-n ${name} link set ${link} up`);
  }
}

async function links({ name }: { readonly name: string }): Promise<readonly string[]> {
  const shown = await namedNetworkNamespace(name).run("ip", ["-oneline", "link", "show"]);
  return shown.split("\n").flatMap((line) => /^\d+: ([^:@\s]+)/.exec(line)?.[1] ?? []);
}

/** Words, separated by NUL; "" if the process has ended. */
async function commandLine(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
}

function aPodOn(nodeName: string): object {
  const command = ["sh", "-c", "echo I run on $NODE; exec sleep 1000000"];
  const env = [{ name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web" },
    spec: { nodeName, terminationGracePeriodSeconds: 1, containers: [{ name: "web", image: BUSYBOX_1, command, env }] },
  };
}

/** The test does not depend on the free space of the machine. */
const NO_EVICTION = ["--eviction-hard=nodefs.available<0%", "--image-gc-high-threshold=100"];

test(
  "a machine joins with the printed command, runs Pods, survives a kill, continues without a token and leaves nothing behind",
  { ...needs(...REAL_CLUSTER_NEEDS) },
  async (context) => {
    await connectedNamespaces(context);
    const cluster = await K8tsMachine.make(context, { namespace: CLUSTER.name });
    const machine = await K8tsMachine.make(context, { namespace: NODE.name });
    cluster.environment["PATH"] = `${dirname(toolPath("kubectl"))}:${process.env["PATH"]}`;
    const succeeds = async (on: K8tsMachine, ...words: readonly string[]): Promise<string> => {
      const { exitCode, stdout, stderr } = await on.k8ts(...words);
      equal(exitCode, 0, `k8ts ${words.join(" ")}: ${stdout}${stderr}`);
      return stdout.trim();
    };
    const kubectl = (...words: readonly string[]): Promise<string> => succeeds(cluster, "kubectl", ...words);

    await cluster.start(["up", "--listen", `${CLUSTER.address}:6443`], /^Ctrl-C stops it$/);
    const command = await succeeds(cluster, "token", "create", "--ttl", "1h");
    match(command, /^k8ts join 192\.0\.2\.1:6443 --token \S+ --discovery-token-ca-cert-hash sha256:\w{64}$/);
    const started = await succeeds(machine, ...command.split(" ").slice(1), "--node-name", "worker", "--detach", ...NO_EVICTION);
    const pid = Number(/^Running in the background as process (\d+);/m.exec(started)?.[1]);
    const token = /--token (\S+)/.exec(command)?.[1] ?? "none";
    equal((await commandLine(pid)).includes(token), false);
    match(await commandLine(pid), /\0--token-file=-\0/);
    await kubectl("wait", "--for=condition=Ready", "node/worker", "--timeout=90s");
    match(
      await kubectl("get", "node", "worker", "-o", "jsonpath={.status.addresses[0].address} {.spec.podCIDR}"),
      /^192\.0\.2\.2 10\.\d+\.\d+\.0\/24$/,
    );

    const image = join(machine.root, "image.tar");
    await writeFile(image, busyboxImage(BUSYBOX_1));
    await succeeds(machine, "image", "load", image);
    const manifest = join(cluster.root, "pod.json");
    await writeFile(manifest, JSON.stringify(aPodOn("worker")));
    await kubectl("apply", "-f", manifest);
    await kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=90s");
    equal(await kubectl("logs", "web"), "I run on worker");
    equal(await kubectl("exec", "web", "--", "hostname"), "web");

    process.kill(pid, "SIGKILL");
    await becomes(() => commandLine(pid), "");
    const second = await machine.start(["join", ...NO_EVICTION], /^registered node worker /);
    equal(await kubectl("exec", "web", "--", "hostname"), "web");
    equal(await kubectl("get", "pod", "web", "-o", "jsonpath={.status.containerStatuses[0].restartCount}"), "0");
    match(
      await succeeds(machine, "status"),
      /^node "default": running\n(.*\n)* {2}API server: {2}https:\/\/192\.0\.2\.1:6443, of which this machine is a node\n/,
    );

    const exited = once(second.child, "exit");
    second.child.kill("SIGTERM");
    deepEqual(await exited, [0, null]);
    deepEqual((await links(NODE)).toSorted(), ["eth0", "lo"]);
    match(await succeeds(machine, "reset", "--yes"), /^(Nothing is running.*\n)?Deleted /);
    // Its containerd would outlive it.
    match(await succeeds(cluster, "reset", "--yes"), /^Deleted cluster/m);
  },
);
