/** A DNS server for tests, on real sockets, with the API server of a cluster in the same process. */
import { services } from "../../api/core/v1/service.ts";
import type { Service } from "../../api/generated/core/v1.ts";
import { startServer, type StartedServer } from "../../apiserver/testing/server.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import type { Client, Draft } from "../../client/client.ts";
import { createClient } from "../../client/rest-client.ts";
import type { DatagramPeer } from "../../host/network/datagrams.ts";
import { realClock } from "../../host/real-clock.ts";
import { becomes } from "../becomes.ts";
import { DEFAULT_DNS_CONFIGURATION, type DnsConfiguration } from "../../dns/configuration.ts";
import { dnsPlugins } from "../../dns/plugins/all.ts";
import { startDns, type RunningDns } from "../../dns/start-dns.ts";

export interface ClusterDns extends AsyncDisposable {
  readonly client: Client;
  readonly server: StartedServer<Clock>;
  readonly dns: RunningDns;
  readonly peer: DatagramPeer;
}

export interface ClusterDnsOptions {
  readonly configuration?: Partial<DnsConfiguration>;
  readonly upstreams?: readonly string[];
  readonly timeoutMs?: number;
  /** Default: 127.0.0.1, any port. */
  readonly listen?: { readonly host: string; readonly port: number };
}

export async function startClusterDns({
  configuration,
  upstreams = [],
  timeoutMs = 2_000,
  listen,
}: ClusterDnsOptions = {}): Promise<ClusterDns> {
  await using starting = new Disposables();
  const server = starting.use(await startServer({ clock: realClock, config: { authorizationModes: ["AlwaysAllow"] } }));
  const client = createClient(server.transport());
  const forward = { ...DEFAULT_DNS_CONFIGURATION.forward, upstreams, timeoutMs, resolvConf: "/nonexistent/resolv.conf" };
  const dns = starting.use(
    await startDns({
      configuration: { ...DEFAULT_DNS_CONFIGURATION, forward, ...configuration },
      plugins: dnsPlugins,
      transport: server.transport(),
      listen: [listen ?? { host: "127.0.0.1", port: 0 }],
      ...{ clock: realClock, random: seededRandom(Date.now()), log: silentLogger },
    }),
  );
  await becomes(() => Promise.resolve(dns.isReady), true);
  const owned = starting.move();
  const peer = { address: dns.host, port: dns.port };
  return { client, server, dns, peer, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

export function serviceDraft(name: string, spec: Draft<Service>["spec"] = { ports: [{ port: 80 }] }): Draft<Service> {
  return { apiVersion: "v1", kind: "Service", metadata: { namespace: "default", name }, spec };
}

/** Creates Services in the namespace default, some at a time. */
export async function createServices(client: Client, names: readonly string[]): Promise<readonly Service[]> {
  const made: Service[] = [];
  for (let start = 0; start < names.length; start += CONCURRENCY)
    made.push(...(await Promise.all(names.slice(start, start + CONCURRENCY).map((name) => client.create(services, serviceDraft(name))))));
  return made;
}

const CONCURRENCY = 100;
