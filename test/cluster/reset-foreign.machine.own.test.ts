/** `k8ts reset` of a cluster whose containers ran in an external runtime, which stays. */
import { deepEqual, equal } from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { realClock } from "../../src/host/real-clock.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { openCriRuntime } from "../../src/kubelet/runtime/cri/cri-runtime.ts";
import { clientProgram } from "../../src/testing/clients/client-program.ts";
import { startTestContainerd } from "../../src/testing/servers/containerd-server.ts";
import { K8tsMachine } from "../../src/testing/servers/k8ts-program.ts";
import { needs, toolPath } from "../../src/testing/needs.ts";
import { aRealPod, REAL_CLUSTER_NEEDS, SLEEP } from "../../src/testing/servers/real-cluster.ts";
import { findHome } from "../../src/cluster/home/cluster-home.ts";
import { machineOwner } from "../../src/cluster/machine/container-paths.ts";

test(
  "k8ts down keeps finished containers in an external runtime, a start without containers stops running ones, and k8ts reset removes all",
  { ...needs(...REAL_CLUSTER_NEEDS) },
  async (t) => {
    await using containerd = await startTestContainerd();
    const { endpoint } = containerd;
    const machine = await K8tsMachine.make(t);
    const words = ["up", "--listen", "127.0.0.1:0", `--container-runtime-endpoint=${endpoint}`];
    await machine.start(words, /^Ctrl-C stops it$/);
    const home = await findHome({ directory: machine.home() }, {});
    const owner = machineOwner(home ?? { name: "", directory: "" });
    const { PATH = "" } = process.env;
    const kubectl = clientProgram({
      path: toolPath("kubectl"),
      environment: { PATH, HOME: machine.root, KUBECONFIG: machine.kubeconfig },
    });
    await kubectl("wait --for=create serviceaccount/default --timeout=60s");
    await kubectl("apply -f -", { input: aRealPod("kept", SLEEP) });
    await kubectl("wait --for=condition=Ready pod/kept --timeout=60s");
    const left = async (): Promise<unknown> => {
      await using runtime = await openCriRuntime({ endpoint, owner, clock: realClock, log: silentLogger });
      return (await runtime.list()).map(({ name, state, containers }) => [name, state, containers.map((one) => one.state.is)]);
    };

    equal((await machine.k8ts("down")).exitCode, 0);
    deepEqual(await left(), [["kept", "not-ready", ["exited"]]]);

    // Started without containers after a kill: no orphaned Pods may keep running in the external runtime.
    const again = await machine.start(words, /^Ctrl-C stops it$/);
    // The Ready condition may be from before the stop.
    await kubectl("wait --for=jsonpath={.status.containerStatuses[0].restartCount}=1 pod/kept --timeout=60s");
    await kubectl("wait --for=condition=Ready pod/kept --timeout=60s");
    again.child.kill("SIGKILL");
    await once(again.child, "close");
    const simulated = await machine.start(["up", "--listen", "127.0.0.1:0", "--simulated-nodes=1"], /^Ctrl-C stops it$/);
    equal(simulated.lines.includes("stopping 1 orphaned Pod of an earlier run"), true);
    equal(JSON.stringify(await left()).includes("running"), false);

    equal((await machine.k8ts("reset", "--yes")).exitCode, 0);
    deepEqual(await left(), []);
  },
);
