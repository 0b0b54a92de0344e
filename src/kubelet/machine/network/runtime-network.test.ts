import { deepEqual, equal } from "node:assert/strict";
import { describe, test } from "node:test";
import { bridgeName } from "./bridge-network.ts";
import { cniConfiguration, cniFileName } from "./cni-configuration.ts";
import { chooseNetwork, ownedNetwork, type FoundConfiguration } from "./runtime-network.ts";

const BRIDGE = bridgeName({ name: "second", directory: "/data/second" });
const TEXT = cniConfiguration({ bridge: BRIDGE, podCidr: "10.244.0.0/24", addressDirectory: "/data/second/cni/addresses" });
const MACHINES = JSON.stringify({
  cniVersion: "0.4.0",
  name: "cbr0",
  plugins: [{ type: "bridge", bridge: "cbr0", ipam: { dataDir: "/x" } }],
});

describe("a CNI configuration belongs to k8ts", () => {
  for (const { it, name = cniFileName(BRIDGE), text = TEXT, is } of [
    { it: "if it is as k8ts writes them", is: true },
    { it: "not under another name: a user copied it to keep it", name: "05-net.conflist", is: false },
    { it: "not with another network in it", text: MACHINES, is: false },
    { it: "not if it is the machine's", name: "10-cbr0.conflist", text: MACHINES, is: false },
    { it: "not if it is no JSON", text: "{", is: false },
    { it: "not if it is another document", text: "[1]", is: false },
    { it: "not without IPAM", text: JSON.stringify({ name: BRIDGE, plugins: [{ type: "bridge", bridge: BRIDGE }] }), is: false },
    { it: "not without plugins", text: JSON.stringify({ name: BRIDGE, plugins: [null] }), is: false },
  ]) {
    test(it, () =>
      deepEqual(ownedNetwork(name, text), is ? { bridge: BRIDGE, addressDirectory: "/data/second/cni/addresses" } : undefined),
    );
  }
});

describe("network of a runtime that k8ts did not start", () => {
  const machines = { name: "20-machine.conflist" };
  const of = (bridge: string): FoundConfiguration => ({ name: cniFileName(bridge), network: { bridge, addressDirectory: `/${bridge}` } });
  const use = (found: readonly FoundConfiguration[], isReady: boolean) => {
    const choice = chooseNetwork(found, { bridge: "k8-own", isReady, others: ["k8-other"] });
    return [choice.use, choice.another?.bridge, choice.abandoned.map(({ bridge }) => bridge).join()];
  };
  for (const { it, found, isReady = true, chosen } of [
    { it: "the machine's network is used", found: [machines], chosen: ["the machine's", undefined, ""] },
    { it: "a network whose directory is not visible is used", found: [], chosen: ["the machine's", undefined, ""] },
    { it: "without a network this cluster's is created", found: [], isReady: false, chosen: ["this cluster's", undefined, ""] },
    { it: "this cluster's network is never taken for the machine's", found: [of("k8-own")], chosen: ["this cluster's", undefined, ""] },
    {
      it: "this cluster's network is kept though the machine has one by now",
      found: [of("k8-own"), machines],
      chosen: ["this cluster's", undefined, ""],
    },
    { it: "the machine's network that sorts first is used", found: [machines, of("k8-own")], chosen: ["the machine's", undefined, ""] },
    { it: "another cluster's network is recognized", found: [of("k8-other")], chosen: ["another cluster's", "k8-other", ""] },
    { it: "a deleted cluster's network is orphaned", found: [of("k8-gone")], chosen: ["this cluster's", undefined, "k8-gone"] },
    {
      it: "a deleted cluster's network does not hide the machine's",
      found: [of("k8-gone"), machines],
      chosen: ["the machine's", undefined, "k8-gone"],
    },
    {
      it: "a deleted cluster's network does not hide another cluster's",
      found: [of("k8-gone"), of("k8-other")],
      chosen: ["another cluster's", "k8-other", "k8-gone"],
    },
  ]) {
    test(it, () => deepEqual(use(found, isReady), chosen));
  }

  test("CNI configurations of clusters with long names are recognized", () => {
    const bridge = bridgeName({ name: "-".repeat(3) + "x".repeat(29), directory: "/d" });
    equal(ownedNetwork(cniFileName(bridge), TEXT.replaceAll(BRIDGE, bridge))?.bridge, bridge);
  });
});
