import { deepEqual, equal, ok } from "node:assert/strict";
import { test } from "node:test";
import type { ContainerRun, ContainerSecurity, SandboxRun } from "../../../contracts/container-run.ts";
import { mapOf } from "./common.ts";
import { containerMessage, sandboxMessage, signalNumber } from "./run.ts";
import { buildPod } from "../../../../api/testing/pod.ts";

const pod = buildPod({
  metadata: { name: "web", namespace: "shop", uid: "u1", labels: { app: "web" } },
  spec: { terminationGracePeriodSeconds: 7, containers: [] },
});

const security: ContainerSecurity = {
  namespaces: { network: "pod", pid: "target", ipc: "node", targetId: "c0" },
  runAsUser: 0,
  runAsGroup: 5,
  supplementalGroups: [1, 2],
  supplementalGroupsPolicy: "Strict",
  privileged: true,
  readOnlyRoot: true,
  seccomp: { is: "runtime-default" },
  apparmor: { is: "local", reference: "mine" },
  runAsUserName: "me",
  addCapabilities: ["NET_ADMIN"],
  dropCapabilities: ["ALL"],
  noNewPrivileges: true,
  maskedPaths: ["/proc/kcore"],
  readOnlyPaths: ["/proc/sys"],
};

const securityFields = {
  namespaces: { network: 0, pid: 3, ipc: 2, targetId: "c0", userNamespace: { mode: 2 } },
  seLinux: undefined,
  runAsUser: { value: 0 },
  runAsGroup: { value: 5 },
  readOnlyRoot: true,
  supplementalGroups: [1, 2],
  supplementalGroupsPolicy: 1,
  privileged: true,
  seccomp: { profileType: 0, localhostRef: "" },
  apparmor: { profileType: 2, localhostRef: "mine" },
};

test("the request to run a sandbox has all values of its SandboxRun", () => {
  const run: SandboxRun = {
    hostname: "web",
    logDirectory: "/logs/u1",
    dns: { servers: ["10.0.0.10"], searches: ["shop.svc"], options: ["ndots:5"] },
    portMappings: [{ protocol: "UDP", containerPort: 53, hostPort: 5353, hostIp: "" }],
    labels: { app: "web" },
    annotations: { note: "x" },
    cgroupParent: "/kubepods/podu1",
    sysctls: { "net.core.somaxconn": "9" },
    security,
    runtimeHandler: "",
    resources: { cpuShares: 2 },
  };

  deepEqual(sandboxMessage(pod, run, { attempt: 3, owner: "n1" }), {
    metadata: { name: "web", namespace: "shop", uid: "u1", attempt: 3 },
    hostname: "web",
    logDirectory: "/logs/u1",
    dns: run.dns,
    portMappings: [{ protocol: 1, containerPort: 53, hostPort: 5353, hostIp: "" }],
    labels: [
      { key: "app", value: "web" },
      { key: "io.kubernetes.pod.name", value: "web" },
      { key: "io.kubernetes.pod.namespace", value: "shop" },
      { key: "io.kubernetes.pod.uid", value: "u1" },
      { key: "k8ts.io/node", value: "n1" },
    ],
    annotations: [
      { key: "note", value: "x" },
      { key: "k8ts.io/log-directory", value: "/logs/u1" },
    ],
    linux: {
      cgroupParent: "/kubepods/podu1",
      sysctls: [{ key: "net.core.somaxconn", value: "9" }],
      security: securityFields,
      resources: { cpuShares: 2, hugepageLimits: [], unified: [] },
    },
  });
});

const run: ContainerRun = {
  command: ["sh"],
  args: ["-c", "true"],
  workingDirectory: "/w",
  environment: [{ name: "A", value: "1" }],
  mounts: [{ hostPath: "/h", containerPath: "/c", readOnly: true, propagation: "host-to-container" }],
  devices: [{ hostPath: "/dev/a", containerPath: "/dev/b", permissions: "rwm" }],
  labels: {},
  annotations: { own: "1" },
  logPath: "main/4.log",
  stdin: true,
  stdinOnce: true,
  tty: true,
  resources: { memoryLimitBytes: 9, hugepageLimits: [{ pageSize: "2MB", limit: 4 }], unified: { "memory.high": "8" } },
  security,
  stopSignal: "SIGUSR1",
  terminationMessage: { hostPath: "/words", fallsBackToLogs: true },
};

test("the request to create a container has all values of its ContainerRun and mounts the termination log", () => {
  const container = { name: "main", image: "web:1", ports: [{ containerPort: 80 }], lifecycle: { preStop: { sleep: { seconds: 1 } } } };

  const { labels = [], annotations = [], ...rest } = containerMessage({ pod, container, attempt: 4, imageId: "sha256:1", run }, run, "n1");

  deepEqual(rest, {
    metadata: { name: "main", attempt: 4 },
    image: { image: "sha256:1", userSpecifiedImage: "web:1" },
    command: ["sh"],
    args: ["-c", "true"],
    workingDirectory: "/w",
    environment: [{ key: "A", value: "1" }],
    mounts: [
      { hostPath: "/h", containerPath: "/c", readOnly: true, propagation: 1 },
      { hostPath: "/words", containerPath: "/dev/termination-log", readOnly: false, propagation: 0 },
    ],
    devices: run.devices,
    logPath: "main/4.log",
    stdin: true,
    stdinOnce: true,
    tty: true,
    linux: {
      resources: { memoryLimitBytes: 9, hugepageLimits: [{ pageSize: "2MB", limit: 4n }], unified: [{ key: "memory.high", value: "8" }] },
      security: {
        ...securityFields,
        capabilities: { add: ["NET_ADMIN"], drop: ["ALL"] },
        runAsUserName: "me",
        noNewPrivileges: true,
        maskedPaths: ["/proc/kcore"],
        readOnlyPaths: ["/proc/sys"],
      },
    },
    stopSignal: 29,
  });
  equal(mapOf(labels as never).get("io.kubernetes.container.name"), "main");
  const { ["io.kubernetes.container.hash"]: hash = "", ...noted } = Object.fromEntries(mapOf(annotations as never));
  ok(/^[0-9a-f]+$/.test(hash));
  deepEqual(noted, {
    own: "1",
    "k8ts.io/image": "web:1",
    "io.kubernetes.container.restartCount": "4",
    "io.kubernetes.container.terminationMessagePath": "/dev/termination-log",
    "io.kubernetes.container.terminationMessagePolicy": "FallbackToLogsOnError",
    "io.kubernetes.pod.terminationGracePeriod": "7",
    "io.kubernetes.container.preStopHandler": '{"sleep":{"seconds":1}}',
    "io.kubernetes.container.ports": '[{"containerPort":80}]',
  });
});

for (const [name, number] of [
  ["SIGABRT", 1],
  ["SIGKILL", 13],
  ["SIGTERM", 23],
  ["SIGUSR1", 29],
  ["SIGXFSZ", 34],
  ["SIGRTMIN", 35],
  ["SIGRTMIN+15", 50],
  ["SIGRTMAX-14", 51],
  ["SIGRTMAX", 65],
  ["SIGNONE", 0],
] as const) {
  test(`${name} is signal ${number} of the CRI`, () => equal(signalNumber(name), number));
}
