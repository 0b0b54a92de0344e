/**
 * What the fields of a Pod do to its containers, seen from inside of them and through the real kubectl, on a cluster of `k8ts up` with real
 * containers. The messages are upstream's. Each test has a namespace of its own, and they run concurrently.
 */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { ContainerStatus, Pod } from "../../src/api/generated/core/v1.ts";
import type { Json } from "../../src/api/machinery/object.ts";
import { signalProcess } from "../../src/host/processes/detached-program.ts";
import { findProcesses, type ProcessEntry } from "../../src/host/processes/process-table.ts";
import { BUSYBOX_1, BUSYBOX_2, busyboxImage } from "../../src/testing/fixtures/busybox-image.ts";
import { calledProcess } from "../../src/testing/servers/called-process.ts";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { aConfigMap, aPod, aService } from "../../src/testing/clients/manifests.ts";
import { needs } from "../../src/testing/needs.ts";
import {
  aRealContainer,
  aRealPod,
  lineOf,
  REAL_CLUSTER_NEEDS,
  SLEEP,
  startRealCluster,
  type RealCluster,
} from "../../src/testing/servers/real-cluster.ts";

/** As many as keep two cores busy: most of the time is waiting. */
const AT_ONCE = 4;

async function apply(kubectl: ClientProgram, object: object): Promise<void> {
  await kubectl("apply -f -", { input: object });
}

async function podOf(kubectl: ClientProgram, name: string): Promise<Pod> {
  return JSON.parse(await kubectl(`get pod ${name} -o json`)) as Pod;
}

async function mainOf(kubectl: ClientProgram, name: string): Promise<ContainerStatus | undefined> {
  return (await podOf(kubectl, name)).status?.containerStatuses?.find((status) => status.name === "main");
}

/** Returns the container's output until it exits. */
async function said(kubectl: ClientProgram, pod: object & { readonly metadata?: unknown }): Promise<string> {
  await apply(kubectl, pod);
  const name = (pod.metadata as { readonly name: string }).name;
  await kubectl(`wait --for=jsonpath={.status.phase}=Succeeded pod/${name} --timeout=60s`);
  return kubectl(`logs ${name}`);
}

async function ready(kubectl: ClientProgram, pod: object): Promise<void> {
  await apply(kubectl, pod);
  await kubectl("wait --for=condition=Ready -f - --timeout=60s", { input: pod });
}

/** Returns the message of the first Event with this reason. */
async function eventMessage(kubectl: ClientProgram, reason: string): Promise<string> {
  const columns = "custom-columns=REASON:.reason,MESSAGE:.message";
  const line = await lineOf(kubectl, `get events --watch --no-headers -o ${columns}`, new RegExp(`^${reason} `));
  return line.slice(reason.length).trim();
}

/** Resolves when such an Event exists: Events are written after the change that they report. */
async function eventMatches(kubectl: ClientProgram, fits: RegExp): Promise<void> {
  await lineOf(kubectl, "get events --watch --no-headers -o custom-columns=REASON:.reason,MESSAGE:.message", fits);
}

/** The pause process of the Pod in which such a process runs: both share a network namespace. */
async function pauseBeside(command: string): Promise<ProcessEntry> {
  const networkOf = ({ pid }: ProcessEntry): Promise<string> => readlink(`/proc/${pid}/ns/net`).catch(() => "none");
  const beside = await calledProcess(command);
  const [network, pauses] = await Promise.all([networkOf(beside), findProcesses((words) => words[0] === "/pause")]);
  const networks = await Promise.all(pauses.map(networkOf));
  const pause = pauses[networks.indexOf(network)];
  ok(pause !== undefined);
  return pause;
}

const once = { restartPolicy: "Never" };
/** On a busy machine a command takes longer than a probe's default timeout of a second. */
const PATIENT = { periodSeconds: 1, timeoutSeconds: 20 };

