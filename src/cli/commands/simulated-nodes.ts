/** `k8ts simulated-nodes`: runs simulated nodes as a separate process until a signal. */
import { validateDnsSubdomain } from "../../api/machinery/names.ts";
import { httpsTransport } from "../../client/https/https-transport.ts";
import { reachableAddress } from "../../host/network/network-address.ts";
import { isServerThere } from "../../config/await-server.ts";
import { defineCommand } from "../framework/command.ts";
import { connectionFlags, connectionFileCheck, connectionSource, loadConnection } from "../../config/connection-flags.ts";
import type { FlagSet } from "../framework/flags.ts";
import {
  fleetNames,
  fleetOf,
  prefixLengthMax,
  SIMULATED_NODES_MAX,
  USUAL_PREFIX,
  type FleetConfig,
} from "../../components/simulated-nodes/simulated-fleet.ts";
import {
  CannotJoin,
  joinSimulatedNodes,
  tryJoining,
  type JoinedNodesOptions,
} from "../../components/simulated-nodes/join-simulated-nodes.ts";
import {
  isAddress,
  kubeletFileChecks,
  kubeletServingFlags,
  kubeletServingProblems,
  nodeAddressExpected,
} from "../../config/kubelet-flags.ts";
import { listenOrExplain } from "../../cluster/listen-or-explain.ts";
import { problemsOfFiles } from "../framework/check-files.ts";
import { selfSigned } from "../../components/node/kubelet-certificate.ts";
import { readCertificatePair, readServerAccess } from "../../components/node/server-access.ts";
import { waitForStop } from "../framework/wait-for-stop.ts";

const flags = {
  ...connectionFlags,
  count: { type: "number", min: 1, max: SIMULATED_NODES_MAX, default: 1, doc: "Number of simulated nodes." },
  "name-prefix": {
    type: "string",
    placeholder: "PREFIX",
    default: USUAL_PREFIX,
    doc: "Prefix of the node names, which are numbered from 0. Must differ between processes that join the same cluster.",
    expects: prefixExpected,
  },
  "take-over": {
    type: "boolean",
    doc: "Convert existing Nodes of these names, registered by another runtime, to simulated ones. Use it only if their kubelets no longer run: two kubelets of one node name conflict.",
  },
  "node-ip": {
    type: "string",
    placeholder: "ADDRESS",
    doc: "Address that the API server uses to reach this process. Default: an address of this machine's network, or 127.0.0.1 if it has none.",
    expects: nodeAddressExpected,
  },
  ...kubeletServingFlags,
  address: {
    type: "string",
    placeholder: "ADDRESS",
    doc: "Address of the HTTPS server for logs and exec. Default: --node-ip.",
    expects: isAddress,
  },
  port: { ...kubeletServingFlags.port, default: 0 },
  "tls-cert-file": {
    ...kubeletServingFlags["tls-cert-file"],
    doc: "TLS certificate (PEM) of the HTTPS server. Requires --tls-private-key-file. Default: a generated self-signed certificate.",
  },
} as const satisfies FlagSet;

/** For a name that is too long only its length is reported. */
function prefixExpected(prefix: string): string | undefined {
  const isFine = prefix.length > prefixLengthMax(1) || validateDnsSubdomain(`${prefix}0`).length === 0;
  return isFine ? undefined : 'lower-case letters, digits, "-" and "."';
}

export const simulatedNodes = defineCommand({
  description:
    "Join simulated nodes to a cluster: the real kubelet with simulated Pods, which run no containers. They run until Ctrl-C (SIGINT) or SIGTERM; the Node objects remain, and the next start restores the state of every Pod. Each node authenticates as system:node:NAME, so the user of the kubeconfig must be allowed to impersonate those users, as an administrator is.",
  flags,
  arguments: {},
  examples: [
    "k8ts simulated-nodes --kubeconfig admin.conf --count 100 --client-ca-file pki/ca.crt",
    "k8ts simulated-nodes --context test --name-prefix large-",
    "k8ts simulated-nodes --kubeconfig admin.conf --node-ip 192.0.2.10 --port 10250",
  ],
  options(values) {
    const problems = [...prefixProblems(values), ...kubeletServingProblems(values)];
    return problems.length === 0 ? { ok: true, options: values } : { ok: false, problems };
  },

  fileProblems: (values, environment) => problemsOfFiles([...connectionFileCheck(values, environment), ...kubeletFileChecks(values)]),

  async run(values, io) {
    const { clock, signal } = io;
    const log = io.log.with({ part: "nodes" });
    const connection = await loadConnection(values, io);
    const fleet = fleetOf({ count: values.count, namePrefix: values["name-prefix"] });
    const nodeIp = values["node-ip"] ?? reachableAddress() ?? "127.0.0.1";
    const [host, port] = [values.address ?? nodeIp, values.port];
    const tls = (await clock.external(readCertificatePair(values))) ?? selfSigned(["simulated-nodes", nodeIp], clock.now());
    const server = { host, port, tls, access: await clock.external(readServerAccess(values)) };
    await using transport = httpsTransport(connection, { clock, log, userAgent: "kubelet" });
    const query = () => tryJoining(transport, { fleet, mayTakeOver: values["take-over"], signal });
    const source = connectionSource(values, io.environment, connection);
    const isFinal = (error: unknown) => error instanceof CannotJoin;
    if (!(await isServerThere({ server: connection.server, source, query, isFinal }, io))) return;
    const place = { address: host, port, addressFlag: "--address", portFlag: "--port" };
    const start = () => joinUnlessStopped({ fleet, nodeIp, server, transport, clock, log, signal });
    await using joined = await listenOrExplain(place, io, start);
    if (joined === undefined) return;
    io.out(`${namesText(fleet)} registered with ${connection.server}, listening on port ${joined.port}`);
    await waitForStop(io);
    io.out("Stopping");
  },
});

function prefixProblems({ count, "name-prefix": prefix }: { readonly count: number; readonly "name-prefix": string }): readonly string[] {
  const max = prefixLengthMax(count);
  if (prefix.length <= max) return [];
  const why = "node names are also the value of the label kubernetes.io/hostname";
  return [`--name-prefix must have at most ${max} characters (63 with the number: ${why}), has ${prefix.length}`];
}

async function joinUnlessStopped(options: JoinedNodesOptions) {
  try {
    return await joinSimulatedNodes(options);
  } catch (error) {
    if (options.signal.aborted) return undefined;
    throw error;
  }
}

function namesText(fleet: FleetConfig): string {
  const names = fleetNames(fleet);
  const [first = "", last = ""] = [names.at(0), names.at(-1)];
  return names.length === 1 ? `simulated node ${first}` : `simulated nodes ${first} to ${last}`;
}
