import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { defineNetworkComponent, type NetworkComponent } from "./network-component.ts";
import { cleanUpNetworkComponents, networkFlags, startNetworkComponents } from "./start-network-components.ts";

const namespace = { name: "test", run: async () => "" };

function start(
  components: readonly NetworkComponent[],
  scope: NetworkComponent["scope"],
  warnings: string[] = [],
  clock = new VirtualClock({ macrotask: () => Promise.resolve() }),
) {
  return startNetworkComponents({
    components,
    scope,
    network: { owner: "a1", namespace, log: silentLogger, nodeName: "node", nodeIps: ["192.0.2.1"] },
    values: {},
    clusterDomain: "cluster.local",
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

test("a component that takes too long is reported, continues to start, and is stopped with the others", async () => {
  const happened: string[] = [];
  const warnings: string[] = [];
  const clock = new VirtualClock({ macrotask: () => Promise.resolve() });
  const slow = component("slow", happened, {
    async start() {
      await clock.sleep(90_000);
      return { description: "slow works", [Symbol.asyncDispose]: async () => void happened.push("stop slow") };
    },
  });
  const starting = start([slow, component("other", happened)], "cluster", warnings, clock);
  await clock.advance(60_000);
  const started = await starting;
  const reason = "it did not start within 60 s and continues in the background; its log has the reason";
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
