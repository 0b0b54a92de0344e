/** `k8ts up --read-workers`: kubectl works through a worker as it does without, also where connections are upgraded. */
import { deepEqual, equal, match } from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { findProcesses } from "../../src/host/processes/process-table.ts";
import { clientProgram } from "../../src/testing/clients/client-program.ts";
import { aDeployment } from "../../src/testing/clients/manifests.ts";
import { K8tsMachine } from "../../src/testing/servers/k8ts-program.ts";
import { needs, toolPath } from "../../src/testing/needs.ts";

const TEMPLATE = {
  metadata: { labels: { app: "web" }, annotations: { "simulated.k8ts.dev/logs": "up\n", "simulated.k8ts.dev/exec": '{ "*": "done\\n" }' } },
  spec: { containers: [{ name: "web", image: "example/web:1" }] },
};

for (const words of [[], ["--in-memory"], ["--processes"]]) {
  test(
    `k8ts up ${["--read-workers 1", ...words].join(" ")} serves rollouts, logs, exec, wait and the dashboard`,
    { ...needs("kubectl") },
    async (context) => {
      const machine = await K8tsMachine.make(context);
      const flags = ["--simulated-nodes", "1", "--read-workers", "1", "--listen", "127.0.0.1:0", ...words];
      const { child } = await machine.start(["up", ...flags]);
      const environment = { PATH: process.env["PATH"] ?? "", HOME: machine.root, TMPDIR: machine.root, KUBECONFIG: machine.kubeconfig };
      const kubectl = clientProgram({ path: toolPath("kubectl"), environment });

      await kubectl("apply -f -", { input: aDeployment("web", { replicas: 2, template: TEMPLATE }) });
      await kubectl("rollout status deployment/web --timeout=110s");
      equal(await kubectl("logs deployment/web"), "up\n");
      equal(await kubectl("exec deployment/web -- anything"), "done\n");
      match(await kubectl("top nodes"), /^NAME /);
      match(await kubectl("get --raw /dashboard/"), /<!doctype html>/i);
      await kubectl("delete deployment web");
      await kubectl("wait pod --for=delete -l app=web --timeout=110s");

      child.kill("SIGINT");
      deepEqual(await once(child, "close"), [0, null]);
      const mine = (commandLine: readonly string[]) => commandLine.some((word) => word.includes(machine.root));
      deepEqual(await findProcesses(mine), []);
    },
  );
}
