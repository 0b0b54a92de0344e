/** The metrics that docs/metrics.md lists are on the page of a cluster whose controllers and scheduler have worked. */
import { deepEqual } from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import type { Source } from "../../src/client/kubeconfig/connection-config.ts";
import { loadKubeconfig } from "../../src/client/kubeconfig/load-kubeconfig.ts";
import type { Cluster } from "../../src/embedded/cluster.ts";
import { startCluster } from "../../src/embedded/start-cluster.ts";
import { readWhole } from "../../src/host/files/files.ts";
import { ProxyMetrics } from "../../src/proxy/engine/proxy-metrics.ts";
import { prometheusText } from "../../src/base/metrics/prometheus-text.ts";
import { missingMetrics } from "../../src/testing/fixtures/documented-metrics.ts";

/** Something for every controller with metrics of its own. */
const MANIFESTS = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web }, annotations: { simulated.k8ts.dev/cpu: 250m } }
    spec: { containers: [{ name: web, image: "web:1", resources: { requests: { cpu: 500m } } }] }
---
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { selector: { app: web }, ports: [{ port: 80 }] }
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: web }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  maxReplicas: 2
  metrics: [{ type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 50 } } }]
---
apiVersion: batch/v1
kind: CronJob
metadata: { name: tick }
spec:
  schedule: "* * * * *"
  jobTemplate:
    spec:
      ttlSecondsAfterFinished: 10
      template:
        metadata: { annotations: { simulated.k8ts.dev/run-for: 1s } }
        spec: { restartPolicy: Never, containers: [{ name: c, image: i }] }
---
apiVersion: batch/v1
kind: Job
metadata: { name: indexed }
spec:
  completionMode: Indexed
  completions: 1
  podFailurePolicy: { rules: [{ action: Count, onExitCodes: { operator: In, values: [3] } }] }
  template:
    metadata: { annotations: { simulated.k8ts.dev/run-for: 1s, simulated.k8ts.dev/exit-code: "3" } }
    spec: { restartPolicy: Never, containers: [{ name: c, image: i }] }
---
apiVersion: batch/v1
kind: Job
metadata: { name: done }
spec:
  completionMode: Indexed
  completions: 1
  template:
    metadata: { annotations: { simulated.k8ts.dev/run-for: 1s } }
    spec: { restartPolicy: Never, containers: [{ name: c, image: i }] }
---
apiVersion: batch/v1
kind: Job
metadata: { name: elsewhere }
spec:
  managedBy: example.com/queue
  template: { spec: { restartPolicy: Never, containers: [{ name: c, image: i }] } }
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db }
spec:
  serviceName: db
  selector: { matchLabels: { app: db } }
  template:
    metadata: { labels: { app: db } }
    spec: { containers: [{ name: db, image: "db:1" }] }
---
apiVersion: v1
kind: PersistentVolume
metadata: { name: bound }
spec: { capacity: { storage: 1Gi }, accessModes: [ReadWriteOnce], csi: { driver: disks.example.com, volumeHandle: h1 } }
---
apiVersion: v1
kind: PersistentVolume
metadata: { name: free }
spec: { capacity: { storage: 1Gi }, accessModes: [ReadOnlyMany], hostPath: { path: /data } }
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: bound }
spec: { storageClassName: "", accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } }
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: waiting }
spec: { storageClassName: "", accessModes: [ReadWriteMany], resources: { requests: { storage: 1Gi } } }
---
apiVersion: v1
kind: Pod
metadata: { name: scratch }
spec:
  containers: [{ name: c, image: i }]
  volumes:
    - name: data
      ephemeral:
        volumeClaimTemplate: { spec: { accessModes: [ReadWriteOnce], resources: { requests: { storage: 1Gi } } } }
---
apiVersion: v1
kind: Pod
metadata: { name: attached }
spec:
  containers: [{ name: c, image: i }]
  volumes: [{ name: data, persistentVolumeClaim: { claimName: bound } }]
`;

async function pageOf(cluster: Cluster): Promise<string> {
  const environment = { environment: {}, readFile: readWhole, homeDirectory: "/" };
  const { authority, credentials } = await loadKubeconfig({ ...environment, path: cluster.kubeconfig });
  const pem = (source: Source | undefined): string => (source !== undefined && "text" in source ? source.text : "");
  const { certificate, key } = credentials?.certificate ?? {};
  const asked = request(`${cluster.url}/metrics`, { ca: pem(authority), cert: pem(certificate), key: pem(key) }).end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return text(answer);
}

test("a cluster has the documented metrics of API server, store, controllers, scheduler, clients and process", async () => {
  await using cluster = await startCluster({ nodes: 2, clock: "virtual", listen: true });
  await cluster.apply(MANIFESTS);
  await cluster.advance("2m");
  await cluster.nodes.stop(cluster.nodes.names()[1] ?? "");
  await cluster.advance("3m");

  const components = ["API server", "Store", "Controllers", "Clients", "Scheduler", "Every process"];
  deepEqual(missingMetrics(await pageOf(cluster), components), []);
});

test("the service proxy has the documented metrics", () => {
  const metrics = new ProxyMetrics();
  metrics.pending({ services: 1, slices: 1 });
  metrics.synced({ nowMs: 1, durationMs: 1, written: 1 });
  metrics.programmed(1);
  metrics.failed();

  deepEqual(missingMetrics(prometheusText(metrics.families()), ["Proxy"]), []);
});
