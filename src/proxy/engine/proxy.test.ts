import assert from "node:assert/strict";
import { test } from "node:test";
import { nodes } from "../../api/core/v1/node.ts";
import { services } from "../../api/core/v1/service.ts";
import { serviceCidrs } from "../../api/networking.k8s.io/v1/service-cidr.ts";
import { endpointSlices } from "../../api/discovery.k8s.io/v1/endpoint-slice.ts";
import { StatusError } from "../../api/machinery/status-error.ts";
import type { Transport, TransportWatch } from "../../api/machinery/transport.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { prometheusText } from "../../base/metrics/prometheus-text.ts";
import { driven } from "../../testing/driven.ts";
import { given, type Given } from "../../testing/given.ts";
import { anEndpoint, aService, aSlice } from "../testing/objects.ts";
import { RecordingMode } from "../testing/recording-mode.ts";
import { startProxy, type Proxy } from "./proxy.ts";

/** The Service default/kubernetes, which every API server has, is not shown. */
function shown({ last }: RecordingMode): readonly string[] {
  return last.filter((line) => !line.startsWith("default/kubernetes:"));
}

interface World extends AsyncDisposable {
  readonly cluster: Given;
  readonly proxy: Proxy;
  readonly iptables: RecordingMode;
  readonly userspace: RecordingMode;
  readonly warnings: readonly string[];
  /** What ran in the node's namespace. */
  readonly commands: readonly string[];
}

interface RunningOptions {
  readonly mode?: string;
  readonly iptables?: RecordingMode;
  readonly userspace?: RecordingMode;
  around?(transport: Transport): Transport;
}

async function running(objects: readonly object[], options: RunningOptions = {}): Promise<World> {
  const { mode = "iptables", iptables = new RecordingMode("iptables"), userspace = new RecordingMode("userspace") } = options;
  const { around = (transport: Transport) => transport } = options;
  const cluster = await given(...objects);
  const warnings: string[] = [];
  const commands: string[] = [];
  const { clock } = cluster;
  const starting = startProxy({
    modes: [iptables, userspace],
    ...{ mode, owner: "test", nodeName: "here", clock, random: seededRandom(1), log: silentLogger },
    namespace: {
      name: "test",
      run(command, words) {
        commands.push([command, ...words].join(" "));
        return Promise.resolve("");
      },
    },
    settings: { nodePortAddresses: ["0.0.0.0/0"], podCidrs: [], nodeIps: [] },
    applierOptions: { masqueradesAll: false, ipvsScheduler: "rr" },
    transport: around(cluster.server.transport()),
    warn: (message) => void warnings.push(message),
  });
  const proxy = await driven(clock, starting);
  return {
    ...{ cluster, proxy, iptables, userspace, warnings, commands },
    async [Symbol.asyncDispose]() {
      await driven(clock, proxy[Symbol.asyncDispose]());
      await cluster[Symbol.asyncDispose]();
    },
  };
}

/** A network that can be cut: watches end, and requests fail, until it is back. */
class Outage {
  readonly #watches = new Set<TransportWatch>();
  #isDown = false;

