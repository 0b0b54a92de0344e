/**
 * Simulated nodes of a cluster whose API server is elsewhere. Each acts under its own name, which whoever joins them takes on
 * (impersonation), and all share the connections to the API server and one HTTPS server, which is where the API server asks for logs and
 * commands. Not here: what the nodes are like and how Pods are played (simulated-nodes.ts).
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

/** Why they cannot be joined, however long one waits. */
export class CannotJoin extends Error {
  override readonly name = "CannotJoin";
}

export interface JoinedNodesOptions {
  readonly fleet: FleetConfig;
  /** Where the API server finds `server`. */
  readonly nodeIp: string;
  readonly server: {
    readonly host: string;
    readonly port: number;
    readonly tls: KubeletServerTls;
    readonly access: ServerAccess;
  };
  /** Of whoever joins them. */
  readonly transport: HttpsTransport;
  readonly clock: Clock;
  readonly log: Logger;
  /** Gives up a start that waits for the API server. */
  readonly signal: AbortSignal;
}

export interface JoinedNodes extends AsyncDisposable {
  /** Of the HTTPS server. */
  readonly port: number;
}

/** Resolves when all are registered. Rejects with a ListenError if the server cannot listen. */
export async function joinSimulatedNodes(options: JoinedNodesOptions): Promise<JoinedNodes> {
  const { fleet, nodeIp, transport, clock, log, signal } = options;
  const { access, ...place } = options.server;
  await using starting = new Disposables();
  const late: { part?: NodesPart } = {};
  // The Nodes say at which port they are asked, so that comes first.
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
  // Their names are in no DNS: an API server that would rather call a node by its name has only the address.
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
  /** Also those that another runtime has reported: whoever asks knows that their agents are gone. */
  readonly mayTakeOver: boolean;
  readonly signal: AbortSignal;
}

/**
 * Whether these nodes can be joined with what this connection may. Rejects with CannotJoin if that is not for time to tell, otherwise as the
 * API server or the way to it does.
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
    // There may be no such Node yet.
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
