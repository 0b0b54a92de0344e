/**
 * Fifty real Pods (200 with --torture) with ten volumes each are created and deleted in waves: afterwards the machine has exactly what it
 * had before the first of them. Counted are processes, mounts, loop devices, namespaces, links, rules, control groups, addresses and
 * directories, also those of the volumes that are provisioned and deleted with each Pod.
 */
import { deepEqual, ok } from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { test } from "node:test";
import { realClock } from "../../src/host/real-clock.ts";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { aConfigMap, aDeployment, aList } from "../../src/testing/clients/manifests.ts";
import { needs } from "../../src/testing/needs.ts";
import { rounds } from "../../src/testing/rounds.ts";
import { aRealContainer, REAL_CLUSTER_NEEDS, SLEEP, startRealCluster, type RealCluster } from "../../src/testing/servers/real-cluster.ts";

const PODS_AT_ONCE = 25;
/** Per Pod on the machine: mounts of memory, of the image file, of both claims and of the part, its network, cgroup and processes. */
const MOUNTS_AT_LEAST = 8;
/** A busy machine takes its time for so many. */
const WAVE_TIMEOUT_SECONDS = 200;
const WAVE_TIMEOUT_MS = (WAVE_TIMEOUT_SECONDS + 10) * 1_000;
const GONE_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 100;

const LIMITED: JsonObject = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "limited" },
  provisioner: "k8ts.dev/local-path",
  parameters: { quota: "true" },
  volumeBindingMode: "WaitForFirstConsumer",
};

const NAME_FILE = { path: "name", fieldRef: { fieldPath: "metadata.name" } };

/** By name; with the token of the ServiceAccount eleven. That of class "limited" is an image file on a loop device. */
const VOLUMES: Readonly<Record<string, JsonObject>> = {
  settings: { configMap: { name: "settings" } },
  password: { secret: { secretName: "password" } },
  name: { downwardAPI: { items: [NAME_FILE] } },
  mixed: { projected: { sources: [{ configMap: { name: "settings" } }, { downwardAPI: { items: [NAME_FILE] } }] } },
  scratch: { emptyDir: {} },
  small: { emptyDir: { sizeLimit: "1Mi" } },
  memory: { emptyDir: { medium: "Memory" } },
  host: { hostPath: { path: "/etc", type: "Directory" } },
  directory: anEphemeralClaim({}),
  image: anEphemeralClaim({ storageClassName: "limited" }),
};

function anEphemeralClaim(more: JsonObject): JsonObject {
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "4Mi" } }, ...more };
  return { ephemeral: { volumeClaimTemplate: { spec } } };
}

/** Everything of Pods and volumes in the cluster's own directory. */
async function directories({ directory }: RealCluster): Promise<readonly string[]> {
  const home = `${directory}/data/k8ts/default`;
  const volumes = ["deleted", "devices", "directories", "images", "unconfirmed"].map((part) => `${home}/volumes/${part}`);
  const places = [`${home}/kubelet/pods`, `${home}/logs/pods`, ...volumes];
  const entries = await Promise.all(places.map((place) => readdir(place).catch(() => [])));
  return entries.flatMap((names, index) => names.map((name) => `${places[index]}/${name}`));
}

async function wave(kubectl: ClientProgram, pods: number, atTop: () => Promise<void> = () => Promise.resolve()): Promise<void> {
  await kubectl(`scale deployment/wave --replicas=${pods}`);
  await kubectl(`rollout status deployment/wave --timeout=${WAVE_TIMEOUT_SECONDS}s`, { timeoutMs: WAVE_TIMEOUT_MS });
  await atTop();
  await kubectl("scale deployment/wave --replicas=0");
  for (const gone of ["pods -l app=wave", "persistentvolumeclaims --all", "persistentvolumes --all"])
    await kubectl(`wait --for=delete ${gone} --timeout=${WAVE_TIMEOUT_SECONDS}s`, { timeoutMs: WAVE_TIMEOUT_MS });
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

test("Pods that come and go in waves leave nothing behind on the machine", { ...needs(...REAL_CLUSTER_NEEDS, "loop") }, async () => {
  await using cluster = await startRealCluster();
  const kubectl = await cluster.inNamespace("waves");
  const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "password" }, stringData: { password: "secret" } };
  await kubectl("apply -f -", { input: aList(LIMITED, aConfigMap("settings", { colour: "red" }), secret) });
  const names = Object.keys(VOLUMES);
  const isMounted = `test -f /volumes/settings/colour && echo 1 > /volumes/image/row && echo 1 > /volumes/directory/row`;
  const container = aRealContainer("main", SLEEP, {
    volumeMounts: [
      ...names.map((name) => ({ name, mountPath: `/volumes/${name}`, readOnly: name === "host" })),
      { name: "scratch", mountPath: "/part", subPath: "part" },
    ],
    readinessProbe: { exec: { command: ["sh", "-c", isMounted] }, periodSeconds: 1, timeoutSeconds: 20 },
    resources: { limits: { memory: "16Mi" } },
  });
  const volumes = names.map((name) => ({ name, ...VOLUMES[name] }));
  const deployment = aDeployment("wave", { replicas: 0 });
  const template = { metadata: { labels: { app: "wave" } }, spec: { containers: [container], volumes } };
  await kubectl("apply -f -", { input: { ...deployment, spec: { ...(deployment["spec"] as object), template } } });
  // The bridge and some control groups are created with the first Pod and removed with the cluster.
  await wave(kubectl, 1);
  const [before, filesBefore] = [await cluster.onMachine(), await directories(cluster)];

  for (let count = 0; count < rounds({ quick: 2, full: 8 }); count++)
    await wave(kubectl, PODS_AT_ONCE, async () => ok((await cluster.onMachine()).length > before.length + MOUNTS_AT_LEAST * PODS_AT_ONCE));

  deepEqual(await left(() => cluster.onMachine(), before), []);
  deepEqual(await left(() => directories(cluster), filesBefore), []);
  // A PersistentVolume is removed after its files.
  const objects = async () => (await kubectl("get pods,persistentvolumeclaims,persistentvolumes -o name")).split("\n").filter(Boolean);
  deepEqual(await left(objects, []), []);
});
