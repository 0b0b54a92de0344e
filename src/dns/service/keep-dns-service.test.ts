import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { services } from "../../api/core/v1/service.ts";
import { endpointSlices } from "../../api/discovery.k8s.io/v1/endpoint-slice.ts";
import { clusterRoles } from "../../api/rbac.authorization.k8s.io/v1/cluster-role.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { given, givenWith, type Given } from "../../testing/given.ts";
import { createDnsIdentity, keepDnsService } from "./keep-dns-service.ts";

const KEY = { namespace: "kube-system", name: "kube-dns" };
const SLICE = { namespace: "kube-system", name: "kube-dns-node-1" };

async function keep(
  cluster: Given,
  { node = "node-1", address = "10.244.0.1", isReady = (): boolean => true, clusterIps = ["10.96.0.10"], second = "" } = {},
) {
  const warnings: string[] = [];
  const kept = keepDnsService({
    transport: cluster.server.transport(),
    clusterIps,
    endpoints: [
      { instance: node, nodeName: node, address, port: 53, metricsPort: 9153 },
      ...(second === "" ? [] : [{ instance: node, nodeName: node, address: second, port: 53 }]),
    ],
    isReady,
    ...{ clock: cluster.clock, random: seededRandom(1), log: silentLogger },
    warn: (message) => void warnings.push(message),
  });
  await cluster.settled();
  return Object.assign(kept, { warnings });
}

test("the Service kube-dns has its usual address and ports, and an EndpointSlice with the server", async () => {
  await using cluster = await given();
  await using _kept = await keep(cluster);
  const { spec } = await cluster.client.get(services, KEY);
  deepEqual(
    [spec?.clusterIP, spec?.selector, spec?.ports?.map(({ name, port, protocol }) => `${name} ${port}/${protocol}`)],
    ["10.96.0.10", undefined, ["dns 53/UDP", "dns-tcp 53/TCP", "metrics 9153/TCP"]],
  );
  const slice = await cluster.client.get(endpointSlices, SLICE);
  deepEqual(
    [slice.endpoints?.[0]?.addresses, slice.ports?.map(({ name, port }) => `${name} ${port}`), slice.metadata.ownerReferences?.[0]?.name],
    [["10.244.0.1"], ["dns 53", "dns-tcp 53", "metrics 9153"], "kube-dns"],
  );
});

test("the EndpointSlice says that the server is not ready until its first sync", async () => {
  await using cluster = await given();
  let isReady = false;
  await using _kept = await keep(cluster, { isReady: () => isReady });
  const conditions = async () => (await cluster.client.get(endpointSlices, SLICE)).endpoints?.[0]?.conditions;
  deepEqual(await conditions(), { ready: false, serving: false, terminating: false });
  isReady = true;
  await cluster.clock.advance(1_000);
  deepEqual(await conditions(), { ready: true, serving: true, terminating: false });
});

test("what is deleted or changed is created and corrected again", async () => {
  await using cluster = await given();
  await using _kept = await keep(cluster);
  await cluster.client.patch(endpointSlices, SLICE, { type: "merge", value: { endpoints: [] } });
  await cluster.settled();
  equal((await cluster.client.get(endpointSlices, SLICE)).endpoints?.length, 1);
  await cluster.client.delete(endpointSlices, SLICE);
  await cluster.client.delete(services, KEY);
  await cluster.settled();
  const service = await cluster.client.get(services, KEY);
  equal((await cluster.client.get(endpointSlices, SLICE)).metadata.ownerReferences?.[0]?.uid, service.metadata.uid);
});

test("two servers share the Service, each with a slice of its own", async () => {
  await using cluster = await given();
  await using _first = await keep(cluster);
  await using _second = await keep(cluster, { node: "node-2", address: "10.244.1.1" });
  const slices = await cluster.list(endpointSlices, "kube-system");
  deepEqual(slices.map(({ metadata, endpoints }) => `${metadata.name} ${endpoints?.[0]?.addresses[0]}`).toSorted(), [
    "kube-dns-node-1 10.244.0.1",
    "kube-dns-node-2 10.244.1.1",
  ]);
});

test("the Service of another DNS server is left alone", async () => {
  const spec = { selector: { "k8s-app": "kube-dns" }, clusterIP: "10.96.0.10", ports: [{ port: 53, protocol: "UDP" }] };
  await using cluster = await given({ apiVersion: "v1", kind: "Service", metadata: KEY, spec });
  await using _kept = await keep(cluster);
  deepEqual((await cluster.client.get(services, KEY)).spec?.selector, { "k8s-app": "kube-dns" });
  deepEqual(await cluster.list(endpointSlices, "kube-system"), []);
});

test("an address that another Service has is reported once, and retried", async () => {
  const other = { namespace: "default", name: "other" };
  const spec = { clusterIP: "10.96.0.10", ports: [{ port: 80 }] };
  await using cluster = await given({ apiVersion: "v1", kind: "Service", metadata: other, spec });
  await using kept = await keep(cluster);
  equal(kept.warnings.length, 1);
  match(kept.warnings[0] ?? "", /^Pods cannot use the DNS server yet: .*10\.96\.0\.10/);
  await cluster.client.delete(services, other);
  await cluster.clock.advance(60_000);
  equal((await cluster.client.get(services, KEY)).spec?.clusterIP, "10.96.0.10");
});

test("the identity of the server is created once, and an administrator's changes of its role stay", async () => {
  await using cluster = await given();
  const transport = cluster.server.transport();
  await createDnsIdentity(transport);
  await cluster.client.patch(
    clusterRoles,
    { name: "system:coredns" },
    { type: "merge", value: { metadata: { labels: { changed: "yes" } } } },
  );
  await createDnsIdentity(transport);
  equal((await cluster.client.get(clusterRoles, { name: "system:coredns" })).metadata.labels?.["changed"], "yes");
});

test("a dual-stack cluster has an address and an EndpointSlice per family, also if it was single-stack before", async () => {
  await using cluster = await givenWith({ config: { serviceClusterIpRange: "10.96.0.0/12,fd00:10:96::/112" } });
  {
    await using _kept = await keep(cluster);
  }
  const both = ["10.96.0.10", "fd00:10:96::a"];
  await using _kept = await keep(cluster, { clusterIps: both, second: "fd00:10:244::1" });
  const { spec } = await cluster.client.get(services, KEY);
  deepEqual([spec?.clusterIPs, spec?.ipFamilies, spec?.ipFamilyPolicy], [both, ["IPv4", "IPv6"], "RequireDualStack"]);
  const slices = await cluster.list(endpointSlices, "kube-system");
  deepEqual(
    slices.map(({ metadata, addressType, endpoints }) => `${metadata.name} ${addressType} ${endpoints?.[0]?.addresses[0]}`).toSorted(),
    ["kube-dns-node-1 IPv4 10.244.0.1", "kube-dns-node-1-ipv6 IPv6 fd00:10:244::1"],
  );
});
