import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { statefulSets } from "../../src/api/apps/v1/stateful-set.ts";
import { persistentVolumeClaims } from "../../src/api/core/v1/persistent-volume-claim.ts";
import { persistentVolumes } from "../../src/api/core/v1/persistent-volume.ts";
import { pods } from "../../src/api/core/v1/pod.ts";
import type { StatefulSet } from "../../src/api/generated/apps/v1.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";

const DATABASE: StatefulSet = {
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name: "db", namespace: "default" },
  spec: {
    replicas: 3,
    serviceName: "db",
    persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete", whenScaled: "Retain" },
    selector: { matchLabels: { app: "db" } },
    template: {
      metadata: { labels: { app: "db" } },
      spec: { containers: [{ name: "main", image: "db", volumeMounts: [{ name: "data", mountPath: "/data" }] }] },
    },
    volumeClaimTemplates: [
      {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      },
    ] as never,
  },
};

test("a StatefulSet with claims runs on simulated nodes, its volumes stay with their nodes, and go with it", async () => {
  await using cluster = await startCluster({ nodes: 3, clock: "virtual" });
  const { client } = cluster;
  const placement = async () => {
    const { items } = await client.list(pods, { namespace: "default" });
    return items.map(({ metadata, spec, status }) => [metadata.name, spec?.nodeName, status?.phase]);
  };
  await client.create(statefulSets, DATABASE);
  await cluster.advance(60_000);

  const placed = await placement();
  const { items: claims } = await client.list(persistentVolumeClaims, { namespace: "default" });
  deepEqual(
    placed.map(([name, , phase]) => [name, phase]),
    [0, 1, 2].map((index) => [`db-${index}`, "Running"]),
  );
  deepEqual(
    claims.map(({ spec, status }) => [spec?.storageClassName, status?.phase, status?.capacity]),
    claims.map(() => ["standard", "Bound", { storage: "1Gi" }]),
  );

  await client.deleteCollection(pods, { namespace: "default" });
  await cluster.advance(120_000);
  deepEqual(await placement(), placed);

  await client.delete(statefulSets, { namespace: "default", name: "db" });
  await cluster.advance(120_000);
  equal((await client.list(persistentVolumes)).items.length, 0);
});
