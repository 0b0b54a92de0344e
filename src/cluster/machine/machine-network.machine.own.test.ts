/** The network of a cluster in a runtime that is not its own and had none, through the ends that cluster and runtime can come to. */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Disposables } from "../../base/disposables.ts";
import { silentLogger } from "../../base/logger.ts";
import { fileExists } from "../../host/files/files.ts";
import { deleteLink, iptables } from "../../host/network/network-links.ts";
import { realClock } from "../../host/real-clock.ts";
import { bridgeName, networkLeftovers, prepareNetwork, removeNetwork } from "../../kubelet/machine/network/bridge-network.ts";
import { cniFileName } from "../../kubelet/machine/network/cni-configuration.ts";
import { deletionOf } from "../../kubelet/machine/network/rule-arguments.ts";
import { openCriRuntime } from "../../kubelet/runtime/cri/cri-runtime.ts";
import { clientProgram, type ClientProgram } from "../../testing/clients/client-program.ts";
import { startTestContainerd, type TestContainerd } from "../../testing/servers/containerd-server.ts";
import { K8tsMachine } from "../../testing/servers/k8ts-program.ts";
import { needs, toolPath } from "../../testing/needs.ts";
import { aRealPod, REAL_CLUSTER_NEEDS, SLEEP } from "../../testing/servers/real-cluster.ts";
import { openHome } from "../home/cluster-home.ts";
import { silentSteps } from "../../cli/framework/progress.ts";
import { findRuntime } from "./prepare-machine.ts";
import { PRESSURE_DISABLED } from "../../kubelet/eviction/pressure-settings.ts";

const CNI_RESULTS = "/var/lib/cni/results";
/** Of the network itself four, for the API server one. */
const OWN_RULES = 5;

