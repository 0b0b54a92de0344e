/**
 * Proxy mode userspace: sockets of this process accept connections and copy bytes to an endpoint; if one refuses, the next is tried. It
 * works on any machine and without root. Node ports are ordinary listening sockets. Cluster IPs, external IPs and load balancer addresses
 * need nftables rules that redirect them here (redirect-rules.ts); without permission for those, the port of a cluster IP is served on
 * loopback instead, at 127 and the last three numbers of the cluster IP: 10.96.0.10 at 127.96.0.10. Endpoints see this node as their client.
 * Sockets are in the network namespace of this process, which must be the context's.
 */
import { hostPort } from "../../compute/slice-endpoints.ts";
import { listenAddresses } from "../../listen-addresses.ts";
import type { ProxyModel } from "../../model.ts";
import { localAddresses } from "../../../host/network/network-address.ts";
import { CommandError } from "../../../host/network/network-namespace.ts";
import { SocketBudget } from "../../../host/network/socket-budget.ts";
import type { AppliedChange, Applier, ApplierContext, ProxyMode } from "../applier.ts";
import { FrontSocket } from "./front-socket.ts";
import { ClientRules, frontsOf, isEmpty, type Front } from "./fronts.ts";
import { deletionText, tableName, tableText, type Redirect } from "./redirect-rules.ts";

/** Connections and UDP flows at a time; each has two sockets, and Linux allows a process 1,048,576 at most. */
const CONNECTIONS_MAX = 16_384;
/** Listening sockets. Clusters with more service ports need a mode in the kernel. */
const LISTENERS_MAX = 8_192;
/** Ports below 1024 need root; on loopback they are served this much higher: 80 at 10080. */
const PRIVILEGED_SHIFT = 10_000;
const PRIVILEGED_MAX = 1_023;

export const userspace: ProxyMode = {
  name: "userspace",
  async open(context) {
    return new UserspaceApplier(context, await mayHaveRules(context));
  },
  async cleanUp({ owner, namespace }) {
    await namespace.run("nft", ["-f", "-"], deletionText(owner)).catch((error: unknown) => {
      // Without the program or the permission there is no rule either.
      if (!(error instanceof CommandError)) throw error;
    });
  },
};

/** Undefined: yes. Otherwise why not. */
async function mayHaveRules({ namespace, owner }: ApplierContext): Promise<string | undefined> {
  try {
    await namespace.run("nft", ["-f", "-"], deletionText(owner));
    return undefined;
  } catch (error) {
    return error instanceof CommandError && error.isMissing ? "the program nft is missing" : "it needs root";
  }
}

class UserspaceApplier implements Applier {
  readonly #context: ApplierContext;
  /** Why there are no rules. */
  readonly #withoutRules: string | undefined;
  readonly #budget = new SocketBudget(CONNECTIONS_MAX);
  readonly #fronts = new Map<string, { front: Front; readonly socket: FrontSocket }>();
  /** Addresses that could not be opened, so that each is reported once. */
  #failed = new Set<string>();
  #rules: string | undefined;
  /** How the kernel prints them. */
  #listed = "";

  constructor(context: ApplierContext, withoutRules: string | undefined) {
    this.#context = context;
    this.#withoutRules = withoutRules;
    if (withoutRules === undefined) return;
    const rule = "node ports work, and cluster IPs on loopback: 10.96.0.10 at 127.96.0.10, ports below 1024 plus 10000";
    context.log.warn(`Addresses of Services cannot be redirected to the userspace proxy: ${rule}`, { reason: withoutRules });
  }

  get description(): string {
    return this.#withoutRules === undefined
      ? "userspace"
      : `userspace, node ports and cluster IPs on loopback only: ${this.#withoutRules} to redirect cluster IPs`;
  }

