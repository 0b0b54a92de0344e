/**
 * The network of the traffic suite, built of network namespaces with names of their own: a node with a bridge, two Pods on it, and another
 * machine on a second segment that runs clients and a Pod of another node. Everything vanishes with `dispose`.
 *
 *     pod a 10.244.0.2 ─┐                                   ┌─ client 192.168.50.2, 192.168.50.3
 *     pod b 10.244.0.3 ─┴─ br0 10.244.0.1 [node] 192.168.50.1, .11 ─┴─ remote Pod 10.244.9.9
 */
import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { extname } from "node:path";
import { Disposables } from "../../base/disposables.ts";
import { namedNetworkNamespace, ownNetworkNamespace, type NetworkNamespace } from "../../host/network/network-namespace.ts";
import type { AgentCommand, Outcome, TrafficTarget } from "./traffic-agent.ts";

export const BRIDGE = "br0";
export const POD_CIDRS = ["10.244.0.0/16", "fd00:244::/48"];

/** Addresses by family. */
export interface Addresses {
  readonly 4: string;
  readonly 6: string;
}

export const POD_A: Addresses = { 4: "10.244.0.2", 6: "fd00:244::2" };
export const POD_B: Addresses = { 4: "10.244.0.3", 6: "fd00:244::3" };
export const REMOTE_POD: Addresses = { 4: "10.244.9.9", 6: "fd00:244:0:9::9" };
/** The node's addresses on the bridge, and both on the other segment. */
export const NODE_BRIDGE: Addresses = { 4: "10.244.0.1", 6: "fd00:244::1" };
export const NODE: Addresses = { 4: "192.168.50.1", 6: "fd00:50::1" };
export const NODE_SECOND: Addresses = { 4: "192.168.50.11", 6: "fd00:50::11" };
export const CLIENT: Addresses = { 4: "192.168.50.2", 6: "fd00:50::2" };
export const CLIENT_SECOND: Addresses = { 4: "192.168.50.3", 6: "fd00:50::3" };

/** Reached only on failure: a loaded machine may need long for what takes milliseconds alone. */
const ANSWER_WITHIN_MS = 60_000;
/** How long a request is watched that must not be answered. A slow machine can only hide a wrong answer, never cause a failure. */
const SILENCE_MS = 300;

/** Off on the other machine, which would otherwise send packets to unknown addresses back to the node. */
const FORWARDING = ["net/ipv4/ip_forward", "net/ipv6/conf/all/forwarding"];

/** As the Pod network has it: the rules also see packets between Pods of the bridge, whose answers must be translated back. */
const NODE_SWITCHES = [...FORWARDING, "net/bridge/bridge-nf-call-iptables", "net/bridge/bridge-nf-call-ip6tables"];

/** Otherwise the kernel refuses one connection per second and client. */
const ICMP_LIMITS = ["net/ipv4/icmp_ratelimit", "net/ipv6/icmp/ratelimit"];

/** A process in one of the namespaces. */
export class TrafficPlace {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve(outcomes: readonly Outcome[]): void; reject(error: Error): void }>();
  #lastId = 0;
  readonly namespace: NetworkNamespace;
  /** Resolves when it takes commands. */
  readonly started: Promise<unknown>;

  constructor(namespace: NetworkNamespace) {
    this.namespace = namespace;
    const agent = fileURLToPath(new URL(`./traffic-agent${extname(import.meta.url)}`, import.meta.url));
    this.#child = spawn("nsenter", [`--net=/run/netns/${namespace.name}`, "--", process.execPath, agent], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.started = new Promise((resolve, reject) => this.#waiting.set(0, { resolve, reject }));
    this.#child.on("message", (message) => this.#receive(message as { id: number; outcomes?: readonly Outcome[]; error?: string }));
    this.#child.on("error", (error) => this.#fail(error));
    this.#child.on("exit", (code) => this.#fail(new Error(`The traffic agent in ${namespace.name} exited with code ${code}`)));
  }

  /** Serves `target`; answers name `name`. */
  async listen(name: string, target: TrafficTarget): Promise<void> {
    await this.#send({ kind: "listen", name, ...target });
  }

  /** Sends one request and waits for its answer or failure. */
  async request(target: TrafficTarget, { from }: { readonly from?: string } = {}): Promise<Outcome> {
    const [outcome] = await this.requests(1, target, from === undefined ? {} : { from });
    return outcome ?? { failure: "no outcome" };
  }

  /** Sends requests at the same time, each from a port of its own. */
  requests(count: number, target: TrafficTarget, { from }: { readonly from?: string } = {}): Promise<readonly Outcome[]> {
    return this.#send({ kind: "request", count, timeoutMs: ANSWER_WITHIN_MS, ...target, ...(from === undefined ? {} : { from }) });
  }

  /** Sends a request that must not be answered. */
  async expectSilence(target: TrafficTarget, { from }: { readonly from?: string } = {}): Promise<Outcome> {
    const command = { kind: "request", count: 1, timeoutMs: SILENCE_MS, ...target, ...(from === undefined ? {} : { from }) } as const;
    const [outcome] = await this.#send(command);
    return outcome ?? { failure: "no outcome" };
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined) return;
    const exited = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await exited;
  }

  #send(command: AgentCommand): Promise<readonly Outcome[]> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.send({ id, command });
    });
  }

  #receive({ id, outcomes = [], error }: { readonly id: number; readonly outcomes?: readonly Outcome[]; readonly error?: string }): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(outcomes);
    else waiting?.reject(new Error(`In ${this.namespace.name}: ${error}`));
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

