/**
 * The service proxy as a network component: its flags, with upstream's names, and its pages for health and metrics. Not here: what it does
 * (proxy/engine) and how (proxy/appliers).
 */
import { parseCidr, parseIp } from "../../api/machinery/ip/ip-address.ts";
import { KUBE_PROXY } from "../../api/identities.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Logger } from "../../base/logger.ts";
import { PROMETHEUS_TYPE, prometheusText } from "../../base/metrics/prometheus-text.ts";
import type { Random } from "../../base/random.ts";
import { IN_PROCESS_HOST, RequestMetrics } from "../../client/request-metrics.ts";
import { processFamilies } from "../../host/processes/process-metrics.ts";
import type { FlagSet, FlagValues } from "../../cli/framework/flags.ts";
import { ListenError } from "../../host/http/server.ts";
import { serveSmallPages, type SmallAnswer } from "../../host/http/small-server.ts";
import { proxyModes } from "../../proxy/appliers/all.ts";
import { removeAnnouncedAddresses } from "../../proxy/engine/announced-addresses.ts";
import { DEFAULT_MODE } from "../../proxy/engine/choose-mode.ts";
import { startProxy, type Proxy, type ProxyHealth } from "../../proxy/engine/proxy.ts";
import { parseHttpAddress, startHttpPages } from "../pages/http-pages.ts";
import { defineNetworkComponent, type NodeNetwork, type RunningNetworkComponent } from "./network-component.ts";

const ALL_ADDRESSES = ["0.0.0.0/0", "::/0"];
/** Value of --nodeport-addresses: the node's own addresses. */
const PRIMARY = "primary";

const addressExpected = (text: string) =>
  text === "none" || parseHttpAddress(text) !== undefined ? undefined : 'an address such as 127.0.0.1:10249, or "none"';

/** Flags of the proxy itself. */
export const proxyFlags = {
  "proxy-mode": {
    type: "choice",
    of: proxyModes.map(({ name }) => name),
    default: DEFAULT_MODE,
    doc: "Mechanism of the service proxy. One that this machine cannot run is replaced by iptables, nftables or userspace, with a warning.",
  },
  "ipvs-scheduler": {
    type: "choice",
    of: ["rr", "lc", "dh", "sh", "sed", "nq", "wrr", "wlc", "lblc", "lblcr", "mh", "ovf", "fo"],
    default: "rr",
    doc: "Scheduling algorithm of proxy mode ipvs.",
  },
  "masquerade-all": { type: "boolean", doc: "Masquerade all traffic to cluster IPs: endpoints see the node's address as its source." },
  "nodeport-addresses": {
    type: "list",
    placeholder: "CIDR",
    doc: "Ranges of the node's addresses on which node ports are served; \"primary\" is the node's own addresses. Default: all.",
    expects: (text) => (text === PRIMARY || parseCidr(text) !== undefined ? undefined : 'a range such as 192.0.2.0/24, or "primary"'),
  },
} as const satisfies FlagSet;

const flags = {
  ...proxyFlags,
  "proxy-healthz-bind-address": {
    type: "string",
    placeholder: "HOST:PORT",
    default: "0.0.0.0:10256",
    doc: 'Address of the proxy\'s /healthz and /livez, for load balancers; "none" disables it. The default is left out if it is in use.',
    expects: addressExpected,
  },
  "proxy-metrics-bind-address": {
    type: "string",
    placeholder: "HOST:PORT",
    default: "127.0.0.1:10249",
    doc: 'Address of the proxy\'s /metrics and /proxyMode, without authentication; "none" disables it. The default is left out if it is in use.',
    expects: addressExpected,
  },
} as const satisfies FlagSet;

export interface NodeProxyOptions {
  readonly network: NodeNetwork;
  readonly values: FlagValues<typeof proxyFlags>;
  /** Addresses of its pages; absent: none. `isOptional`: one that is in use is left out. */
  readonly healthz?: PageAddress | undefined;
  readonly metrics?: PageAddress | undefined;
  readonly transport: Transport;
  /** Of the API server, in metrics. Absent: it is in this process. */
  readonly apiServerHost?: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  warn(message: string): void;
}

export interface PageAddress {
  readonly address: string;
  readonly isOptional: boolean;
}

