/**
 * Joins simulated nodes to a cluster over HTTPS. Each impersonates its node's user, and all share the connections to the API server and one
 * HTTPS server for logs and exec. Not here: the nodes and the simulation of Pods (simulated-nodes.ts).
 */
import { ADMINISTRATOR, nodeIdentity, type IdentityName } from "../../api/identities.ts";
import { nodes } from "../../api/core/v1/node.ts";
import { pods } from "../../api/core/v1/pod.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Logger } from "../../base/logger.ts";
import type { HttpsTransport } from "../../client/https/https-transport.ts";
import { createClient } from "../../client/rest-client.ts";
import { realRandom } from "../../host/real-random.ts";
import { SIMULATED_VERSION } from "../../kubelet/runtime/simulated/simulated-runtime.ts";
import { startKubeletServer, type KubeletServerTls } from "../../kubelet/server/kubelet-server.ts";
import { fleetNames, type FleetConfig } from "./simulated-fleet.ts";
import { accessRules, type ServerAccess } from "../node/server-access.ts";
import { startNodesPart, type NodesPart } from "./simulated-nodes.ts";
import { chooseSimulated } from "./kubelet-server.ts";

/** Why they cannot be joined; retrying does not help. */
export class CannotJoin extends Error {
  override readonly name = "CannotJoin";
}

export interface JoinedNodesOptions {
  readonly fleet: FleetConfig;
  /** Address of `server` for the API server. */
  readonly nodeIp: string;
  readonly server: {
    readonly host: string;
    readonly port: number;
    readonly tls: KubeletServerTls;
    readonly access: ServerAccess;
  };
  /** Transport of the user that joins them. */
  readonly transport: HttpsTransport;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts a start that waits for the API server. */
  readonly signal: AbortSignal;
}

export interface JoinedNodes extends AsyncDisposable {
  /** Port of the HTTPS server. */
  readonly port: number;
}

/** Resolves when all are registered. Rejects with a ListenError if the server cannot listen. */
export async function joinSimulatedNodes(options: JoinedNodesOptions): Promise<JoinedNodes> {
  const { fleet, nodeIp, transport, clock, log, signal } = options;
  const { access, ...place } = options.server;
  await using starting = new Disposables();
  const late: { part?: NodesPart } = {};
  // First, because the Nodes publish the port.
  const server = starting.use(
    await startKubeletServer({
      kubelet: chooseSimulated(() => late.part),
      ...place,
      ...accessRules(access, createClient(transport)),
      clock,
      log,
    }),
  );
  const { port } = server;
  // Their names are not in DNS, so only the address is published.
  const facts = { addresses: [{ type: "InternalIP", address: nodeIp }], kubeletPort: port };
  const transportFor = (identity: IdentityName): Transport => (identity === ADMINISTRATOR ? transport : actingAs(transport, identity));
  late.part = starting.use(
    await startNodesPart({ ...fleet, factsFor: () => facts }, { transportFor, clock, random: realRandom(), log, signal }),
  );
  const owned = starting.move();
  return { port, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

function actingAs(transport: HttpsTransport, { name: user, groups }: IdentityName): Transport {
  return transport.as({ user, groups, extra: new Map() });
}

export interface JoiningOptions {
  readonly fleet: FleetConfig;
  /** Including those that another runtime reported: the user confirmed that their kubelets no longer run. */
  readonly mayTakeOver: boolean;
  readonly signal: AbortSignal;
}

/**
 * Checks that these nodes can be joined with this connection. Rejects with CannotJoin if retrying does not help, otherwise with the API
 * server's or the transport's error.
 */
export async function tryJoining(transport: HttpsTransport, { fleet, mayTakeOver, signal }: JoiningOptions): Promise<void> {
  const names = fleetNames(fleet);
  const [name = ""] = names;
  try {
    const client = createClient(transport).with({ signal });
    const { items } = await client.list(nodes);
    const wanted = new Set(mayTakeOver ? [] : names);
    const real = items.find(({ metadata, status }) => wanted.has(metadata.name) && isReal(status?.nodeInfo?.containerRuntimeVersion));
    if (real !== undefined) throw new CannotJoin(`Cannot join node ${real.metadata.name}: ${ANOTHER_NAME}`);
    await client.list(pods, { limit: 1 });
    const itself = createClient(actingAs(transport, nodeIdentity(name))).with({ signal });
    await itself.get(nodes, { name });
  } catch (error) {
    // The Node may not be registered yet.
    if (isReason(error, "NotFound")) return;
    if (isReason(error, "Forbidden")) throw new CannotJoin(`Cannot join node ${name}: ${error.message}; ${MORE_RIGHTS}`, { cause: error });
    throw error;
  }
}

const ANOTHER_NAME =
  "the cluster has a node of this name that is not simulated; choose other names with --name-prefix, or, if its kubelet no longer runs, convert it with --take-over";
const MORE_RIGHTS =
  "use the kubeconfig of an administrator, or of a user that may list and watch nodes and pods and impersonate users and groups";

function isReal(runtimeVersion = ""): boolean {
  return runtimeVersion !== "" && runtimeVersion !== SIMULATED_VERSION;
}