export interface TrafficTopology extends AsyncDisposable {
  readonly node: TrafficPlace;
  readonly podA: TrafficPlace;
  readonly podB: TrafficPlace;
  /** Another machine: clients, and the Pod of another node. */
  readonly client: TrafficPlace;
  /** False if the kernel has no IPv6. */
  readonly hasIpv6: boolean;
}

let count = 0;

/** Followed by the id of the process that owns the namespace. */
const PREFIX = "k8ts-traffic-";

/** Removes namespaces of test processes that were killed. */
async function removeOrphans(): Promise<void> {
  const listed = await ownNetworkNamespace.run("ip", ["netns", "list"]);
  for (const [name, pid] of listed.matchAll(new RegExp(`^${PREFIX}(\\d+)-\\S+`, "gm"))) {
    // Another process may remove it at the same time.
    if (!isRunning(Number(pid))) await ownNetworkNamespace.run("ip", ["netns", "delete", name]).catch(() => "");
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

export async function openTrafficTopology(): Promise<TrafficTopology> {
  await using stack = new Disposables();
  await removeOrphans();
  const prefix = `${PREFIX}${process.pid}-${++count}`;
  const [node, podA, podB, client] = ["node", "a", "b", "client"].map((name) => `${prefix}-${name}`) as [string, string, string, string];
  for (const name of [node, podA, podB, client]) {
    await ownNetworkNamespace.run("ip", ["netns", "add", name]);
    stack.defer(async () => void (await ownNetworkNamespace.run("ip", ["netns", "delete", name])));
  }
  const hasIpv6 = await ownNetworkNamespace.run("test", ["-e", "/proc/sys/net/ipv6"]).then(
    () => true,
    () => false,
  );
  const familiesOf = (addresses: Addresses) => (hasIpv6 ? ([addresses[4], addresses[6]] as const) : ([addresses[4]] as const));
  const configure = async (namespace: string, lines: readonly string[]) =>
    ownNetworkNamespace.run("ip", ["-n", namespace, "-batch", "-"], `${["link set lo up", ...lines].join("\n")}\n`);
  const add = (addresses: Addresses, link: string) => familiesOf(addresses).map((address) => addressLine(address, link));

  await configure(node, [
    `link add ${BRIDGE} type bridge`,
    ...[podA, podB].map((pod, index) => `link add veth${index} type veth peer name eth0 netns ${pod}`),
    ...["veth0", "veth1"].flatMap((link) => [
      `link set ${link} master ${BRIDGE}`,
      `link set ${link} type bridge_slave hairpin on`,
      `link set ${link} up`,
    ]),
    ...add(NODE_BRIDGE, BRIDGE),
    `link set ${BRIDGE} up`,
    `link add eth0 type veth peer name eth0 netns ${client}`,
    ...add(NODE, "eth0"),
    ...add(NODE_SECOND, "eth0"),
    "link set eth0 up",
    ...familiesOf(CLIENT).map((gateway) => `route add default via ${gateway}`),
  ]);
  await Promise.all([
    ...[podA, podB].map((pod, index) =>
      configure(pod, [
        ...add(index === 0 ? POD_A : POD_B, "eth0"),
        "link set eth0 up",
        ...familiesOf(NODE_BRIDGE).map((gateway) => `route add default via ${gateway}`),
      ]),
    ),
    configure(client, [
      ...add(CLIENT, "eth0"),
      ...add(CLIENT_SECOND, "eth0"),
      ...add(REMOTE_POD, "lo"),
      "link set eth0 up",
      ...familiesOf(NODE).map((gateway) => `route add default via ${gateway}`),
    ]),
    setSwitches(namedNetworkNamespace(node), NODE_SWITCHES, 1),
    setSwitches(namedNetworkNamespace(node), ICMP_LIMITS, 0),
    setSwitches(namedNetworkNamespace(client), FORWARDING, 0),
  ]);

  const places = [node, podA, podB, client].map((name) => new TrafficPlace(namedNetworkNamespace(name)));
  for (const place of places) stack.defer(() => place.stop());
  await Promise.all(places.map((place) => place.started));
  const [nodePlace, podAPlace, podBPlace, clientPlace] = places as [TrafficPlace, TrafficPlace, TrafficPlace, TrafficPlace];
  const owned = stack.move();
  return {
    node: nodePlace,
    podA: podAPlace,
    podB: podBPlace,
    client: clientPlace,
    hasIpv6,
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Without duplicate address detection, during which an IPv6 address cannot be used. */
function addressLine(address: string, link: string): string {
  if (link === "lo") return `address add ${address}/${address.includes(":") ? "128 nodad" : "32"} dev lo`;
  return `address add ${address}/${address.includes(":") ? "64 nodad" : "24"} dev ${link}`;
}

async function setSwitches(namespace: NetworkNamespace, names: readonly string[], value: number): Promise<void> {
  const script = names.map((name) => `[ ! -e /proc/sys/${name} ] || echo ${value} > /proc/sys/${name}`).join("\n");
  await namespace.run("sh", ["-ec", script]);
}
