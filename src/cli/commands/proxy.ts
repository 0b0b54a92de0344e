/** `k8ts proxy`: runs the service proxy of this machine as a separate process until a signal, like upstream's kube-proxy. */
import { hostname } from "node:os";
import { nodes } from "../../api/core/v1/node.ts";
import { services } from "../../api/core/v1/service.ts";
import type { Node } from "../../api/generated/core/v1.ts";
import { parseCidr } from "../../api/machinery/ip/ip-address.ts";
import { byFamily, gatewayOf } from "../../api/pod-ranges.ts";
import type { Client } from "../../client/client.ts";
import { httpsTransport } from "../../client/https/https-transport.ts";
import { createClient } from "../../client/rest-client.ts";
import { proxy as component, proxyFlags, startNodeProxy } from "../../components/network/proxy.ts";
import { parseHttpAddress } from "../../components/pages/http-pages.ts";
import { isServerThere } from "../../config/await-server.ts";
import { connectionFileCheck, connectionFlags, connectionSource, loadConnection } from "../../config/connection-flags.ts";
import { isAddress } from "../../config/kubelet-flags.ts";
import { reachableAddress } from "../../host/network/network-address.ts";
import { ownNetworkNamespace } from "../../host/network/network-namespace.ts";
import { realRandom } from "../../host/real-random.ts";
import { problemsOfFiles } from "../framework/check-files.ts";
import { defineCommand } from "../framework/command.ts";
import type { FlagSet } from "../framework/flags.ts";
import { waitForStop } from "../framework/wait-for-stop.ts";

const OWNER = /^[a-z0-9]{1,6}$/;

const pageExpected = (text: string) =>
  text === "none" || parseHttpAddress(text) !== undefined ? undefined : 'an address such as 127.0.0.1:10249, or "none"';

const flags = {
  ...connectionFlags,
  "hostname-override": { type: "string", placeholder: "NAME", doc: "Name of this machine's Node. Default: the host name in lower case." },
  ...proxyFlags,
  "cluster-cidr": {
    type: "list",
    placeholder: "CIDR,...",
    doc: "Range of the cluster's Pods, or one per IP family: other traffic to cluster IPs is masqueraded. Default: the podCIDRs of the Node.",
    expects: (text) => (parseCidr(text) === undefined ? "a range such as 10.244.0.0/16" : undefined),
  },
  "bind-address": {
    type: "string",
    placeholder: "ADDRESS",
    doc: "Address of the node. Default: the Node's InternalIPs.",
    expects: isAddress,
  },
  "healthz-bind-address": {
    type: "string",
    placeholder: "HOST:PORT",
    default: "0.0.0.0:10256",
    doc: 'Address of /healthz and /livez; "none" disables it.',
    expects: pageExpected,
  },
  "metrics-bind-address": {
    type: "string",
    placeholder: "HOST:PORT",
    default: "127.0.0.1:10249",
    doc: 'Address of /metrics and /proxyMode, without authentication; "none" disables it.',
    expects: pageExpected,
  },
  "pod-bridge": {
    type: "string",
    placeholder: "LINK",
    doc: "Bridge of this cluster's Pods: only their traffic and this machine's is translated. Default: all traffic.",
  },
  owner: {
    type: "string",
    placeholder: "NAME",
    default: "proxy",
    doc: "Prefix of rules, tables and sets in the kernel. Unique per cluster on a machine.",
    expects: (text) => (OWNER.test(text) ? undefined : "1 to 6 lower-case letters and digits"),
  },
  cleanup: { type: "boolean", doc: "Remove all rules of --owner, of every proxy mode, and exit." },
} as const satisfies FlagSet;

export const proxy = defineCommand({
  description:
    "Run the service proxy of this machine until Ctrl-C (SIGINT) or SIGTERM: cluster IPs, node ports and load balancer addresses of Services lead to their endpoints. " +
    "Rules stay in the kernel when it stops, so that traffic continues during a restart; --cleanup removes them.",
  flags,
  arguments: {},
  examples: [
    "k8ts proxy --kubeconfig pki/kubeconfigs/kube-proxy.conf",
    "k8ts proxy --kubeconfig kube-proxy.conf --proxy-mode nftables --hostname-override node-2",
    "k8ts proxy --cleanup",
  ],
  options: (values) => ({ ok: true, options: values }),

  fileProblems: (values, environment) => problemsOfFiles(connectionFileCheck(values, environment)),

  async run(values, io) {
    const { clock, signal } = io;
    const log = io.log.with({ part: "proxy" });
    const kernel = { owner: values.owner, namespace: ownNetworkNamespace, log };
    if (values.cleanup) return clock.external(component.cleanUp?.(kernel) ?? Promise.resolve());
    const connection = await loadConnection(values, io);
    await using transport = httpsTransport(connection, { clock, log, userAgent: "kube-proxy" });
    const client = createClient(transport).with({ signal });
    const source = connectionSource(values, io.environment, connection);
    if (!(await isServerThere({ server: connection.server, source, query: () => client.list(services, { limit: 1 }) }, io))) return;
    const nodeName = values["hostname-override"] ?? hostname().toLowerCase();
    const node = await findNode(client, nodeName);
    if (node === undefined) io.note(`warning: Node ${nodeName} does not exist; --hostname-override sets the name of this machine's Node`);
    const page = (address: string) => (address === "none" ? undefined : { address, isOptional: false });
    await using running = await startNodeProxy({
      network: { ...kernel, nodeName, ...networkOf(node, values), bridge: values["pod-bridge"] },
      ...{ values, transport, apiServerHost: new URL(connection.server).host, clock, random: realRandom(), log },
      healthz: page(values["healthz-bind-address"]),
      metrics: page(values["metrics-bind-address"]),
      warn: (message) => io.note(`warning: ${message}`),
    });
    io.out(`proxying Services for node ${nodeName} in mode ${running.description}`);
    await waitForStop(io);
    io.out("Stopping");
  },
});

/** Undefined if it does not exist yet: a node without topology hints and local endpoints. */
function findNode(client: Client, name: string): Promise<Node | undefined> {
  return client.list(nodes, { fieldSelector: `metadata.name=${name}` }).then(({ items }) => items[0]);
}

function networkOf(
  node: Node | undefined,
  values: { readonly "bind-address"?: string | undefined; readonly "cluster-cidr": readonly string[] },
) {
  const internal = (node?.status?.addresses ?? []).filter(({ type }) => type === "InternalIP").map(({ address }) => address);
  const bound = values["bind-address"];
  const fallback = reachableAddress();
  const nodeIps = bound !== undefined ? [bound] : internal.length > 0 ? internal : fallback === undefined ? [] : [fallback];
  const { podCIDR, podCIDRs = podCIDR === undefined ? [] : [podCIDR] } = node?.spec ?? {};
  const { ipv4, ipv6 } = byFamily(values["cluster-cidr"].length > 0 ? values["cluster-cidr"] : podCIDRs);
  return {
    nodeIps,
    clusterCidr: ipv4,
    ipv6: ipv6 === undefined ? undefined : { clusterCidr: ipv6, podCidr: ipv6, gateway: gatewayOf(ipv6) },
  };
}
