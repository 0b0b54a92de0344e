/**
 * A CSI driver as a process on the node, without sidecar containers: its volume is provisioned, attached, mounted by a real container,
 * grown while it is used, kept over a kill of k8ts, and deleted by the driver in the end.
 */
import { deepEqual, equal } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { becomes } from "../../src/testing/becomes.ts";
import { aList } from "../../src/testing/clients/manifests.ts";
import { driverClaim, driverClasses, TEST_DRIVER } from "../../src/testing/csi/driver-pods.ts";
import { needs } from "../../src/testing/needs.ts";
import { aRealPod, REAL_CLUSTER_NEEDS, SLEEP, startRealCluster } from "../../src/testing/servers/real-cluster.ts";

const READY_WITHIN_MS = 200_000;

const OBJECTS = aList(
  {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    metadata: { name: TEST_DRIVER },
    spec: { attachRequired: true, fsGroupPolicy: "File" },
  },
  ...driverClasses(),
  driverClaim("data", { storageClassName: "fast-xfs" }),
  aRealPod("db", SLEEP, {
    container: { volumeMounts: [{ name: "v", mountPath: "/data" }] },
    securityContext: { fsGroup: 1234 },
    volumes: [{ name: "v", persistentVolumeClaim: { claimName: "data" } }],
  }),
);

/** Ends with SIGTERM. */
async function startDriver(directory: string, kubeletDirectory: string): Promise<AsyncDisposable> {
  const program = fileURLToPath(new URL("../../src/testing/csi/driver-program.js", import.meta.url));
  const flags = ["--directory", directory, "--registry", join(kubeletDirectory, "plugins_registry"), "--node", "test-node"];
  const child = spawn(process.execPath, [program, ...flags], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await once(child, "close");
    },
  };
}

test(
  "a CSI driver without sidecar containers serves a Pod from its claim to its deletion",
  { ...needs(...REAL_CLUSTER_NEEDS, "loop", "xfs") },
  async () => {
    await using cluster = await startRealCluster();
    const { kubectl } = cluster;
    const directory = join(cluster.directory, "csi-driver");
    await using _driver = await startDriver(directory, cluster.places.volumesDirectory ?? "");
    const field = (what: string, path: string) => kubectl(`get ${what} -o jsonpath={${path}}`).catch(() => "");
    await becomes(() => field("csinodes", ".items[*].spec.drivers[*].name"), TEST_DRIVER);
    await kubectl("wait --for=create serviceaccount/default", { timeoutMs: READY_WITHIN_MS });
    await kubectl("create -f -", { input: OBJECTS });
    await kubectl("wait --for=condition=Ready pod/db --timeout=180s", { timeoutMs: READY_WITHIN_MS });
    await kubectl("exec db -- sh -c 'echo acknowledged > /data/row'");
    equal(await field("volumeattachments", ".items[*].status.attached"), "true");

    await cluster.kill();
    await cluster.up();

    await becomes(() => kubectl("exec db -- cat /data/row").catch(() => ""), "acknowledged\n");
    await kubectl(`patch pvc data --patch '{"spec":{"resources":{"requests":{"storage":"400Mi"}}}}'`);
    await becomes(() => field("pvc data", ".status.capacity.storage"), "400Mi");
    await kubectl("delete pod/db pvc/data --timeout=180s", { timeoutMs: READY_WITHIN_MS });
    await becomes(() => field("pv,volumeattachments", ".items[*].metadata.name"), "");
    deepEqual(await readdir(join(directory, "volumes")), []);
  },
);
