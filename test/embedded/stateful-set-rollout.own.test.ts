/** A StatefulSet in a whole cluster under virtual time: a rollout with a broken Pod, its repair, and a DaemonSet on a lost node. */
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { DaemonSet, StatefulSet } from "../../src/api/generated/apps/v1.ts";
import type { Pod } from "../../src/api/generated/core/v1.ts";
import { isGone, isReady, isRolledOut } from "../../src/embedded/conditions.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";

const labels = { app: "web" };

function aTemplate(image: string, annotations: Readonly<Record<string, string>> = {}) {
  return { metadata: { labels, annotations }, spec: { containers: [{ name: "web", image }] } };
}

const aSet = (kind: "StatefulSet" | "DaemonSet", template: object, spec: object = {}) => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name: "web" },
  spec: { selector: { matchLabels: labels }, template, ...spec },
});

const ORDERED = { replicas: 3, serviceName: "web" };
const BROKEN = aTemplate("web:broken", { "simulated.k8ts.dev/image-pull": "fail: no such image" });

test("a rollout with a broken Pod stops there for as long as the Pod exists, and completes after repair and deletion", async () => {
  await using cluster = await startCluster({ nodes: 2, clock: "virtual" });
  const images = async () => {
    const all = await Promise.all([0, 1, 2].map((ordinal) => cluster.get<Pod>(`pod/web-${ordinal}`)));
    return all.map(({ spec }) => spec?.containers[0]?.image);
  };
  await cluster.apply(aSet("StatefulSet", aTemplate("web:1"), ORDERED));
  await cluster.until("statefulset/web", isRolledOut);
  const { status: first } = await cluster.get<StatefulSet>("statefulset/web");

  await cluster.apply(aSet("StatefulSet", BROKEN, ORDERED));
  await cluster.advance("10m");
  deepEqual(await images(), ["web:1", "web:1", "web:broken"]);

  await cluster.apply(aSet("StatefulSet", aTemplate("web:1"), ORDERED));
  await cluster.advance("10m");
  deepEqual(await images(), ["web:1", "web:1", "web:broken"]);
  await cluster.delete("pod/web-2");
  await cluster.until("statefulset/web", isRolledOut);

  deepEqual(await images(), ["web:1", "web:1", "web:1"]);
  const { status: last } = await cluster.get<StatefulSet>("statefulset/web");
  deepEqual([last?.currentRevision, last?.updateRevision], [first?.updateRevision, first?.updateRevision]);
});

test("a DaemonSet keeps its Pod on a node that is lost, and it is ready again when the node returns", async () => {
  await using cluster = await startCluster({ nodes: 2, clock: "virtual" });
  await cluster.apply(aSet("DaemonSet", aTemplate("web:1")));
  await cluster.until("daemonset/web", isRolledOut);
  const { items } = await cluster.client.list<Pod>({
    kind: "Pod",
    plural: "pods",
    scope: "Namespaced",
    storage: { group: "", version: "v1" },
  });
  const counts = async () => {
    const { desiredNumberScheduled, numberMisscheduled } = (await cluster.get<DaemonSet>("daemonset/web")).status ?? {};
    return { desiredNumberScheduled, numberMisscheduled };
  };
  const name = items.find(({ spec }) => spec?.nodeName === "node-1")?.metadata.name ?? "";

  await cluster.nodes.stop("node-1");
  await cluster.advance("10m");
  equal(isReady(await cluster.get(`pod/${name}`)), false);
  // As upstream: the taint "unreachable" of effect NoSchedule is not tolerated, so no new Pod would be created there.
  deepEqual(await counts(), { desiredNumberScheduled: 1, numberMisscheduled: 1 });
  await cluster.nodes.start("node-1");
  await cluster.until(`pod/${name}`, isReady);
  await cluster.until<DaemonSet>("daemonset/web", (web) => web?.status?.desiredNumberScheduled === 2 && isRolledOut(web));

  deepEqual(await counts(), { desiredNumberScheduled: 2, numberMisscheduled: 0 });
});

test("a StatefulSet that is deleted takes its Pods and revisions along", async () => {
  await using cluster = await startCluster({ clock: "virtual" });
  await cluster.apply(aSet("StatefulSet", aTemplate("web:1"), ORDERED));
  await cluster.until("statefulset/web", isRolledOut);

  await cluster.delete("statefulset/web");
  for (const ordinal of [0, 1, 2]) await cluster.until(`pod/web-${ordinal}`, isGone);
  await cluster.until("controllerrevisions", (revisions) => revisions.length === 0);
});
