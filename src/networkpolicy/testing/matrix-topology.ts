/**
 * The Pods of the matrix as network namespaces on the bridges of two nodes, which are namespaces, too, on one segment. Everything vanishes
 * with `dispose`. Needs root, `ip` and `nsenter`.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Pod } from "../../api/generated/core/v1.ts";
import { Disposables } from "../../base/disposables.ts";
import { namedNetworkNamespace, ownNetworkNamespace, type NetworkNamespace } from "../../host/network/network-namespace.ts";
import type { MatrixCommand, Target } from "./matrix-agent.ts";
import { addressOf, ipv6AddressOf, keyOf, MATRIX_PORTS, matrixPods } from "./objects.ts";

export interface MatrixTopology extends AsyncDisposable {
  /** "node-1" and "node-2". */
  readonly nodes: ReadonlyMap<string, NetworkNamespace>;
  /** By "namespace/name". */
  readonly pods: ReadonlyMap<string, MatrixPod>;
  /** A process on node-1 itself. */
  readonly onNode: MatrixPod;
  /** Of a Pod. */
  namespaceOf(key: string): NetworkNamespace;
}

export const POD_CIDRS: Readonly<Record<string, string>> = { "node-1": "10.244.1.0/24", "node-2": "10.244.2.0/24" };
export const IPV6_POD_CIDRS: Readonly<Record<string, string>> = { "node-1": "fd00:10:244:1::/64", "node-2": "fd00:10:244:2::/64" };

/** A process in the namespace of a Pod or node. */
export class MatrixPod {
  readonly started: Promise<unknown>;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve(answer: readonly number[]): void; reject(error: Error): void }>();
  #lastId = 0;

  constructor(namespace: string) {
    const agent = fileURLToPath(new URL(`./matrix-agent${extname(import.meta.url)}`, import.meta.url));
    this.#child = spawn("nsenter", [`--net=/run/netns/${namespace}`, "--", process.execPath, agent], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    this.started = new Promise((resolve, reject) => this.#waiting.set(0, { resolve, reject }));
    this.#child.on("message", (message) => this.#receive(message as { id: number; answer?: readonly number[]; error?: string }));
    this.#child.on("error", (error) => this.#fail(error));
    this.#child.on("exit", (code) => this.#fail(new Error(`The agent in ${namespace} exited with code ${code}`)));
  }

  /** Indexes of the targets that answered. */
  probe(targets: readonly (Target & { readonly mustAnswer: boolean })[]): Promise<readonly number[]> {
    return this.send({ kind: "probe", targets });
  }

  send(command: MatrixCommand): Promise<readonly number[]> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.send({ id, command });
    });
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined) return;
    const exited = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await exited;
  }

  #receive({ id, answer = [], error }: { readonly id: number; readonly answer?: readonly number[]; readonly error?: string }): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(answer);
    else waiting?.reject(new Error(error));
  }

  #fail(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

export async function openMatrix(): Promise<MatrixTopology> {
  await using stack = new Disposables();
  const prefix = `k8ts-matrix-${process.pid}`;
  const nameOf = (text: string): string => `${prefix}-${text.replace("/", "-")}`;
  for (const name of ["node-1", "node-2", ...matrixPods.map(keyOf)].map(nameOf)) {
    await ownNetworkNamespace.run("ip", ["netns", "add", name]);
    stack.defer(async () => void (await ownNetworkNamespace.run("ip", ["netns", "delete", name])));
  }
  await configure(nameOf("node-1"), [`link add eth0 type veth peer name eth0 netns ${nameOf("node-2")}`]);
  await Promise.all(([1, 2] as const).map((node) => configureNode(node, nameOf)));
  await Promise.all(matrixPods.map((pod) => configurePod(pod, nameOf(keyOf(pod)))));
  const agents = new Map(matrixPods.map((pod) => [keyOf(pod), new MatrixPod(nameOf(keyOf(pod)))]));
  const onNode = new MatrixPod(nameOf("node-1"));
  for (const agent of [...agents.values(), onNode]) stack.defer(() => agent.stop());
  await Promise.all([...agents.values(), onNode].map((agent) => agent.started));
  await Promise.all([...agents.values()].map((agent) => agent.send({ kind: "serve", ports: MATRIX_PORTS })));
  const owned = stack.move();
  return {
    nodes: new Map(["node-1", "node-2"].map((node) => [node, namedNetworkNamespace(nameOf(node))])),
    pods: agents,
    onNode,
    namespaceOf: (key) => namedNetworkNamespace(nameOf(key)),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

async function configureNode(node: 1 | 2, nameOf: (text: string) => string): Promise<void> {
  const name = nameOf(`node-${node}`);
  const other = 3 - node;
  const pods = matrixPods.filter(({ spec }) => spec?.nodeName === `node-${node}`);
  await configure(name, [
    "link add br0 type bridge",
    `address add 10.244.${node}.1/24 dev br0`,
    `address add fd00:10:244:${node}::1/64 dev br0 nodad`,
    "link set br0 up",
    ...pods.flatMap((pod, index) => [
      `link add veth${index} type veth peer name eth0 netns ${nameOf(keyOf(pod))}`,
      `link set veth${index} master br0`,
      `link set veth${index} type bridge_slave hairpin on`,
      `link set veth${index} up`,
    ]),
    `address add 192.168.77.${node}/24 dev eth0`,
    `address add fd00:77::${node}/64 dev eth0 nodad`,
    "link set eth0 up",
    `route add 10.244.${other}.0/24 via 192.168.77.${other}`,
    `route add fd00:10:244:${other}::/64 via fd00:77::${other}`,
  ]);
  const forwarding = ["ipv4/ip_forward", "ipv6/conf/all/forwarding"].map((switchName) => `echo 1 > /proc/sys/net/${switchName}`);
  await namedNetworkNamespace(name).run("sh", ["-ec", forwarding.join("\n")]);
}

async function configurePod(pod: Pod, name: string): Promise<void> {
  const address = addressOf(pod);
  await configure(name, [
    `address add ${address}/24 dev eth0`,
    `address add ${ipv6AddressOf(pod)}/64 dev eth0 nodad`,
    "link set eth0 up",
    `route add default via ${address.replace(/\d+$/, "1")}`,
    `route add ::/0 via ${ipv6AddressOf(pod).replace(/\d+$/, "1")}`,
  ]);
}

async function configure(namespace: string, lines: readonly string[]): Promise<void> {
  await ownNetworkNamespace.run("ip", ["-n", namespace, "-batch", "-"], `${["link set lo up", ...lines].join("\n")}\n`);
}
