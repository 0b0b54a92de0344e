import { deepEqual, equal } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { namespaces } from "../../../api/core/v1/namespace.ts";
import { services } from "../../../api/core/v1/service.ts";
import { endpointSlices } from "../../../api/discovery.k8s.io/v1/endpoint-slice.ts";
import type { EndpointSlice } from "../../../api/generated/discovery.k8s.io/v1.ts";
import { givenWith, type Given } from "../../../testing/given.ts";
import { failure } from "../../answers.ts";
import type { DnsAnswer, PluginContext, RunningPlugin } from "../../plugin.ts";
import { answerText, pluginContext, query, type TypeName } from "../../testing/plugin-context.ts";
import { RCODE, TYPE } from "../../wire/codes.ts";
import { addressRecord } from "../../wire/records.ts";
import { kubernetes } from "./kubernetes.ts";

const namespace = (name: string) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }) as const;

function service(name: string, spec: object, of = "shop") {
  const ports = [{ name: "http", port: 80, protocol: "TCP" }];
  return { apiVersion: "v1", kind: "Service", metadata: { namespace: of, name }, spec: { ports, ...spec } };
}

interface SliceOptions {
  readonly of: string;
  readonly name?: string;
  readonly type?: "IPv4" | "IPv6";
  readonly ports?: EndpointSlice["ports"];
  readonly endpoints: EndpointSlice["endpoints"];
}

function slice({ of, name = of, type = "IPv4", ports = [{ name: "http", port: 8080, protocol: "TCP" }], endpoints }: SliceOptions) {
  return {
    ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: type, endpoints, ports },
    metadata: { namespace: "shop", name, labels: { "kubernetes.io/service-name": of } },
  };
}

const OBJECTS = [
  namespace("shop"),
  service("web", {
    clusterIP: "10.96.0.20",
    ports: [
      { name: "http", port: 80 },
      { name: "dns", port: 53, protocol: "UDP" },
    ],
  }),
  service("unnamed", { clusterIP: "10.96.0.21", ports: [{ port: 80 }] }),
  service("dual", { clusterIPs: ["10.96.0.22", "2001:db8:1::22"], clusterIP: "10.96.0.22", ipFamilyPolicy: "RequireDualStack" }),
  service("db", { clusterIP: "None" }),
  service("none-ready", { clusterIP: "None" }),
  service("early", { clusterIP: "None", publishNotReadyAddresses: true }),
  service("outside", { type: "ExternalName", externalName: "www.example.com.", ports: undefined }),
  service("alias", { type: "ExternalName", externalName: "web.shop.svc.cluster.local", ports: undefined }),
  service("circle", { type: "ExternalName", externalName: "circle.shop.svc.cluster.local", ports: undefined }),
  service("kube-dns", { clusterIP: "10.96.0.10" }, "kube-system"),
  slice({ of: "web", endpoints: [{ addresses: ["10.244.0.7"] }] }),
  slice({
    of: "db",
    endpoints: [
      { addresses: ["10.244.0.5"], hostname: "db-0" },
      { addresses: ["10.244.0.6"], conditions: { ready: true } },
      { addresses: ["10.244.0.9"], hostname: "db-1", conditions: { ready: false } },
    ],
  }),
  slice({ of: "db", name: "db-v6", type: "IPv6", endpoints: [{ addresses: ["2001:db8::5"], hostname: "db-0" }] }),
  slice({ of: "none-ready", endpoints: [{ addresses: ["10.244.0.8"], conditions: { ready: false } }] }),
  slice({ of: "early", endpoints: [{ addresses: ["10.244.0.8"], hostname: "early-0", conditions: { ready: false } }] }),
];

const SOA = "  | cluster.local 5 SOA ns.dns.cluster.local 5";

let cluster: Given;
let plugin: RunningPlugin;
const changes: string[] = [];

const example = addressRecord({ name: "www.example.com", ttlSeconds: 60, bytes: new Uint8Array([192, 0, 2, 53]) });

