import { deepEqual, equal, match } from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { test } from "node:test";
import { nodes } from "../../api/core/v1/node.ts";
import { startServer } from "../../apiserver/testing/server.ts";
import { Disposables } from "../../base/disposables.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { createInformers } from "../../client/informer/informers.ts";
import { createClient } from "../../client/rest-client.ts";
import { namedNetworkNamespace, ownNetworkNamespace } from "../../host/network/network-namespace.ts";
import { becomes } from "../../testing/becomes.ts";
import { realClock } from "../../testing/machine.ts";
import { needs, toolPath } from "../../testing/needs.ts";
import { PodNetwork, removePodNetwork } from "../../podnetwork/pod-network.ts";

const NEEDS = needs("busybox", "iptables", "containerd");
const CLUSTER_CIDR = "10.244.0.0/16";
const IPV6_CLUSTER_CIDR = "fd00:10:244::/56";
const BRIDGE = "pods";
const FILE_BYTES = 1_000_000;

interface TestNode {
  readonly name: string;
  readonly number: number;
  readonly address: string;
  /** Absent: its Pods are dual-stack all the same. */
  readonly ipv6Address?: string;
  /** The router's address on its segment. */
  readonly router: string;
}

const A: TestNode = { name: "a", number: 1, address: "192.0.2.1", ipv6Address: "2001:db8::1", router: "192.0.2.254" };
const B: TestNode = { name: "b", number: 2, address: "192.0.2.2", ipv6Address: "2001:db8::2", router: "192.0.2.254" };
const C: TestNode = { name: "c", number: 3, address: "198.51.100.3", router: "198.51.100.254" };
const ALL = [A, B, C];

const podOf = ({ number }: TestNode): string => `10.244.${number}.2`;
const gatewayOf = ({ number }: TestNode): string => `10.244.${number}.1`;
const ipv6PodOf = ({ number }: TestNode): string => `fd00:10:244:${number}::2`;
const ipv6GatewayOf = ({ number }: TestNode): string => `fd00:10:244:${number}::1`;
/** Per IP family. */
const PODS = [podOf, ipv6PodOf];
const GATEWAYS = [gatewayOf, ipv6GatewayOf];

/**
 * Two nodes on a segment, and one behind a router, each with a dual-stack Pod; names of this run only.
 *
 *     Pod a ─ bridge [a] 192.0.2.1 ─┐
 *     Pod b ─ bridge [b] 192.0.2.2 ─┴─ [router] ─ 198.51.100.3 [c] bridge ─ Pod c
 */
class Topology implements AsyncDisposable {
  readonly #prefix = `k8t${process.pid}`;
  readonly #children: ChildProcess[] = [];
  readonly #names = ["r", ...ALL.flatMap(({ name }) => [name, `pod-${name}`])];

  space(name: string) {
    return namedNetworkNamespace(`${this.#prefix}-${name}`);
  }

