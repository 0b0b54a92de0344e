import assert from "node:assert/strict";
import { test } from "node:test";
import type { Node } from "../../api/generated/core/v1.ts";
import { parseCidr, type Cidr } from "../../api/machinery/ip/ip-address.ts";
import { chooseNodeCidrs, type NodeIpamSettings } from "./node-cidr-ranges.ts";

const cidr = (text: string): Cidr => parseCidr(text) ?? assert.fail(text);
const range = (clusterCidr: string, nodeMaskSize: number) => ({ clusterCidr: cidr(clusterCidr), nodeMaskSize });
const node = (...podCIDRs: string[]): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: podCIDRs.join("-") },
  spec: { podCIDRs },
});

const CASES: readonly (readonly [
  title: string,
  settings: NodeIpamSettings,
  others: readonly Node[],
  chosen: readonly string[] | undefined,
])[] = [
  ["the first of an unused range", { ranges: [range("10.244.0.0/16", 24)] }, [], ["10.244.0.0/24"]],
  ["the lowest that is free", { ranges: [range("10.244.0.0/16", 24)] }, [node("10.244.0.0/24"), node("10.244.2.0/24")], ["10.244.1.0/24"]],
  ["none of an exhausted range", { ranges: [range("10.244.0.0/23", 24)] }, [node("10.244.0.0/24"), node("10.244.1.0/24")], undefined],
  ["one after a larger CIDR of another node", { ranges: [range("10.244.0.0/16", 24)] }, [node("10.244.0.0/22")], ["10.244.4.0/24"]],
  ["one after smaller CIDRs of other nodes", { ranges: [range("10.244.0.0/16", 24)] }, [node("10.244.0.128/26")], ["10.244.1.0/24"]],
  ["CIDRs outside of the range are ignored", { ranges: [range("10.244.0.0/16", 24)] }, [node("10.1.0.0/24")], ["10.244.0.0/24"]],
  ["none that contains the range", { ranges: [range("10.244.0.0/16", 24)] }, [node("10.0.0.0/8")], undefined],
  [
    "none of an excluded range",
    { ranges: [range("10.244.0.0/16", 24)], excluded: [cidr("10.244.0.0/24"), cidr("10.244.1.0/30"), cidr("fd00::/8")] },
    [],
    ["10.244.2.0/24"],
  ],
  [
    "one per family",
    { ranges: [range("10.244.0.0/16", 24), range("fd00:10:244::/56", 64)] },
    [node("10.244.0.0/24", "fd00:10:244::/64")],
    ["10.244.1.0/24", "fd00:10:244:1::/64"],
  ],
  ["an invalid CIDR of another node is ignored", { ranges: [range("10.244.0.0/16", 24)] }, [node("frob")], ["10.244.0.0/24"]],
  ["a range with one node", { ranges: [range("10.244.7.0/24", 24)] }, [], ["10.244.7.0/24"]],
];

for (const [title, settings, others, chosen] of CASES) {
  test(`chooseNodeCidrs: ${title}`, () => assert.deepEqual(chooseNodeCidrs(settings, others), chosen));
}
