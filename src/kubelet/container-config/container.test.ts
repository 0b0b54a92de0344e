import assert from "node:assert/strict";
import { test } from "node:test";
import { ContainerConfigError } from "../contracts/pod-machine.ts";
import { containerAnnotations, containerLabels } from "./container-labels.ts";
import { containerRun } from "./container.ts";
import { containerResources } from "./resources.ts";
import { containerSecurity } from "./security.ts";
import { aContainer, aPod, aView, aVolume, node } from "./testing/views.ts";

test("containerConfig resolves command, environment, mounts, security context and limits", async () => {
  const container = aContainer({
    command: ["sh", "-c"],
    args: ["echo $(GREETING) $(NO) $$(x)"],
    workingDir: "/work",
    env: [{ name: "GREETING", value: "hello" }],
    volumeMounts: [{ name: "data", mountPath: "/data", subPathExpr: "$(GREETING)" }],
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    stdin: true,
    stdinOnce: true,
    tty: true,
    lifecycle: { stopSignal: "SIGUSR1" },
  });
  const view = aView({ container, attempt: 3, mounted: new Map([["data", aVolume("/vol/data")]]) });
  const termination = "/var/lib/kubelet/pods/u-1/containers/main/3.termination";
  const hosts = "/var/lib/kubelet/pods/u-1/etc-hosts";

  const { run, files } = await containerRun(view);

  assert.deepEqual(run, {
    command: ["sh", "-c"],
    args: ["echo hello $(NO) $(x)"],
    workingDirectory: "/work",
    environment: [{ name: "GREETING", value: "hello" }],
    mounts: [
      { hostPath: "/safe/data/hello", containerPath: "/data", readOnly: false, propagation: "private" },
      { hostPath: hosts, containerPath: "/etc/hosts", readOnly: false, propagation: "private" },
      { hostPath: termination, containerPath: "/dev/termination-log", readOnly: false, propagation: "private" },
    ],
    devices: [],
    labels: containerLabels(view.pod, container),
    annotations: containerAnnotations(view.pod, container, 3),
    logPath: "main/3.log",
    stdin: true,
    stdinOnce: true,
    tty: true,
    resources: containerResources({ ...view, capacity: node.capacity, cgroups: node.cgroups }),
    security: containerSecurity(view),
    stopSignal: "SIGUSR1",
    terminationMessage: { hostPath: termination, fallsBackToLogs: false },
  });
  assert.deepEqual(
    files.map(({ path, mode, text }) => [path, mode.toString(8), text.split("\n")[0]]),
    [
      [hosts, "644", "# Kubernetes-managed hosts file."],
      [termination, "666", ""],
    ],
  );
});

test("with hostNetwork the hosts file is the node's plus the aliases", async () => {
  const pod = aPod({ hostNetwork: true, hostAliases: [{ ip: "1.2.3.4", hostnames: ["a"] }] });
  const { files } = await containerRun(aView({ pod }));
  assert.deepEqual(
    files.map(({ text }) => text),
    ["# Kubernetes-managed hosts file (host network).\n127.0.0.1\tlocalhost\n\n# Entries added by HostAliases.\n1.2.3.4\ta\n"],
  );
});

test("a container that mounts /etc/hosts itself gets no generated hosts file", async () => {
  const container = aContainer({ volumeMounts: [{ name: "data", mountPath: "/etc/hosts" }] });
  const { run, files } = await containerRun(aView({ container, mounted: new Map([["data", aVolume("/vol/data")]]) }));

  assert.deepEqual(files, []);
  assert.deepEqual(
    run.mounts.map(({ hostPath }) => hostPath),
    ["/vol/data"],
  );
});

test("runAsNonRoot rejects an image that runs as root", async () => {
  const pod = aPod({ securityContext: { runAsNonRoot: true } });
  const message = 'container has runAsNonRoot and image will run as root (pod: "web-0_shop(u-1)", container: main)';
  await assert.rejects(containerRun(aView({ pod, imageUser: undefined })), new ContainerConfigError(message));
});
