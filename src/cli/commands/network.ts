/** `k8ts network`: runs all network components of a node in one process, over HTTPS, until a signal. */
import { ADMINISTRATOR } from "../../api/identities.ts";
import { nodes } from "../../api/core/v1/node.ts";
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
import type { FlagSet } from "../framework/flags.ts";
import { waitForStop } from "../framework/wait-for-stop.ts";

const NAMES = networkComponents.map(({ name }) => name);

const ownFlags = {
  ...connectionFlags,
  "node-name": { type: "string", placeholder: "NAME", required: true, doc: "Name of the Node of this machine." },
  "node-ip": { type: "string", placeholder: "ADDRESS", required: true, doc: "Address of the node.", expects: nodeAddressExpected },
  owner: {
    type: "string",
    placeholder: "NAME",
    required: true,
    doc: "Prefix of rules, tables and sets in the kernel. Unique per cluster and node on a machine.",
    expects: (text) => (KERNEL_OWNER.test(text) ? undefined : "1 to 6 lower-case letters and digits"),
  },
  bridge: { type: "string", placeholder: "LINK", doc: "Bridge of the node's Pods." },
  gateway: { type: "string", placeholder: "ADDRESS", doc: "Address of the node on the bridge.", expects: isAddress },
  "pod-cidr": { type: "string", placeholder: "CIDR", doc: "Range of the node's Pod addresses." },
  "cluster-cidr": { type: "string", placeholder: "CIDR", doc: "Range of the Pod addresses of all nodes." },
  "cni-config": {
    type: "string",
    placeholder: "FILE",
    doc: "CNI configuration of the container runtime, in which the MTU of Pods is set.",
  },
  "cluster-dns": { type: "string", placeholder: "ADDRESS", doc: "Cluster IP of the Service kube-system/kube-dns.", expects: isAddress },
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
  options: (values) => ({ ok: true, options: values }),

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
    const { bridge, gateway, "pod-cidr": podCidr, "cluster-cidr": clusterCidr, "cluster-dns": clusterDns } = values;
    const cniConfigFile = values["cni-config"];
    await using started = await startNetworkComponents({
      scope: "cluster",
      components: networkComponents.filter(({ name }) => !values.without.includes(name)),
      network: {
        ...owner,
        nodeName: values["node-name"],
        nodeIps: [values["node-ip"]],
        bridge,
        gateway,
        podCidr,
        clusterCidr,
        cniConfigFile,
      },
      values,
      ...(clusterDns === undefined ? {} : { clusterDns }),
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
