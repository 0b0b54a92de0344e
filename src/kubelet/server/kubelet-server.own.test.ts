import { deepEqual, equal, match } from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import type { Pod } from "../../api/generated/core/v1.ts";
import { startWorld } from "../testing/world.ts";
import { KubeletMetrics } from "../kubelet-metrics.ts";
import type { LogLine, LogOptions } from "../contracts/runtime.ts";
import { aKubelet, serve } from "./testing/served.ts";

const PLAIN = "text/plain; charset=utf-8";

async function* linesOf(...texts: readonly string[]): AsyncGenerator<LogLine> {
  for (const text of texts) yield { atMs: 0, stream: "stdout", text };
}

for (const { method = "GET", path, expected } of [
  { path: "/healthz", expected: [200, PLAIN, "ok"] },
  { path: "/healthz/ping", expected: [200, PLAIN, "ok"] },
  { path: "/nothing", expected: [404, PLAIN, "404 page not found\n"] },
  { method: "POST", path: "/pods", expected: [405, PLAIN, "405: Method Not Allowed"] },
  { path: "/%ZZ", expected: [400, PLAIN, "400 Bad Request"] },
  { path: "/configz", expected: [200, "application/json", '{"kubeletconfig":{"kind":"KubeletConfiguration"}}'] },
  { path: "/containerLogs/default/other/main", expected: [404, PLAIN, 'pod "other" does not exist'] },
  { path: "/containerLogs/default/web/other", expected: [404, PLAIN, 'container "other" not found in pod "web"'] },
  { path: "/containerLogs/default/web/main?tailLines=x", expected: [400, PLAIN, '{"message": "Unable to decode query."}'] },
  {
    path: "/containerLogs/default/web/done",
    expected: [400, PLAIN, `container "done" in pod "web" is waiting to start: image can't be pulled`],
  },
  { path: "/containerLogs/default/web/main?limitBytes=6", expected: [200, PLAIN, "one\ntw"] },
  {
    path: "/containerLogs/default/web/main?timestamps=true",
    expected: [200, PLAIN, "1970-01-01T00:00:00.000000000Z one\n1970-01-01T00:00:00.000000000Z two\n"],
  },
  { path: "/exec/default/web/main?output=1&command=ls", expected: [500, PLAIN, "Upgrade request required\n"] },
  { path: "/exec/default/web/main?command=ls", expected: [400, PLAIN, "you must specify at least 1 of stdin, stdout, stderr"] },
  { path: "/exec/default/web/main?output=true&command=ls", expected: [400, PLAIN, "you must specify at least 1 of stdin, stdout, stderr"] },
  { path: "/exec/default/other/main?output=1", expected: [404, PLAIN, "pod does not exist"] },
  { path: "/exec/default/web/done?output=1", expected: [500, PLAIN, 'container not found ("done")'] },
  { path: "/exec/default/web/u-2/main?output=1", expected: [500, PLAIN, 'container not found ("main")'] },
  { path: "/attach/default/web/done?output=1", expected: [500, PLAIN, "container done not found in pod web_default"] },
  { path: "/portForward/default/other", expected: [404, PLAIN, "pod does not exist"] },
  { path: "/portForward/default/web/u-2", expected: [404, PLAIN, "pod not found"] },
  { path: "/portForward/default/web", expected: [500, PLAIN, "Upgrade request required\n"] },
  { method: "POST", path: "/run/default/web/main?cmd=say%20it", expected: [200, "application/json", "say it"] },
  { method: "POST", path: "/run/default/web/main?cmd=fail", expected: [500, PLAIN, "command 'fail' exited with 3: so bad"] },
  { method: "POST", path: "/run/default/web/done?cmd=ls", expected: [500, PLAIN, 'container not found ("done")'] },
  { method: "POST", path: "/run/default/other/main?cmd=ls", expected: [404, PLAIN, "pod does not exist"] },
]) {
  test(`${method} ${path} returns ${JSON.stringify(expected)}`, async () => {
    const kubelet = aKubelet({
      logs: () => linesOf("one", "two"),
      async exec(_id, command, { output, error }) {
        const fails = command.join() === "fail";
        await (fails ? error : output)(new TextEncoder().encode(fails ? "so bad" : command.join(" ")));
        return fails ? 3 : 0;
      },
    });
    await using server = await serve(kubelet, { configuration: { kind: "KubeletConfiguration" } });

    const { code, type, body } = await server.ask(path, { method });

    deepEqual([code, type, body], expected);
  });
}

test("port-forward to a Pod that does not run is rejected", async () => {
  await using server = await serve(aKubelet({ status: () => Promise.resolve(undefined) }));

  const { code, body } = await server.ask("/portForward/default/web");
  deepEqual([code, body], [500, 'pod not found ("web_default")']);
});

