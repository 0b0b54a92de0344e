/** The component on real sockets, with an API server that authorizes by RBAC. */
import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { services } from "../../api/core/v1/service.ts";
import { endpointSlices } from "../../api/discovery.k8s.io/v1/endpoint-slice.ts";
import { startServer } from "../../apiserver/testing/server.ts";
import { silentLogger } from "../../base/logger.ts";
import { createClient } from "../../client/rest-client.ts";
import { ask } from "../../dns/testing/dns-client.ts";
import { openDatagramSocket } from "../../host/network/datagrams.ts";
import { reachableAddress } from "../../host/network/network-address.ts";
import { realClock } from "../../host/real-clock.ts";
import { realRandom } from "../../host/real-random.ts";
import { becomes } from "../../testing/becomes.ts";
import { dns } from "./dns.ts";
import { startNetworkComponents } from "./start-network-components.ts";

/** An EndpointSlice cannot have a loopback address. */
const address = reachableAddress() ?? "";
const skip = address === "" ? "needs a network" : false;
const NAME = "kube-dns.kube-system.svc.cluster.local";

async function start() {
  const server = await startServer({ clock: realClock, config: { authorizationModes: ["RBAC"] } });
  const warnings: string[] = [];
  const started = await startNetworkComponents({
    components: [dns],
    scope: "cluster",
    network: {
      ...{ owner: "a1", namespace: { name: "test", run: async () => "" }, log: silentLogger },
      ...{ nodeName: "node-1", nodeIps: ["192.0.2.1"], gateway: address },
    },
    values: { "dns-plugins": [], "dns-upstreams": ["192.0.2.53"], "dns-hosts": undefined, "dns-config": undefined },
    ...{ clusterDns: ["10.96.0.10"], clusterDomain: "cluster.local", directory: "/nonexistent" },
    transportFor: (identity, userAgent) =>
      server.server.transport({ user: { name: identity.name, groups: [...identity.groups, "system:authenticated"] }, userAgent }),
    ...{ clock: realClock, random: realRandom(), log: silentLogger },
    warn: (message) => void warnings.push(message),
  });
  const client = createClient(server.transport());
  return {
    ...{ client, warnings, description: started.list[0]?.description ?? "" },
    async [Symbol.asyncDispose]() {
      await started[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const portOf = (description: string) => Number(/:(\d+)$/.exec(description)?.[1]);

test("the server answers on the bridge's address, with the permissions of CoreDNS", { skip }, async () => {
  await using started = await start();
  const port = portOf(started.description);
  deepEqual([started.description, started.warnings], [`10.96.0.10 on ${address}:${port}`, []]);
  await becomes(() => ask({ address, port }, NAME), `NOERROR ${NAME} 5 A 10.96.0.10`);
  const slice = await started.client.get(endpointSlices, { namespace: "kube-system", name: "kube-dns-node-1" });
  const metricsPort = slice.ports?.find(({ name }) => name === "metrics")?.port ?? 0;
  const page = async (path: string) => (await fetch(`http://${address}:${metricsPort}${path}`)).text();
  deepEqual([await page("/health"), await page("/ready")], ["OK", "OK"]);
  match(await page("/metrics"), /coredns_dns_responses_total\{proto="udp",rcode="NOERROR"\}/);
});

test("a port that another program has is not taken: the EndpointSlice has the port that is used instead", { skip }, async () => {
  // Without permission for port 53, or if it is in use already, the server has to take another one as well.
  const taken = await openDatagramSocket({ host: address, port: 53, receive: () => {} }).catch(() => undefined);
  try {
    await using started = await start();
    const port = portOf(started.description);
    equal(port !== 53 && port > 0, true, started.description);
    const slice = await started.client.get(endpointSlices, { namespace: "kube-system", name: "kube-dns-node-1" });
    deepEqual(
      slice.ports?.slice(0, 2).map((each) => each.port),
      [port, port],
    );
    equal((await started.client.get(services, { namespace: "kube-system", name: "kube-dns" })).spec?.ports?.[0]?.port, 53);
    await becomes(() => ask({ address, port }, NAME, { transport: "tcp" }), `NOERROR ${NAME} 5 A 10.96.0.10`);
  } finally {
    await taken?.[Symbol.asyncDispose]();
  }
});
