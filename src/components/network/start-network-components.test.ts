import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { defineNetworkComponent, type NetworkComponent } from "./network-component.ts";
import { cleanUpNetworkComponents, networkFlags, startNetworkComponents } from "./start-network-components.ts";

const namespace = { name: "test", run: async () => "" };

function start(components: readonly NetworkComponent[], scope: NetworkComponent["scope"], warnings: string[] = [], clock = virtualClock()) {
  return startNetworkComponents({
    components,
    scope,
    network: { owner: "a1", namespace, log: silentLogger, nodeName: "node", nodeIps: ["192.0.2.1"] },
    values: {},
    ...{ clusterDns: [], clusterDomain: "cluster.local" },
    transportFor: () => {
      throw new Error("no component of these tests connects");
    },
    directory: "/data",
    ...{ clock, random: seededRandom(1), log: silentLogger },
    warn: (message) => void warnings.push(message),
  });
}

function component(name: string, happened: string[], more: Partial<NetworkComponent> = {}): NetworkComponent {
  return defineNetworkComponent({
    name,
    scope: "node",
    flags: { [`${name}-flag`]: { type: "boolean", doc: "A flag." } },
    async start({ directory }) {
      happened.push(`start ${name} in ${directory}`);
      return { description: `${name} works`, [Symbol.asyncDispose]: async () => void happened.push(`stop ${name}`) };
    },
    cleanUp: async ({ owner }) => void happened.push(`clean ${name} of ${owner}`),
    ...more,
  });
}

test("components start with directories of their own and stop in reverse order", async () => {
  const happened: string[] = [];
  const started = await start([component("one", happened), component("two", happened)], "cluster");
  deepEqual(started.list, [
    { name: "one", description: "one works" },
    { name: "two", description: "two works" },
  ]);
  await started[Symbol.asyncDispose]();
  deepEqual(happened, ["start one in /data/one", "start two in /data/two", "stop two", "stop one"]);
});

test("a component that cannot start is reported and does not stop the others", async () => {
  const happened: string[] = [];
  const warnings: string[] = [];
  const broken = component("broken", happened, { start: () => Promise.reject(new Error("port 53 is in use")) });
  await using started = await start([broken, component("other", happened)], "cluster", warnings);
  deepEqual(started.list, [
    { name: "broken", description: "not running: port 53 is in use" },
    { name: "other", description: "other works" },
  ]);
  deepEqual(warnings, ["broken is not running: port 53 is in use"]);
});

test("a component that cannot start is retried with back-off, and its description follows", async () => {
  const clock = virtualClock();
  const warnings: string[] = [];
  const startedAtMs: number[] = [];
  let change = (): void => {};
  let port = 80;
  const flaky = component("flaky", [], {
    async start() {
      startedAtMs.push(clock.monotonic());
      if (startedAtMs.length < 4) throw new Error(startedAtMs.length < 3 ? "the API server is away" : "port 80 is in use");
      return {
        get description() {
          return `on port ${port}`;
        },
        onDescriptionChange: (listener) => void (change = listener),
        [Symbol.asyncDispose]: async () => {},
      };
    },
  });
  await using started = await start([flaky], "cluster", warnings, clock);
  const shown: (string | undefined)[] = [];
  started.onChange(() => shown.push(started.list[0]?.description));
  await clock.advance(10_000);
  port = 8080;
  change();

  deepEqual(shown, ["not running: port 80 is in use", "on port 80", "on port 8080"]);
  deepEqual(warnings, ["flaky is not running: the API server is away", "flaky is not running: port 80 is in use"]);
  equal(startedAtMs.length, 4);
  const delays = startedAtMs.slice(1).map((ms, index) => ms - (startedAtMs[index] ?? 0));
  deepEqual(
    delays.map((ms, index) => ms >= 500 * 2 ** index && ms <= 1_000 * 2 ** index),
    [true, true, true],
  );
});

test("retries end when the components are stopped", async () => {
  const clock = virtualClock();
  let starts = 0;
  const broken = component("broken", [], { start: () => Promise.reject(new Error(`failure ${++starts}`)) });
  const started = await start([broken], "cluster", [], clock);
  await started[Symbol.asyncDispose]();
  await clock.advance(120_000);
  equal(starts, 1);
});

test("a Pod that needs a component does not start until it runs and admits the Pod; others do", async () => {
  const clock = virtualClock();
  const admitted: string[] = [];
  let isInstalled = false;
  const policies = component("policies", [], {
    async start() {
      if (!isInstalled) throw new Error("nft is missing");
      return {
        description: "nftables",
        admitPod: async (pod, [address]) => void admitted.push(`${pod.metadata.name} ${address}`),
        [Symbol.asyncDispose]: async () => {},
      };
    },
    needOf: async (pod) => (pod.metadata.name === "web" ? "NetworkPolicy x/deny selects the Pod" : undefined),
  });
  await using started = await start([policies, component("other", [])], "cluster", [], clock);
  const [web, free] = ["web", "free"].map((name) => ({ apiVersion: "v1", kind: "Pod", metadata: { namespace: "x", name } }) as const);
  if (web === undefined || free === undefined) throw new Error("both Pods exist");

  await rejects(started.admitPod(web, ["10.0.0.7"]), {
    message: "NetworkPolicy x/deny selects the Pod, but policies is not running: nft is missing",
  });
  await started.admitPod(free, ["10.0.0.8"]);
  isInstalled = true;
  await clock.advance(1_000);
  await started.admitPod(web, ["10.0.0.7"]);

  deepEqual(admitted, ["web 10.0.0.7"]);
});

test("a component that takes too long is reported, continues to start, and is stopped with the others", async () => {
  const happened: string[] = [];
  const warnings: string[] = [];
  const clock = virtualClock();
  const slow = component("slow", happened, {
    async start() {
      await clock.sleep(90_000);
      return { description: "slow works", [Symbol.asyncDispose]: async () => void happened.push("stop slow") };
    },
  });
  const starting = start([slow, component("other", happened)], "cluster", warnings, clock);
  await clock.advance(60_000);
  const started = await starting;
  const reason = "it did not start within 60 s and continues; its log has the reason";
  deepEqual(started.list, [
    { name: "slow", description: `not running: ${reason}` },
    { name: "other", description: "other works" },
  ]);
  deepEqual(warnings, [`slow is not running: ${reason}`]);
  await clock.advance(30_000);
  await started[Symbol.asyncDispose]();
  deepEqual(happened, ["start other in /data/other", "stop other", "stop slow"]);
});

test("a joined node runs only components of every node and has only their flags", async () => {
  const components = [component("proxy", []), component("dns", [], { scope: "cluster" })];
  await using started = await start(components, "node");
  deepEqual(
    started.list.map(({ name }) => name),
    ["proxy"],
  );
  deepEqual(Object.keys(networkFlags("node", components)), ["proxy-flag"]);
  deepEqual(Object.keys(networkFlags("cluster", components)), ["proxy-flag", "dns-flag"]);
});

test("cleanup tries all components in reverse order and reports a failure", async () => {
  const happened: string[] = [];
  const failing = component("two", happened, { cleanUp: () => Promise.reject(new Error("no permission")) });
  const owner = { owner: "a1", namespace, log: silentLogger };
  await rejects(cleanUpNetworkComponents(owner, [component("one", happened), failing, component("three", happened)]), /no permission/);
  equal(happened.join(", "), "clean three of a1, clean one of a1");
});
