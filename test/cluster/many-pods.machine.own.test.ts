/**
 * A hundred real Pods are created and deleted in waves, with volumes and probes: afterwards the machine has exactly what it had before the
 * first of them. Counted are processes, mounts, namespaces, links, rules, control groups, addresses and directories.
 */
import { deepEqual, equal, ok } from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { test } from "node:test";
import { realClock } from "../../src/host/real-clock.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { aConfigMap, aDeployment } from "../../src/testing/clients/manifests.ts";
import { needs } from "../../src/testing/needs.ts";
import { rounds } from "../../src/testing/rounds.ts";
import { aRealContainer, REAL_CLUSTER_NEEDS, SLEEP, startRealCluster, type RealCluster } from "../../src/testing/servers/real-cluster.ts";

const PODS_AT_ONCE = 25;
/** A busy machine takes its time for so many. */
const WAVE_TIMEOUT_SECONDS = 200;
const WAVE_TIMEOUT_MS = (WAVE_TIMEOUT_SECONDS + 10) * 1_000;
const GONE_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 100;

/** Everything of Pods in the cluster's own directory. */
async function directories({ directory }: RealCluster): Promise<readonly string[]> {
  const home = `${directory}/data/k8ts/default`;
  const places = [`${home}/kubelet/pods`, `${home}/logs/pods`];
  const entries = await Promise.all(places.map((place) => readdir(place).catch(() => [])));
  return entries.flatMap((names, index) => names.map((name) => `${places[index]}/${name}`));
}

async function wave(kubectl: ClientProgram, pods: number, atTop: () => Promise<void> = () => Promise.resolve()): Promise<void> {
  await kubectl(`scale deployment/wave --replicas=${pods}`);
  await kubectl(`rollout status deployment/wave --timeout=${WAVE_TIMEOUT_SECONDS}s`, { timeoutMs: WAVE_TIMEOUT_MS });
  await atTop();
  await kubectl("scale deployment/wave --replicas=0");
  await kubectl(`wait --for=delete pods -l app=wave --timeout=${WAVE_TIMEOUT_SECONDS}s`, { timeoutMs: WAVE_TIMEOUT_MS });
}

/** Returns what was not there before. The last of it is removed shortly after the API objects, without an event. */
async function left(look: () => Promise<readonly string[]>, before: readonly string[]): Promise<readonly string[]> {
  const untilMs = performance.now() + GONE_WITHIN_MS;
  for (;;) {
    const more = (await look()).filter((one) => !before.includes(one));
    if (more.length === 0 || performance.now() > untilMs) return more;
    await realClock.sleep(LOOK_EVERY_MS);
  }
}

test("a hundred Pods leave nothing behind on the machine", { ...needs(...REAL_CLUSTER_NEEDS) }, async () => {
  await using cluster = await startRealCluster();
  const kubectl = await cluster.inNamespace("waves");
  await kubectl("apply -f -", { input: aConfigMap("settings", { colour: "red" }) });
  const container = aRealContainer("main", SLEEP, {
    volumeMounts: [
      { name: "settings", mountPath: "/settings" },
      { name: "memory", mountPath: "/memory" },
    ],
    readinessProbe: { exec: { command: ["test", "-f", "/settings/colour"] }, periodSeconds: 1, timeoutSeconds: 20 },
    resources: { limits: { memory: "16Mi" } },
  });
  const volumes = [
    { name: "settings", configMap: { name: "settings" } },
    { name: "memory", emptyDir: { medium: "Memory" } },
  ];
  const deployment = aDeployment("wave", { replicas: 0 });
  const template = { metadata: { labels: { app: "wave" } }, spec: { containers: [container], volumes } };
  await kubectl("apply -f -", { input: { ...deployment, spec: { ...(deployment["spec"] as object), template } } });
  // The bridge and some control groups are created with the first Pod and removed with the cluster.
  await wave(kubectl, 1);
  const [before, filesBefore] = [await cluster.onMachine(), await directories(cluster)];

  for (let count = 0; count < rounds({ quick: 4, full: 20 }); count++)
    await wave(kubectl, PODS_AT_ONCE, async () => ok((await cluster.onMachine()).length > before.length + 4 * PODS_AT_ONCE));

  deepEqual(await left(() => cluster.onMachine(), before), []);
  deepEqual(await left(() => directories(cluster), filesBefore), []);
  equal(await kubectl("get pods -o name"), "");
});
