/** Statistics and metrics that the kubelet of `k8ts up` serves, read through the API server as users and Prometheus do. */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { ClientProgram } from "../../src/testing/clients/client-program.ts";
import { becomes } from "../../src/testing/becomes.ts";
import { missingMetrics } from "../../src/testing/fixtures/documented-metrics.ts";
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

interface Filesystem {
  readonly name?: string;
  readonly availableBytes?: number;
  readonly capacityBytes?: number;
  readonly usedBytes?: number;
  readonly inodes?: number;
  readonly inodesFree?: number;
  readonly inodesUsed?: number;
}

interface Summary {
  readonly node: {
    readonly cpu: { readonly usageNanoCores: number };
    readonly runtime: { readonly imageFs: Filesystem; readonly containerFs: Filesystem };
  };
  readonly pods: readonly {
    readonly podRef: { readonly name: string };
    readonly cpu: { readonly usageNanoCores?: number };
    readonly volume: readonly Filesystem[];
    readonly "ephemeral-storage": Filesystem;
    readonly process_stats: { readonly process_count: number };
    readonly containers: readonly { readonly name: string; readonly rootfs: Filesystem; readonly logs: Filesystem }[];
  }[];
}

interface Used {
  readonly name?: string;
  readonly cpu?: { readonly usageCoreNanoSeconds?: number };
  readonly memory?: {
    readonly usageBytes?: number;
    readonly workingSetBytes?: number;
    readonly rssBytes?: number;
    readonly pageFaults?: number;
  };
  readonly network?: { readonly rxErrors?: number; readonly interfaces: readonly unknown[] };
  readonly containers?: readonly Used[];
  readonly systemContainers?: readonly Used[];
}

interface Configuration {
  readonly kind: string;
  readonly apiVersion: string;
  readonly maxPods: number;
  readonly clusterDomain: string;
  readonly authorization: { readonly mode: string };
  readonly port: number;
  readonly podLogsDir: string;
  readonly containerRuntimeEndpoint: string;
}

const FORGOTTEN_WITHIN_MS = 30_000;
/** Longer than kubectl's own timeouts. */
const LOADED_WITHIN_MS = 200_000;
const SCRATCH_BYTES = 1 << 20;
const LAYER_BYTES = 2 << 20;
const TALKING = `head -c ${SCRATCH_BYTES} /dev/zero >/scratch/a; head -c ${LAYER_BYTES} /dev/zero >/b; echo said; touch /alive; sleep 3600`;