export async function startNodeProxy(options: NodeProxyOptions): Promise<RunningNetworkComponent> {
  const { network, values, clock, log, healthz, metrics } = options;
  await using starting = new Disposables();
  const requests = new RequestMetrics(clock);
  const proxy = await startProxy({
    ...options,
    transport: requests.counted(options.transport, options.apiServerHost ?? IN_PROCESS_HOST),
    ...{ modes: proxyModes, mode: values["proxy-mode"], owner: network.owner, namespace: network.namespace },
    ...{ podBridge: network.bridge, nodeName: network.nodeName, settings: settingsOf(network, values["nodeport-addresses"]) },
    applierOptions: { masqueradesAll: values["masquerade-all"], ipvsScheduler: values["ipvs-scheduler"] },
  });
  starting.use(proxy);
  const pages = [
    listens(healthz, log, (at) => serveHealth(at, proxy, clock)),
    listens(metrics, log, (at) => serveMetrics(at, proxy, requests)),
  ];
  for (const page of await clock.external(Promise.all(pages))) if (page !== undefined) starting.use(page);
  const owned = starting.move();
  return { description: proxy.description, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

function settingsOf({ nodeIps, podCidr, clusterCidr, ipv6 }: NodeNetwork, ranges: readonly string[]) {
  const podCidrs = [clusterCidr ?? podCidr, ipv6?.clusterCidr].flatMap((cidr) => cidr ?? []);
  const own = nodeIps.map((address) => `${address}/${parseIp(address)?.family === 6 ? 128 : 32}`);
  const nodePortAddresses =
    ranges.length === 0 ? ALL_ADDRESSES : [...new Set(ranges.flatMap((range) => (range === PRIMARY ? own : range)))];
  return { nodePortAddresses, podCidrs, nodeIps };
}

type Address = NonNullable<ReturnType<typeof parseHttpAddress>>;

async function listens(
  page: PageAddress | undefined,
  log: Logger,
  serve: (address: Address) => Promise<AsyncDisposable>,
): Promise<AsyncDisposable | undefined> {
  const address = page === undefined ? undefined : parseHttpAddress(page.address);
  if (page === undefined || address === undefined) return undefined;
  try {
    return await serve(address);
  } catch (error) {
    if (!page.isOptional || !(error instanceof ListenError)) throw error;
    // Of several clusters on a machine the first has it.
    log.info("A page of the proxy is not served", { error });
    return undefined;
  }
}

function serveHealth({ host, port }: Address, proxy: Proxy, clock: Clock): Promise<AsyncDisposable> {
  return serveSmallPages({ hosts: [host], port }, (path) => healthAnswer(path, proxy.health, clock.now()));
}

/** Upstream's answers; /livez does not depend on the Node. */
function healthAnswer(path: string, { isHealthy, isNodeEligible, lastUpdatedMs }: ProxyHealth, nowMs: number): SmallAnswer {
  if (path !== "/healthz" && path !== "/livez") return { code: 404, headers: {}, text: "404 page not found\n" };
  const isGood = isHealthy && (path === "/livez" || isNodeEligible);
  const eligible = path === "/livez" ? "" : `, "nodeEligible": ${isNodeEligible}`;
  return {
    code: isGood ? 200 : 503,
    headers: { "content-type": "application/json", "x-content-type-options": "nosniff" },
    text: `{"lastUpdated": "${goTime(lastUpdatedMs)}","currentTime": "${goTime(nowMs)}"${eligible}}`,
  };
}

/** As Go prints a time: "2026-01-01 00:00:00.123 +0000 UTC". */
function goTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replace("T", " ").replace("Z", " +0000 UTC");
}

function serveMetrics(address: Address, proxy: Proxy, requests: RequestMetrics): Promise<AsyncDisposable> {
  const text = () => prometheusText([...proxy.metrics.families(), ...requests.families(), ...processFamilies()]);
  return startHttpPages(address, {
    "/metrics": { type: PROMETHEUS_TYPE, text },
    "/proxyMode": { type: "text/plain; charset=utf-8", text: () => proxy.mode },
  });
}

const HEALTHZ_DEFAULT = flags["proxy-healthz-bind-address"].default;
const METRICS_DEFAULT = flags["proxy-metrics-bind-address"].default;

export const proxy = defineNetworkComponent({
  name: "proxy",
  scope: "node",
  flags,
  start(context) {
    const { values, transportFor } = context;
    const [healthz, metrics] = [values["proxy-healthz-bind-address"], values["proxy-metrics-bind-address"]];
    return startNodeProxy({
      ...context,
      healthz: { address: healthz, isOptional: healthz === HEALTHZ_DEFAULT },
      metrics: { address: metrics, isOptional: metrics === METRICS_DEFAULT },
      transport: transportFor(KUBE_PROXY, "kube-proxy"),
    });
  },
  async cleanUp(owner) {
    for (const mode of proxyModes) await mode.cleanUp(owner);
    await removeAnnouncedAddresses(owner);
  },
});
