import { deepEqual, equal, match } from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import type { Pod } from "../api/generated/core/v1.ts";
import type { Source } from "../client/kubeconfig/connection-config.ts";
import { loadKubeconfig } from "../client/kubeconfig/load-kubeconfig.ts";
import { all } from "../controllers/all.ts";
import { readWhole } from "../host/files/files.ts";
import { silentLogger } from "../base/logger.ts";
import { realClock } from "../host/real-clock.ts";
import { realRandom } from "../host/real-random.ts";
import { CONTROLLER_MANAGER_LEASE, startLeaderElectedControllers } from "../components/leader-election/leader-elected-controllers.ts";
import type { Cluster } from "./cluster.ts";
import { startCluster } from "./start-cluster.ts";

const RUNNING = all({ rootCa: "" }).length;

test("without options a cluster starts in memory and reports its components", async () => {
  await using cluster = await startCluster();
  deepEqual(cluster.parts, [
    { name: "store", description: "in memory, lost when this process exits" },
    { name: "API server", description: "in this process, without a port" },
    { name: "controllers", description: `${RUNNING} running` },
    { name: "scheduler", description: "default-scheduler" },
    { name: "nodes", description: "1 simulated" },
  ]);
});

test("closing is idempotent, and several clusters run side by side", async () => {
  const [a, b] = await Promise.all([startCluster(), startCluster()]);
  await Promise.all([a.close(), a.close()]);
  await a.close();
  await b.close();
});

test("a program in the same process uses the API without a socket", async () => {
  await using cluster = await startCluster();
  const transport = cluster.transport({ userAgent: "a-test" });

  const made = await transport.request({
    ...{ verb: "create", group: "", version: "v1", plural: "configmaps", namespace: "default" },
    object: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { key: "value" } },
  });

  const read = await transport.request({ verb: "get", group: "", version: "v1", plural: "configmaps", namespace: "default", name: "a" });
  equal(made.is === "object" && made.created, true);
  equal(read.is === "object" && made.is === "object" && read.object === made.object, true, "it is the same object, not a copy");
});

test("the API server's metrics include those of the controllers in the same process", async () => {
  await using cluster = await startCluster({ controllers: ["deployment-controller"], listen: true });
  const metrics = await read(cluster, "/metrics");

  match(metrics, /^workqueue_depth\{name="deployment-controller"\} 0$/m);
  match(metrics, /^apiserver_request_total\{/m);
});

test("the API server serves the scheduling decisions of the scheduler in the same process", async () => {
  await using cluster = await startCluster({ listen: true });
  await cluster.apply({
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "huge" } },
    spec: { containers: [{ name: "a", image: "a", resources: { requests: { cpu: "1000" } } }] },
  });
  await cluster.until<Pod>("pod/huge", (pod) => pod?.status?.conditions?.some(({ reason }) => reason === "Unschedulable") === true);

  const { items } = JSON.parse(await read(cluster, "/debug/k8ts/decisions?pod=default/huge")) as { items: { outcome: string }[] };
  equal(items[0]?.outcome, "unschedulable");
  match(await read(cluster, "/debug/k8ts/decisions"), /The parameter \\"pod\\" must be a namespace and a name.*"code":400/);
});

test("an API server without a scheduler reports where the decisions are", async () => {
  await using cluster = await startCluster({ listen: true, scheduler: false });
  match(await read(cluster, "/debug/k8ts/decisions?pod=default/a"), /No active scheduler is connected to this API server.*"code":503/);
});

/** As the administrator, with what the kubeconfig says. */
async function read(cluster: Cluster, path: string): Promise<string> {
  const config = await loadKubeconfig({ environment: {}, readFile: readWhole, homeDirectory: "/", path: cluster.kubeconfig });
  const { certificate, key } = config.credentials?.certificate ?? {};
  const given = { ca: textOf(config.authority), cert: textOf(certificate), key: textOf(key), agent: false };
  const asked = request(`${cluster.url}${path}`, given);
  asked.end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return text(answer);
}

function textOf(source: Source | undefined): string {
  return source !== undefined && "text" in source ? source.text : "";
}

test("a separate controller manager is on standby while the cluster runs its controllers", async () => {
  await using cluster = await startCluster();
  await using beside = startLeaderElectedControllers({
    controllers: ["deployment"],
    settings: { rootCa: "" },
    transportFor: (identity) => cluster.transport({ userAgent: "beside", identity }),
    election: { lease: CONTROLLER_MANAGER_LEASE, identity: "beside" },
    clock: realClock,
    random: realRandom(),
    log: silentLogger,
  });

  await beside.otherLeaderObserved;

  equal(beside.isLeading(), false);
});