  async apply(model: ProxyModel): Promise<AppliedChange> {
    const fronts = [...model.servicePorts.values()].flatMap(frontsOf);
    const served = fronts.slice(0, LISTENERS_MAX);
    if (served.length < fronts.length)
      this.#context.log.error("Too many service ports for proxy mode userspace", { served: served.length, of: fronts.length });
    const addresses = localAddresses();
    const clients = new ClientRules(model, addresses);
    const failed = new Set<string>();
    const redirects: Redirect[] = [];
    let written = 0;
    for (const front of served) {
      const { socket, isNew } = this.#socketOf(front, clients);
      if (isNew) written++;
      const wanted = this.#wantedListeners(front, listenAddresses(front.servicePort.family, model.nodePortAddresses, addresses));
      for (const { host, port } of wanted) await this.#listen(socket, { host, port }, failed);
      redirects.push(...(await this.#redirectsOf(front, socket)));
      await socket.keepOnly(new Set(wanted.map(({ host, port }) => hostPort(host, port))));
    }
    this.#failed = failed;
    written += await this.#writeRules(redirects, served);
    // Only now: until the rules are in effect, connections still come in.
    written += await this.#closeOthers(new Set(served.map(({ key }) => key)));
    return { written };
  }

  async isIntact(): Promise<boolean> {
    if (this.#withoutRules !== undefined || this.#rules === undefined) return true;
    const isThere = (await this.#listRules()) === this.#listed;
    if (!isThere) this.#rules = undefined;
    return isThere;
  }

  /** The table in the kernel, without the elements of its sets. Empty: it does not exist. */
  #listRules(): Promise<string> {
    const { namespace, owner } = this.#context;
    return namespace.run("nft", ["-s", "-t", "list", "table", "inet", tableName(owner)]).catch(() => "");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#closeOthers(new Set());
  }

  #socketOf(front: Front, clients: ClientRules): { readonly socket: FrontSocket; readonly isNew: boolean } {
    const known = this.#fronts.get(front.key);
    if (known !== undefined) {
      known.front = front;
      known.socket.update(front, clients);
      return { socket: known.socket, isNew: false };
    }
    const socket = new FrontSocket(front, clients, { budget: this.#budget, clock: this.#context.clock });
    this.#fronts.set(front.key, { front, socket });
    return { socket, isNew: true };
  }

  /** Nothing listens without an endpoint: the kernel refuses connections. */
  #wantedListeners(front: Front, nodeHosts: readonly string[]): readonly { readonly host: string; readonly port: number }[] {
    if (isEmpty(front)) return [];
    const { family, port } = front.servicePort;
    const onNode = front.nodePort === undefined ? [] : nodeHosts.map((host) => ({ host, port: front.nodePort ?? 0 }));
    if (this.#withoutRules === undefined)
      return front.addresses.length === 0 ? onNode : [...onNode, { host: family === 4 ? "0.0.0.0" : "::", port: 0 }];
    return front.kind === "cluster" && family === 4 ? [...onNode, loopbackOf(front.addresses[0] ?? "", port)] : onNode;
  }

  async #listen(socket: FrontSocket, { host, port }: { readonly host: string; readonly port: number }, failed: Set<string>): Promise<void> {
    try {
      await socket.listen(host, port);
    } catch (error) {
      const at = hostPort(host, port);
      failed.add(at);
      if (!this.#failed.has(at)) this.#context.log.error("Listening for a Service failed; another program may use the port", { at, error });
    }
  }

  async #redirectsOf(front: Front, socket: FrontSocket): Promise<readonly Redirect[]> {
    if (this.#withoutRules !== undefined || front.addresses.length === 0) return [];
    const { family, port, protocol } = front.servicePort;
    const action = isEmpty(front) ? front.whenEmpty : { to: await socket.listen(family === 4 ? "0.0.0.0" : "::", 0) };
    const common = { family, port, protocol: protocol === "UDP" ? "udp" : "tcp", isInternal: front.kind === "cluster", action } as const;
    return front.addresses.map((address) => ({ ...common, address }));
  }

  async #writeRules(redirects: readonly Redirect[], fronts: readonly Front[]): Promise<number> {
    if (this.#withoutRules !== undefined) return 0;
    const { owner, podBridge, namespace } = this.#context;
    const dropped = fronts.filter((front) => front.nodePort !== undefined && isEmpty(front) && front.whenEmpty === "drop");
    const droppedNodePorts = dropped.map(({ nodePort, servicePort: { protocol } }) => `${protocol.toLowerCase()} . ${nodePort}`);
    const text = tableText({ owner, podBridge, redirects, droppedNodePorts });
    if (text === this.#rules) return 0;
    this.#rules = undefined;
    await namespace.run("nft", ["-f", "-"], text);
    this.#listed = await this.#listRules();
    this.#rules = text;
    return redirects.length;
  }

  async #closeOthers(wanted: ReadonlySet<string>): Promise<number> {
    const others = [...this.#fronts].filter(([key]) => !wanted.has(key));
    for (const [key, { socket }] of others) {
      this.#fronts.delete(key);
      await socket[Symbol.asyncDispose]();
    }
    return others.length;
  }
}

/** 10.96.0.10:80 → 127.96.0.10:10080 */
export function loopbackOf(clusterIp: string, port: number): { readonly host: string; readonly port: number } {
  return { host: clusterIp.replace(/^\d+\./, "127."), port: port <= PRIVILEGED_MAX ? port + PRIVILEGED_SHIFT : port };
}