describe("the kubelet of k8ts up", { ...needs(...REAL_CLUSTER_NEEDS) }, () => {
  let cluster: RealCluster;
  let kubectl: ClientProgram;
  let page: (path: string) => Promise<string>;

  before(async () => {
    cluster = await startRealCluster({ flags: ["--horizontal-pod-autoscaler-sync-period", "5s"] });
    kubectl = await cluster.inNamespace("numbers");
    const node = await kubectl("get nodes -o name");
    page = (path) => kubectl(`get --raw /api/v1/nodes/${node.trim().slice("node/".length)}/proxy${path}`);
    const exec = { command: ["test", "-e", "/alive"] };
    const container = {
      volumeMounts: [
        { name: "scratch", mountPath: "/scratch" },
        { name: "host", mountPath: "/host" },
      ],
      readinessProbe: { exec, periodSeconds: 1, timeoutSeconds: 20 },
      livenessProbe: { exec: { command: ["false"] }, periodSeconds: 1, timeoutSeconds: 20, failureThreshold: 1_000 },
    };
    const volumes = [
      { name: "scratch", emptyDir: {} },
      { name: "host", hostPath: { path: "/tmp" } },
    ];
    const pod = aRealPod("talking", TALKING, { container, volumes });
    await kubectl("apply -f -", { input: pod });
    await kubectl("wait --for=condition=Ready pod/talking --timeout=60s");
  });
  after(() => cluster[Symbol.asyncDispose]());

  test("the kubelet counts probes as long as they exist", async () => {
    await lineOf(kubectl, "get events --watch --no-headers -o custom-columns=MESSAGE:.message", /^Liveness probe failed/);
    const uid = await kubectl("get pod talking -o jsonpath={.metadata.uid}");
    const probes = await page("/metrics/probes");
    const labels = `container="main",namespace="numbers",pod="talking",pod_uid="${uid}"`;
    match(probes, new RegExp(`^prober_probe_total\\{${labels},probe_type="Readiness",result="successful"\\} [1-9]`, "m"));
    match(probes, new RegExp(`^prober_probe_total\\{${labels},probe_type="Liveness",result="failed"\\} [1-9]`, "m"));
    match(
      probes,
      /^prober_probe_duration_seconds_count\{container="main",namespace="numbers",pod="talking",probe_type="Readiness"\} [1-9]/m,
    );

    await kubectl("apply -f -", {
      input: aRealPod("gone", "sleep 3600", { container: { readinessProbe: { exec: { command: ["true"] }, timeoutSeconds: 20 } } }),
    });
    await kubectl("wait --for=condition=Ready pod/gone --timeout=60s");
    match(await page("/metrics/probes"), /pod="gone"/);
    await kubectl("delete pod gone --grace-period=1");
    // The kubelet forgets the Pod shortly after the API, without an event.
    const untilMs = performance.now() + FORGOTTEN_WITHIN_MS;
    while ((await page("/metrics/probes")).includes('pod="gone"')) ok(performance.now() < untilMs, "the metrics of its probes are removed");
  });

  test("the kubelet serves its configuration", async () => {
    const { kubeletconfig } = JSON.parse(await page("/configz")) as { readonly kubeletconfig: Configuration };
    const { kind, apiVersion, maxPods, clusterDomain, authorization, port, podLogsDir, containerRuntimeEndpoint } = kubeletconfig;
    deepEqual(
      { kind, apiVersion, maxPods, clusterDomain, mode: authorization.mode },
      {
        kind: "KubeletConfiguration",
        apiVersion: "kubelet.config.k8s.io/v1beta1",
        maxPods: 110,
        clusterDomain: "cluster.local",
        mode: "Webhook",
      },
    );
    const reported = await kubectl("get nodes -o jsonpath={.items[0].status.daemonEndpoints.kubeletEndpoint.Port}");
    equal(String(port), reported);
    ok(podLogsDir.startsWith(cluster.directory));
    match(containerRuntimeEndpoint, /^unix:\/\//);
  });

  test("the kubelet's summary shows the usage of the node, its Pods and their containers", async () => {
    const { node, pods } = JSON.parse(await page("/stats/summary")) as Summary;
    const pod = pods.find(({ podRef }) => podRef.name === "talking");
    const [container] = pod?.containers ?? [];

    // An idle machine uses none.
    ok(Number.isInteger(node.cpu.usageNanoCores));
    isOnDisk(node.runtime.imageFs);
    isOnDisk(node.runtime.containerFs);
    deepEqual(
      pod?.volume.map(({ name = "" }) => name.replace(/^kube-api-access-.*/, "token")),
      ["scratch", "token"],
    );
    const scratch = pod?.volume[0] ?? {};
    isOnDisk(scratch);
    ok((scratch.usedBytes ?? 0) >= SCRATCH_BYTES && (scratch.usedBytes ?? 0) < 2 * SCRATCH_BYTES);
    equal(scratch.inodesUsed, 2);
    const { rootfs = {}, logs = {} } = container ?? {};
    isOnDisk(rootfs);
    isOnDisk(logs);
    ok((logs.usedBytes ?? 0) > 0 && logs.inodesUsed === 1);
    ok((pod?.["ephemeral-storage"].usedBytes ?? 0) >= (scratch.usedBytes ?? 0) + (logs.usedBytes ?? 0) + (rootfs.usedBytes ?? 0));
    ok((pod?.process_stats.process_count ?? 0) >= 1);
  });

  test("the kubelet's summary has the fields that clients rely on, for the node, all Pods, each Pod and each container", async () => {
    const { node, pods } = JSON.parse(await page("/stats/summary")) as { node: Used; pods: readonly Used[] };
    const [all, ...others] = node.systemContainers ?? [];
    deepEqual([all?.name, others], ["pods", []]);
    const containers = pods.flatMap((pod) => pod.containers ?? []);
    equal(containers.length > 0, true);
    for (const { cpu, memory } of [node, ...pods, ...containers, ...(all === undefined ? [] : [all])]) {
      const values = [cpu?.usageCoreNanoSeconds, memory?.usageBytes, memory?.workingSetBytes, memory?.rssBytes, memory?.pageFaults];
      ok(
        values.every((value) => Number.isInteger(value)),
        JSON.stringify({ cpu, memory }),
      );
    }
    // The two are read one after the other, and a probe may begin or end in between.
    await becomes(async () => {
      const now = JSON.parse(await page("/stats/summary")) as { node: Used; pods: readonly Used[] };
      const [ofAll = 0, ofOne = 0] = [now.node.systemContainers?.[0]?.memory?.usageBytes, now.pods[0]?.containers?.[0]?.memory?.usageBytes];
      return ofAll >= ofOne && ofOne > 0;
    }, true);
    ok([node, ...pods].every(({ network }) => Number.isInteger(network?.rxErrors) && network?.interfaces.length === 1));
  });

  test("the kubelet serves the logs of its machine", async () => {
    match(await page("/logs/"), /^<!doctype html>\n.*<pre>\n(<a href="[^"]+">.+<\/a>\n)*<\/pre>\n$/s);
  });

  test("a Bidirectional mount works, or its event explains how to enable it", async () => {
    const volumes = [{ name: "host", hostPath: { path: cluster.directory } }];
    const volumeMounts = [{ name: "host", mountPath: "/host", mountPropagation: "Bidirectional" }];
    const container = { volumeMounts, securityContext: { privileged: true } };
    await kubectl("apply -f -", { input: aRealPod("propagating", SLEEP, { container, volumes }) });
    const message = await lineOf(
      kubectl,
      "get events --watch --field-selector involvedObject.name=propagating -o custom-columns=SAID:.reason,M:.message",
      /^(Started|Failed) /,
    );
    match(message, /^Started |is not a shared mount; mountPropagation needs it to be one; "mount --make-rshared \/" on the node /);
  });

  test("the kubelet's metrics have upstream's names", async () => {
    const metrics = await page("/metrics");
    for (const sample of [
      /^kubelet_node_name\{node=".+"\} 1$/m,
      /^kubelet_running_pods [1-9]/m,
      /^kubelet_running_containers\{container_state="running"\} [1-9]/m,
      /^kubelet_pod_start_duration_seconds_count [1-9]/m,
      /^kubelet_pod_worker_duration_seconds_count\{operation_type="create"\} [1-9]/m,
      /^kubelet_runtime_operations_total\{operation_type="run_podsandbox"\} [1-9]/m,
      /^kubelet_runtime_operations_total\{operation_type="exec_sync"\} [1-9]/m,
      /^kubelet_runtime_operations_duration_seconds_count\{operation_type="list_podsandbox"\} [1-9]/m,
      /^kubelet_pleg_relist_duration_seconds_count [1-9]/m,
      /^kubelet_started_pods_total [1-9]/m,
      /^kubelet_started_containers_total\{container_type="container"\} [1-9]/m,
      /^kubelet_http_requests_total\{long_running="false",method="GET",path="metrics",server_type="readwrite"\} [1-9]/m,
    ])
      match(metrics, sample);
    deepEqual(missingMetrics(metrics, ["Kubelet", "Clients", "Every process"]), []);
  });

  test("the kubelet serves container metrics under cAdvisor's names", async () => {
    const id = await kubectl("get pod talking -o jsonpath={.status.containerStatuses[0].containerID}");
    const name = id.replace("containerd://", "");
    const labels = `id="/[^"]+/pod[^"]+/${name}",image="[^"]+busybox[^"]*",name="${name}",namespace="numbers",pod="talking"`;
    const cadvisor = await page("/metrics/cadvisor");
    for (const sample of [
      `container_cpu_usage_seconds_total\\{container="main",cpu="total",${labels}\\} [\\d.]+ \\d+`,
      `container_memory_working_set_bytes\\{container="main",${labels}\\} [1-9]\\d* \\d+`,
      `container_memory_rss\\{container="main",${labels}\\} \\d+ \\d+`,
      // The runtime samples it only now and then.
      `container_fs_usage_bytes\\{container="main",device="",${labels}\\} \\d+ \\d+`,
      'container_network_receive_bytes_total\\{container="",id="[^"]+",image="",interface="eth0",name="[0-9a-f]+",namespace="numbers",pod="talking"\\} \\d+',
      'container_cpu_usage_seconds_total\\{container="",cpu="total",id="/",image="",name="",namespace="",pod=""\\} [\\d.]+ \\d+',
      'machine_cpu_cores\\{boot_id="[^"]+",machine_id="[^"]*",system_uuid="[^"]*"\\} [1-9]\\d*',
      'machine_memory_bytes\\{boot_id="[^"]+",machine_id="[^"]*",system_uuid="[^"]*"\\} [1-9]\\d*',
    ])
      match(cadvisor, new RegExp(`^${sample}$`, "m"));
    deepEqual(missingMetrics(cadvisor, ["Containers"]), []);
    const resources = await page("/metrics/resource");
    match(resources, /^pod_memory_working_set_bytes\{pod="talking",namespace="numbers"\} [1-9]/m);
    deepEqual(missingMetrics(resources, ["Nodes"]), []);
  });

  test("every read of the summary succeeds and has the other Pods while Pods come and go", async () => {
    const names = ["come-1", "come-2", "come-3"];
    await kubectl("apply -f -", { input: { apiVersion: "v1", kind: "List", items: names.map((name) => aRealPod(name, SLEEP)) } });
    const shown = async (): Promise<readonly string[]> =>
      (JSON.parse(await page("/stats/summary")) as Summary).pods.map(({ podRef }) => podRef.name);
    await becomes(async () => {
      const read = await shown();
      ok(read.includes("talking"), read.join());
      return names.every((name) => read.includes(name));
    }, true);
    await kubectl(`delete pods ${names.join(" ")} --grace-period=1 --wait=false`);
    await becomes(async () => {
      const read = await shown();
      ok(read.includes("talking"), read.join());
      return names.some((name) => read.includes(name));
    }, false);
  });

  test("the kubelet serves each series once: of a restarted container the running one, and none of finished Pods", async () => {
    // The volume records that it has exited once.
    const script = `test -e /scratch/again || { touch /scratch/again; exit 1; }; ${SLEEP}`;
    const container = { volumeMounts: [{ name: "scratch", mountPath: "/scratch" }] };
    const volumes = [{ name: "scratch", emptyDir: {} }];
    const restarted = aRealPod("restarted", script, { container, volumes, initContainers: [aRealContainer("first", "true")] });
    await kubectl("apply -f -", { input: restarted });
    await kubectl("apply -f -", { input: aRealPod("ended", "true", { restartPolicy: "Never" }) });
    await kubectl("wait --for=jsonpath={.status.containerStatuses[0].restartCount}=1 pod/restarted --timeout=60s");
    await kubectl("wait --for=condition=Ready pod/restarted --timeout=60s");
    await kubectl("wait --for=jsonpath={.status.phase}=Succeeded pod/ended --timeout=60s");

    const { pods } = JSON.parse(await page("/stats/summary")) as Summary;
    deepEqual(pods.map(({ podRef, containers }) => [podRef.name, ...containers.map(({ name }) => name)].join(" ")).toSorted(), [
      "restarted main",
      "talking main",
    ]);
    const id = await kubectl("get pod restarted -o jsonpath={.status.containerStatuses[0].containerID}");
    for (const path of ["/metrics", "/metrics/cadvisor", "/metrics/probes", "/metrics/resource"]) {
      const text = await page(path);
      const series = text.split("\n").flatMap((line) => /^\w+(?:\{.*\})?(?= )/.exec(line) ?? []);
      ok(series.length > 0, path);
      deepEqual(
        series.filter((one, index) => series.indexOf(one) !== index),
        [],
        path,
      );
      equal(/pod="ended"|container="first"/.test(text), false, path);
      if (path !== "/metrics/cadvisor") continue;
      const names = series.flatMap((one) => /container="main".*name="([^"]+)".*pod="restarted"/.exec(one)?.[1] ?? []);
      deepEqual([...new Set(names)], [id.replace("containerd://", "")]);
    }
  });

  test("a Pod's port without a listener is rejected with upstream's message", async () => {
    const ip = await kubectl("get pod talking -o jsonpath={.status.podIP}");
    match(
      await kubectl.fails("get --raw /api/v1/namespaces/numbers/pods/talking:9/proxy/"),
      new RegExp(`error trying to reach service: dial tcp ${ip.replaceAll(".", "\\.")}:9: connect: connection refused`),
    );
  });

  test("kubectl top shows the usage of nodes, Pods and containers", async () => {
    // On an overloaded machine a measurement may be missing once.
    for (const [what, line] of [
      ["nodes", /^\S+ +\d+m +\d+% +\d+Mi +\d+% *$/m],
      ["pods --sort-by=memory", /^talking +\d+m +\d+Mi *$/m],
      ["pod talking --containers", /^talking +main +\d+m +\d+Mi *$/m],
    ] as const)
      await becomes(async () => line.test(await kubectl(`top ${what} --no-headers`).catch(String)), true);
    equal(await kubectl("top pods --no-headers -l app=none"), "");
  });

  test("kubectl autoscale scales a Deployment up under CPU load, and back when the load ends", async () => {
    // The shell itself uses the CPU, limited to a fifth of a core: four times as much as it requests.
    const script = "while :; do if [ -e /tmp/load ]; then :; else sleep 1; fi; done";
    const container = aRealContainer("main", script, { resources: { requests: { cpu: "50m" }, limits: { cpu: "200m" } } });
    await kubectl("create -f -", {
      input: {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "load" },
        spec: {
          selector: { matchLabels: { app: "load" } },
          template: { metadata: { labels: { app: "load" } }, spec: { terminationGracePeriodSeconds: 1, containers: [container] } },
        },
      },
    });
    await kubectl("rollout status deployment/load --timeout=180s", { timeoutMs: LOADED_WITHIN_MS });
    const pod = (await kubectl("get pods -l app=load -o name")).trim();
    const becomesSize = (size: number) =>
      kubectl(`wait deployment/load --for=jsonpath={.spec.replicas}=${size} --timeout=180s`, { timeoutMs: LOADED_WITHIN_MS });

    await kubectl("autoscale deployment load --cpu=50% --min=1 --max=2");
    await kubectl(`patch hpa load --type=merge -p '{"spec":{"behavior":{"scaleDown":{"stabilizationWindowSeconds":0}}}}'`);
    await kubectl(`exec ${pod} -- touch /tmp/load`);
    await becomesSize(2);
    await kubectl(`exec ${pod} -- rm /tmp/load`, { timeoutMs: LOADED_WITHIN_MS });
    await becomesSize(1);

    match(await kubectl("describe hpa load"), /New size: 2; reason: cpu resource utilization \(percentage of request\) above target/);
    await kubectl("delete deployment,hpa load");
  });
});

function isOnDisk({ availableBytes = 0, capacityBytes = 0, usedBytes = -1, inodes = 0, inodesFree = -1 }: Filesystem): void {
  ok(availableBytes > 0 && capacityBytes >= availableBytes && usedBytes >= 0 && inodes > 0 && inodesFree >= 0);
}
