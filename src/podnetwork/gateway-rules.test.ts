import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { applyGatewayRules, chainRules, jumpRules, removeGatewayRules } from "./gateway-rules.ts";
import type { Plan } from "./plan.ts";

const FACTS = { owner: "a1", gateway: "10.244.0.1", bridge: "k8-x", clusterCidr: "10.244.0.0/16" };
const PEERS = [
  { name: "two", address: "192.0.2.2", podCidr: "10.244.2.0/24" },
  { name: "three", address: "198.51.100.3", podCidr: "10.244.3.0/24" },
];
const PLAN: Plan = {
  routes: [],
  tunnels: [{ remote: "198.51.100.3", mac: "", neighbour: "" }],
  links: ["eth0", "k8v-a1"],
  vxlan: { link: "k8v-a1", id: 1, port: 8_477, local: "192.0.2.1", mac: "", address: "", mtu: 1_450 },
};
const WANTED = [
  "-A K8TS-PODNET-a1 -s 10.244.0.0/16 -i eth0 -j ACCEPT",
  "-A K8TS-PODNET-a1 -s 10.244.0.0/16 -i k8v-a1 -j ACCEPT",
  "-A K8TS-PODNET-a1 -s 192.0.2.2/32 -j ACCEPT",
  "-A K8TS-PODNET-a1 -s 198.51.100.3/32 -j ACCEPT",
  "-A K8TS-VXLAN-a1 -s 198.51.100.3/32 -j ACCEPT",
  "-A K8TS-VXLAN-a1 -j DROP",
];
const JUMPS = [
  "-d 10.244.0.1/32 ! -i k8-x -m comment --comment k8ts-podnet:a1 -j K8TS-PODNET-a1",
  "-p udp -m udp --dport 8477 -m comment --comment k8ts-podnet:a1 -j K8TS-VXLAN-a1",
];
const DROP = "-A INPUT -d 10.244.0.1/32 ! -i k8-x -m addrtype ! --src-type LOCAL -m comment --comment k8ts:k8-x -j DROP";
const CHAINS = ["-N K8TS-PODNET-a1", "-N K8TS-VXLAN-a1"];

/** A namespace whose iptables lists these rules. */
function listing(...rules: readonly string[]) {
  const inputs: string[] = [];
  const run = async (command: string, _arguments: readonly string[], input = "") => {
    if (command === "iptables-restore") inputs.push(input);
    if (command === "ip6tables-restore") inputs.push(`ip6tables ${input}`);
    if (command === "ip6tables") return "";
    // As iptables prints comments with some characters.
    return rules.join("\n").replaceAll(/--comment (\S+)/g, '--comment "$1"');
  };
  return { namespace: { name: "test", run }, inputs };
}

test("rules accept Pods over the links of the Pod network, nodes, and vxlan from nodes behind it only", () => {
  deepEqual(chainRules(FACTS, PEERS, PLAN), WANTED);
  deepEqual(jumpRules(FACTS, PLAN), JUMPS);
  deepEqual(jumpRules(FACTS, { routes: [], tunnels: [], links: [] }), []);
});

test("rules that are in the kernel as wanted are not written", async () => {
  const { namespace, inputs } = listing(...CHAINS, ...JUMPS.map((rule) => `-A INPUT ${rule}`), DROP, ...WANTED);
  await applyGatewayRules(namespace, FACTS, PEERS, PLAN);
  deepEqual(inputs, []);
});

test("missing rules are written in one transaction per chain, and before the rule that drops the rest", async () => {
  const { namespace, inputs } = listing(DROP, ...JUMPS.map((rule) => `-A INPUT ${rule}`));
  await applyGatewayRules(namespace, FACTS, PEERS, PLAN);
  deepEqual(inputs, [
    ["*filter", ":K8TS-PODNET-a1 - [0:0]", ":K8TS-VXLAN-a1 - [0:0]", ...WANTED, "COMMIT", ""].join("\n"),
    ["*filter", ...JUMPS.map((rule) => `-D INPUT ${rule}`), ...JUMPS.map((rule) => `-I INPUT 1 ${rule}`), "COMMIT", ""].join("\n"),
  ]);
});

test("cleanup removes jumps and chains of the owner only", async () => {
  const other = ["-N K8TS-PODNET-b1", "-A INPUT -d 10.245.0.1/32 -m comment --comment k8ts-podnet:b1 -j K8TS-PODNET-b1"];
  const { namespace, inputs } = listing(...CHAINS, ...other, `-A INPUT ${JUMPS[0]}`, ...WANTED);
  await removeGatewayRules(namespace, "a1");
  const chains = ["K8TS-PODNET-a1", "K8TS-VXLAN-a1"];
  const lines = ["*filter", `-D INPUT ${JUMPS[0]}`, ...chains.map((chain) => `-F ${chain}`), ...chains.map((chain) => `-X ${chain}`)];
  deepEqual(inputs, [[...lines, "COMMIT", ""].join("\n")]);
});

test("rules of IPv6 accept Pods and nodes of a dual-stack cluster, and are removed with those of IPv4", async () => {
  const { namespace, inputs } = listing();
  const ipv6 = { gateway: "fd00:10:244::1", clusterCidr: "fd00:10:244::/56" };
  const [two, three] = PEERS;
  const peers = [{ ...two!, ipv6: { podCidr: "fd00:10:244:2::/64", address: "2001:db8::2" } }, three!];
  await applyGatewayRules(namespace, { ...FACTS, ipv6 }, peers, PLAN);
  deepEqual(inputs.slice(-2), [
    [
      "ip6tables *filter",
      ":K8TS-PODNET-a1 - [0:0]",
      "-A K8TS-PODNET-a1 -s fd00:10:244::/56 -i eth0 -j ACCEPT",
      "-A K8TS-PODNET-a1 -s fd00:10:244::/56 -i k8v-a1 -j ACCEPT",
      "-A K8TS-PODNET-a1 -s 2001:db8::2/128 -j ACCEPT",
      "COMMIT",
      "",
    ].join("\n"),
    [
      "ip6tables *filter",
      "-I INPUT 1 -d fd00:10:244::1/128 ! -i k8-x -m comment --comment k8ts-podnet:a1 -j K8TS-PODNET-a1",
      "COMMIT",
      "",
    ].join("\n"),
  ]);
});
