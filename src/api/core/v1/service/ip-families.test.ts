import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../../machinery/object.ts";
import { newObject, problems } from "../../../testing/kind.ts";
import { services } from "../service.ts";
import { resolveIpFamilies } from "./ip-families.ts";
import type { IpFamily } from "./validate-cluster-ips.ts";

const SINGLE: readonly IpFamily[] = ["IPv4"];
const DUAL: readonly IpFamily[] = ["IPv4", "IPv6"];
const POLICY = "spec.ipFamilyPolicy: Invalid value:";

type Outcome = readonly [policy: string | undefined, families: readonly string[] | undefined] | string;

function outcome(families: readonly IpFamily[], spec: JsonObject, before?: JsonObject): Outcome | undefined {
  const previous = before && newObject(services, { spec: before });
  const { service, errors } = resolveIpFamilies(newObject(services, { spec }), previous, families);
  return service === undefined ? problems(errors)[0] : [service.spec?.ipFamilyPolicy, service.spec?.ipFamilies];
}

const NEW: readonly [title: string, families: readonly IpFamily[], spec: JsonObject, outcome: Outcome][] = [
  [
    "names two addresses and no policy",
    DUAL,
    { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "fd00::1"] },
    `${POLICY} "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified`,
  ],
  ["sets no family", DUAL, {}, ["SingleStack", ["IPv4"]]],
  ["names a family", DUAL, { ipFamilies: ["IPv6"] }, ["SingleStack", ["IPv6"]]],
  ["names an address", DUAL, { clusterIP: "fd00::1" }, ["SingleStack", ["IPv6"]]],
  ["prefers two where there is one", SINGLE, { ipFamilyPolicy: "PreferDualStack" }, ["PreferDualStack", ["IPv4"]]],
  [
    "prefers two where there are two",
    DUAL,
    { ipFamilyPolicy: "PreferDualStack", ipFamilies: ["IPv6"] },
    ["PreferDualStack", ["IPv6", "IPv4"]],
  ],
  [
    "requires two where there is one",
    SINGLE,
    { ipFamilyPolicy: "RequireDualStack" },
    `${POLICY} "RequireDualStack": this cluster is not configured for dual-stack services`,
  ],
  [
    "names two and no policy",
    DUAL,
    { ipFamilies: ["IPv4", "IPv6"] },
    `${POLICY} "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified`,
  ],
  [
    "names a family that is not there",
    SINGLE,
    { ipFamilies: ["IPv6"] },
    'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
  ],
  [
    "names an address of a family that is not there",
    SINGLE,
    { clusterIP: "fd00::1" },
    'spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster',
  ],
  ["has no address and no selector", SINGLE, { clusterIP: "None" }, ["RequireDualStack", ["IPv4", "IPv6"]]],
  ["has no address but a selector", SINGLE, { clusterIP: "None", selector: { a: "b" } }, ["SingleStack", ["IPv4"]]],
  ["is only another name", DUAL, { type: "ExternalName" }, [undefined, undefined]],
  [
    "names an address of IPv4",
    ["IPv6"],
    { clusterIP: "10.0.0.1" },
    'spec.clusterIPs[0]: Invalid value: ["10.0.0.1"]: IPv4 is not configured on this cluster',
  ],
];

for (const [title, families, spec, expected] of NEW) {
  test(`a new Service that ${title} in a cluster of ${families.join(" and ")} ${typeof expected === "string" ? "is rejected" : `gets ${expected.flat().join(" ")}`}`, () => {
    assert.deepEqual(outcome(families, spec), expected);
  });
}

const TWO: JsonObject = {
  clusterIP: "10.0.0.1",
  clusterIPs: ["10.0.0.1", "fd00::1"],
  ipFamilies: ["IPv4", "IPv6"],
  ipFamilyPolicy: "PreferDualStack",
};
const ONE: JsonObject = { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1"], ipFamilies: ["IPv4"], ipFamilyPolicy: "PreferDualStack" };

const CHANGED: readonly [title: string, before: JsonObject, spec: JsonObject, outcome: Outcome][] = [
  [
    "leaves out the second address without saying so is refused",
    TWO,
    { ...TWO, clusterIPs: ["10.0.0.1"] },
    `${POLICY} "PreferDualStack": must be 'SingleStack' to release the secondary cluster IP`,
  ],
  ["is sent as it is keeps one family though the cluster has got two", ONE, ONE, ["PreferDualStack", ["IPv4"]]],
  ["now requires two gets the second", ONE, { ...ONE, ipFamilyPolicy: "RequireDualStack" }, ["RequireDualStack", ["IPv4", "IPv6"]]],
  ["now has one loses the second", TWO, { ...TWO, ipFamilyPolicy: "SingleStack" }, ["SingleStack", ["IPv4"]]],
  [
    "leaves out the second without saying so is refused",
    TWO,
    { ...TWO, ipFamilies: ["IPv4"] },
    `${POLICY} "PreferDualStack": must be 'SingleStack' to release the secondary IP family`,
  ],
  [
    "leaves out the policy keeps it",
    TWO,
    { clusterIP: "10.0.0.1", clusterIPs: ["10.0.0.1", "fd00::1"], ipFamilies: ["IPv4", "IPv6"] },
    ["PreferDualStack", ["IPv4", "IPv6"]],
  ],
];

for (const [title, before, spec, expected] of CHANGED) {
  test(`a Service that ${title}`, () => assert.deepEqual(outcome(DUAL, spec, before), expected));
}
