/** `k8ts network`: runs all network components of a node in one process, over HTTPS, until a signal. */
import { ADMINISTRATOR } from "../../api/identities.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { byFamily } from "../../api/pod-ranges.ts";
import { createClient } from "../../client/rest-client.ts";
import { httpsTransport } from "../../client/https/https-transport.ts";
import { networkComponents } from "../../components/network/all.ts";
import { networkStatusLine } from "../../components/network/network-status-line.ts";
import { cleanUpNetworkComponents, networkFlags, startNetworkComponents } from "../../components/network/start-network-components.ts";
import { isServerThere } from "../../config/await-server.ts";
import { connectionFileCheck, connectionFlags, connectionSource, loadConnection } from "../../config/connection-flags.ts";
import { isAddress, KERNEL_OWNER, nodeAddressExpected } from "../../config/kubelet-flags.ts";
import { ownNetworkNamespace } from "../../host/network/network-namespace.ts";
import { realRandom } from "../../host/real-random.ts";
import { defineCommand } from "../framework/command.ts";
import { problemsOfFiles } from "../framework/check-files.ts";
import type { FlagSet, FlagValues } from "../framework/flags.ts";
import { waitForStop } from "../framework/wait-for-stop.ts";

const NAMES = networkComponents.map(({ name }) => name);

const ownFlags = {
  ...connectionFlags,
  "node-name": { type: "string", placeholder: "NAME", required: true, doc: "Name of the Node of this machine." },
  "node-ip": {
    type: "list",
    placeholder: "ADDRESS,...",
    doc: "Address of the node, required; for dual stack one of each family, the primary one first.",
    expects: nodeAddressExpected,
  },
  owner: {
    type: "string",
    placeholder: "NAME",
    required: true,
    doc: "Prefix of rules, tables and sets in the kernel. Unique per cluster and node on a machine.",
    expects: (text) => (KERNEL_OWNER.test(text) ? undefined : "1 to 6 lower-case letters and digits"),
  },
  bridge: { type: "string", placeholder: "LINK", doc: "Bridge of the node's Pods." },
  gateway: {
    type: "list",
    placeholder: "ADDRESS,...",
    doc: "Address of the node on the bridge; for dual stack one of each family.",
    expects: isAddress,
  },
  "pod-cidr": { type: "list", placeholder: "CIDR,...", doc: "Range of the node's Pod addresses; for dual stack one of each family." },
  "cluster-cidr": {
    type: "list",
    placeholder: "CIDR,...",
    doc: "Range of the Pod addresses of all nodes; for dual stack one of each family.",
  },
  "cni-config": {
    type: "string",
    placeholder: "FILE",
    doc: "CNI configuration of the container runtime, in which the MTU of Pods is set.",
  },
  "cluster-dns": { type: "list", placeholder: "ADDRESS,...", doc: "Cluster IPs of the Service kube-system/kube-dns.", expects: isAddress },
  "cluster-domain": { type: "string", placeholder: "NAME", default: "cluster.local", doc: "Domain of the cluster's names." },
  "network-dir": { type: "string", placeholder: "DIRECTORY", required: true, doc: "Directory for files of the components." },
  without: {
    type: "list",
    placeholder: "NAME,...",
    doc: "Components that run elsewhere, such as network-policy in k8ts kubelet --network-policy-owner.",
    expects: (name) => (NAMES.includes(name) ? undefined : `one of ${NAMES.join(", ")}`),
  },
  cleanup: { type: "boolean", doc: "Remove everything of --owner from the kernel and exit." },
} as const satisfies FlagSet;

const flags: typeof ownFlags = { ...ownFlags, ...networkFlags("cluster") };

export const network = defineCommand({
  description:
    "Run the network components of a node in one process: Pod network, service proxy, network policies, DNS and ingress. " +
    "k8ts up --processes uses it. The user of the kubeconfig must be an administrator: each component impersonates its own user.",
  flags,
  arguments: {},
  examples: ["k8ts network --kubeconfig a.conf --node-name n1 --node-ip 192.0.2.1 --owner a1b2 --network-dir n"],
  options: (values) =>
    values["node-ip"].length === 0 ? { ok: false, problems: ["--node-ip is required"] } : { ok: true, options: values },

  fileProblems: (values, environment) => problemsOfFiles(connectionFileCheck(values, environment)),

  async run(values, io) {
    const { clock, signal } = io;
    const log = io.log.with({ part: "network" });
    const owner = { owner: values.owner, namespace: ownNetworkNamespace, log };
    if (values.cleanup) return clock.external(cleanUpNetworkComponents(owner));
    const connection = await loadConnection(values, io);
    await using transport = httpsTransport(connection, { clock, log, userAgent: "k8ts" });
    const source = connectionSource(values, io.environment, connection);
    const query = () => createClient(transport).with({ signal }).list(nodes, { limit: 1 });
    if (!(await isServerThere({ server: connection.server, source, query, isFinal: () => false }, io))) return;
    const { bridge, "cluster-dns": clusterDns, "cni-config": cniConfigFile } = values;
    await using started = await startNetworkComponents({
      scope: "cluster",
      components: networkComponents.filter(({ name }) => !values.without.includes(name)),
      network: {
        ...owner,
        nodeName: values["node-name"],
        nodeIps: values["node-ip"],
        bridge,
        ...rangesOf(values),
        cniConfigFile,
      },
      values,
      clusterDns,
      clusterDomain: values["cluster-domain"],
      transportFor: (identity) =>
        identity === ADMINISTRATOR ? transport : transport.as({ user: identity.name, groups: identity.groups, extra: new Map() }),
      directory: values["network-dir"],
      ...{ clock, random: realRandom(), log },
      warn: (message) => io.note(`warning: ${message}`),
    });
    const report = (): void => io.out(networkStatusLine(values["node-name"], started.list));
    started.onChange(report);
    report();
    await waitForStop(io);
    io.out("Stopping");
  },
});

/** IPv6 only if all of it is known. */
function rangesOf({ gateway, "pod-cidr": podCidrs, "cluster-cidr": clusterCidrs }: FlagValues<typeof ownFlags>) {
  const [gateways, pods, clusters] = [byFamily(gateway), byFamily(podCidrs), byFamily(clusterCidrs)];
  const { ipv6: podCidr } = pods;
  const ipv6 =
    gateways.ipv6 === undefined || podCidr === undefined || clusters.ipv6 === undefined
      ? undefined
      : { gateway: gateways.ipv6, podCidr, clusterCidr: clusters.ipv6 };
  return { gateway: gateways.ipv4, podCidr: pods.ipv4, clusterCidr: clusters.ipv4, ipv6 };
}