  async build(): Promise<void> {
    const full = (name: string): string => `${this.#prefix}-${name}`;
    await batch(
      ownNetworkNamespace,
      this.#names.map((name) => `netns add ${full(name)}`),
    );
    for (const name of this.#names) await batch(this.space(name), ["link set lo up"]);
    await batch(this.space("r"), ["link add segment type bridge", "address add 192.0.2.254/24 dev segment", "link set segment up"]);
    for (const node of ALL) {
      const isBehind = node === C;
      await batch(this.space("r"), [
        `link add to-${node.name} type veth peer name eth0 netns ${full(node.name)}`,
        isBehind ? `address add ${node.router}/24 dev to-${node.name}` : `link set to-${node.name} master segment`,
        `link set to-${node.name} up`,
      ]);
      await batch(this.space(node.name), [
        `address add ${node.address}/24 dev eth0`,
        "link set eth0 up",
        `route add default via ${node.router}`,
        `link add ${BRIDGE} type bridge`,
        `address add ${gatewayOf(node)}/24 dev ${BRIDGE}`,
        `address add ${ipv6GatewayOf(node)}/64 dev ${BRIDGE} nodad`,
        ...(node.ipv6Address === undefined ? [] : [`address add ${node.ipv6Address}/64 dev eth0 nodad`]),
        `link set ${BRIDGE} up`,
        `link add veth0 type veth peer name eth0 netns ${full(`pod-${node.name}`)}`,
        `link set veth0 master ${BRIDGE} up`,
      ]);
      await batch(this.space(`pod-${node.name}`), [
        `address add ${podOf(node)}/24 dev eth0`,
        "link set eth0 up",
        `route add default via ${gatewayOf(node)}`,
        `address add ${ipv6PodOf(node)}/64 dev eth0 nodad`,
        `route add ::/0 via ${ipv6GatewayOf(node)}`,
      ]);
      // As the bridge's own rules have it.
      const drop = (gateway: string): readonly string[] =>
        `-A INPUT -d ${gateway} ! -i ${BRIDGE} -m addrtype ! --src-type LOCAL -m comment --comment k8ts:${BRIDGE} -j DROP`.split(" ");
      await this.space(node.name).run("iptables", ["--wait", ...drop(gatewayOf(node))]);
      await this.space(node.name).run("ip6tables", ["--wait", ...drop(ipv6GatewayOf(node))]);
    }
    const forwarding = ["net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1"];
    for (const name of ["r", "a", "b", "c"]) await this.space(name).run("sysctl", ["-q", "-w", ...forwarding]);
  }

  /** Sends FILE_BYTES to everyone who connects to port 8000 in a namespace, and returns datagrams. */
  serve(name: string): void {
    const script = `
      require("node:net").createServer((socket) => socket.end(Buffer.alloc(${FILE_BYTES})).on("error", () => {})).listen(8000);
      const datagrams = require("node:dgram").createSocket("udp4");
      datagrams.on("message", (message, { port, address }) => datagrams.send(message, port, address)).bind(8000);`;
    const words = [`--net=/run/netns/${this.#prefix}-${name}`, "--", process.execPath, "-e", script];
    this.#children.push(spawn("nsenter", words, { stdio: "ignore" }));
  }

  /** "ok", or how it failed. `bytes`: size of the packet's content; larger ones than a link's MTU are sent in fragments. */
  ping(from: string, to: string, bytes = 56): Promise<string> {
    const words = ["ping", "-c", "1", "-W", "2", "-s", String(bytes), to];
    return this.space(from)
      .run(toolPath("busybox"), words)
      .then(
        () => "ok",
        (error: Error) => error.message,
      );
  }

  /** Sets the MTU of a node's Pod, as the CNI plugin does. Path MTUs that were learned are forgotten, and no others are: routers' messages are dropped. */
  async setPodMtu({ name }: TestNode, mtu: number): Promise<void> {
    await batch(this.space(name), [`link set veth0 mtu ${mtu}`]);
    await batch(this.space(`pod-${name}`), [`link set eth0 mtu ${mtu}`, "route flush cache"]);
    const drop = "INPUT -p icmp --icmp-type fragmentation-needed -j DROP".split(" ");
    await this.space(`pod-${name}`).run("iptables", ["--wait", "-A", ...drop]);
  }

  /** "ok" if a packet of this size, which Linux sends with the flag "don't fragment", reaches a Pod and comes back. */
  async echo(from: string, to: string, packetBytes: number): Promise<string> {
    const headerBytes = 28;
    const script = `
      const socket = require("node:dgram").createSocket("udp4");
      const end = (said) => { console.log(said); process.exit(); };
      socket.on("message", ({ length }) => end(length === ${packetBytes - headerBytes} ? "ok" : "another size"));
      socket.send(Buffer.alloc(${packetBytes - headerBytes}), 8000, "${to}", (error) => error && end(error.message));
      setTimeout(() => end("nothing came back"), 2_000);`;
    return (await this.space(from).run(process.execPath, ["-e", script])).trim();
  }

  /** Number of bytes that each server sent before it closed the connection or failed. */
  async receive(from: string, addresses: readonly string[]): Promise<readonly number[]> {
    const script = `
      const receive = (host) => new Promise((resolve) => {
        let bytes = 0;
        require("node:net").connect({ host, port: 8000, timeout: 30_000 })
          .on("data", (piece) => (bytes += piece.length))
          .on("timeout", function () { this.destroy(); })
          .on("error", () => {})
          .on("close", () => resolve(bytes));
      });
      Promise.all(${JSON.stringify(addresses)}.map(receive)).then((all) => console.log(JSON.stringify(all)));`;
    return JSON.parse(await this.space(from).run(process.execPath, ["-e", script]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) {
      const exited = new Promise((resolve) => child.once("exit", resolve));
      if (child.exitCode === null && child.kill("SIGKILL")) await exited;
    }
    for (const name of this.#names)
      await ownNetworkNamespace.run("ip", ["netns", "delete", `${this.#prefix}-${name}`]).catch(() => undefined);
  }
}

async function batch(
  namespace: { run(command: string, words: readonly string[], input?: string): Promise<string> },
  lines: readonly string[],
) {
  await namespace.run("ip", ["-batch", "-"], `${lines.join("\n")}\n`);
}

test(
  "Dual-stack Pods of three nodes reach each other: by route on a segment, by vxlan behind a router, and after everything was flushed",
  NEEDS,
  async () => {
    await using owned = new Disposables();
    const topology = owned.use(new Topology());
    await topology.build();
    const server = owned.use(await startServer({ clock: realClock }));
    const client = createClient(server.transport());
    const register = async ({ name, number, address, ipv6Address }: TestNode) => {
      const podCIDR = `10.244.${number}.0/24`;
      const spec = { podCIDR, podCIDRs: [podCIDR, `fd00:10:244:${number}::/64`] };
      const node = await client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name }, spec });
      const addresses = [address, ...(ipv6Address === undefined ? [] : [ipv6Address])].map((ip) => ({ type: "InternalIP", address: ip }));
      await client.updateStatus(nodes, { ...node, status: { addresses } });
    };
    await Promise.all(ALL.map(register));
    const mtus = new Map<string, number>();
    const networks = new Map<string, PodNetwork>();
    for (const { name, number, address, ipv6Address } of ALL) {
      const informers = owned.use(
        createInformers({ transport: server.transport(), clock: realClock, random: seededRandom(1), log: silentLogger }),
      );
      const network = await PodNetwork.start({
        ...{ owner: `t${name}`, namespace: topology.space(name), nodeName: name, address, bridge: BRIDGE, vxlanPort: 8_477, mode: "auto" },
        ...{
          podCidr: `10.244.${number}.0/24`,
          clusterCidr: CLUSTER_CIDR,
          gateway: `10.244.${number}.1`,
          ipv6: {
            podCidr: `fd00:10:244:${number}::/64`,
            clusterCidr: IPV6_CLUSTER_CIDR,
            gateway: `fd00:10:244:${number}::1`,
            address: ipv6Address,
          },
          informers,
          clock: realClock,
          log: silentLogger,
        },
        onPodMtu: async (mtu) => void mtus.set(name, mtu),
      });
      networks.set(name, owned.use(network));
    }

    const ranges = "10.244.1.0/24 of 10.244.0.0/16, fd00:10:244:1::/64 of fd00:10:244::/56";
    equal(networks.get("a")?.description, `${ranges}, other nodes: 1 by route, 1 by vxlan`);
    deepEqual(
      [...mtus],
      [
        ["a", 1_450],
        ["b", 1_450],
        ["c", 1_450],
      ],
    );
    for (const { name } of ALL) topology.serve(`pod-${name}`);
    for (const from of ALL) {
      for (const to of ALL.filter((one) => one !== from)) {
        for (const pod of PODS.map((of) => of(to))) {
          await becomes(() => topology.ping(`pod-${from.name}`, pod), "ok");
          await becomes(() => topology.ping(`pod-${from.name}`, pod, 1_472), "ok"); // 1,500 with headers: more than vxlan carries.
          await becomes(() => topology.ping(from.name, pod), "ok");
        }
        await becomes(() => topology.ping(`pod-${from.name}`, podOf(to), 8_000), "ok");
        for (const gateway of GATEWAYS.map((of) => of(to))) {
          await becomes(() => topology.ping(`pod-${from.name}`, gateway), "ok");
          await becomes(() => topology.ping(from.name, gateway), "ok");
        }
      }
      const others = ALL.filter((one) => one !== from).flatMap((to) => PODS.map((of) => of(to)));
      await becomes(
        () => topology.receive(`pod-${from.name}`, others),
        others.map(() => FILE_BYTES),
      );
    }
    for (const node of ALL) await topology.setPodMtu(node, mtus.get(node.name) ?? 0);
    for (const to of [B, C]) await becomes(() => topology.echo("pod-a", podOf(to), 1_450), "ok");
    await becomes(() => topology.receive("pod-a", [B, C].map(podOf)), [FILE_BYTES, FILE_BYTES]);
    // The router is no node: the gateway's address is not for it.
    await topology.space("r").run("ip", ["route", "add", "10.244.1.0/24", "via", A.address]);
    match(await topology.ping("r", gatewayOf(A)), /100% packet loss/);

    await topology.space("a").run("ip", ["link", "delete", "k8v-ta"]);
    await topology.space("a").run("ip", ["route", "flush", "proto", "158"]);
    await topology.space("a").run("ip", ["-6", "route", "flush", "proto", "158"]);
    for (const command of ["iptables", "ip6tables"]) await topology.space("a").run(command, ["--wait", "-F"]);
    await client.create(nodes, { apiVersion: "v1", kind: "Node", metadata: { name: "no-address" } });
    for (const to of [B, C]) for (const of of PODS) await becomes(() => topology.ping("pod-a", of(to)), "ok");
    for (const of of GATEWAYS) await becomes(() => topology.ping("pod-c", of(A)), "ok");

    await client.delete(nodes, { name: "c" });
    const linksOf = async (name: string) => (await topology.space(name).run("ip", ["-brief", "link"])).includes("k8v-");
    await becomes(() => Promise.all([linksOf("a"), linksOf("b")]), [false, false]);
    for (const of of PODS) await becomes(() => topology.ping("pod-a", of(B)), "ok");
    // Only routes are left, which carry what the segment does.
    await becomes(() => Promise.resolve([mtus.get("a"), mtus.get("b")]), [1_500, 1_500]);
    for (const node of [A, B]) await topology.setPodMtu(node, 1_500);
    await becomes(() => topology.echo("pod-a", podOf(B), 1_500), "ok");

    for (const network of networks.values()) await network[Symbol.asyncDispose]();
    for (const { name } of ALL) {
      const owner = { owner: `t${name}`, namespace: topology.space(name) };
      await removePodNetwork(owner);
      await removePodNetwork(owner);
      equal(await linksOf(name), false);
      for (const family of ["-4", "-6"]) equal(await owner.namespace.run("ip", [family, "route", "show", "proto", "158"]), "");
      for (const command of ["iptables", "ip6tables"])
        equal((await owner.namespace.run(command, ["--wait", "-S"])).includes("K8TS-"), false);
    }
  },
);
