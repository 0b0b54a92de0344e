/** Pod templates with all families of fields of containers, with the hashes that upstream's ComputeHash (Kubernetes 1.36) returned for them. */
import { STORED, withContainer, withMemory, withSpec, type HashedTemplate } from "./hashed-template.ts";

export const CONTAINER_HASHES: readonly HashedTemplate[] = [
  { has: "nothing", hash: "85748b7f68", template: {} },
  { has: "defaults", hash: "5cd67d848b", template: STORED },
  { has: "a collision count of 0", hash: "745d6d4746", template: STORED, collisionCount: 0 },
  { has: "a collision count of 1", hash: "6dffc987f", template: STORED, collisionCount: 1 },
  { has: "a collision count of 70000", hash: "bd8dfd988", template: STORED, collisionCount: 70_000 },
  {
    has: "the label of a hash",
    hash: "d7676d7ff",
    template: { ...STORED, metadata: { labels: { app: "web", "pod-template-hash": "abc" } } },
  },
  {
    has: "many labels and annotations",
    hash: "556dd88996",
    template: {
      ...STORED,
      metadata: { labels: { "10": "x", "9": "y", b: "", a: "z", B: "2" }, annotations: { note: "Grüße 😀", "\u{ffee}": "1", "😀": "2" } },
    },
  },
  {
    has: "metadata of all kinds",
    hash: "79c5fbd8d6",
    template: {
      ...STORED,
      metadata: {
        name: "n",
        generateName: "g-",
        namespace: "default",
        uid: "u",
        generation: 7,
        creationTimestamp: "2026-01-02T03:04:05Z",
        finalizers: ["example.com/f"],
        ownerReferences: [{ apiVersion: "v1", kind: "Node", name: "n1", uid: "1", controller: true, blockOwnerDeletion: false }],
      },
    },
  },
  {
    has: "empty lists and maps",
    hash: "577b9d9bfb",
    template: { ...withSpec({ volumes: [], tolerations: [], nodeSelector: {} }), metadata: { labels: {} } },
  },
  {
    has: "a command",
    hash: "6d8bfd5894",
    template: withContainer({ command: ["sh", "-c", "a && b > c"], args: ["", "two words"], workingDir: "/w" }),
  },
  {
    has: "ports",
    hash: "58644cffb",
    template: withContainer({
      ports: [
        { name: "http", containerPort: 80, hostPort: 8080, hostIP: "192.0.2.1", protocol: "TCP" },
        { containerPort: 53, protocol: "UDP" },
      ],
    }),
  },
  {
    has: "environment variables",
    hash: "54bc5869d7",
    template: withContainer({
      env: [
        { name: "A", value: "1" },
        { name: "B" },
        { name: "C", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } },
        { name: "D", valueFrom: { resourceFieldRef: { containerName: "app", resource: "limits.cpu", divisor: "1m" } } },
        { name: "E", valueFrom: { resourceFieldRef: { resource: "limits.memory", divisor: "0" } } },
        { name: "F", valueFrom: { configMapKeyRef: { name: "c", key: "k", optional: true } } },
        { name: "G", valueFrom: { secretKeyRef: { name: "s", key: "k" } } },
        { name: "H", valueFrom: { fileKeyRef: { volumeName: "v", path: "p", key: "k", optional: false } } },
      ],
      envFrom: [{ prefix: "P_", configMapRef: { name: "c" } }, { secretRef: { name: "s", optional: true } }],
    }),
  },
  {
    has: "resources",
    hash: "8749b7dd8",
    template: withContainer({
      resources: {
        limits: { cpu: "2", memory: "1Gi", "ephemeral-storage": "10G", "example.com/gpu": "1" },
        requests: { cpu: "100m", memory: "64Mi" },
        claims: [{ name: "gpu", request: "one" }],
      },
      resizePolicy: [{ resourceName: "cpu", restartPolicy: "NotRequired" }],
    }),
  },
  {
    has: "quantities that Go keeps as written",
    hash: "66c59f64b6",
    template: withMemory("1", "250m", "12Mi", "1e3", "5G", "10u", "7n", "12E"),
  },
  {
    has: "quantities that Go does not keep",
    hash: "7cbc94d9d",
    template: withMemory("0", "1500m", "8Gi", "1000", "0.5", "1024Mi", "1.5Gi", "0.3Ki"),
  },
  {
    has: "large quantities",
    hash: "6d465cf65c",
    template: withMemory("100Ti", "1Pi", "7Ei", "9Ei", "123456789012345678901", "9999999999999999999k"),
  },
  {
    has: "Pod resources and overhead",
    hash: "686d699cb4",
    template: withSpec({
      resources: { limits: { cpu: "3" }, requests: {} },
      overhead: { cpu: "250m", memory: "120Mi" },
      runtimeClassName: "vm",
    }),
  },
  {
    has: "HTTP and TCP probes",
    hash: "75bf559545",
    template: withContainer({
      livenessProbe: {
        httpGet: { path: "/healthz", port: 8080, scheme: "HTTP", httpHeaders: [{ name: "X-A", value: "b" }] },
        initialDelaySeconds: 3,
        timeoutSeconds: 1,
        periodSeconds: 10,
        successThreshold: 1,
        failureThreshold: 3,
      },
      readinessProbe: { httpGet: { port: "http", host: "h", scheme: "HTTPS" }, terminationGracePeriodSeconds: 5 },
      startupProbe: { tcpSocket: { port: 80 } },
    }),
  },
  {
    has: "exec and gRPC probes",
    hash: "6c498d5cd7",
    template: withContainer({
      livenessProbe: { exec: { command: ["true"] } },
      readinessProbe: { grpc: { port: 90, service: "" } },
      startupProbe: { grpc: { port: 90 } },
    }),
  },
  {
    has: "lifecycle handlers",
    hash: "6c495cbf4",
    template: withContainer({
      lifecycle: { postStart: { exec: { command: ["a"] } }, preStop: { sleep: { seconds: 5 } }, stopSignal: "SIGUSR1" },
    }),
  },
  {
    has: "other lifecycle handlers",
    hash: "69f9b7bd9b",
    template: withContainer({ lifecycle: { postStart: { httpGet: { port: 80 } }, preStop: { tcpSocket: { port: "a" } } } }),
  },
  {
    has: "a container's security context",
    hash: "949685f68",
    template: withContainer({
      securityContext: {
        capabilities: { add: ["NET_ADMIN"], drop: ["ALL"] },
        privileged: false,
        runAsUser: 0,
        runAsGroup: 1000,
        runAsNonRoot: true,
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        procMount: "Default",
        seLinuxOptions: { user: "u", role: "r", type: "t", level: "l" },
        seccompProfile: { type: "Localhost", localhostProfile: "p.json" },
        appArmorProfile: { type: "RuntimeDefault" },
        windowsOptions: { gmsaCredentialSpecName: "g", gmsaCredentialSpec: "s", runAsUserName: "u", hostProcess: false },
      },
    }),
  },
  {
    has: "a Pod's security context",
    hash: "dc884fb",
    template: withSpec({
      securityContext: {
        runAsUser: 1,
        fsGroup: 2000,
        fsGroupChangePolicy: "OnRootMismatch",
        supplementalGroups: [1, 9007199254740991],
        supplementalGroupsPolicy: "Merge",
        sysctls: [{ name: "kernel.shm_rmid_forced", value: "0" }],
        seccompProfile: { type: "RuntimeDefault" },
        seLinuxChangePolicy: "MountOption",
      },
    }),
  },
  {
    has: "mounts and devices",
    hash: "847f76f9df",
    template: withContainer({
      volumeMounts: [
        { name: "a", mountPath: "/a", readOnly: true, recursiveReadOnly: "IfPossible", subPath: "s" },
        { name: "b", mountPath: "/b", mountPropagation: "HostToContainer", subPathExpr: "$(A)" },
      ],
      volumeDevices: [{ name: "d", devicePath: "/dev/x" }],
    }),
  },
  {
    has: "init containers",
    hash: "6d9fdc8bd8",
    template: withSpec({
      initContainers: [
        { name: "first", image: "i" },
        { name: "sidecar", image: "s", restartPolicy: "Always", stdin: true, stdinOnce: true, tty: true },
        { name: "rules", restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [1, 42] } }] },
      ],
    }),
  },
  {
    has: "an ephemeral container",
    hash: "67bdc6d8df",
    template: withSpec({ ephemeralContainers: [{ name: "debug", image: "d", targetContainerName: "app" }] }),
  },
];
