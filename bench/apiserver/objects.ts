/** Objects as clients send them: a Pod of about 2 KB as a controller would create it, a ConfigMap of 1 KB. */
import type { Transport } from "../../src/api/machinery/transport.ts";

const ACCOUNT = "web";

/** Service account of the Pods: it must exist before them. */
export async function createAccount(transport: Transport): Promise<void> {
  const object = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: ACCOUNT, namespace: "default" } };
  await transport.request({ verb: "create", group: "", version: "v1", plural: "serviceaccounts", namespace: "default", object });
}

export function podManifest(name: string, node = ""): object {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name,
      labels: { app: "web", "pod-template-hash": "5d78c9869d", tier: "front" },
      annotations: { "example.com/checked": "2026-01-02T03:04:05Z", "example.com/owner": "team-a" },
      ownerReferences: [
        {
          apiVersion: "apps/v1",
          kind: "ReplicaSet",
          name: "web-5d78c9869d",
          uid: "0f3a6c1e-5a3b-4a7c-9d0e-2b8f6f1c7d55",
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      ...(node === "" ? {} : { nodeName: node }),
      containers: [
        {
          name: "web",
          image: "registry.example.com/team-a/web:1.27.3",
          args: ["--listen=:8080", "--log=json"],
          ports: [
            { name: "http", containerPort: 8080 },
            { name: "metrics", containerPort: 9090 },
          ],
          env: [
            { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
            { name: "LEVEL", value: "info" },
            { name: "TOKEN", valueFrom: { secretKeyRef: { name: "web", key: "token" } } },
          ],
          resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: "500m", memory: "256Mi" } },
          readinessProbe: { httpGet: { path: "/ready", port: "http" }, periodSeconds: 5 },
          livenessProbe: { httpGet: { path: "/live", port: "http" }, initialDelaySeconds: 10 },
          volumeMounts: [
            { name: "config", mountPath: "/etc/web", readOnly: true },
            { name: "tmp", mountPath: "/tmp" },
          ],
          securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
        },
      ],
      volumes: [
        { name: "config", configMap: { name: "web" } },
        { name: "tmp", emptyDir: {} },
      ],
      serviceAccountName: ACCOUNT,
      tolerations: [{ key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 }],
    },
  };
}

export function configMapManifest(name: string): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: { app: "web" } }, data: { "config.yaml": "x".repeat(900) } };
}

/** A status as a kubelet reports it; `round` makes each report different. */
export function podStatus(round: number): object {
  const time = new Date(Date.UTC(2026, 0, 1, 0, 0, round % 60, 0)).toISOString().replace(".000Z", "Z");
  const condition = (type: string) => ({ type, status: "True", lastProbeTime: null, lastTransitionTime: time });
  return {
    phase: "Running",
    conditions: ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map(condition),
    hostIP: "10.0.0.1",
    podIP: "10.244.0.5",
    podIPs: [{ ip: "10.244.0.5" }],
    startTime: time,
    containerStatuses: [
      {
        name: "web",
        state: { running: { startedAt: time } },
        ready: true,
        restartCount: round,
        image: "registry.example.com/team-a/web:1.27.3",
        imageID: "registry.example.com/team-a/web@sha256:0000000000000000000000000000000000000000000000000000000000000000",
        containerID: "containerd://0000000000000000000000000000000000000000000000000000000000000000",
        started: true,
      },
    ],
    qosClass: "Burstable",
  };
}