  begin(): void {
    this.#isDown = true;
    for (const watch of this.#watches) watch.stop();
    this.#watches.clear();
  }

  end(): void {
    this.#isDown = false;
  }

  around(transport: Transport): Transport {
    const lost = () => Promise.reject(new StatusError("ServiceUnavailable", "connection refused"));
    return {
      ...transport,
      request: (request) => (this.#isDown ? lost() : transport.request(request)),
      watch: async (request, listener) => {
        if (this.#isDown) return lost();
        const watch = await transport.watch(request, listener);
        this.#watches.add(watch);
        return watch;
      },
    };
  }
}

const web = (name: string, clusterIP: string) => aService(name, { clusterIP });
const slice = (service: string, ...addresses: readonly string[]) =>
  aSlice(
    addresses.map((address) => anEndpoint(address)),
    { name: `${service}-1`, service },
  );

test("the first apply has all existing Services with their endpoints", async () => {
  const objects = [web("a", "10.96.1.10"), slice("a", "10.1.0.1"), web("b", "10.96.1.11"), slice("b", "10.1.0.2", "10.1.0.3")];
  await using world = await running(objects);

  assert.equal(world.iptables.models.length, 1);
  assert.deepEqual(shown(world.iptables), ["default/a:/TCP/4=10.1.0.1", "default/b:/TCP/4=10.1.0.2,10.1.0.3"]);
});

test("changes of Services and EndpointSlices are applied at once, without effect not at all", async () => {
  await using world = await running([web("a", "10.96.1.10"), slice("a", "10.1.0.1")]);
  const { client } = world.cluster;
  const key = { namespace: "default", name: "a-1" };

  await client.patch(endpointSlices, key, { type: "merge", value: { endpoints: [anEndpoint("10.1.0.9")] } });
  await world.cluster.settled();
  assert.deepEqual(shown(world.iptables), ["default/a:/TCP/4=10.1.0.9"]);

  const applied = world.iptables.models.length;
  await client.patch(endpointSlices, key, { type: "merge", value: { metadata: { labels: { some: "label" } } } });
  await world.cluster.settled();
  assert.equal(world.iptables.models.length, applied);

  await client.delete(services, { namespace: "default", name: "a" });
  await world.cluster.settled();
  assert.deepEqual(shown(world.iptables), []);
});

test("changes during an apply are coalesced into one", async () => {
  await using world = await running([]);
  const { iptables, cluster } = world;
  const first = iptables.models.length;
  iptables.onApply = async (count) => {
    if (count !== first + 1) return;
    for (const [index, name] of ["b", "c", "d"].entries()) await cluster.client.create(services, web(name, `10.96.1.2${index}`));
  };

  await cluster.client.create(services, web("a", "10.96.1.10"));
  await cluster.settled();

  assert.deepEqual(
    iptables.models.slice(first).map(({ servicePorts }) => servicePorts.size),
    [2, 5],
  );
});

test("a failed apply is retried with back-off until it succeeds, and counted", async () => {
  await using world = await running([]);
  const { iptables, cluster } = world;
  const first = iptables.models.length;
  iptables.onApply = (count) => (count < first + 3 ? Promise.reject(new Error("another app holds the xtables lock")) : Promise.resolve());

  await cluster.client.create(services, web("a", "10.96.1.10"));
  await cluster.settled();
  assert.equal(iptables.models.length, first + 1);
  await cluster.clock.advance(2_000);

  assert.equal(iptables.models.length, first + 3);
  assert.match(prometheusText(world.proxy.metrics.families()), /^kubeproxy_sync_proxy_rules_iptables_restore_failures_total 2$/m);
});

test("the proxy is unhealthy while changes cannot be applied for a minute", async () => {
  await using world = await running([]);
  const { iptables, cluster, proxy } = world;
  assert.equal(proxy.health.isHealthy, true);
  iptables.onApply = () => Promise.reject(new Error("no"));
  await cluster.client.create(services, web("a", "10.96.1.10"));
  await cluster.clock.advance(50_000);
  assert.equal(proxy.health.isHealthy, true);
  await cluster.clock.advance(20_000);
  assert.equal(proxy.health.isHealthy, false);

  iptables.onApply = () => Promise.resolve();
  await cluster.clock.advance(20_000);
  assert.equal(proxy.health.isHealthy, true);
});

test("rules that were flushed are written again, although nothing changed", async () => {
  await using world = await running([web("a", "10.96.1.10")]);
  const { iptables, cluster } = world;
  await cluster.clock.advance(20_000);
  assert.equal(iptables.models.length, 1);
  assert.deepEqual(iptables.happened.slice(2), ["quick check", "quick check", "quick check", "quick check"]);
  await cluster.clock.advance(20_000);
  assert.equal(iptables.happened.filter((one) => one === "thorough check").length, 1);

  iptables.isIntact = false;
  await cluster.clock.advance(6_000);

  assert.equal(iptables.models.length, 2);
  assert.equal(iptables.models[1], iptables.models[0]);
  await cluster.clock.advance(20_000);
  assert.equal(iptables.models.length, 2);
});

test("while the API server is away for a minute the rules stay; changes made meanwhile are applied afterwards", async () => {
  const network = new Outage();
  const objects = [web("a", "10.96.1.10"), slice("a", "10.1.0.1"), web("b", "10.96.1.11"), slice("b", "10.1.0.2")];
  await using world = await running(objects, { around: (transport) => network.around(transport) });
  const { iptables, cluster, proxy } = world;
  const before = iptables.models.length;

  network.begin();
  await cluster.client.patch(
    endpointSlices,
    { namespace: "default", name: "a-1" },
    { type: "merge", value: { endpoints: [anEndpoint("10.1.0.9")] } },
  );
  await cluster.client.delete(services, { namespace: "default", name: "b" });
  await cluster.client.create(services, web("c", "10.96.1.12"));
  await cluster.clock.advance(60_000);
  assert.equal(iptables.models.length, before);
  assert.equal(proxy.health.isHealthy, true);

  network.end();
  await cluster.clock.advance(60_000);
  assert.deepEqual(shown(iptables), ["default/a:/TCP/4=10.1.0.9", "default/c:/TCP/4="]);
});

test("flushed rules are written again while the API server is away", async () => {
  const network = new Outage();
  await using world = await running([web("a", "10.96.1.10")], { around: (transport) => network.around(transport) });
  network.begin();
  world.iptables.isIntact = false;

  await world.cluster.clock.advance(10_000);

  assert.equal(world.iptables.models.length, 2);
});

test("the Service kubernetes has all API servers, and loses one that is down", async () => {
  const api = { name: "kubernetes", service: "kubernetes", ports: [{ name: "https", port: 6443, protocol: "TCP" as const }] };
  await using world = await running([aSlice([], api)]);
  const { client } = world.cluster;
  const key = { namespace: "default", name: "kubernetes" };
  const servers = () => world.iptables.last.map((line) => line.split("=")[1]);
  const set = (...addresses: readonly string[]) =>
    client.patch(endpointSlices, key, { type: "merge", value: { endpoints: addresses.map((address) => anEndpoint(address)) } });

  await set("192.0.2.1", "192.0.2.2");
  await world.cluster.settled();
  assert.deepEqual(servers(), ["192.0.2.1,192.0.2.2"]);
  await set("192.0.2.2");
  await world.cluster.settled();
  assert.deepEqual(servers(), ["192.0.2.2"]);
});

test("the zone of the Node decides about topology hints, also if the Node is created later", async () => {
  const hinted = (address: string, zone: string) => anEndpoint(address, { hints: { forZones: [{ name: zone }] } });
  const slices = aSlice([hinted("10.1.0.1", "a"), hinted("10.1.0.2", "b")], { service: "a" });
  await using world = await running([web("a", "10.96.1.10"), slices]);
  assert.deepEqual(shown(world.iptables), ["default/a:/TCP/4=10.1.0.1,10.1.0.2"]);
  assert.equal(world.proxy.health.isNodeEligible, true);

  const labels = { "topology.kubernetes.io/zone": "b" };
  await world.cluster.client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "here", labels } });
  await world.cluster.settled();

  assert.deepEqual(shown(world.iptables), ["default/a:/TCP/4=10.1.0.2"]);
  await world.cluster.client.delete(nodes, { name: "here" });
  await world.cluster.settled();
  assert.equal(world.proxy.health.isNodeEligible, false);
});