describe("in a foreign runtime without a network", { ...needs(...REAL_CLUSTER_NEEDS) }, () => {
  const ends = new Disposables();
  let containerd: TestContainerd;
  let machine: K8tsMachine;
  let kubectl: ClientProgram;
  let running: ChildProcess | undefined;
  let bridge = "";

  before(async () => {
    containerd = ends.use(await startTestContainerd({ hasNetwork: false }));
    machine = await K8tsMachine.make({ after: (end) => ends.defer(end) });
    bridge = bridgeName({ name: "default", directory: machine.home() });
    kubectl = clientProgram({
      path: toolPath("kubectl"),
      environment: { PATH: process.env["PATH"] ?? "", HOME: machine.root, KUBECONFIG: machine.kubeconfig },
    });
  });
  after(() => ends[Symbol.asyncDispose]());

  const words = () => ["up", "--listen", "127.0.0.1:0", `--container-runtime-endpoint=${containerd.endpoint}`];

  const isUp = () => running !== undefined && running.exitCode === null && running.signalCode === null;

  /** The runtime and the cluster, whichever of them does not run. */
  async function up(): Promise<void> {
    await containerd.restart();
    if (!isUp()) ({ child: running } = await machine.start(words(), /^Ctrl-C stops it$/));
  }

  async function runPod(name: string): Promise<void> {
    await kubectl("wait --for=create serviceaccount/default --timeout=60s");
    await kubectl("apply -f -", { input: aRealPod(name, SLEEP) });
    await kubectl(`wait --for=condition=Ready pod/${name} --timeout=60s`, { timeoutMs: 100_000 });
  }

  async function kill(): Promise<void> {
    if (running === undefined || !isUp()) return;
    running.kill("SIGKILL");
    await once(running, "close");
  }

  /** All that a cluster's network consists of while no Pod has an address, and all that its Pods have in the runtime. */
  async function there(network = bridge) {
    const { links, rules } = await networkLeftovers(network);
    return {
      files: (await readdir(containerd.cniConfigDirectory)).filter((name) => name.includes(network)),
      rules: rules.length,
      links: links.length,
      results: (await readdir(CNI_RESULTS).catch(() => [])).filter((name) => name.startsWith(`${network}-`)).length,
    };
  }

  async function podsInRuntime(): Promise<number> {
    await using runtime = await openCriRuntime({ endpoint: containerd.endpoint, owner: bridge, clock: realClock, log: silentLogger });
    return (await runtime.list()).length;
  }

  const NOTHING = { files: [], rules: 0, links: 0, results: 0 };

  test("`k8ts reset` removes the exited Pods of a stopped cluster, and nothing of its network remains", async () => {
    await up();
    await runPod("ended");
    equal((await machine.k8ts("down")).exitCode, 0);
    deepEqual([await there(), await podsInRuntime()], [NOTHING, 1]);

    const { exitCode, stdout, stderr } = await machine.k8ts("reset", "--yes");
    deepEqual([exitCode, stderr], [0, ""]);
    match(stdout, /^Deleted cluster "default"/m);
    deepEqual([await there(), await podsInRuntime()], [NOTHING, 0]);
    equal(await fileExists(machine.home()), false);
  });

  test("`k8ts down` removes the network configuration also if both were killed, and the next start creates it again", async () => {
    await up();
    await runPod("again");
    await kill();
    await containerd.kill();
    const { exitCode, stdout } = await machine.k8ts("down");
    equal(exitCode, 0);
    ok(stdout.includes(`its network configuration in ${containerd.cniConfigDirectory}\n`), stdout);
    deepEqual(await there(), NOTHING);

    await up();
    const { files, rules } = await there();
    deepEqual([files, rules], [[cniFileName(bridge)], OWN_RULES]);
    await kubectl("wait --for=jsonpath={.status.containerStatuses[0].restartCount}=1 pod/again --timeout=60s", { timeoutMs: 100_000 });
    await kubectl("wait --for=condition=Ready pod/again --timeout=60s", { timeoutMs: 100_000 });
  });

  test("a start after a power failure recreates the network", async () => {
    await up();
    await kill();
    await containerd.kill();
    const { links, rules } = await networkLeftovers(bridge);
    for (const { table, rule } of rules) await iptables("-t", table, ...deletionOf(rule));
    for (const link of links.toReversed()) await deleteLink(link);
    await containerd.restart();
    const { rules: none, files } = await there();
    deepEqual([files, none], [[cniFileName(bridge)], 0]);

    await up();
    equal((await there()).rules, OWN_RULES);
    await runPod("later");
  });

  test("another cluster is rejected with the reason while this one's network exists", async () => {
    await up();
    const { exitCode, stderr, stdout } = await machine.k8ts(...words(), "--detach", "--name", "second");
    equal(exitCode, 1, stdout);
    equal(
      stderr.trim(),
      `Error: Cannot use the container runtime at ${containerd.endpoint}: it can have only one Pod network, and has the Pod network of the ` +
        `cluster "default" in ` +
        `${machine.home()}; remove that with "k8ts down", or choose another endpoint`,
    );
  });

  test("another cluster with automatic runtime detection skips the runtime of this one", async () => {
    await up();
    await using held = await openHome({ directory: machine.home("second"), name: "second" }, {});
    const notes: string[] = [];
    const choice = await findRuntime({
      home: held.home,
      nodeName: "second",
      networkValues: {},
      pressure: PRESSURE_DISABLED,
      sockets: [containerd.endpoint.replace("unix://", "")],
      environment: process.env,
      steps: { ...silentSteps, note: (line) => void notes.push(line) },
      clock: realClock,
      log: silentLogger,
    });
    ok(choice.is === "there");
    await choice.stop?.();
    equal(choice.isOwn, true);
    deepEqual(notes, [
      `  not using the container runtime at ${containerd.endpoint}: it has the Pod network of the cluster "default" in ${machine.home()}`,
    ]);
  });

  test("`k8ts reset` of a killed cluster leaves neither its configuration nor anything else", async () => {
    await up();
    await kill();
    const { exitCode, stderr } = await machine.k8ts("reset", "--yes");
    deepEqual([exitCode, stderr], [0, ""]);
    deepEqual([await there(), await podsInRuntime()], [NOTHING, 0]);
  });

  test("a deleted cluster's network is removed, and its directory is not created again", async () => {
    const directory = join(machine.root, "gone");
    const gone = bridgeName({ name: "gone", directory });
    const addressDirectory = join(directory, "cni/addresses");
    const network = { bridge: gone, addressDirectory, configDirectory: containerd.cniConfigDirectory };
    ends.defer(() => removeNetwork(network));
    await prepareNetwork({ ...network, podCidr: "10.198.9.0/24" });
    await containerd.kill();
    await containerd.restart();

    await up();
    await runPod("first");
    deepEqual(await there(gone), NOTHING);
    deepEqual((await there()).rules, OWN_RULES);
    equal(await fileExists(join(addressDirectory, gone)), false);
  });

  test("`k8ts reset` also removes what `k8ts down` could not reach because the runtime was dead", async () => {
    await up();
    await runPod("unreached");
    await kill();
    await containerd.kill();
    equal((await machine.k8ts("down")).exitCode, 0);
    await containerd.restart();
    ok((await podsInRuntime()) > 0);

    const { exitCode, stderr } = await machine.k8ts("reset", "--yes");
    deepEqual([exitCode, stderr], [0, ""]);
    deepEqual([await there(), await podsInRuntime()], [NOTHING, 0]);
  });
});
