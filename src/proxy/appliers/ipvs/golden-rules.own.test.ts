/**
 * Compares the texts for ipvsadm, ipset, ip and iptables with ipvs.golden.txt: the rules of kernels without IPVS can be tested only so.
 * After an intended change rewrite the file with K8TS_WRITE_GOLDEN=1 and review its diff.
 */
import { equal } from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageDirectory } from "../../../testing/package-directory.ts";
import type { ProxyModel } from "../../model.ts";
import { aModel, aServicePort } from "../../testing/models.ts";
import { fixedRules } from "./fixed-rules.ts";
import { IPVS_SCHEDULERS } from "./ipvs-mode.ts";
import { ipvsState, type Family } from "./ipvs-state.ts";
import { forgetInput, ipsetInput, ipvsadmInput, newAddressInput, NO_STATE, oldAddressInput } from "./kernel-texts.ts";

const GOLDEN = join(packageDirectory(import.meta.dirname), "src/proxy/appliers/ipvs/ipvs.golden.txt");
const SETTINGS = { podCidrs: ["10.244.0.0/16", "fd00:244::/48"], nodeIps: ["192.0.2.1", "2001:db8::1"] };
const ENDPOINTS = ["10.244.0.5:8080@here", "10.244.1.6:8080"];
const EVERYTHING = aServicePort({
  endpoints: ENDPOINTS,
  nodePort: 30_080,
  loadBalancerIps: ["192.0.2.1", "198.51.100.9"],
  externalIps: ["198.51.100.7"],
  sourceRanges: ["203.0.113.0/24"],
});

const CHANGES: readonly { readonly title: string; readonly from?: ProxyModel; readonly to: ProxyModel; readonly family?: Family }[] = [
  { title: "cluster IP", to: aModel([aServicePort({ endpoints: ENDPOINTS })], SETTINGS) },
  { title: "UDP without endpoints", to: aModel([aServicePort({ protocol: "UDP" })], SETTINGS) },
  { title: "session affinity", to: aModel([aServicePort({ endpoints: ENDPOINTS, affinitySeconds: 600 })], SETTINGS) },
  { title: "internal policy Local", to: aModel([aServicePort({ endpoints: ENDPOINTS, internalPolicy: "Local" })], SETTINGS) },
  { title: "node port, load balancer with source ranges, external IP", to: aModel([EVERYTHING], SETTINGS) },
  {
    title: "external policy Local",
    to: aModel(
      [aServicePort({ endpoints: ENDPOINTS, externalPolicy: "Local", nodePort: 30_080, externalIps: ["198.51.100.7"] })],
      SETTINGS,
    ),
  },
  { title: "SCTP", to: aModel([{ ...EVERYTHING, protocol: "SCTP" }], SETTINGS) },
  {
    title: "IPv6",
    to: aModel([aServicePort({ family: 6, endpoints: ["[fd00:244::5]:8080@here"], nodePort: 30_080 })], SETTINGS),
    family: 6,
  },
  {
    title: "an endpoint is replaced",
    from: aModel([aServicePort({ endpoints: ENDPOINTS })], SETTINGS),
    to: aModel([aServicePort({ endpoints: ["10.244.1.6:8080", "10.244.1.7:8080"] })], SETTINGS),
  },
  {
    title: "session affinity is switched off",
    from: aModel([aServicePort({ endpoints: ENDPOINTS, affinitySeconds: 600 })], SETTINGS),
    to: aModel([aServicePort({ endpoints: ENDPOINTS })], SETTINGS),
  },
  { title: "a Service is removed", from: aModel([EVERYTHING], SETTINGS), to: aModel([], SETTINGS) },
];

function textsOf({ from, to, family = 4 }: (typeof CHANGES)[number], scheduler: string): string {
  const before = from === undefined ? NO_STATE : ipvsState(from, { family, scheduler });
  const wanted = ipvsState(to, { family, scheduler });
  const names = { owner: "k8ts1", family };
  return [
    `$ ipset restore\n${ipsetInput(before, wanted, names, { createsSets: false })}`,
    `$ ip -force -batch -\n${newAddressInput(before, wanted, names.owner)}`,
    `$ ipvsadm -R\n${ipvsadmInput(before, wanted)}`,
    `$ ip -force -batch -\n${oldAddressInput(before, wanted, names.owner)}`,
    `$ ipset restore\n${forgetInput(before, wanted, names)}`,
  ].join("");
}

test("what the mode ipvs writes is that of the golden file", () => {
  const first = CHANGES[0];
  const texts = [
    ...([4, 6] as const).map((family) => {
      const names = { owner: "k8ts1", family };
      const rules = fixedRules({ ...names, podCidrs: SETTINGS.podCidrs, masqueradesAll: false }, { hooks: "insert" });
      return `# fixed sets and rules of IPv${family}\n$ ipset restore\n${ipsetInput(NO_STATE, NO_STATE, names, { createsSets: true })}$ iptables-restore --noflush\n${rules}`;
    }),
    ...CHANGES.map((change) => `# ${change.title}\n${textsOf(change, "rr")}`),
    ...(first === undefined ? [] : IPVS_SCHEDULERS.map((scheduler) => `# scheduler ${scheduler}\n${textsOf(first, scheduler)}`)),
  ];
  const text = texts.join("\n");
  if (process.env["K8TS_WRITE_GOLDEN"] === "1") writeFileSync(GOLDEN, text);
  equal(text, readFileSync(GOLDEN, "utf8"));
});