before(async () => {
  cluster = await givenWith({ config: { serviceClusterIpRange: "10.96.0.0/16,2001:db8:1::/112" } }, ...OBJECTS);
  const resolve: PluginContext["resolve"] = (name, type, from) => {
    const answers = name === "www.example.com" && type === TYPE.A ? [example] : undefined;
    if (answers !== undefined) return Promise.resolve({ ...failure(RCODE.NOERROR), answers });
    return ask(query(name, "A", { type, depth: from.depth + 1 }));
  };
  const transport = cluster.server.transport();
  plugin = await kubernetes.start(pluginContext(cluster.clock, { transport, resolve, changed: (subject) => void changes.push(subject) }));
});
after(async () => {
  await plugin[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
});

function ask(asked: ReturnType<typeof query>): Promise<DnsAnswer> {
  return Promise.resolve(plugin.handle?.(asked, () => failure(RCODE.REFUSED)) ?? failure(RCODE.REFUSED));
}

async function textOf(name: string, type: TypeName = "A"): Promise<string> {
  return answerText(await ask(query(name, type)));
}

test("names of the cluster fail until the first sync, and the plugin is not ready", async () => {
  equal(plugin.isReady?.(), false);
  equal(await textOf("web.shop.svc.cluster.local"), "SERVFAIL");
  await cluster.settled();
  equal(plugin.isReady?.(), true);
});

describe("records", () => {
  const cases: readonly [name: string, type: TypeName, answer: string][] = [
    ["dns-version", "TXT", 'NOERROR dns-version.cluster.local 5 TXT "1.1.0"'],
    ["dns-version", "A", `NOERROR${SOA}`],
    ["web.shop.svc", "A", "NOERROR web.shop.svc.cluster.local 5 A 10.96.0.20"],
    ["web.shop.svc", "AAAA", `NOERROR${SOA}`],
    ["dual.shop.svc", "A", "NOERROR dual.shop.svc.cluster.local 5 A 10.96.0.22"],
    ["dual.shop.svc", "AAAA", "NOERROR dual.shop.svc.cluster.local 5 AAAA 20010db8000100000000000000000022"],
    ["web.shop.svc", "TXT", `NOERROR${SOA}`],
    ["10-244-0-7.web.shop.svc", "A", "NOERROR 10-244-0-7.web.shop.svc.cluster.local 5 A 10.244.0.7"],
    [
      "_http._tcp.web.shop.svc",
      "SRV",
      "NOERROR _http._tcp.web.shop.svc.cluster.local 5 SRV 0 100 80 web.shop.svc.cluster.local |  | web.shop.svc.cluster.local 5 A 10.96.0.20",
    ],
    [
      "_dns._udp.web.shop.svc",
      "SRV",
      "NOERROR _dns._udp.web.shop.svc.cluster.local 5 SRV 0 100 53 web.shop.svc.cluster.local |  | web.shop.svc.cluster.local 5 A 10.96.0.20",
    ],
    ["_http._tcp.web.shop.svc", "A", `NOERROR${SOA}`],
    ["_tcp.web.shop.svc", "SRV", `NOERROR${SOA}`],
    ["_sctp.web.shop.svc", "SRV", `NXDOMAIN${SOA}`],
    ["_http._udp.web.shop.svc", "SRV", `NXDOMAIN${SOA}`],
    ["_tcp.unnamed.shop.svc", "SRV", `NXDOMAIN${SOA}`],
    ["x.y.z.web.shop.svc", "A", `NXDOMAIN${SOA}`],
    ["db.shop.svc", "A", "NOERROR db.shop.svc.cluster.local 5 A 10.244.0.5; db.shop.svc.cluster.local 5 A 10.244.0.6"],
    ["db.shop.svc", "AAAA", "NOERROR db.shop.svc.cluster.local 5 AAAA 20010db8000000000000000000000005"],
    ["db-0.db.shop.svc", "A", "NOERROR db-0.db.shop.svc.cluster.local 5 A 10.244.0.5"],
    ["10-244-0-6.db.shop.svc", "A", "NOERROR 10-244-0-6.db.shop.svc.cluster.local 5 A 10.244.0.6"],
    ["db-1.db.shop.svc", "A", `NXDOMAIN${SOA}`],
    [
      "_http._tcp.db.shop.svc",
      "SRV",
      "NOERROR _http._tcp.db.shop.svc.cluster.local 5 SRV 0 50 8080 db-0.db.shop.svc.cluster.local; _http._tcp.db.shop.svc.cluster.local 5 SRV 0 50 8080 10-244-0-6.db.shop.svc.cluster.local |  | db-0.db.shop.svc.cluster.local 5 A 10.244.0.5; db-0.db.shop.svc.cluster.local 5 AAAA 20010db8000000000000000000000005; 10-244-0-6.db.shop.svc.cluster.local 5 A 10.244.0.6",
    ],
    ["none-ready.shop.svc", "A", `NXDOMAIN${SOA}`],
    ["early-0.early.shop.svc", "A", "NOERROR early-0.early.shop.svc.cluster.local 5 A 10.244.0.8"],
    ["outside.shop.svc", "A", "NOERROR outside.shop.svc.cluster.local 5 CNAME www.example.com; www.example.com 60 A 192.0.2.53"],
    ["outside.shop.svc", "CNAME", "NOERROR outside.shop.svc.cluster.local 5 CNAME www.example.com"],
    ["outside.shop.svc", "AAAA", "NOERROR outside.shop.svc.cluster.local 5 CNAME www.example.com"],
    [
      "alias.shop.svc",
      "A",
      "NOERROR alias.shop.svc.cluster.local 5 CNAME web.shop.svc.cluster.local; web.shop.svc.cluster.local 5 A 10.96.0.20",
    ],
    ["missing.shop.svc", "A", `NXDOMAIN${SOA}`],
    ["missing.shop.svc", "AAAA", `NXDOMAIN${SOA}`],
    ["shop.svc", "A", `NOERROR${SOA}`],
    ["elsewhere.svc", "A", `NXDOMAIN${SOA}`],
    ["svc", "A", `NOERROR${SOA}`],
    ["pod", "A", `NOERROR${SOA}`],
    ["10-244-0-7.shop.pod", "A", "NOERROR 10-244-0-7.shop.pod.cluster.local 5 A 10.244.0.7"],
    ["2001-db8--7.shop.pod", "AAAA", "NOERROR 2001-db8--7.shop.pod.cluster.local 5 AAAA 20010db8000000000000000000000007"],
    ["10-244-0-7.elsewhere.pod", "A", `NXDOMAIN${SOA}`],
    ["10-244-0-700.shop.pod", "A", `NXDOMAIN${SOA}`],
    ["web.shop", "A", `NXDOMAIN${SOA}`],
    ["ns.dns", "A", "NOERROR ns.dns.cluster.local 5 A 10.96.0.10"],
  ];
  for (const [name, type, answer] of cases) test(`${name} ${type}`, async () => equal(await textOf(`${name}.cluster.local`, type), answer));

  test("the zone has SOA and NS records", async () => {
    equal(await textOf("cluster.local", "SOA"), "NOERROR cluster.local 5 SOA ns.dns.cluster.local 5");
    const server = "kube-dns.kube-system.svc.cluster.local";
    equal(await textOf("cluster.local", "NS"), `NOERROR cluster.local 5 NS ${server} |  | ${server} 5 A 10.96.0.10`);
  });

  test("an ExternalName Service whose target is itself ends after a limit", async () => {
    const answer = await textOf("circle.shop.svc.cluster.local");
    equal(answer.split(";").length, 9);
  });

  const reverse: readonly [name: string, answer: string][] = [
    ["20.0.96.10.in-addr.arpa", "NOERROR 20.0.96.10.in-addr.arpa 5 PTR web.shop.svc.cluster.local"],
    ["5.0.244.10.in-addr.arpa", "NOERROR 5.0.244.10.in-addr.arpa 5 PTR db-0.db.shop.svc.cluster.local"],
    ["6.0.244.10.in-addr.arpa", "NOERROR 6.0.244.10.in-addr.arpa 5 PTR 10-244-0-6.db.shop.svc.cluster.local"],
    [
      `5.${"0.".repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa`,
      `NOERROR 5.${"0.".repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa 5 PTR db-0.db.shop.svc.cluster.local`,
    ],
    ["1.2.0.192.in-addr.arpa", "REFUSED"],
    ["0.192.in-addr.arpa", "REFUSED"],
  ];
  for (const [name, answer] of reverse) test(`PTR of ${name}`, async () => equal(await textOf(name, "PTR"), answer));

  test("names of other domains are passed on", async () => equal(await textOf("www.example.com"), "REFUSED"));
});

test("answers follow changes at once, and each change names the answers that depend on it", async () => {
  const key = { namespace: "shop", name: "moving" };
  changes.length = 0;
  await cluster.client.create(
    services,
    service("moving", { type: "ExternalName", externalName: "example.com", ports: undefined }) as never,
  );
  await cluster.settled();
  equal(await textOf("moving.shop.svc.cluster.local", "CNAME"), "NOERROR moving.shop.svc.cluster.local 5 CNAME example.com");

  const patch = { spec: { type: "ClusterIP", externalName: null, clusterIP: "10.96.0.77", ports: [{ port: 80 }] } };
  await cluster.client.patch(services, key, { type: "merge", value: patch });
  await cluster.settled();
  equal(await textOf("moving.shop.svc.cluster.local"), "NOERROR moving.shop.svc.cluster.local 5 A 10.96.0.77");
  equal(await textOf("77.0.96.10.in-addr.arpa", "PTR"), "NOERROR 77.0.96.10.in-addr.arpa 5 PTR moving.shop.svc.cluster.local");

  await cluster.client.delete(services, key);
  await cluster.settled();
  equal(await textOf("moving.shop.svc.cluster.local"), `NXDOMAIN${SOA}`);
  equal(await textOf("77.0.96.10.in-addr.arpa", "PTR"), "REFUSED");
  deepEqual(changes, [
    ...["service:shop/moving", "address:10.96.0.77", "service:shop/moving"],
    ...["address:10.96.0.77", "service:shop/moving"],
  ]);
});

test("an endpoint that becomes ready has its records at once", async () => {
  const key = { namespace: "shop", name: "none-ready" };
  const endpoints = [{ addresses: ["10.244.0.8"], hostname: "late", conditions: { ready: true } }];
  changes.length = 0;
  await cluster.client.patch(endpointSlices, key, { type: "merge", value: { endpoints } });
  await cluster.settled();
  equal(await textOf("none-ready.shop.svc.cluster.local"), "NOERROR none-ready.shop.svc.cluster.local 5 A 10.244.0.8");
  equal(await textOf("late.none-ready.shop.svc.cluster.local"), "NOERROR late.none-ready.shop.svc.cluster.local 5 A 10.244.0.8");
  deepEqual(changes, ["service:shop/none-ready", "address:10.244.0.8"]);
});

test("a new namespace exists at once", async () => {
  await cluster.client.create(namespaces, namespace("elsewhere"));
  await cluster.settled();
  equal(await textOf("elsewhere.svc.cluster.local"), `NOERROR${SOA}`);
});
