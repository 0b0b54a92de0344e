import { deepEqual, match } from "node:assert/strict";
import { describe, test } from "node:test";
import { DEFAULT_SERVING_CONFIG, type ServingConfig } from "../config/api-server-config.ts";
import { podAccessProblem, withPodAccess } from "./pod-access.ts";

const IPV6 = { clusterCidr: "fd00:10:244::/56", podCidr: "fd00:10:244::/64", gateway: "fd00:10:244::1" };

describe("an API server of k8ts up", () => {
  for (const { it, serving, network = { gateway: "10.244.0.1" }, listens } of [
    { it: "on loopback also listens on the Pod network", serving: {}, listens: [["10.244.0.1"], "10.244.0.1"] },
    { it: "on IPv6 loopback, too", serving: { bindAddress: "::1" }, listens: [["10.244.0.1"], "10.244.0.1"] },
    { it: "on all addresses needs no other", serving: { bindAddress: "0.0.0.0" }, listens: [undefined, undefined] },
    { it: "on one address that Pods reach needs no other", serving: { bindAddress: "192.0.2.7" }, listens: [undefined, undefined] },
    { it: "that is advertised elsewhere is left alone", serving: { advertiseAddress: "192.0.2.9" }, listens: [undefined, "192.0.2.9"] },
    { it: "without a Pod network is left alone", serving: {}, network: {}, listens: [undefined, undefined] },
    {
      it: "listens on the addresses of both families of a dual-stack Pod network",
      serving: {},
      network: { gateway: "10.244.0.1", ipv6: IPV6 },
      listens: [["10.244.0.1", "fd00:10:244::1"], "10.244.0.1"],
    },
    {
      it: "is advertised by the primary family",
      serving: {},
      network: { gateway: "10.244.0.1", ipv6: IPV6, isIpv6First: true },
      listens: [["fd00:10:244::1", "10.244.0.1"], "fd00:10:244::1"],
    },
  ] satisfies { it: string; serving: Partial<ServingConfig>; network?: Parameters<typeof withPodAccess>[1]; listens: unknown[] }[]) {
    test(it, () => {
      const made = withPodAccess({ ...DEFAULT_SERVING_CONFIG, ...serving }, network);
      deepEqual([made.additionalBindAddresses, made.advertiseAddress], listens);
    });
  }

  test("that Pods of a foreign network cannot reach says so, with the remedy", () => {
    match(podAccessProblem(DEFAULT_SERVING_CONFIG) ?? "", /^Pods cannot reach the API server: .* --listen 0\.0\.0\.0:6443 /);
    deepEqual(podAccessProblem({ ...DEFAULT_SERVING_CONFIG, bindAddress: "0.0.0.0" }), undefined);
  });
});
