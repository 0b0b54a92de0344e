/**
 * Compares the script of a model with all features with proxy-table.golden.txt. After an intended change rewrite the file with
 * K8TS_WRITE_GOLDEN=1 and review its diff.
 */
import { deepEqual, equal } from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { changeScript, replaceScript } from "../../../host/network/nftables/nft-script.ts";
import { packageDirectory } from "../../../testing/package-directory.ts";
import type { ProxyModel } from "../../model.ts";
import { aModel, aServicePort } from "../../testing/models.ts";
import { ProxyTables } from "./proxy-table.ts";

const GOLDEN = join(packageDirectory(import.meta.dirname), "src/proxy/appliers/nftables/proxy-table.golden.txt");

const PODS = ["10.244.0.5:8080@here", "10.244.1.7:8080"];

const ports = [
  aServicePort({ endpoints: PODS }),
  aServicePort({ name: "one", clusterIp: "10.96.0.11", endpoints: ["10.244.0.5:53@here"], protocol: "UDP", port: 53 }),
  aServicePort({ name: "none", clusterIp: "10.96.0.12", nodePort: 30_080, externalIps: ["192.0.2.12"] }),
  aServicePort({
    name: "everywhere",
    clusterIp: "10.96.0.13",
    endpoints: PODS,
    nodePort: 30_081,
    externalIps: ["192.0.2.13"],
    loadBalancerIps: ["192.0.2.14"],
    sourceRanges: ["198.51.100.0/24"],
  }),
  aServicePort({ name: "local", clusterIp: "10.96.0.14", endpoints: PODS, nodePort: 30_082, externalPolicy: "Local" }),
  aServicePort({
    name: "elsewhere",
    clusterIp: "10.96.0.15",
    endpoints: ["10.244.1.7:8080"],
    internalPolicy: "Local",
    externalPolicy: "Local",
    loadBalancerIps: ["192.0.2.15"],
  }),
  aServicePort({ name: "udp", protocol: "UDP", clusterIp: "10.96.0.18", endpoints: PODS }),
  aServicePort({ name: "sctp", protocol: "SCTP", clusterIp: "10.96.0.17", endpoints: PODS }),
  aServicePort({ name: "sticky", clusterIp: "10.96.0.16", endpoints: PODS, affinitySeconds: 10_800 }),
  aServicePort({ name: "six", family: 6, endpoints: ["[fd00:10:244::5]:8080@here", "[fd00:10:244:1::7]:8080"], nodePort: 30_080 }),
];

const model = aModel(ports, { podCidrs: ["10.244.0.0/16", "fd00:10:244::/56"], nodeIps: ["198.51.100.1", "2001:db8::1"] });

function tables(family: 4 | 6): ProxyTables {
  return new ProxyTables(family, { owner: "a1b2", podBridge: "k8-one", masqueradesAll: false });
}

test("the rules of a model are those of the golden file", () => {
  const text = ([4, 6] as const).map((family) => replaceScript(tables(family).table(model), undefined).text).join("\n");
  if (process.env["K8TS_WRITE_GOLDEN"] === "1") writeFileSync(GOLDEN, text);
  deepEqual(text.split("\n"), readFileSync(GOLDEN, "utf8").split("\n"));
});

test("a change of one endpoint rewrites the chain of its Service only", () => {
  const computed = tables(4);
  const before = computed.table(model);
  const [first, ...rest] = ports;
  const script = changeScript(before, computed.table(aModel([aServicePort({ endpoints: ["10.244.1.7:8080"] }), ...rest], settings(model))));
  deepEqual(script.text.split("\n").slice(0, -1), [
    "flush chain ip k8ts-a1b2-proxy internal-8c66cac3d86490cb",
    "add rule ip k8ts-a1b2-proxy internal-8c66cac3d86490cb jump mark-unless-pod",
    'add rule ip k8ts-a1b2-proxy internal-8c66cac3d86490cb meta l4proto tcp dnat to 10.244.1.7:8080 comment "default/web:http"',
  ]);
  equal(first?.name, "web");
});

function settings({ podCidrs, nodeIps, nodePortAddresses, healthChecks }: ProxyModel) {
  return { podCidrs, nodeIps, nodePortAddresses, healthChecks };
}

test("a model with the same ports gives an empty script", () => {
  const computed = tables(4);
  equal(changeScript(computed.table(model), computed.table(aModel(ports, settings(model)))).text, "");
});
