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
import { openMatrix, POD_CIDRS, type MatrixPod, type MatrixTopology } from "../testing/matrix-topology.ts";
import { isAllowed } from "../testing/naive-evaluator.ts";
import { addressOf, aPolicy, keyOf, MATRIX_PORTS, MATRIX_PROTOCOLS, matrixNamespaces, matrixPods } from "../testing/objects.ts";
import { filterBridgedPackets } from "./bridge-netfilter.ts";
import type { Enforcer, EnforcerMode } from "./enforcer.ts";
import { iptablesEnforcer } from "./iptables/iptables-enforcer.ts";
import { nftablesEnforcer } from "./nftables/nftables-enforcer.ts";

const OWNER = "ptest";
const NODES = ["node-1", "node-2"];
const DENY = aPolicy("x/deny", { podSelector: {} });

interface Variant {
  readonly mode: EnforcerMode;
  readonly tool: ToolName;
  readonly examples: typeof examples;
  readonly list: readonly [string, ...string[]];
  readonly addForeign: readonly [string, ...string[]];
  readonly flush: readonly [string, ...string[]];
  /** Translates SERVICE to a Pod, and masquerades, as a service proxy does. */
  readonly translate: (address: string) => readonly (readonly [string, ...string[]])[];
}

const SERVICE = "10.96.0.1";

const variants: readonly Variant[] = [
  {
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
  },
  {
    mode: iptablesEnforcer,
    tool: "iptables",
    // The fall-back: the rest differs only in the model, which is the same for both.
    examples: [...documentedExamples.slice(0, 3), ...documentedExamples.slice(-3), ...examples.slice(-3)],
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
  const { mode } = variant;
  // The finding of containerd includes the permission to create namespaces.
  describe(`network policies by ${mode.name} with real traffic`, needs(variant.tool, "containerd"), () => {
    let matrix: MatrixTopology;
    let enforcers: ReadonlyMap<string, Enforcer>;

    before(async () => {
      matrix = await openMatrix();
      for (const namespace of matrix.nodes.values()) equal(await filterBridgedPackets(namespace), undefined);
      enforcers = opened(mode, matrix);
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

    test("a connection ends when a policy forbids it, others and replies continue", async () => {
      await apply([]);
      const [client, other] = [pod(matrix, "y/a"), pod(matrix, "z/a")];
      for (const agent of [client, other]) deepEqual(await agent.send({ kind: "hold", ...target("x/a") }), [1]);
      await apply([aPolicy("x/only-z", { podSelector: {}, ingress: [{ from: [{ namespaceSelector: { matchLabels: { ns: "z" } } }] }] })]);

      deepEqual(await client.send({ kind: "exchange", mustAnswer: false }), [0]);
      deepEqual(await other.send({ kind: "exchange", mustAnswer: true }), [1]);

      // A restarted process adopts the rules and does not interrupt.
      enforcers = opened(mode, matrix);
      await apply([aPolicy("x/only-z", { podSelector: {}, ingress: [{ from: [{ namespaceSelector: { matchLabels: { ns: "z" } } }] }] })]);
      deepEqual(await other.send({ kind: "exchange", mustAnswer: true }), [1]);
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

    test("clean-up leaves exactly the rules of others, and may be repeated", async () => {
      const namespace = nodeOf(matrix, "node-1");
      const listed = async (): Promise<string> => {
        const [command, ...words] = variant.list;
        const text = await namespace.run(command, words);
        return text.replaceAll(/\[\d+:\d+\]|^#.*$/gm, "");
      };
      await mode.cleanUp({ owner: OWNER, namespace });
      const [command, ...words] = variant.addForeign;
      await namespace.run(command, words, "add table ip foreign\nadd chain ip foreign f { type filter hook forward priority 0; }\n");
      const foreign = await listed();
      enforcers = opened(mode, matrix);
      await apply([DENY]);
      notEqual(await listed(), foreign);

      await mode.cleanUp({ owner: OWNER, namespace });
      equal(await listed(), foreign);
      await mode.cleanUp({ owner: OWNER, namespace });
      equal(await listed(), foreign);
      deepEqual(await pod(matrix, "y/a").probe([{ ...target("x/a"), mustAnswer: true }]), [0]);
    });
  });
}

function opened(mode: EnforcerMode, { nodes }: MatrixTopology): ReadonlyMap<string, Enforcer> {
  return new Map([...nodes].map(([node, namespace]) => [node, mode.open({ owner: OWNER, namespace, podCidr: POD_CIDRS[node] })]));
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
