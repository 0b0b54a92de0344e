import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { usableEndpoints, type Endpoint, type Policies } from "./usable-endpoints.ts";

const NODE = { name: "here", zone: "a" };
const CLUSTER: Policies = { internalPolicy: "Cluster", externalPolicy: "Cluster", isExternal: false };
const LOCAL: Policies = { internalPolicy: "Local", externalPolicy: "Cluster", isExternal: false };
const EXTERNAL_LOCAL: Policies = { internalPolicy: "Cluster", externalPolicy: "Local", isExternal: true };

/** "r" ready, "t" terminating and serving, "n" not ready, "x" terminating and not serving; "@" and its node; "z:" and "n:" hints. */
function endpoint(text: string): Endpoint {
  const [, address = "", state = "", nodeName, zones, nodes] = /^(\w+)=([rtnx])(?:@(\w+))?(?: z:(\S+))?(?: n:(\S+))?$/.exec(text) ?? [];
  return {
    address,
    port: 80,
    ...(nodeName === undefined ? {} : { nodeName }),
    isReady: state === "r",
    isServing: state === "r" || state === "t",
    isTerminating: state === "t" || state === "x",
    zoneHints: zones?.split(",") ?? [],
    nodeHints: nodes?.split(",") ?? [],
  };
}

describe("usable endpoints", () => {
  for (const { title, endpoints, policies = CLUSTER, node = NODE, cluster = "", local = "", hasAny = true } of [
    { title: "no endpoints", endpoints: [], hasAny: false },
    { title: "only ready ones are used", endpoints: ["a=r", "b=n", "c=t", "d=x"], cluster: "a" },
    { title: "without ready ones, serving terminating ones are used", endpoints: ["b=n", "c=t", "d=x"], cluster: "c" },
    { title: "neither ready nor serving", endpoints: ["b=n", "d=x"], hasAny: false },
    { title: "policy Local uses those of this node", endpoints: ["a=r@here", "b=r@there"], policies: LOCAL, local: "a" },
    { title: "policy Local without a local endpoint", endpoints: ["b=r@there"], policies: LOCAL },
    { title: "policy Local falls back to local terminating ones", endpoints: ["a=t@here", "b=r@there"], policies: LOCAL, local: "a" },
    { title: "policy Local prefers local ready ones", endpoints: ["a=t@here", "c=r@here"], policies: LOCAL, local: "c" },
    { title: "policy Local, unusable everywhere", endpoints: ["a=n@here", "b=x@there"], policies: LOCAL, hasAny: false },
    {
      title: "external policy Local also needs the endpoints of the cluster",
      endpoints: ["a=t@here", "b=r@there"],
      policies: EXTERNAL_LOCAL,
      cluster: "b",
      local: "a",
    },
    {
      title: "external policy Local of a Service that is not external is ignored",
      endpoints: ["a=r@here"],
      policies: { ...EXTERNAL_LOCAL, isExternal: false },
      cluster: "a",
    },
    { title: "zone hints select this zone", endpoints: ["a=r z:a", "b=r z:b", "c=r z:a,b"], cluster: "a c" },
    { title: "zone hints are ignored if one is missing", endpoints: ["a=r z:a", "b=r"], cluster: "a b" },
    { title: "a missing hint of an endpoint that is not ready does not count", endpoints: ["a=r z:a", "b=r z:b", "c=n"], cluster: "a" },
    { title: "zone hints are ignored if none is for this zone", endpoints: ["a=r z:b", "b=r z:c"], cluster: "a b" },
    { title: "zone hints are ignored on a node without a zone", endpoints: ["a=r z:a"], node: { name: "here" }, cluster: "a" },
    { title: "node hints are stronger than zone hints", endpoints: ["a=r z:a n:there", "b=r z:a n:here"], cluster: "b" },
    { title: "without a hint for this node, zone hints decide", endpoints: ["a=r z:a n:there", "b=r z:b n:there"], cluster: "a" },
    { title: "hints do not apply to terminating endpoints", endpoints: ["a=t z:a", "b=t z:b"], cluster: "a b" },
    { title: "hints do not apply to policy Local", endpoints: ["a=r@here z:b", "b=r z:a"], policies: LOCAL, local: "a" },
  ] as const) {
    it(title, () => {
      const found = usableEndpoints(endpoints.map(endpoint), policies, node);
      const names = (list: readonly Endpoint[]) => list.map(({ address }) => address).join(" ");
      assert.deepEqual({ cluster: names(found.cluster), local: names(found.local), hasAny: found.hasAny }, { cluster, local, hasAny });
    });
  }
});
