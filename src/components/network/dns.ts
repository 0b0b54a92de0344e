/**
 * The cluster's DNS server on a node, and its Service kube-system/kube-dns. It listens on the node's address on the bridge of its Pods,
 * which Pods of all nodes reach, port 53, or another one if that is taken: the EndpointSlice has it. One server per cluster is enough; each
 * process that starts this component runs one more, with an EndpointSlice of its own.
 */
import { ADMINISTRATOR } from "../../api/identities.ts";
import { Disposables } from "../../base/disposables.ts";
import { dnsFlags, readDnsConfiguration } from "../../config/dns-flags.ts";
import { dnsPlugins } from "../../dns/plugins/all.ts";
import { DNS_IDENTITY, DNS_PORT, METRICS_PORT } from "../../dns/service/dns-objects.ts";
import { createDnsIdentity, keepDnsService } from "../../dns/service/keep-dns-service.ts";
import { startDns, type RunningDns } from "../../dns/start-dns.ts";
import { startHttpPages, type Pages } from "../pages/http-pages.ts";
import { defineNetworkComponent } from "./network-component.ts";

export const DNS_AGENT = "k8ts-dns";

/** The server answers before, but a Pod would get SERVFAIL for names of the cluster: only then it becomes an endpoint of kube-dns. */
const READY_TIMEOUT_MS = 10_000;
const READY_POLL_MS = 5;

export const dns = defineNetworkComponent({
  name: "dns",
  scope: "cluster",
  flags: dnsFlags,
  async start(context) {
    const { network, values, clusterDns, clusterDomain, clock, random, log, transportFor, warn } = context;
    await using starting = new Disposables();
    const configuration = await clock.external(readDnsConfiguration(values, clusterDomain));
    const administrator = transportFor(ADMINISTRATOR, DNS_AGENT);
    await createDnsIdentity(administrator);
    const host = network.gateway ?? network.nodeIps[0] ?? "127.0.0.1";
    const server = starting.use(
      await startDns({
        ...{ configuration, plugins: dnsPlugins, clock, random, log, transport: transportFor(DNS_IDENTITY, DNS_AGENT) },
        listen: [
          { host, port: DNS_PORT },
          { host, port: 0 },
        ],
        secondHost: network.ipv6?.gateway,
        otherAddresses: clusterDns,
      }),
    );
    const metricsPort = await startDnsPages(server, starting);
    const deadlineMs = clock.monotonic() + READY_TIMEOUT_MS;
    while (!server.isReady && clock.monotonic() < deadlineMs) await clock.sleep(READY_POLL_MS);
    if (clusterDns.length > 0) {
      const { second } = server;
      const common = { instance: network.nodeName, nodeName: network.nodeName };
      const endpoints = [
        { ...common, address: host, port: server.port, metricsPort },
        // The pages are on the first address only.
        ...(second === undefined ? [] : [{ ...common, address: second.host, port: second.port }]),
      ];
      const isReady = () => server.isReady;
      const keeping = { transport: administrator, clusterIps: clusterDns, endpoints, isReady, clock, random, log, warn };
      await starting.use(keepDnsService(keeping)).attempted;
    }
    const listeners = [`${host}:${server.port}`, ...(server.second === undefined ? [] : [`[${server.second.host}]:${server.second.port}`])];
    const owned = starting.move();
    return {
      description: `${clusterDns.length === 0 ? "" : `${clusterDns.join(", ")} on `}${listeners.join(", ")}`,
      [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
    };
  },
});

/** Serves /metrics, /health and /ready on the usual port, or another if it is taken. Returns the port; undefined if there are no pages. */
async function startDnsPages(server: RunningDns, owner: Disposables): Promise<number | undefined> {
  if (Object.keys(server.pages).length === 0) return undefined;
  const { host } = server;
  const pages = pagesOfDns(server);
  const started = await startHttpPages({ host, port: METRICS_PORT }, pages).catch(() => startHttpPages({ host, port: 0 }, pages));
  return Number(new URL(owner.use(started).url).port);
}

export function pagesOfDns({ pages }: Pick<RunningDns, "pages">): Pages {
  return Object.fromEntries(
    Object.entries(pages).map(([path, page]) => {
      const text = () => {
        const { code, text: body } = page();
        return code === 200 ? body : { code, problem: body };
      };
      return [path, { type: page().type, text }];
    }),
  );
}