test("headless Services and those of another proxy are not applied", async () => {
  const other = aService("other", { clusterIP: "10.96.1.12" }, { labels: { "service.kubernetes.io/service-proxy-name": "mesh" } });
  await using world = await running([other, web("headless", "None")]);

  assert.deepEqual(shown(world.iptables), []);
});

test("the proxy sets how long the kernel tracks connections, except in mode userspace", async () => {
  for (const [mode, count] of [["iptables", 1] as const, ["userspace", 0] as const]) {
    await using world = await running([], { mode });
    assert.equal(world.commands.filter((command) => command.includes("nf_conntrack_tcp_timeout_close_wait")).length, count, mode);
  }
});

test("the ranges of cluster IPs are those of all ServiceCIDRs", async () => {
  await using world = await running([]);
  const { client } = world.cluster;
  const ranges = () => world.iptables.models.at(-1)?.serviceCidrs;
  const before = ranges() ?? [];

  await client.create(serviceCidrs, {
    apiVersion: "networking.k8s.io/v1",
    kind: "ServiceCIDR",
    metadata: { name: "more" },
    spec: { cidrs: ["192.0.2.0/24"] },
  });
  await world.cluster.settled();
  assert.deepEqual(ranges(), [...before, "192.0.2.0/24"]);
});

test("a mode that this machine cannot run is replaced by iptables, then userspace, with the reasons", async () => {
  const iptables = new RecordingMode("iptables");
  iptables.unsupported = "iptables is missing; install the package iptables";
  await using world = await running([], { iptables });

  assert.equal(world.proxy.mode, "userspace");
  assert.deepEqual(iptables.happened, []);
  assert.deepEqual(world.warnings, [
    "proxy mode iptables cannot be used, trying userspace: iptables is missing; install the package iptables",
  ]);
});

test("the state of other modes is removed after the first apply", async () => {
  await using world = await running([]);

  assert.deepEqual(world.userspace.happened, ["clean up"]);
  assert.deepEqual(world.iptables.happened, ["open", "apply 1"]);
});

test("the state of other modes stays until an apply succeeds", async () => {
  const iptables = new RecordingMode("iptables");
  iptables.onApply = (count) => (count === 1 ? Promise.reject(new Error("the kernel refuses")) : Promise.resolve());
  await using world = await running([], { iptables });
  assert.deepEqual(world.userspace.happened, []);

  await world.cluster.clock.advance(1_000);
  assert.deepEqual(world.userspace.happened, ["clean up"]);
});

test("a stopped proxy closes its applier and leaves the rules", async () => {
  const world = await running([]);
  await world[Symbol.asyncDispose]();

  assert.deepEqual(world.iptables.happened, ["open", "apply 1", "close"]);
});

test("an unknown mode is refused with the known ones", async () => {
  await assert.rejects(running([], { mode: "magic" }), /"magic": it must be one of iptables, userspace/);
});
