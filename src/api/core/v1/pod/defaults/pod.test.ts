/** Defaults of Pods and templates. The expected values are those of upstream's own server, version 1.36. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { deepFreeze } from "../../../../../base/deep.ts";
import type { Pod, PodSpec, PodTemplateSpec } from "../../../../generated/core/v1.ts";
import type { JsonObject } from "../../../../machinery/object.ts";
import { defaultPod, defaultPodTemplate } from "./pod.ts";
import { sentPod, type PodParts } from "../testing/pods.ts";

const CONTAINER = { terminationMessagePath: "/dev/termination-log", terminationMessagePolicy: "File" };

test("a Pod with only an image gets all defaults", () => {
  const pod = defaultPod(sentPod({}));

  assert.deepEqual(pod.spec, {
    containers: [{ name: "web", image: "nginx", imagePullPolicy: "Always", ...CONTAINER }],
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
    enableServiceLinks: true,
  });
});

test("a template does not get the defaults that only Pods have", () => {
  const { spec } = sentPod({
    spec: { hostNetwork: true, terminationGracePeriodSeconds: -5 },
    container: { ports: [{ containerPort: 80 }], resources: { limits: { cpu: "1" } } },
  });

  const template = defaultPodTemplate({ spec: spec as PodSpec });

  assert.deepEqual(template.spec, {
    containers: [
      {
        name: "web",
        image: "nginx",
        imagePullPolicy: "Always",
        ports: [{ containerPort: 80, protocol: "TCP" }],
        resources: { limits: { cpu: "1" } },
        ...CONTAINER,
      },
    ],
    hostNetwork: true,
    restartPolicy: "Always",
    terminationGracePeriodSeconds: -5,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
  });
});

function specWith(parts: PodParts): JsonObject {
  return defaultPod(sentPod(parts)).spec as JsonObject;
}

function containerWith(container: JsonObject): JsonObject {
  return (specWith({ container })["containers"] as readonly JsonObject[])[0] ?? {};
}

const CONTAINER_ROWS: readonly (readonly [string, JsonObject, JsonObject])[] = [
  ["what is pinned is pulled once", { image: "nginx:1.29" }, { imagePullPolicy: "IfNotPresent" }],
  ["ports are TCP", { ports: [{ containerPort: 80 }] }, { ports: [{ containerPort: 80, protocol: "TCP" }] }],
  [
    "variables ask version 1, and need their files",
    {
      env: [
        { name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
        { name: "B", valueFrom: { fileKeyRef: { key: "k", path: "p", volumeName: "v" } } },
        { name: "C", value: "c" },
      ],
    },
    {
      env: [
        { name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name", apiVersion: "v1" } } },
        { name: "B", valueFrom: { fileKeyRef: { key: "k", path: "p", volumeName: "v", optional: false } } },
        { name: "C", value: "c" },
      ],
    },
  ],
  [
    "probes ask every ten seconds",
    { livenessProbe: { httpGet: { port: 80 } }, startupProbe: { grpc: { port: 5 }, periodSeconds: 3 } },
    {
      livenessProbe: {
        httpGet: { port: 80, path: "/", scheme: "HTTP" },
        timeoutSeconds: 1,
        periodSeconds: 10,
        successThreshold: 1,
        failureThreshold: 3,
      },
      startupProbe: { grpc: { port: 5, service: "" }, periodSeconds: 3, timeoutSeconds: 1, successThreshold: 1, failureThreshold: 3 },
    },
  ],
  [
    "handlers ask for the root, and stop signals are dropped",
    { lifecycle: { stopSignal: "SIGTERM", postStart: { httpGet: { port: 80 } }, preStop: { sleep: { seconds: 1 } } } },
    { lifecycle: { postStart: { httpGet: { port: 80, path: "/", scheme: "HTTP" } }, preStop: { sleep: { seconds: 1 } } } },
  ],
  [
    "limits are requests where none exist, and amounts are rounded up to thousandths",
    { resources: { limits: { cpu: "1.5", memory: "1.5Gi" }, requests: { cpu: "500u" } } },
    { resources: { limits: { cpu: "1500m", memory: "1536Mi" }, requests: { cpu: "1m", memory: "1536Mi" } } },
  ],
];

for (const [title, given, expected] of CONTAINER_ROWS) {
  test(title, () => {
    assert.deepEqual(containerWith(given), { name: "web", image: "nginx", imagePullPolicy: "Always", ...CONTAINER, ...given, ...expected });
  });
}

const CLAIM_SPEC = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };

const VOLUME_ROWS: readonly (readonly [string, JsonObject, JsonObject])[] = [
  ["a volume without a source is an empty directory", {}, { emptyDir: {} }],
  ["files of secrets have a mode", { secret: { secretName: "x" } }, { secret: { secretName: "x", defaultMode: 420 } }],
  ["files of config maps have a mode", { configMap: { name: "x" } }, { configMap: { name: "x", defaultMode: 420 } }],
  ["a mode that is given stays", { configMap: { name: "x", defaultMode: 0 } }, { configMap: { name: "x", defaultMode: 0 } }],
  [
    "files about the pod have a mode and a version",
    { downwardAPI: { items: [{ path: "a", fieldRef: { fieldPath: "metadata.name" } }] } },
    { downwardAPI: { defaultMode: 420, items: [{ path: "a", fieldRef: { fieldPath: "metadata.name", apiVersion: "v1" } }] } },
  ],
  [
    "tokens live for an hour",
    { projected: { sources: [{ serviceAccountToken: { path: "t" } }] } },
    { projected: { defaultMode: 420, sources: [{ serviceAccountToken: { path: "t", expirationSeconds: 3600 } }] } },
  ],
  ["a path of the node is not checked", { hostPath: { path: "/x" } }, { hostPath: { path: "/x", type: "" } }],
  ["an image is pulled by its tag", { image: { reference: "nginx" } }, { image: { reference: "nginx", pullPolicy: "Always" } }],
  [
    "claims are of file systems",
    { ephemeral: { volumeClaimTemplate: { spec: CLAIM_SPEC } } },
    { ephemeral: { volumeClaimTemplate: { spec: { ...CLAIM_SPEC, volumeMode: "Filesystem" } } } },
  ],
  ["iSCSI has an interface", { iscsi: { iqn: "i" } }, { iscsi: { iqn: "i", iscsiInterface: "default" } }],
  ["RBD has a pool and a user", { rbd: { image: "i" } }, { rbd: { image: "i", pool: "rbd", user: "admin", keyring: "/etc/ceph/keyring" } }],
  [
    "disks of Azure are shared",
    { azureDisk: { diskName: "d" } },
    { azureDisk: { diskName: "d", cachingMode: "ReadWrite", fsType: "ext4", readOnly: false, kind: "Shared" } },
  ],
  ["ScaleIO is thin", { scaleIO: { system: "s" } }, { scaleIO: { system: "s", storageMode: "ThinProvisioned", fsType: "xfs" } }],
];

for (const [title, given, expected] of VOLUME_ROWS) {
  test(title, () => {
    assert.deepEqual(specWith({ spec: { volumes: [{ name: "v", ...given }] } })["volumes"], [{ name: "v", ...expected }]);
  });
}

test("serviceAccount and serviceAccountName are kept equal", () => {
  for (const given of [{ serviceAccount: "sa" }, { serviceAccountName: "sa" }, { serviceAccountName: "sa", serviceAccount: "old" }]) {
    const { serviceAccount, serviceAccountName } = specWith({ spec: given });
    assert.deepEqual({ serviceAccount, serviceAccountName }, { serviceAccount: "sa", serviceAccountName: "sa" });
  }
});

test("with hostNetwork, hostPort defaults to containerPort", () => {
  const spec = specWith({
    spec: { hostNetwork: true },
    container: { ports: [{ containerPort: 80 }, { containerPort: 81, hostPort: 8081 }] },
  });

  assert.deepEqual((spec["containers"] as readonly JsonObject[])[0]?.["ports"], [
    { containerPort: 80, hostPort: 80, protocol: "TCP" },
    { containerPort: 81, hostPort: 8081, protocol: "TCP" },
  ]);
});

test("Pod-level requests default to the sum of the containers' requests, then to the limits", () => {
  const spec = specWith({
    spec: {
      resources: { limits: { cpu: "4", memory: "4Gi" } },
      initContainers: [
        { name: "i", image: "x", resources: { requests: { cpu: "2" } } },
        { name: "s", image: "x", restartPolicy: "Always", resources: { requests: { cpu: "500m" } } },
      ],
    },
    container: { resources: { requests: { cpu: "1" } } },
  });

  assert.deepEqual(spec["resources"], { limits: { cpu: "4", memory: "4Gi" }, requests: { cpu: "2", memory: "4Gi" } });
});

test("a negative grace period becomes one second", () => {
  assert.equal(specWith({ spec: { terminationGracePeriodSeconds: -5 } })["terminationGracePeriodSeconds"], 1);
});

test("legacy annotations with init containers are dropped", () => {
  const annotations = { a: "b", "pod.beta.kubernetes.io/init-containers": "[]" };

  assert.deepEqual(defaultPod(sentPod({ metadata: { annotations } })).metadata.annotations, { a: "b" });
});

const ADDRESS_ROWS: readonly (readonly [JsonObject, JsonObject])[] = [
  [{}, {}],
  [{ podIP: "1.1.1.1" }, { podIP: "1.1.1.1", podIPs: [{ ip: "1.1.1.1" }] }],
  [{ podIPs: [{ ip: "1.1.1.1" }] }, { podIP: "1.1.1.1", podIPs: [{ ip: "1.1.1.1" }] }],
  [
    { podIP: "2.2.2.2", podIPs: [{ ip: "1.1.1.1" }, { ip: "fd00::1" }] },
    { podIP: "2.2.2.2", podIPs: [{ ip: "2.2.2.2" }] },
  ],
];

test("podIP is the first of podIPs, and wins where they differ", () => {
  for (const [given, expected] of ADDRESS_ROWS) assert.deepEqual(defaultPod(sentPod({ status: given })).status, expected);
});

test("a Pod with all defaults is returned unchanged, and no input is modified", () => {
  const given = deepFreeze(
    sentPod({
      spec: { volumes: [{ name: "v", configMap: { name: "x" } }], initContainers: [{ name: "i", image: "x" }], serviceAccount: "sa" },
      container: {
        ports: [{ containerPort: 80 }],
        env: [{ name: "A", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
        livenessProbe: { httpGet: { port: 80 } },
        lifecycle: { preStop: { httpGet: { port: 80 } } },
        resources: { limits: { cpu: "1" } },
      },
    }),
  );

  const pod: Pod = defaultPod(given);
  const template: PodTemplateSpec = defaultPodTemplate({ spec: given.spec as PodSpec });

  assert.equal(defaultPod(pod), pod);
  assert.equal(defaultPodTemplate(template), template);
});
