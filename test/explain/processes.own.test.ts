/** Causes and scheduling decisions of `k8ts up --processes`, where components reach the API server over HTTPS. */
import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import type { CauseList } from "../../src/explain/explain-api.ts";
import { clientProgram } from "../../src/testing/clients/client-program.ts";
import { aDeployment } from "../../src/testing/clients/manifests.ts";
import { needs, toolPath } from "../../src/testing/needs.ts";
import { K8tsMachine } from "../../src/testing/servers/k8ts-program.ts";

test(
  "with --processes, causes lead from an apply to the kubelet's status, and why has the scheduler's reasons",
  needs("kubectl"),
  async (t) => {
    const machine = await K8tsMachine.make(t);
    await machine.start(["up", "--processes", "--simulated-nodes", "1", "--listen", "127.0.0.1:0"]);
    const { kubeconfig, root } = machine;
    const environment = { PATH: process.env["PATH"] ?? "", HOME: root, TMPDIR: root, KUBECONFIG: kubeconfig };
    const kubectl = clientProgram({ path: toolPath("kubectl"), environment });

    await kubectl("apply -f -", { input: aDeployment("web") });
    await kubectl("rollout status deployment/web --timeout=110s");

    const { stdout: traced } = await machine.k8ts("trace", "deploy/web");
    for (const step of [
      /create deployments\.apps default\/web by kubernetes-admin/,
      /create replicasets\.apps default\/web-\w+ by deployment-controller/,
      /create pods default\/web-\S+ by replicaset-controller/,
      /create pods\/binding default\/web-\S+ by default-scheduler \(Scheduled\)/,
      /(patch|update) pods\/status default\/web-\S+ by kubelet/,
    ])
      match(traced, step);
    const { items } = JSON.parse(await kubectl("get --raw /debug/k8ts/causes?resource=replicasets.apps&verb=create")) as CauseList;
    deepEqual(items[0]?.stages?.authentication?.by, "service account token");
    equal(items[0]?.stages?.authorization?.by, "RBAC");

    await kubectl(
      'run huge --image=any --overrides={"spec":{"containers":[{"name":"huge","image":"any","resources":{"requests":{"cpu":"1000"}}}]}}',
    );
    await kubectl("wait --for=condition=PodScheduled=false pod/huge --timeout=110s");
    const { items: decisions } = JSON.parse(await kubectl("get --raw /debug/k8ts/decisions?pod=default/huge")) as {
      readonly items: readonly { readonly outcome: string }[];
    };
    equal(decisions[0]?.outcome, "unschedulable");
    const { stdout: why } = await machine.k8ts("why", "pod/huge", "--try=false");
    match(why, /not enough cpu: the Pod requests 1k?0*/);
  },
);
