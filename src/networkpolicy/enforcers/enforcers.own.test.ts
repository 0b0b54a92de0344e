/**
 * Real traffic between the Pods of the matrix on two nodes, for every example policy and every enforcer, compared with an evaluation of the
 * policies that shares no code with them; and what happens to connections, unknown addresses and foreign rules.
 */
import { deepEqual, equal, notEqual } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { NetworkPolicy } from "../../api/generated/networking.k8s.io/v1.ts";
import { needs, type ToolName } from "../../testing/needs.ts";
import { computeModel } from "../compute/compute-model.ts";
import { documentedExamples, examples } from "../testing/examples.ts";
import { IPV6_POD_CIDRS, openMatrix, POD_CIDRS, type MatrixPod, type MatrixTopology } from "../testing/matrix-topology.ts";
import { isAllowed } from "../testing/naive-evaluator.ts";
import {
  addressOf,
  aPolicy,
  dualStackPods,
  ipv6AddressOf,
  keyOf,
  MATRIX_PORTS,
  MATRIX_PROTOCOLS,
  matrixNamespaces,
  matrixPods,
} from "../testing/objects.ts";
import { brNetfilter } from "../bridged/br-netfilter.ts";
import type { BridgedPacketsWay } from "../bridged/bridged-packets.ts";
import { enforceOnBridge } from "../bridged/enforce-on-bridge.ts";
import { routedPorts } from "../bridged/routed-ports.ts";
import type { Enforcer, EnforcerMode } from "./enforcer.ts";
import { iptablesEnforcer } from "./iptables/iptables-enforcer.ts";
import { nftablesEnforcer } from "./nftables/nftables-enforcer.ts";

const OWNER = "ptest";
const NODES = ["node-1", "node-2"];
const ONLY_Z = aPolicy("x/only-z", {
  podSelector: {},
  ingress: [{ from: [{ namespaceSelector: { matchLabels: { ns: "z" } } }] }],
});
/** Each takes a few processes. */
const RESTARTS = 3;
const DENY = aPolicy("x/deny", { podSelector: {} });

interface Variant {
  readonly name: string;
  readonly mode: EnforcerMode;
  readonly way: BridgedPacketsWay;
  readonly tool: ToolName;
  readonly examples: typeof examples;
  readonly list: readonly [string, ...string[]];
  readonly addForeign: readonly [string, ...string[]];
  readonly flush: readonly [string, ...string[]];
  /** Translates SERVICE to a Pod, and masquerades, as a service proxy does. */
  readonly translate: (address: string) => readonly (readonly [string, ...string[]])[];
}

const SERVICE = "10.96.0.1";

/** As on a machine without br_netfilter, until an enforcer changes it. */
const BRIDGED_PACKETS_PASS = "for name in iptables ip6tables; do echo 0 > /proc/sys/net/bridge/bridge-nf-call-$name; done";

const byNftables: Omit<Variant, "name" | "way"> = {
  mode: nftablesEnforcer,
  tool: "nftables",
  examples,
  list: ["nft", "-s", "list", "ruleset"],
  addForeign: ["nft", "-f", "-"],
  flush: ["nft", "flush", "table", "inet", `k8ts-${OWNER}-policy`],
  translate: (address) => [
    ["nft", "add table ip service"],
    ["nft", "add chain ip service pre { type nat hook prerouting priority dstnat; }"],
    ["nft", "add chain ip service post { type nat hook postrouting priority srcnat; }"],
    ["nft", `add rule ip service pre ip daddr ${SERVICE} dnat to ${address}`],
    ["nft", `add rule ip service post ct original ip daddr ${SERVICE} masquerade`],
  ],
};

const variants: readonly Variant[] = [
  { name: "nftables", way: brNetfilter, ...byNftables },
  // The rules are the same: a few examples show that bridged packets pass them.
  { name: "nftables without br_netfilter", way: routedPorts, ...byNftables, examples: documentedExamples.slice(0, 4) },
  {
    name: "iptables",
    mode: iptablesEnforcer,
    way: brNetfilter,
    tool: "iptables",
    examples,
    list: ["iptables-save", "-t", "mangle"],
    addForeign: ["iptables", "-t", "mangle", "-A", "FORWARD", "-s", "203.0.113.1", "-j", "DROP"],
    flush: ["iptables", "-t", "mangle", "-F", "FORWARD"],
    translate: (address) => [
      ["iptables", "-t", "nat", "-A", "PREROUTING", "-d", SERVICE, "-j", "DNAT", "--to-destination", address],
      ["iptables", "-t", "nat", "-A", "POSTROUTING", "-m", "conntrack", "--ctorigdst", SERVICE, "-j", "MASQUERADE"],
    ],
  },
];