test("a log request passes its options to the runtime, streams while the log grows, and ends when the client disconnects", async () => {
  const asked: [string, LogOptions][] = [];
  let grow = (): void => undefined;
  let ended = (): void => undefined;
  const over = new Promise<void>((resolve) => (ended = resolve));
  const kubelet = aKubelet({
    async *logs(id, options, signal) {
      asked.push([id, options]);
      yield { atMs: 0, stream: "stdout", text: "first" };
      await new Promise<void>((resolve) => (grow = resolve));
      yield { atMs: 0, stream: "stderr", text: "second" };
      await once(signal, "abort");
      ended();
    },
  });
  await using server = await serve(kubelet);

  const answer = await server.open("/containerLogs/default/web/main?follow=true&tailLines=5");
  const [first] = (await once(answer, "data")) as [Buffer];
  grow();
  const [second] = (await once(answer, "data")) as [Buffer];
  answer.destroy();
  await over;

  deepEqual([asked, first.toString() + second.toString()], [[["c-main", { follow: true, tailLines: 5 }]], "first\nsecond\n"]);
});

test("a slow client of a log applies back-pressure to its reading", async () => {
  let lines = 0;
  const text = "x".repeat(64 << 10);
  const kubelet = aKubelet({
    async *logs(_id, _options, signal) {
      for (; !signal.aborted; lines++) yield { atMs: 0, stream: "stdout", text };
    },
  });
  await using server = await serve(kubelet);

  const answer = await server.open("/containerLogs/default/web/main?follow=true");
  const reading = lines;
  answer.pause();
  let before = -1;
  while (before !== lines) {
    before = lines;
    // Everything writable has been written once the server has answered another client twice without reading on.
    await server.ask("/healthz");
    await server.ask("/healthz");
  }
  answer.destroy();

  equal(lines - reading < 1_000, true, `${lines} lines of 64 KiB were read`);
});

test("a failure in the middle of a log is reported at its end", async () => {
  const kubelet = aKubelet({
    async *logs() {
      yield { atMs: 0, stream: "stdout", text: "first" };
      throw new Error("failed to read log file");
    },
  });
  await using server = await serve(kubelet);

  const { code, body } = await server.ask("/containerLogs/default/web/main");
  deepEqual([code, body], [200, "first\nfailed to read log file"]);
});

test("/pods lists the node's Pods, /runningpods those of its runtime", async () => {
  await using server = await serve(aKubelet());

  const pods = JSON.parse((await server.ask("/pods")).body) as { readonly items: readonly Pod[] };
  const running = JSON.parse((await server.ask("/runningpods/")).body) as { readonly items: readonly Pod[] };

  deepEqual(
    { ...pods, items: pods.items.map(({ metadata: { name }, kind }) => [name, kind]) },
    {
      ...{ kind: "PodList", apiVersion: "v1", metadata: {} },
      items: [["web", undefined]],
    },
  );
  deepEqual(running.items, [
    {
      metadata: { name: "web", namespace: "default", uid: "u-1" },
      spec: {
        containers: [
          { name: "main", image: "web:1", resources: {} },
          { name: "shell", image: "web:1", resources: {} },
        ],
      },
      status: {},
    },
  ]);
});

const LIMITED = {
  cpuShares: 1_024,
  cpuPeriod: 100_000,
  cpuQuota: 50_000,
  throttling: { periods: 10, throttledPeriods: 4, throttledSeconds: 1.5 },
  memoryLimitBytes: 1_000_000,
  memoryReservationBytes: 0,
  memorySwapLimitBytes: 0,
  memoryCacheBytes: 700,
  memorySwapBytes: 0,
};
const REST = { memoryUsageBytes: 8, memoryRssBytes: 6 };

