/** The DNS server on real sockets: plain clients, many Services, fuzzed packets. Resolvers of other programs: resolvers.own.test.ts. */
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { connect } from "node:net";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import { services } from "../api/core/v1/service.ts";
import { endpointSlices } from "../api/discovery.k8s.io/v1/endpoint-slice.ts";
import type { Service } from "../api/generated/core/v1.ts";
import { pick, seededRandom } from "../base/random.ts";
import { openDatagramSocket } from "../host/network/datagrams.ts";
import { becomes } from "../testing/becomes.ts";
import { rounds, testSeed } from "../testing/rounds.ts";
import { createServices, serviceDraft, startClusterDns, type ClusterDns } from "../testing/servers/cluster-dns.ts";
import { ask, askBytes } from "./testing/dns-client.ts";
import { query } from "./testing/plugin-context.ts";
import { writeForwarded } from "./wire/write-message.ts";

const SERVICES = 10_000;

let cluster: ClusterDns;
let made: readonly Service[];

const nameOf = (service: Service) => `${service.metadata.name}.default.svc.cluster.local`;
const answerOf = (service: Service) => `NOERROR ${nameOf(service)} 5 A ${service.spec?.clusterIP}`;

before(async () => {
  cluster = await startClusterDns();
  // The default range has 65,534 addresses.
  made = await createServices(
    cluster.client,
    Array.from({ length: SERVICES }, (_, index) => `service-${index}`),
  );
});
after(() => cluster[Symbol.asyncDispose]());

describe("a server with 10,000 Services", () => {
  test("each name has its address, over UDP and TCP", async () => {
    const random = seededRandom(testSeed());
    for (let count = 0; count < rounds({ quick: 200, full: 5_000 }); count++) {
      const service = pick(random, made);
      const transport = count % 10 === 0 ? "tcp" : "udp";
      equal(await ask(cluster.peer, nameOf(service), { transport }), answerOf(service));
    }
  });

  test("the case of the question is repeated, also in answers from kept bytes", async () => {
    const service = made[0] as Service;
    const name = nameOf(service);
    for (const written of [name, name.toUpperCase(), name.replace("service", "SerVice"), name.toUpperCase()]) {
      const response = await askBytes(cluster.peer, written);
      equal(
        Buffer.from(response)
          .toString("latin1")
          .includes(written.split(".")[0] as string),
        true,
      );
      equal(await ask(cluster.peer, written), answerOf(service));
    }
  });

  test("an answer changes with its Service, and kept answers of others stay", async () => {
    const { client, peer } = cluster;
    const name = "changing.default.svc.cluster.local";
    match(await ask(peer, name), /^NXDOMAIN$/);
    await client.create(services, serviceDraft("changing", { type: "ExternalName", externalName: "service-1.default.svc.cluster.local" }));
    const target = made[1] as Service;
    const alias = `NOERROR ${name} 5 CNAME ${nameOf(target)}; ${nameOf(target)} 5 A ${target.spec?.clusterIP}`;
    await becomes(() => ask(peer, name), alias);
    const patch = { spec: { type: "ClusterIP", externalName: null, ports: [{ port: 80 }] } };
    const changed = await client.patch(services, { namespace: "default", name: "changing" }, { type: "merge", value: patch });
    await becomes(() => ask(peer, name), `NOERROR ${name} 5 A ${changed.spec?.clusterIP}`);
    await client.delete(services, { namespace: "default", name: "changing" });
    await becomes(() => ask(peer, name), "NXDOMAIN");
  });
});

describe("EDNS and truncation", () => {
  const name = "many.default.svc.cluster.local";

  before(async () => {
    await cluster.client.create(services, serviceDraft("many", { clusterIP: "None" }));
    await cluster.client.create(endpointSlices, {
      ...{ apiVersion: "discovery.k8s.io/v1", kind: "EndpointSlice", addressType: "IPv4", ports: [] },
      metadata: { namespace: "default", name: "many", labels: { "kubernetes.io/service-name": "many" } },
      endpoints: Array.from({ length: 100 }, (_, index) => ({ addresses: [`10.244.1.${index + 1}`] })),
    });
    await becomes(async () => (await ask(cluster.peer, name, { transport: "tcp" })).split(";").length, 100);
  });

  test("a response that is too large is truncated over UDP and complete over TCP", async () => {
    const small = await askBytes(cluster.peer, name);
    const large = await askBytes(cluster.peer, name, { udpBytes: 4_096 });
    ok(small.length <= 512 && large.length > 512 && large.length <= 1_232, `${small.length} ${large.length}`);
    equal(await ask(cluster.peer, name), "NOERROR TC");
    match(await ask(cluster.peer, nameOf(made[2] as Service), { udpBytes: 1_232 }), / OPT$/);
  });

  test("the first address changes from response to response", async () => {
    const first = new Set<string>();
    for (let count = 0; count < 16; count++) first.add((await ask(cluster.peer, name, { transport: "tcp" })).split(";")[0] ?? "");
    equal(first.size, 8);
  });
});

describe("any packets", () => {
  test("random and damaged packets, datagrams and streams, do not disturb queries", async () => {
    const { peer } = cluster;
    const random = seededRandom(testSeed());
    const valid = writeForwarded({ ...query("service-3.default.svc.cluster.local"), edns: undefined }, 1);
    const damaged = (): Uint8Array => {
      if (random.below(3) === 0) return Uint8Array.from({ length: random.below(600) }, () => random.below(256));
      const bytes = valid.slice(0, random.below(4) === 0 ? random.below(valid.length) : valid.length);
      for (let changes = random.below(6); changes > 0; changes--)
        if (bytes.length > 0) bytes[random.below(bytes.length)] = random.below(256);
      return bytes;
    };
    await using socket = await openDatagramSocket({ host: "127.0.0.1", port: 0, receive: () => {} });
    const count = rounds({ quick: 3_000, full: 100_000 });
    for (let sent = 0; sent < count; sent++) {
      socket.send(damaged(), peer);
      if (sent % 100 !== 0) continue;
      const stream = connect({ host: peer.address, port: peer.port });
      stream.on("error", () => {});
      stream.end(Buffer.concat([damaged(), damaged()]));
      const service = made[3] as Service;
      equal(await ask(peer, nameOf(service)), answerOf(service));
      stream.destroy();
    }
  });

  test("pipelined queries of one connection are all answered", async () => {
    const { peer } = cluster;
    const stream = connect({ host: peer.address, port: peer.port });
    await once(stream, "connect");
    const count = 500;
    for (let id = 0; id < count; id++) {
      const bytes = writeForwarded({ ...query(nameOf(made[id] as Service)), edns: undefined }, id);
      stream.write(Buffer.from([bytes.length >> 8, bytes.length & 0xff, ...bytes]));
    }
    stream.end();
    const received: Buffer[] = [];
    for await (const chunk of stream) received.push(chunk as Buffer);
    const all = Buffer.concat(received);
    const ids: number[] = [];
    for (let offset = 0; offset < all.length; offset += 2 + all.readUInt16BE(offset)) ids.push(all.readUInt16BE(offset + 2));
    deepEqual(
      ids.toSorted((a, b) => a - b),
      Array.from({ length: count }, (_, id) => id),
    );
  });
});
