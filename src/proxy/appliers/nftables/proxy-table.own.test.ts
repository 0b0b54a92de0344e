/**
 * Compares the script of a model with all features with proxy-table.golden.txt. After an intended change rewrite the file with
 * K8TS_WRITE_GOLDEN=1 and review its diff.
 */
import { deepEqual, equal } from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { seededRandom, type Random } from "../../../base/random.ts";
import { changeScript, replaceScript, type NftScript } from "../../../host/network/nftables/nft-script.ts";
import type { NftSet, NftTable } from "../../../host/network/nftables/nft-table.ts";
import { packageDirectory } from "../../../testing/package-directory.ts";
import type { ProxyModel, ServicePort } from "../../model.ts";
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

const model = aModel(ports, {
  podCidrs: ["10.244.0.0/16", "fd00:10:244::/56"],
  serviceCidrs: ["10.96.0.0/12", "fd96::/112"],
  nodeIps: ["198.51.100.1", "2001:db8::1"],
});

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

function settings({ podCidrs, serviceCidrs, nodeIps, nodePortAddresses, healthChecks }: ProxyModel) {
  return { podCidrs, serviceCidrs, nodeIps, nodePortAddresses, healthChecks };
}

test("a model with the same ports gives an empty script", () => {
  const computed = tables(4);
  equal(changeScript(computed.table(model), computed.table(aModel(ports, settings(model)))).text, "");
});

test("a table that followed many changes equals one computed afresh", () => {
  const random = seededRandom(7);
  const computed = tables(4);
  let before = computed.table(model);
  for (let round = 0; round < 60; round++) {
    const now = aModel(
      Array.from({ length: 12 }, (_, index) => randomPort(random, index)).filter(() => random.below(4) > 0),
      settings(model),
    );
    const after = computed.table(now);
    deepEqual(wordsOf(changeScript(before, after)), wordsOf(changeScript(before, withoutHints(after))));
    deepEqual(contentOf(after), contentOf(tables(4).table(now)));
    before = after;
  }
});

/** Few values, so that ports often share addresses and lists of endpoints. */
function randomPort(random: Random, index: number): ServicePort {
  const pick = <T>(values: readonly T[]): T => values[random.below(values.length)] as T;
  return aServicePort({
    name: `web-${index}`,
    clusterIp: `10.96.0.${20 + random.below(6)}`,
    endpoints: pick([[], PODS, [...PODS, "10.244.1.8:8080"], ["10.244.0.5:8080@here"]]),
    externalIps: pick([[], ["192.0.2.20"], ["192.0.2.20", "192.0.2.21"]]),
    protocol: pick(["TCP", "UDP"] as const),
    ...pick([{}, { nodePort: 30_100 }, { affinitySeconds: 10 }]),
  });
}

/** Elements are in any order. */
function wordsOf({ text }: NftScript): readonly string[] {
  return text
    .split(/[\n,{}]/)
    .map((word) => word.trim())
    .sort();
}

function withoutHints(table: NftTable): NftTable {
  const sets = [...table.sets].map(([name, { kind, declaration, elements }]) => {
    return [name, elements === undefined ? { kind, declaration } : { kind, declaration, elements }] as const;
  });
  return { ...table, sets: new Map(sets) };
}

/** Numbers of endpoints depend on earlier tables, so that rules have their lists instead. Order does not matter. */
function contentOf({ chains, sets }: NftTable) {
  const rule = (text: string): string =>
    text.replace(/mod (\d+) offset (\d+) map @(\S+)/, (_, count: string, start: string, map: string) =>
      Array.from({ length: Number(count) }, (_each, index) => sets.get(map)?.elements?.get(`${Number(start) + index}`)).join(),
    );
  return {
    chains: Object.fromEntries([...chains].map(([name, rules]) => [name, rules.map(rule)])),
    sets: Object.fromEntries([...sets].map(([name, set]) => [name, elementsOf(name, set)])),
  };
}

function elementsOf(name: string, { elements }: NftSet) {
  if (elements === undefined) return "filled by packets";
  return name.startsWith("endpoints-") ? [...elements.values()].sort() : Object.fromEntries(elements);
}