test("stats come from the runtime and the machine, and metrics are text", async () => {
  const containers = [{ id: "c-main", name: "main", atMs: 5_000, cpuNanoseconds: 1e9, memoryWorkingSetBytes: 7, ...REST }];
  const stats = () => Promise.resolve([{ podUid: "u-1", namespace: "default", name: "web", containers }]);
  await using server = await serve(aKubelet({ stats }), {
    nodeNumbers: () => Promise.resolve({ cpuNanoseconds: 2e9, memoryWorkingSetBytes: 9 }),
    metrics: new KubeletMetrics(),
    machine: { processors: 2, memoryBytes: 1_000, machineId: "m", systemUuid: "s", bootId: "b" },
    podStorage: () => Promise.resolve({ volumes: [], logs: new Map(), hostsFile: { usedBytes: 4_096, inodesUsed: 1 } }),
    cgroupOf: ({ metadata }, id = "") => `/pod${metadata.uid}/${id}`,
    cgroupSettings: (cgroup) => Promise.resolve(cgroup.endsWith("c-main") ? LIMITED : undefined),
  });

  const summary = JSON.parse((await server.ask("/stats/summary")).body) as {
    readonly node: { readonly cpu: { readonly usageCoreNanoSeconds: number } };
    readonly pods: readonly {
      readonly memory: { readonly workingSetBytes: number };
      readonly "ephemeral-storage": { readonly usedBytes: number };
    }[];
  };
  equal(summary.pods[0]?.["ephemeral-storage"].usedBytes, 4_096);
  deepEqual([summary.node.cpu.usageCoreNanoSeconds, summary.pods[0]?.memory.workingSetBytes], [2e9, 7]);
  match((await server.ask("/metrics/resource")).body, /^container_memory_working_set_bytes\{.*\} 7 5000$/m);
  const { body: cadvisor } = await server.ask("/metrics/cadvisor");
  match(
    cadvisor,
    /^container_memory_working_set_bytes\{container="main",id="\/podu-1\/c-main",image="web:1",name="c-main",namespace="default",pod="web"\} 7 5000$/m,
  );
  const labels = 'container="main",id="/podu-1/c-main",image="web:1",name="c-main",namespace="default",pod="web"';
  const lines = cadvisor.split("\n").filter((line) => /^container_(cpu_cfs|spec|memory_(cache|swap))/.test(line));
  deepEqual(
    lines.map((line) => line.replace(`{${labels}}`, "")),
    [
      "container_cpu_cfs_periods_total 10",
      "container_cpu_cfs_throttled_periods_total 4",
      "container_cpu_cfs_throttled_seconds_total 1.5",
      "container_memory_cache 700",
      "container_memory_swap 0",
      "container_spec_cpu_period 100000",
      "container_spec_cpu_quota 50000",
      "container_spec_cpu_shares 1024",
      "container_spec_memory_limit_bytes 1000000",
      "container_spec_memory_reservation_limit_bytes 0",
      "container_spec_memory_swap_limit_bytes 0",
    ].map((line) => line.replace(/$/, " 5000")),
  );
  match(cadvisor, /^machine_cpu_cores\{boot_id="b",machine_id="m",system_uuid="s"\} 2$/m);
  await server.ask("/containerLogs/default/web/main", { method: "PATCH" });
  const { body: own } = await server.ask("/metrics");
  match(own, /^kubelet_running_containers\{container_state="running"\} 2$/m);
  match(own, /^kubelet_http_requests_total\{long_running="false",method="GET",path="metrics\/cadvisor",server_type="readwrite"\} 1$/m);
  match(own, /^kubelet_http_requests_total\{long_running="false",method="other",path="containerLogs",server_type="readwrite"\} 1$/m);
});

test("statistics pages do not fail while Pods come and go", async () => {
  const stats = () => Promise.resolve([{ podUid: "u-1", namespace: "default", name: "web", containers: [{ id: "c-main", name: "main" }] }]);
  const gone = (): Promise<never> => Promise.reject(new Error("EIO: i/o error, read"));
  const sources = { cgroupOf: () => "/group", cgroupUsage: gone, cgroupSettings: gone, podStorage: gone };
  await using server = await serve(aKubelet({ stats }), sources);

  const codes = [];
  for (const page of ["/stats/summary", "/metrics/resource", "/metrics/cadvisor"]) codes.push((await server.ask(page)).code);

  deepEqual(codes, [200, 200, 200]);
});

test("failing stats are reported with upstream's message", async () => {
  await using server = await serve(aKubelet({ stats: () => Promise.reject(new Error("no statistics")) }));

  const { code, body } = await server.ask("/stats/summary");
  deepEqual([code, body], [500, "Internal Error: failed to list pod stats: no statistics"]);
  match((await server.ask("/metrics/resource")).body, /^resource_scrape_error 1$/m);
});

test("a kubelet with simulated containers serves its Pods and their logs", async () => {
  await using world = await startWorld();
  const kubelet = await world.kubelet("n1");
  await world.pod("web");
  await world.clock.advance(60_000);
  await using server = await serve(kubelet);

  const { items } = JSON.parse((await server.ask("/pods")).body) as { readonly items: readonly Pod[] };
  deepEqual(
    items.map(({ metadata, status }) => [metadata.name, status?.phase]),
    [["web", "Running"]],
  );
  equal((await server.ask("/containerLogs/default/web/c")).code, 200);
  equal((await server.ask("/healthz/syncloop")).body, "ok");
  match((await server.ask("/metrics/cadvisor")).body, /^container_scrape_error 0$/m);
});
