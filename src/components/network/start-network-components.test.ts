import { deepEqual, equal, rejects } from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { VirtualClock } from "../../base/virtual-clock.ts";
import { defineNetworkComponent, type NetworkComponent } from "./network-component.ts";
import { cleanUpNetworkComponents, networkFlags, startNetworkComponents } from "./start-network-components.ts";

const namespace = { name: "test", run: async () => "" };

function start(components: readonly NetworkComponent[], scope: NetworkComponent["scope"], warnings: string[] = []) {
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
    ...{ clock: new VirtualClock({ macrotask: () => Promise.resolve() }), random: seededRandom(1), log: silentLogger },
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