for (const variant of variants) {
  const { mode, way } = variant;
  // The finding of containerd includes the permission to create namespaces.
  describe(`network policies by ${variant.name} with real traffic`, needs(variant.tool, "containerd"), () => {
    let matrix: MatrixTopology;
    let enforcers: ReadonlyMap<string, Enforcer>;

    before(async () => {
      matrix = await openMatrix();
      for (const namespace of matrix.nodes.values()) await namespace.run("sh", ["-ec", BRIDGED_PACKETS_PASS]);
      enforcers = opened(variant, matrix);
    });
    after(() => matrix?.[Symbol.asyncDispose]());

    const apply = (policies: readonly NetworkPolicy[], pods = matrixPods): Promise<unknown> =>
      Promise.all(
        NODES.map(async (nodeName) =>
          enforcers.get(nodeName)?.apply(computeModel({ nodeName, policies, pods, namespaces: matrixNamespaces })),
        ),
      );

    for (const { name, policies } of variant.examples) {
      test(name, async () => {
        await apply(policies);
        const { found, expected } = await reachable(matrix, policies);
        deepEqual(found, expected);
      });
    }

    test("an unchanged model writes nothing, and a change little", async () => {
      const { policies = [] } = examples.at(-1) ?? {};
      await apply(policies);
      const model = computeModel({ nodeName: "node-1", policies, pods: matrixPods, namespaces: matrixNamespaces });
      equal((await enforcers.get("node-1")?.apply(model))?.written, 0);
    });

    for (const protocol of MATRIX_PROTOCOLS) {
      // y/a is on the server's node, y/b is not.
      for (const key of ["y/a", "y/b"]) {
        test(`a connection of ${key} over ${protocol} ends when a policy forbids it, others and replies continue`, async () => {
          await apply([]);
          const [client, other] = [pod(matrix, key), pod(matrix, "z/a")];
          for (const agent of [client, other]) deepEqual(await agent.send({ kind: "hold", ...target("x/a"), protocol }), [1]);
          await apply([ONLY_Z]);

          deepEqual(await client.send({ kind: "exchange", protocol, mustAnswer: false }), [0]);
          deepEqual(await other.send({ kind: "exchange", protocol, mustAnswer: true }), [1]);
        });
      }
    }

    test("restarted processes adopt the rules without a gap and without interrupting connections", async () => {
      await apply([ONLY_Z]);
      const [forbidden, allowed] = [pod(matrix, "y/a"), pod(matrix, "z/a")];
      deepEqual(await allowed.send({ kind: "hold", ...target("x/a") }), [1]);
      await forbidden.send({ kind: "flood", ...target("x/a"), protocol: "UDP" });

      for (let restart = 0; restart < RESTARTS; restart++) {
        // As after SIGKILL: nothing is stopped, and the new process knows nothing.
        enforcers = opened(variant, matrix);
        await apply([ONLY_Z]);
      }

      deepEqual(await forbidden.send({ kind: "flooded", untilAnswer: false }), [0]);
      deepEqual(await allowed.send({ kind: "exchange", protocol: "TCP", mustAnswer: true }), [1]);
      // The flood would have noticed.
      await apply([]);
      await forbidden.send({ kind: "flood", ...target("x/a"), protocol: "UDP" });
      notEqual((await forbidden.send({ kind: "flooded", untilAnswer: true }))[0], 0);
    });

    test("the node reaches its Pods whatever policies say, and a Pod reaches itself", async () => {
      await apply([aPolicy("x/deny", { podSelector: {}, policyTypes: ["Ingress", "Egress"] })]);
      deepEqual(await matrix.onNode.probe([{ ...target("x/a"), mustAnswer: true }]), [0]);
      deepEqual(await pod(matrix, "x/a").probe([{ ...target("x/a"), mustAnswer: true }]), [0]);
    });

    test("through a Service, policies see the client and the Pod that serves, and a Pod reaches itself", async () => {
      const fromZ = { from: [{ namespaceSelector: { matchLabels: { ns: "z" } } }], ports: [{ port: 80 }] };
      const toServer = { to: [{ ipBlock: { cidr: `${target("x/a").address}/32` } }] };
      await apply([
        aPolicy("x/only-z", { podSelector: {}, ingress: [fromZ] }),
        aPolicy("z/only-server", { podSelector: { matchLabels: { pod: "a" } }, policyTypes: ["Egress"], egress: [toServer] }),
        aPolicy("z/nothing", { podSelector: { matchLabels: { pod: "c" } }, policyTypes: ["Egress"] }),
      ]);
      for (const [command, ...words] of variant.translate(target("x/a").address)) await nodeOf(matrix, "node-1").run(command, words);
      const probe = (key: string, mustAnswer: boolean): Promise<readonly number[]> =>
        pod(matrix, key).probe([{ address: SERVICE, port: 80, protocol: "TCP", mustAnswer }]);

      deepEqual(await probe("z/a", true), [0]);
      deepEqual(await probe("x/a", true), [0]);
      for (const key of ["y/a", "x/b", "z/c"]) deepEqual(await probe(key, false), [], key);
    });

    test("addresses of unknown Pods are blocked while policies exist", async () => {
      const known = matrixPods.filter((one) => keyOf(one) !== "y/a");
      const probe = async (mustAnswer: boolean): Promise<readonly number[]> => [
        ...(await pod(matrix, "y/a").probe([{ ...target("z/a"), mustAnswer }])),
        ...(await pod(matrix, "z/b").probe([{ ...target("y/a"), mustAnswer }])),
      ];
      await apply([DENY], known);
      deepEqual(await probe(false), []);
      await apply([DENY]);
      deepEqual(await probe(true), [0, 0]);
      await apply([], known);
      deepEqual(await probe(true), [0, 0]);
    });

    // Packets that are not IPv4 are not routed between ports.
    if (way === brNetfilter) {
      test("link-local addresses do not bypass policies", async () => {
        const [host] = /fe80:[0-9a-f:]+/.exec(await matrix.namespaceOf("x/a").run("ip", ["-6", "address", "show", "dev", "eth0"])) ?? [""];
        const linkLocal = { address: `${host}%eth0`, port: 80, protocol: "TCP" } as const;
        await apply([]);
        deepEqual(await pod(matrix, "y/a").probe([{ ...linkLocal, mustAnswer: true }]), [0]);
        await apply([DENY]);
        deepEqual(await pod(matrix, "y/a").probe([{ ...linkLocal, mustAnswer: false }]), []);
      });
    }

    if (way === brNetfilter) {
      test("policies hold for both addresses of dual-stack Pods: selectors, blocks, ports and unknown addresses", async () => {
        enforcers = opened(variant, matrix, { hasIpv6: true });
        const block = { ipBlock: { cidr: "fd00:10:244::/56", except: ["fd00:10:244:2::/64"] } };
        const fromZ = { namespaceSelector: { matchLabels: { ns: "z" } } };
        const policies = [
          aPolicy("x/z-and-block", { podSelector: {}, ingress: [{ from: [fromZ] }, { from: [block], ports: [{ port: 81 }] }] }),
        ];
        const isUnknown = (one: (typeof dualStackPods)[number]): boolean => keyOf(one) === "z/c";
        await apply(
          policies,
          dualStackPods.filter((one) => !isUnknown(one)),
        );
        const probe = async (key: string, mustAnswer: readonly number[]): Promise<readonly number[]> => {
          const targets = MATRIX_PORTS.map((port) => ({ address: ipv6Target("x/a"), port, protocol: "TCP" as const }));
          const answered = await pod(matrix, key).probe(targets.map((one) => ({ ...one, mustAnswer: mustAnswer.includes(one.port) })));
          return answered.map((index) => MATRIX_PORTS[index] ?? 0);
        };

        deepEqual(await probe("z/a", MATRIX_PORTS), MATRIX_PORTS, "selected, on the same node");
        deepEqual(await probe("z/b", MATRIX_PORTS), MATRIX_PORTS, "selected, on the other node");
        deepEqual(await probe("y/a", [81]), [81], "in the block");
        deepEqual(await probe("y/b", []), [], "in the exception of the block");
        deepEqual(await probe("z/c", []), [], "not known yet");
        await apply(policies, dualStackPods);
        deepEqual(await probe("z/c", MATRIX_PORTS), MATRIX_PORTS, "known");
        enforcers = opened(variant, matrix);
      });
    }

    test("flushed rules are noticed and written again", async () => {
      await apply([DENY]);
      const namespace = nodeOf(matrix, "node-1");
      const enforcer = enforcers.get("node-1");
      equal(await enforcer?.isIntact(), true);
      const [command, ...words] = variant.flush;
      await namespace.run(command, words);

      equal(await enforcer?.isIntact(), false);
      await apply([DENY]);

      equal(await enforcer?.isIntact(), true);
      deepEqual(await pod(matrix, "y/a").probe([{ ...target("x/a"), mustAnswer: false }]), []);
    });

    test("a change that lets bridged packets bypass the rules is noticed and undone", async () => {
      await apply([DENY]);
      const namespace = nodeOf(matrix, "node-1");
      const enforcer = enforcers.get("node-1");
      const bypass = way === brNetfilter ? BRIDGED_PACKETS_PASS : `nft delete table bridge k8ts-${OWNER}-policy`;
      await namespace.run("sh", ["-ec", bypass]);

      equal(await enforcer?.isIntact(), false);
      await apply([DENY]);

      equal(await enforcer?.isIntact(), true);
      deepEqual(await pod(matrix, "y/a").probe([{ ...target("x/a"), mustAnswer: false }]), []);
    });

    test("clean-up leaves exactly the rules of others, and may be repeated", async () => {
      const namespace = nodeOf(matrix, "node-1");
      const listed = async (): Promise<string> => {
        const [command, ...words] = variant.list;
        const text = await namespace.run(command, words);
        return text.replaceAll(/\[\d+:\d+\]|^#.*$/gm, "");
      };
      const cleanUp = async (): Promise<void> => {
        await way.cleanUp({ owner: OWNER, namespace });
        await mode.cleanUp({ owner: OWNER, namespace });
      };
      await cleanUp();
      const [command, ...words] = variant.addForeign;
      await namespace.run(command, words, "add table ip foreign\nadd chain ip foreign f { type filter hook forward priority 0; }\n");
      const foreign = await listed();
      enforcers = opened(variant, matrix);
      await apply([DENY]);
      notEqual(await listed(), foreign);

      await cleanUp();
      equal(await listed(), foreign);
      await cleanUp();
      equal(await listed(), foreign);
      deepEqual(await pod(matrix, "y/a").probe([{ ...target("x/a"), mustAnswer: true }]), [0]);
    });
  });
}

function opened({ mode, way }: Variant, { nodes }: MatrixTopology, { hasIpv6 = false } = {}): ReadonlyMap<string, Enforcer> {
  return new Map(
    [...nodes].map(([node, namespace]) => {
      const podCidrs = [POD_CIDRS[node] ?? "", ...(hasIpv6 ? [IPV6_POD_CIDRS[node] ?? ""] : [])];
      const context = { owner: OWNER, namespace, podCidrs, bridge: "br0" };
      return [node, enforceOnBridge(mode.open(context), context, [way])];
    }),
  );
}

/** "x/a to y/b TCP 80" for all that answer, and all that should. */
async function reachable({ pods }: MatrixTopology, policies: readonly NetworkPolicy[]) {
  const cluster = { policies, namespaces: matrixNamespaces };
  const results = await Promise.all(
    matrixPods.map(async (from) => {
      const connections = matrixPods.flatMap((to) =>
        MATRIX_PORTS.flatMap((port) => MATRIX_PROTOCOLS.map((protocol) => ({ from, to, port, protocol }))),
      );
      const probes = connections.map((connection) => ({
        shown: `${keyOf(from)} to ${keyOf(connection.to)} ${connection.protocol} ${connection.port}`,
        target: { ...connection, address: addressOf(connection.to), mustAnswer: isAllowed(connection, cluster) },
      }));
      const answered =
        (await pods
          .get(keyOf(from))
          ?.probe(probes.map(({ target: { address, port, protocol, mustAnswer } }) => ({ address, port, protocol, mustAnswer })))) ?? [];
      return {
        found: probes.filter((_, index) => answered.includes(index)).map(({ shown }) => shown),
        expected: probes.filter((one) => one.target.mustAnswer).map(({ shown }) => shown),
      };
    }),
  );
  return { found: results.flatMap(({ found }) => found), expected: results.flatMap(({ expected }) => expected) };
}

function pod({ pods }: MatrixTopology, key: string): MatrixPod {
  const found = pods.get(key);
  if (found === undefined) throw new Error(`The matrix has no Pod ${key}`);
  return found;
}

function nodeOf({ nodes }: MatrixTopology, name: string) {
  const found = nodes.get(name);
  if (found === undefined) throw new Error(`The matrix has no node ${name}`);
  return found;
}

function target(key: string) {
  const found = matrixPods.find((one) => keyOf(one) === key);
  return { address: found === undefined ? "" : addressOf(found), port: 80, protocol: "TCP" } as const;
}

function ipv6Target(key: string): string {
  const found = matrixPods.find((one) => keyOf(one) === key);
  return found === undefined ? "" : ipv6AddressOf(found);
}
