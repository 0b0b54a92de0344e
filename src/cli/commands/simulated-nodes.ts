/** `k8ts simulated-nodes`: nodes whose Pods are played, in a process of their own, from start to signal. */
import { validateDnsSubdomain } from "../../api/machinery/names.ts";
import { httpsTransport } from "../../client/https/https-transport.ts";
import { reachableAddress } from "../../host/network/network-address.ts";
import { isServerThere } from "../../config/await-server.ts";
import { defineCommand } from "../framework/command.ts";
import { connectionFlags, connectionLook, connectionSource, loadConnection } from "../../config/connection-flags.ts";
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
import { isAddress, kubeletLooks, kubeletServingFlags, kubeletServingProblems, nodeAddressExpected } from "../../config/kubelet-flags.ts";
import { listenOrExplain } from "../../cluster/listen-or-explain.ts";
import { problemsOfFiles } from "../framework/check-files.ts";
import { selfSigned } from "../../components/node/kubelet-certificate.ts";
import { givenCertificate, readServerAccess } from "../../components/node/server-access.ts";
import { untilStopped } from "../framework/until-stopped.ts";

const flags = {
  ...connectionFlags,
  count: { type: "number", min: 1, max: SIMULATED_NODES_MAX, default: 1, doc: "How many." },
  "name-prefix": {
    type: "string",
    placeholder: "PREFIX",
    default: USUAL_PREFIX,
    doc: "What they are called, before their numbers from 0 on. Several such processes of one cluster need one each.",
    expects: prefixExpected,
  },
  "take-over": {
    type: "boolean",
    doc: "Nodes of these names that another runtime has reported become simulated ones. Only for nodes that are gone: two agents of one name undo each other's work.",
  },
  "node-ip": {
    type: "string",
    placeholder: "ADDRESS",
    doc: "Where the API server reaches this process. Default: an address of this machine's network, or 127.0.0.1 if it has none.",
    expects: nodeAddressExpected,
  },
  ...kubeletServingFlags,
  address: {
    type: "string",
    placeholder: "ADDRESS",
    doc: "Address to listen on with HTTPS, for logs and commands. Default: that of --node-ip.",
    expects: isAddress,
  },
  port: { ...kubeletServingFlags.port, default: 0 },
  "tls-cert-file": {
    ...kubeletServingFlags["tls-cert-file"],
    doc: "Certificate of the HTTPS server, PEM. Needs --tls-private-key-file. Default: one is made that signs itself.",
  },
} as const satisfies FlagSet;

/** Of one that is too long its length is told, and not what is wrong with a name of that length. */
function prefixExpected(prefix: string): string | undefined {
  const isFine = prefix.length > prefixLengthMax(1) || validateDnsSubdomain(`${prefix}0`).length === 0;
  return isFine ? undefined : 'lower case letters, digits, "-" and "."';
}

export const simulatedNodes = defineCommand({
  description:
    "Joins simulated nodes to a cluster: real node agents whose Pods are played and not run. Goes on until Ctrl-C (SIGINT) or SIGTERM; then the Nodes stay in the API, and the next start finds every Pod as it was. Each acts under its own name (system:node:NAME), so whoever the kubeconfig names must be allowed to impersonate them, as an administrator is.",
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

  fileProblems: (values, environment) => problemsOfFiles([...connectionLook(values, environment), ...kubeletLooks(values)]),

  async run(values, io) {
    const { clock, signal } = io;
    const log = io.log.with({ part: "nodes" });
    const connection = await loadConnection(values, io);
    const fleet = fleetOf({ count: values.count, namePrefix: values["name-prefix"] });
    const nodeIp = values["node-ip"] ?? reachableAddress() ?? "127.0.0.1";
    const [host, port] = [values.address ?? nodeIp, values.port];
    const tls = (await clock.external(givenCertificate(values))) ?? selfSigned(["simulated-nodes", nodeIp], clock.now());
    const server = { host, port, tls, access: await clock.external(readServerAccess(values)) };
    await using transport = httpsTransport(connection, { clock, log, userAgent: "kubelet" });
    const ask = () => tryJoining(transport, { fleet, mayTakeOver: values["take-over"], signal });
    const source = connectionSource(values, io.environment, connection);
    const isFinal = (error: unknown) => error instanceof CannotJoin;
    if (!(await isServerThere({ server: connection.server, source, ask, isFinal }, io))) return;
    const place = { address: host, port, addressFlag: "--address", portFlag: "--port" };
    const start = () => joinUnlessStopped({ fleet, nodeIp, server, transport, clock, log, signal });
    await using joined = await listenOrExplain(place, io, start);
    if (joined === undefined) return;
    io.out(`${namesText(fleet)} of ${connection.server}, simulated, listening on port ${joined.port}`);
    await untilStopped(io);
    io.out("Stopping");
  },
});

function prefixProblems({ count, "name-prefix": prefix }: { readonly count: number; readonly "name-prefix": string }): readonly string[] {
  const max = prefixLengthMax(count);
  if (prefix.length <= max) return [];
  const why = "names of nodes are values of their label kubernetes.io/hostname, too";
  return [`--name-prefix must have ${max} characters at most (63 with the number: ${why}), has ${prefix.length}`];
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
  return names.length === 1 ? `node ${first}` : `nodes ${first} to ${last}`;
}
