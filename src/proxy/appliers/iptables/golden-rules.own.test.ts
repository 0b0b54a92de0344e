/**
 * Compares the rules of each kind of Service with iptables.golden.txt. After an intended change rewrite the file with K8TS_WRITE_GOLDEN=1
 * and review its diff.
 */
import { equal } from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageDirectory } from "../../../testing/package-directory.ts";
import type { ProxyModel } from "../../model.ts";
import { aModel, aServicePort } from "../../testing/models.ts";
import { ChainNames } from "./chain-names.ts";
import { FamilyRuleset } from "./family-ruleset.ts";
import { hooksOf } from "./fixed-chains.ts";
import { restoreInputs } from "./restore-input.ts";

const GOLDEN = join(packageDirectory(import.meta.dirname), "src/proxy/appliers/iptables/iptables.golden.txt");

const names = new ChainNames("k8ts1");
const SETTINGS = { podCidrs: ["10.244.0.0/16", "fd00:244::/48"], nodeIps: ["192.0.2.1", "2001:db8::1"] };
const ENDPOINTS = ["10.244.0.5:8080@here", "10.244.1.6:8080"];

interface Golden {
  readonly title: string;
  readonly model: ProxyModel;
  /** "br0" unless it is false. */
  readonly hasBridge?: boolean;
  readonly masqueradesAll?: boolean;
}

const CASES: readonly Golden[] = [
  { title: "no Services: the fixed chains", model: aModel([], SETTINGS) },
  { title: "no Services, no Pod bridge, no known Pod CIDR", model: aModel([]), hasBridge: false },
  { title: "cluster IP", model: aModel([aServicePort({ endpoints: ENDPOINTS })], SETTINGS) },
  {
    title: "cluster IP, masquerade all",
    model: aModel([aServicePort({ endpoints: ENDPOINTS.slice(0, 1) })], SETTINGS),
    masqueradesAll: true,
  },
  { title: "cluster IP of IPv6", model: aModel([aServicePort({ family: 6, endpoints: ["[fd00:244::5]:8080@here"] })], SETTINGS) },
  { title: "UDP without endpoints", model: aModel([aServicePort({ protocol: "UDP", nodePort: 30_053 })], SETTINGS) },
  { title: "SCTP", model: aModel([aServicePort({ protocol: "SCTP", endpoints: ENDPOINTS.slice(0, 1), nodePort: 30_132 })], SETTINGS) },
  { title: "SCTP without endpoints", model: aModel([aServicePort({ protocol: "SCTP" })], SETTINGS) },
  { title: "internal policy Local", model: aModel([aServicePort({ endpoints: ENDPOINTS, internalPolicy: "Local" })], SETTINGS) },
  {
    title: "internal policy Local without local endpoints",
    model: aModel([aServicePort({ endpoints: ENDPOINTS.slice(1), internalPolicy: "Local" })], SETTINGS),
  },
  {
    title: "node port, load balancer with source ranges, external IP",
    model: aModel(
      [
        aServicePort({
          endpoints: ENDPOINTS,
          nodePort: 30_080,
          loadBalancerIps: ["192.0.2.1"],
          externalIps: ["198.51.100.7"],
          sourceRanges: ["192.0.2.0/24", "203.0.113.0/24"],
        }),
      ],
      { ...SETTINGS, nodePortAddresses: ["192.0.2.0/24"] },
    ),
  },
  {
    title: "external policy Local with health check",
    model: aModel([aServicePort({ endpoints: ENDPOINTS, nodePort: 30_080, externalPolicy: "Local", loadBalancerIps: ["192.0.2.9"] })], {
      ...SETTINGS,
      healthChecks: [{ namespace: "default", name: "web", port: 31_000, localEndpoints: 1 }],
    }),
  },
  {
    title: "external policy Local without local endpoints",
    model: aModel([aServicePort({ endpoints: ENDPOINTS.slice(1), nodePort: 30_080, externalPolicy: "Local" })], SETTINGS),
  },
  { title: "session affinity", model: aModel([aServicePort({ endpoints: ENDPOINTS, affinitySeconds: 10_800 })], SETTINGS) },
];

/** Fixed chains only in the first cases: the others differ in the rules of their Services. */
function rulesOf({ model, hasBridge = true, masqueradesAll = false }: Golden): string {
  const family = [...model.servicePorts.values()][0]?.family ?? 4;
  const ruleset = new FamilyRuleset({ names, family, masqueradesAll, ...(hasBridge ? { podBridge: "br0" } : {}) });
  const base = aModel([], family === 6 ? {} : SETTINGS);
  if (model.servicePorts.size > 0) ruleset.update(base);
  const chains = ruleset.update(model);
  const insert = model.servicePorts.size > 0 ? [] : hooksOf(names);
  return restoreInputs({ chains, insert, delete: [] }, { linesMax: 10_000 }).join("");
}

test("rules of every kind of Service are those of the golden file", () => {
  const text = CASES.map((one) => `# ${one.title}\n${rulesOf(one)}`).join("\n");
  if (process.env["K8TS_WRITE_GOLDEN"] === "1") writeFileSync(GOLDEN, text);
  equal(text, readFileSync(GOLDEN, "utf8"));
});
