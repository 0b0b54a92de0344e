import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { changeScript } from "../../../host/network/nftables/nft-script.ts";
import type { NftTable } from "../../../host/network/nftables/nft-table.ts";
import { computeModel } from "../../compute/compute-model.ts";
import { aNamespace, aPod, aPolicy } from "../../testing/objects.ts";
import { policyTable } from "./policy-table.ts";

const POLICY = aPolicy("x/db", {
  podSelector: { matchLabels: { app: "db" } },
  ingress: [
    {
      from: [{ podSelector: { matchLabels: { app: "web" } } }],
      ports: [{ port: 80 }, { port: 79, endPort: 85 }, { port: 53, protocol: "UDP" }],
    },
    { from: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } }] },
  ],
});

function tableOf(...web: readonly string[]): NftTable {
  const pods = [
    aPod("x/db", ["10.0.0.1"], { labels: { app: "db" } }),
    ...web.map((address, index) => aPod(`x/web-${index}`, [address], { labels: { app: "web" }, node: "node-2" })),
  ];
  const model = computeModel({ nodeName: "node-1", policies: [POLICY], pods, namespaces: [aNamespace("x")] });
  return policyTable(model, { owner: "a1", podCidrs: ["10.0.0.0/24", "fd00:10::/64"] });
}

test("the chain of a policy accepts by the connection's client, protocol and server port", () => {
  const rules = [...tableOf("10.0.1.1").chains].find(([name]) => name.startsWith("ingress-by-"))?.[1] ?? [];
  deepEqual(
    rules.map((rule) => rule.replaceAll(/@(pods[46])-[0-9a-f]+/g, "@$1")),
    [
      "ct original ip saddr @pods4 meta l4proto tcp ct reply proto-src { 79-85 } accept",
      "ct original ip saddr @pods4 meta l4proto udp ct reply proto-src { 53 } accept",
      "ct original ip6 saddr @pods6 meta l4proto tcp ct reply proto-src { 79-85 } accept",
      "ct original ip6 saddr @pods6 meta l4proto udp ct reply proto-src { 53 } accept",
      "ct original ip saddr 10.0.0.0/8 ct original ip saddr != { 10.1.0.0/16 } accept",
    ],
  );
});

test("one more peer costs one element", () => {
  const { text, written } = changeScript(tableOf("10.0.1.1"), tableOf("10.0.1.1", "10.0.1.2"));
  equal(text.replace(/pods4-[0-9a-f]+/, "pods4"), "add element inet k8ts-a1-policy pods4 { 10.0.1.2 }\n");
  equal(written, 1);
});