describe("a Pod of a real cluster", { ...needs(...REAL_CLUSTER_NEEDS), concurrency: AT_ONCE }, () => {
  let cluster: RealCluster;
  before(async () => {
    cluster = await startRealCluster();
  });
  after(() => cluster[Symbol.asyncDispose]());
  /** A test with a namespace. */
  let count = 0;
  const inside = (title: string, run: (kubectl: ClientProgram, namespace: string) => Promise<void>): void => {
    const namespace = `pods-${++count}`;
    void test(title, async () => run(await cluster.inNamespace(namespace), namespace));
  };

  // First, since it waits longest.
  inside("a Pod whose image cannot be pulled reports why", async (kubectl) => {
    const image = "127.0.0.1:1/none:1";
    await apply(kubectl, aRealPod("pulling", SLEEP, { container: { image } }));
    await apply(kubectl, aRealPod("never", SLEEP, { container: { image, imagePullPolicy: "Never" } }));
    await apply(kubectl, aRealPod("wrong", SLEEP, { container: { image: "No:Such:Name" } }));
    const reasonIs = (name: string, reason: string) =>
      kubectl(`wait --for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=${reason} pod/${name} --timeout=60s`);
    await reasonIs("pulling", "ErrImagePull");
    await reasonIs("never", "ErrImageNeverPull");
    equal((await mainOf(kubectl, "never"))?.state?.waiting?.message, `Container image "${image}" is not present with pull policy of Never`);
    await reasonIs("wrong", "InvalidImageName");
    match(
      (await mainOf(kubectl, "wrong"))?.state?.waiting?.message ?? "",
      /^Failed to apply default image tag "No:Such:Name": couldn't parse image name "No:Such:Name": invalid reference format/,
    );
    match(await kubectl("get pod never --no-headers"), /^never +0\/1 +ErrImageNeverPull +0 /);
    await eventMatches(kubectl, /^Pulling +Pulling image "127\.0\.0\.1:1\/none:1"$/);
    await eventMatches(kubectl, /^Failed +Failed to pull image "127\.0\.0\.1:1\/none:1": .*connection refused/);
    await eventMatches(kubectl, /^Failed +Error: ErrImagePull$/);
    await eventMatches(kubectl, /^ErrImageNeverPull +Container image "127\.0\.0\.1:1\/none:1" is not present with pull policy of Never$/);

    // Read in one request: soon it is retried.
    const waiting = ".status.containerStatuses[0].state.waiting";
    const shown = `get pod pulling --watch -o jsonpath='{${waiting}.reason}: {${waiting}.message}{"\\n"}'`;
    await lineOf(kubectl, shown, /^ImagePullBackOff: Back-off pulling image "127\.0\.0\.1:1\/none:1"/);
  });

  inside("a Pod's environment comes from its fields, from ConfigMaps and Secrets, and from literal values", async (kubectl, namespace) => {
    await apply(kubectl, aConfigMap("settings", { COLOUR: "red" }));
    await kubectl("create secret generic hidden --from-literal=WORD=sesame");
    const env = [
      { name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
      { name: "SPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } },
      { name: "ADDRESS", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
      { name: "MEMORY", valueFrom: { resourceFieldRef: { resource: "limits.memory", divisor: "1Mi" } } },
      { name: "COLOUR", valueFrom: { configMapKeyRef: { name: "settings", key: "COLOUR" } } },
      { name: "BOTH", value: "$(POD)-$(COLOUR)-$$(POD)-$(NONE)" },
    ];
    const container = {
      env,
      envFrom: [{ prefix: "P_", secretRef: { name: "hidden" } }],
      resources: { limits: { memory: "32Mi" } },
      command: ["sh", "-c", "echo $POD $SPACE $MEMORY $P_WORD $0 $BOTH; echo $ADDRESS; hostname -i", "$(COLOUR)"],
    };
    const [line, address, own] = (await said(kubectl, aRealPod("env", "", { container, ...once }))).split("\n");
    equal(line, `env ${namespace} 32 sesame red env-red-$(POD)-$(NONE)`);
    match(address ?? "", /^10\.\d+\.\d+\.\d+$/);
    equal(own, address);
  });

  inside("a Pod's resource limits are enforced, and a container above its memory limit is OOM-killed", async (kubectl) => {
    const limits = { cpu: "250m", memory: "64Mi" };
    const read = (old: string, now: string): string => `cat /sys/fs/cgroup/${old} 2>/dev/null || cat /sys/fs/cgroup/${now}`;
    const memory = read("memory/memory.limit_in_bytes", "memory.max");
    const processor = read("cpu/cpu.cfs_quota_us", "cpu.max");
    const pod = aRealPod("limited", `${memory}; ${processor}`, { container: { resources: { limits } }, ...once });
    match(await said(kubectl, pod), /^67108864\n25000( 100000)?\n$/);

    // The container keeps running briefly: the runtime receives exit and OOM as two messages, in any order.
    const script = "tail /dev/zero; code=$?; sleep 1; exit $code";
    await apply(kubectl, aRealPod("greedy", script, { container: { resources: { limits: { memory: "16Mi" } } }, ...once }));
    await kubectl("wait --for=jsonpath={.status.phase}=Failed pod/greedy --timeout=60s");
    const { exitCode, reason } = (await mainOf(kubectl, "greedy"))?.state?.terminated ?? {};
    deepEqual([exitCode, reason], [137, "OOMKilled"]);
  });

  inside("a running Pod is resized in place", async (kubectl) => {
    const resources = (memory: string, cpu: string) => ({ requests: { memory, cpu: "50m" }, limits: { memory, cpu } });
    await ready(kubectl, aRealPod("resized", SLEEP, { container: { resources: resources("32Mi", "200m") } }));
    const read = (old: string, now: string): string => `cat /sys/fs/cgroup/${old} 2>/dev/null || cat /sys/fs/cgroup/${now}`;
    const files = `${read("memory/memory.limit_in_bytes", "memory.max")}; ${read("cpu/cpu.cfs_quota_us", "cpu.max")}`;
    // First up, then down: the Pod's cgroup must be resized before the container's, or after it.
    for (const [memory, cpu, megabytes, quota] of [
      ["48Mi", "300m", 48, 30_000],
      ["40Mi", "100m", 40, 10_000],
    ] as const) {
      const patch = { spec: { containers: [{ name: "main", resources: resources(memory, cpu) }] } };
      await kubectl(`patch pod resized --subresource=resize -p '${JSON.stringify(patch)}'`);
      await kubectl(`wait --for=jsonpath={.status.containerStatuses[0].resources.limits.cpu}=${cpu} pod/resized --timeout=60s`);
      deepEqual((await mainOf(kubectl, "resized"))?.resources, resources(memory, cpu));
      match(await kubectl(`exec resized -- sh -c '${files}'`), new RegExp(`^${megabytes * 1_024 * 1_024}\n${quota}( 100000)?\n$`));
    }
    equal((await mainOf(kubectl, "resized"))?.restartCount, 0);
  });

  inside("a resize beyond the node is infeasible, and one beyond its free capacity is deferred", async (kubectl) => {
    const resources = (cpu: string) => ({ requests: { cpu }, limits: { cpu } });
    const resize = (cpu: string) => {
      const patch = { spec: { containers: [{ name: "main", resources: resources(cpu) }] } };
      return `patch pod growing --subresource=resize -p '${JSON.stringify(patch)}'`;
    };
    await ready(kubectl, aRealPod("beside", SLEEP, { container: { resources: resources("20m") } }));
    await ready(kubectl, aRealPod("growing", SLEEP, { container: { resources: resources("50m") } }));
    const all = await kubectl("get nodes -o jsonpath={.items[0].status.allocatable.cpu}");

    match(
      await kubectl.fails(resize("1000")),
      /pods "growing" is forbidden: node didn't have enough allocatable resources: cpu, requested: 1000000, allocatable: \d+\n$/,
    );
    await kubectl(resize(all));
    await kubectl("wait --for=condition=PodResizePending pod/growing --timeout=60s");
    const { metadata, status } = await podOf(kubectl, "growing");
    const { reason, message = "", observedGeneration } = status?.conditions?.find(({ type }) => type === "PodResizePending") ?? {};
    deepEqual([reason, observedGeneration, status?.observedGeneration], ["Deferred", metadata.generation, metadata.generation]);
    match(message, /^Node didn't have enough resource: cpu, requested: \d+, used: \d+, capacity: \d+$/);
    deepEqual(
      [status?.containerStatuses?.[0]?.resources, status?.containerStatuses?.[0]?.allocatedResources?.["cpu"]],
      [resources("50m"), "50m"],
    );

    // Its requests keep others out while it waits.
    await kubectl(resize("60m"));
    await kubectl("wait --for=jsonpath={.status.containerStatuses[0].resources.limits.cpu}=60m pod/growing --timeout=60s");
    await eventMatches(kubectl, /^ResizeCompleted /);
    equal(
      (await podOf(kubectl, "growing")).status?.conditions?.some(({ type }) => type.startsWith("PodResize")),
      false,
    );
  });

  inside("a resize below the used memory reports an error until the memory is free", async (kubectl) => {
    const resources = (memory: string) => ({ requests: { memory }, limits: { memory } });
    const script = `held=$(head -c 24000000 /dev/zero | tr '\\0' x); ${SLEEP}`;
    const usage = "cat /sys/fs/cgroup/memory/memory.usage_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.current";
    const readinessProbe = { exec: { command: ["sh", "-c", `test $(${usage}) -gt 24000000`] }, ...PATIENT };
    await ready(kubectl, aRealPod("holding", script, { container: { resources: resources("96Mi"), readinessProbe } }));
    const resize = (memory: string) => {
      const patch = { spec: { containers: [{ name: "main", resources: resources(memory) }] } };
      return kubectl(`patch pod holding --subresource=resize -p '${JSON.stringify(patch)}'`);
    };

    await resize("16Mi");
    const path = `{.status.conditions[?(@.type=="PodResizeInProgress")].reason}`;
    await kubectl(`wait '--for=jsonpath=${path}=Error' pod/holding --timeout=60s`);
    const { status } = await podOf(kubectl, "holding");
    match(
      status?.conditions?.find(({ type }) => type === "PodResizeInProgress")?.message ?? "",
      /^cannot decrease memory limits: attempting to set container "main" memory limit \(16777216\) below current usage \(\d+\)$/,
    );
    deepEqual(status?.containerStatuses?.[0]?.resources, resources("96Mi"));
    await resize("80Mi");
    await kubectl("wait --for=jsonpath={.status.containerStatuses[0].resources.limits.memory}=80Mi pod/holding --timeout=60s");
    await eventMatches(kubectl, /^ResizeCompleted /);
  });

  inside("a container runs with the user and capabilities of its security context", async (kubectl) => {
    const securityContext = {
      runAsUser: 65_534,
      runAsGroup: 50,
      readOnlyRootFilesystem: true,
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
    };
    const script =
      "id -u; id -g; touch /file 2>&1; grep -E 'CapEff|NoNewPrivs' /proc/self/status; stat -c %g /data; touch /data/file && stat -c %g /data/file";
    const container = { securityContext, volumeMounts: [{ name: "data", mountPath: "/data" }] };
    const spec = { container, volumes: [{ name: "data", emptyDir: {} }], securityContext: { fsGroup: 1_234 }, ...once };
    deepEqual((await said(kubectl, aRealPod("secured", script, spec))).split("\n"), [
      ...["65534", "50", "touch: /file: Read-only file system", "CapEff:\t0000000000000000", "NoNewPrivs:\t1", "1234", "1234", ""],
    ]);
  });

  inside("a Pod with runAsNonRoot is not started as root", async (kubectl) => {
    await apply(kubectl, aRealPod("rootless", SLEEP, { container: { securityContext: { runAsNonRoot: true } } }));
    await kubectl(
      "wait --for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=CreateContainerConfigError pod/rootless --timeout=60s",
    );
    const { message = "" } = (await mainOf(kubectl, "rootless"))?.state?.waiting ?? {};
    match(message, /^container has runAsNonRoot and image will run as root \(pod: "rootless_pods-\d+\([-0-9a-f]+\)", container: main\)$/);
  });

  inside("a Pod waits for a missing ConfigMap and starts once it exists", async (kubectl) => {
    const env = [{ name: "COLOUR", valueFrom: { configMapKeyRef: { name: "later", key: "colour" } } }];
    await apply(kubectl, aRealPod("waiting", `echo $COLOUR; ${SLEEP}`, { container: { env } }));
    await kubectl(
      "wait --for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=CreateContainerConfigError pod/waiting --timeout=60s",
    );
    equal((await mainOf(kubectl, "waiting"))?.state?.waiting?.message, 'configmap "later" not found');
    equal(await eventMessage(kubectl, "Failed"), 'Error: configmap "later" not found');

    await apply(kubectl, aConfigMap("later", { colour: "green" }));
    await kubectl("wait --for=condition=Ready pod/waiting --timeout=60s");
    equal(await lineOf(kubectl, "logs --follow waiting", /./), "green");
  });

  inside("a crashing container is restarted with back-off and reports it", async (kubectl) => {
    await apply(kubectl, aRealPod("crashing", "echo trying; exit 3"));
    await kubectl("wait --for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=CrashLoopBackOff pod/crashing --timeout=60s");
    // Read in one request: the first back-off is short, the next ones are longer.
    const waiting = ".status.containerStatuses[0].state.waiting";
    const shown = `get pod crashing --watch -o jsonpath='{${waiting}.reason}: {${waiting}.message}{"\\n"}'`;
    const line = await lineOf(kubectl, shown, /^CrashLoopBackOff: /);
    match(line, /: back-off [124]0s restarting failed container=main pod=crashing_pods-\d+\([-0-9a-f]+\)$/);
    const { lastState } = (await mainOf(kubectl, "crashing")) ?? {};
    deepEqual([lastState?.terminated?.exitCode, lastState?.terminated?.reason], [3, "Error"]);
    match(await eventMessage(kubectl, "BackOff"), /^Back-off restarting failed container main in pod crashing_pods-/);
  });

  inside("a container leaves a termination message", async (kubectl) => {
    await apply(kubectl, aRealPod("writing", "printf done > /dev/termination-log; exit 3", once));
    const container = { terminationMessagePolicy: "FallbackToLogsOnError" };
    await apply(kubectl, aRealPod("speaking", "echo from the log; exit 4", { container, ...once }));
    for (const name of ["writing", "speaking"]) await kubectl(`wait --for=jsonpath={.status.phase}=Failed pod/${name} --timeout=60s`);
    const ends = await Promise.all(["writing", "speaking"].map(async (name) => (await mainOf(kubectl, name))?.state?.terminated));
    deepEqual(
      ends.map((end) => [end?.exitCode, end?.message]),
      [
        [3, "done"],
        [4, "from the log\n"],
      ],
    );
  });

  inside("init containers start in order, sidecars run beside the containers and stop last", async (kubectl) => {
    const shared = { volumeMounts: [{ name: "shared", mountPath: "/shared" }] };
    const initContainers: Json = [
      aRealContainer("first", "echo first >> /shared/order", shared),
      aRealContainer("helper", "trap 'echo helper ends; exit 0' TERM; echo helper >> /shared/order; touch /shared/up; sleep 1d & wait $!", {
        ...shared,
        restartPolicy: "Always",
        startupProbe: { exec: { command: ["test", "-f", "/shared/up"] }, ...PATIENT, failureThreshold: 60 },
      }),
      aRealContainer("second", "echo second >> /shared/order", shared),
    ];
    const spec = { initContainers, container: shared, volumes: [{ name: "shared", emptyDir: {} }], ...once };
    equal(
      await said(kubectl, aRealPod("prepared", "echo main >> /shared/order; cat /shared/order", spec)),
      "first\nhelper\nsecond\nmain\n",
    );
    equal(await kubectl("logs prepared -c helper"), "helper ends\n");
    const { initContainerStatuses = [] } = (await podOf(kubectl, "prepared")).status ?? {};
    deepEqual(
      initContainerStatuses.map(({ name, state }) => [name, state?.terminated?.reason, state?.terminated?.exitCode]),
      [
        ["first", "Completed", 0],
        ["helper", "Completed", 0],
        ["second", "Completed", 0],
      ],
    );
  });

  inside("containers of a Pod share a memory volume and, on request, the process namespace", async (kubectl) => {
    const shared = { volumeMounts: [{ name: "shared", mountPath: "/shared" }] };
    const containers = [
      aRealContainer(
        "main",
        "until [ -f /shared/word ]; do usleep 50000; done; cat /shared/word; ps -o args | grep -c '^sleep 7777'",
        shared,
      ),
      aRealContainer(
        "other",
        "echo sesame > /shared/new; sleep 7777 & until ps -o args | grep -q '^sleep 7777'; do usleep 20000; done; " +
          "mv /shared/new /shared/word; df /shared | tail -n 1; wait %1",
        shared,
      ),
    ];
    const volumes = [{ name: "shared", emptyDir: { medium: "Memory", sizeLimit: "1Mi" } }];
    await apply(kubectl, aRealPod("sharing", "", { containers, volumes, shareProcessNamespace: true, ...once }));
    await kubectl(
      'wait --for=jsonpath={.status.containerStatuses[?(@.name=="main")].state.terminated.reason}=Completed pod/sharing --timeout=60s',
    );
    match(await kubectl("logs sharing -c main"), /^sesame\n1\n$/);
    await lineOf(kubectl, "logs --follow sharing -c other", /^tmpfs +1024 /);
  });

  inside("a Pod gets Secrets and a token that the API server accepts", async (kubectl, namespace) => {
    await kubectl("create secret generic hidden --from-literal=word=sesame");
    const volumes = [{ name: "hidden", secret: { secretName: "hidden", defaultMode: 0o400 } }];
    await ready(kubectl, aRealPod("trusted", SLEEP, { container: { volumeMounts: [{ name: "hidden", mountPath: "/hidden" }] }, volumes }));
    equal(
      await kubectl('exec trusted -- sh -c \'cat /hidden/word; stat -L -c " %a" /hidden/word; grep -c "/hidden tmpfs" /proc/mounts\''),
      "sesame 400\n1\n",
    );

    const account = "/var/run/secrets/kubernetes.io/serviceaccount";
    const token = await kubectl(`exec trusted -- cat ${account}/token`);
    equal(await kubectl(`exec trusted -- cat ${account}/namespace`), namespace);
    match(await kubectl(`exec trusted -- cat ${account}/ca.crt`), /^-----BEGIN CERTIFICATE-----/);
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token } };
    const { status } = JSON.parse(await kubectl("create -f - -o json", { input: review })) as {
      readonly status: {
        readonly authenticated: boolean;
        readonly user: { readonly username: string; readonly extra: Record<string, string[]> };
      };
    };
    deepEqual([status.authenticated, status.user.username], [true, `system:serviceaccount:${namespace}:default`]);
    deepEqual(status.user.extra["authentication.kubernetes.io/pod-name"], ["trusted"]);
  });

  inside("a downward API volume follows changes of the Pod", async (kubectl) => {
    const items = [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }];
    const volumes = [{ name: "about", downwardAPI: { items } }];
    // The links' targets may be removed while they are resolved.
    const script =
      'while :; do if now=$(cat /about/labels) && [ "$now" != "$last" ]; then echo $now; last=$now; fi 2>/dev/null; usleep 50000; done';
    await ready(kubectl, aRealPod("known", script, { container: { volumeMounts: [{ name: "about", mountPath: "/about" }] }, volumes }));
    await using following = kubectl.start("logs --follow known");
    equal(await following.line(), 'app="known"');
    await kubectl("label pod known colour=red");
    equal(await following.line(), 'app="known" colour="red"');
  });

  inside("a Pod is an endpoint of its Service only while it is ready", async (kubectl) => {
    const readinessProbe = { exec: { command: ["test", "-f", "/tmp/ready"] }, ...PATIENT, failureThreshold: 1 };
    await apply(kubectl, aService("gated"));
    await apply(kubectl, aRealPod("gated", SLEEP, { container: { readinessProbe } }));
    const slices = (is: string) =>
      lineOf(
        kubectl,
        `get endpointslices -l kubernetes.io/service-name=gated --watch -o jsonpath='{.endpoints[*].conditions.ready}{"\\n"}'`,
        new RegExp(`^${is}$`),
      );
    await kubectl("wait --for=jsonpath={.status.phase}=Running pod/gated --timeout=60s");
    await slices("false");
    await kubectl("exec gated -- touch /tmp/ready");
    await kubectl("wait --for=condition=Ready pod/gated --timeout=60s");
    await slices("true");
    await kubectl("exec gated -- rm /tmp/ready");
    await kubectl("wait --for=condition=Ready=false pod/gated --timeout=60s");
    await slices("false");
    equal(await eventMessage(kubectl, "Unhealthy"), "Readiness probe failed:");
  });

  inside("a container with a failing liveness probe is restarted", async (kubectl) => {
    const livenessProbe = {
      exec: { command: ["sh", "-c", "[ ! -f /tmp/sick ] || { echo I am sick; exit 1; }"] },
      ...PATIENT,
      failureThreshold: 1,
    };
    await ready(kubectl, aRealPod("sick", SLEEP, { container: { livenessProbe } }));
    await kubectl("exec sick -- touch /tmp/sick");
    await kubectl("wait --for=jsonpath={.status.containerStatuses[0].restartCount}=1 pod/sick --timeout=60s");
    equal(await eventMessage(kubectl, "Unhealthy"), "Liveness probe failed: I am sick");
    equal(await eventMessage(kubectl, "Killing"), "Container main failed liveness probe, will be restarted");
  });

  inside("kubectl debug adds an ephemeral container", async (kubectl) => {
    const sleep = `sleep ${2_000_000 + process.pid}`;
    await ready(kubectl, aRealPod("closed", `${sleep} & wait $!`));
    await calledProcess(sleep);
    await kubectl(`debug closed --image=${BUSYBOX_2} --container=looking --target=main -- sh -c 'ps; cat /version'`);
    await kubectl("wait --for=jsonpath={.status.ephemeralContainerStatuses[0].state.terminated.exitCode}=0 pod/closed --timeout=60s");
    match(await kubectl("logs closed -c looking"), new RegExp(` ${sleep}\\n[^]*\\n2\\n$`));
  });

  inside("an image has a short name, and a container is restarted only when its image changes", async (kubectl) => {
    await cluster.loadImage(busyboxImage("short:9"));
    // A container that seems to have another image would be stopped at the next sync: a label triggers a sync.
    await ready(kubectl, aRealPod("short", SLEEP, { container: { image: "short:9" } }));
    await kubectl("label pod short look=again");
    equal(await kubectl("exec short -- cat /version"), "9\n");
    const { restartCount, image } = (await mainOf(kubectl, "short")) ?? {};
    deepEqual([restartCount, image], [0, "docker.io/library/short:9"]);

    await kubectl(`set image pod/short main=${BUSYBOX_2}`);
    await kubectl("wait --for=jsonpath={.status.containerStatuses[0].restartCount}=1 pod/short --timeout=60s");
    await kubectl("wait --for=condition=Ready pod/short --timeout=60s");
    equal(await kubectl("exec short -- cat /version"), "2\n");
    equal(await eventMessage(kubectl, "Killing"), "Container main definition changed, will be restarted");
  });

  inside("kubectl run --rm runs one command and deletes the Pod", async (kubectl) => {
    const stdout = await kubectl(`run once --rm -i --restart=Never --image=${BUSYBOX_1} -- sh -c 'read -r word; echo you said $word'`, {
      input: "hello\n",
    });
    match(stdout, /^you said hello\n/);
    match(stdout, /pod "once" deleted/);
    equal(await kubectl("get pods -o name"), "");
    const { code } = await kubectl.run(`run failing --rm -i --restart=Never --image=${BUSYBOX_1} -- sh -c 'exit 5'`);
    equal(code, 5);
  });

  inside("a volume that no container mounts does not delay the start; a mounted one does", async (kubectl) => {
    const volumes = [
      { name: "secret", secret: { secretName: "none" } },
      { name: "host", hostPath: { path: "/no/such/directory", type: "Directory" } },
      { name: "later", configMap: { name: "later" } },
    ];
    await ready(kubectl, aRealPod("careless", SLEEP, { volumes }));
    const custom = join(cluster.directory, "mounting.json");
    await writeFile(custom, JSON.stringify({ volumeMounts: [{ name: "later", mountPath: "/later" }] }));
    await kubectl(`debug careless --image=${BUSYBOX_1} --container=looking --custom=${custom} -- cat /later/word`);
    match(await eventMessage(kubectl, "FailedMount"), /^MountVolume\.SetUp failed for volume "later" : configmap "later" not found$/);
    await apply(kubectl, aConfigMap("later", { word: "sesame" }));
    await kubectl("wait --for=jsonpath={.status.ephemeralContainerStatuses[0].state.terminated.exitCode}=0 pod/careless --timeout=60s");
    equal(await kubectl("logs careless -c looking"), "sesame");
  });

  inside("containers of a Pod that loses its sandbox are stopped before a new one is created", async (kubectl) => {
    const sleep = `sleep ${1_000_000 + process.pid}`;
    const lifecycle = { preStop: { exec: { command: ["sh", "-c", "echo hook > /proc/1/fd/1"] } } };
    await ready(kubectl, aRealPod("moved", `trap 'echo asked; exit 0' TERM; ${sleep} & wait $!`, { container: { lifecycle } }));
    const before = (await podOf(kubectl, "moved")).status?.podIP;
    signalProcess(await pauseBeside(sleep), "SIGKILL");
    await kubectl("wait --for=jsonpath={.status.containerStatuses[0].restartCount}=1 pod/moved --timeout=60s");
    await kubectl("wait --for=condition=Ready pod/moved --timeout=60s");

    equal(await kubectl("logs moved --previous"), "hook\nasked\n");
    const { lastState, restartCount } = (await mainOf(kubectl, "moved")) ?? {};
    deepEqual([lastState?.terminated?.exitCode, restartCount], [0, 1]);
    ok((await podOf(kubectl, "moved")).status?.podIP !== before);
    equal(await eventMessage(kubectl, "SandboxChanged"), "Pod sandbox changed, it will be killed and re-created.");
    equal(await eventMessage(kubectl, "Killing"), "Stopping container main");
    const counts = "get events --watch --no-headers -o custom-columns=REASON:.reason,COUNT:.count";
    equal((await lineOf(kubectl, counts, /^Started +[2-9]/)).replace(/ +/, " "), "Started 2");
  });

  inside("a Pod has its hostname and the requested host aliases", async (kubectl) => {
    const spec = {
      hostname: "called",
      subdomain: "here",
      hostAliases: [{ ip: "192.0.2.7", hostnames: ["other.example"] }],
      dnsPolicy: "None",
      dnsConfig: { nameservers: ["192.0.2.53"], searches: ["a.example"], options: [{ name: "ndots", value: "2" }] },
      ...once,
    };
    const text = await said(kubectl, aRealPod("named", "hostname; cat /etc/hosts; cat /etc/resolv.conf", spec));
    match(text, /^called\n# Kubernetes-managed hosts file\.\n127\.0\.0\.1\tlocalhost\n/);
    match(text, /\n10\.\d+\.\d+\.\d+\tcalled\.here\.pods-\d+\.svc\.cluster\.local\tcalled\n/);
    match(text, /\n# Entries added by HostAliases\.\n192\.0\.2\.7\tother\.example\n/);
    match(text, /search a\.example\nnameserver 192\.0\.2\.53\noptions ndots:2\n$/);
  });

  inside("a Pod may use the host network and host paths", async (kubectl) => {
    const volumes = [{ name: "host", hostPath: { path: `${cluster.directory}/host`, type: "DirectoryOrCreate" } }];
    const volumeMounts = [{ name: "host", mountPath: "/in", subPathExpr: "$(POD)" }];
    const env = [{ name: "POD", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }];
    const spec = { hostNetwork: true, container: { volumeMounts, env }, volumes };
    await ready(kubectl, aRealPod("host", `echo hello > /in/file; ${SLEEP}`, spec));
    const { podIP, hostIP } = (await podOf(kubectl, "host")).status ?? {};
    equal(podIP, hostIP);
    equal(await kubectl("exec host -- sh -c 'until [ -s /in/file ]; do usleep 20000; done; cat /in/file'"), "hello\n");
    const other = aRealPod("again", "cat /in/host/file", {
      container: { volumeMounts: [{ name: "host", mountPath: "/in" }] },
      volumes,
      ...once,
    });
    equal(await said(kubectl, other), "hello\n");
  });

  inside("a postStart hook runs, and activeDeadlineSeconds is enforced", async (kubectl) => {
    const lifecycle = { postStart: { exec: { command: ["sh", "-c", "echo after > /tmp/after"] } } };
    await ready(kubectl, aRealPod("long", SLEEP, { container: { lifecycle } }));
    equal(await kubectl("exec long -- cat /tmp/after"), "after\n");
    await apply(kubectl, aRealPod("short", SLEEP, { activeDeadlineSeconds: 3 }));
    await kubectl("wait --for=jsonpath={.status.reason}=DeadlineExceeded pod/short --timeout=60s");
    equal((await podOf(kubectl, "short")).status?.message, "Pod was active on the node longer than the specified deadline");
  });

  inside("a rule with RestartAllContainers restarts the whole Pod in place", async (kubectl) => {
    const volumes = [{ name: "kept", emptyDir: {} }];
    const volumeMounts = [{ name: "kept", mountPath: "/kept" }];
    const rule = { action: "RestartAllContainers", exitCodes: { operator: "In", values: [42] } };
    const pod = aPod("again", {
      restartPolicy: "Never",
      volumes,
      initContainers: [aRealContainer("setup", "echo setup >> /kept/log", { volumeMounts })],
      containers: [
        aRealContainer("other", SLEEP),
        aRealContainer("worker", `echo worker >> /kept/log; [ $(grep -c worker /kept/log) = 2 ] || exit 42; ${SLEEP}`, {
          volumeMounts,
          restartPolicy: "Never",
          restartPolicyRules: [rule],
        }),
      ],
    });
    await apply(kubectl, pod);
    await kubectl("wait --for=jsonpath={.status.containerStatuses[0].restartCount}=1 pod/again --timeout=180s");
    await kubectl("wait --for=condition=Ready pod/again --timeout=180s");
    const log = "until [ $(wc -l < /kept/log) -ge 4 ]; do usleep 20000; done; cat /kept/log";
    equal(await kubectl(`exec again -c worker -- sh -c '${log}'`), "setup\nworker\nsetup\nworker\n");
    const { podIP, containerStatuses = [], conditions = [] } = (await podOf(kubectl, "again")).status ?? {};
    deepEqual(
      containerStatuses.map(({ name, restartCount, lastState }) => [name, restartCount, lastState?.terminated?.reason]),
      ["other", "worker"].map((name) => [name, 1, "RestartingAllContainers"]),
    );
    equal(conditions.find(({ type }) => type === "AllContainersRestarting")?.status, "False");
    ok(podIP !== undefined);
  });
});
