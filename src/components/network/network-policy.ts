/** Enforcement of NetworkPolicies on a node, as a network component. Not here: how (networkpolicy/). */
import { nodeIdentity } from "../../api/identities.ts";
import { Disposables } from "../../base/disposables.ts";
import { brNetfilter } from "../../networkpolicy/bridged/br-netfilter.ts";
import { bridgedPacketsWays } from "../../networkpolicy/bridged/all.ts";
import { enforceOnBridge } from "../../networkpolicy/bridged/enforce-on-bridge.ts";
import { enforcers } from "../../networkpolicy/enforcers/all.ts";
import type { EnforcerMode } from "../../networkpolicy/enforcers/enforcer.ts";
import { startEnforcement } from "../../networkpolicy/policy-enforcement.ts";
import { selectingPolicy } from "../../networkpolicy/selecting-policy.ts";
import type { NetworkNamespace } from "../../host/network/network-namespace.ts";
import { defineNetworkComponent } from "./network-component.ts";

const AGENT = "k8ts-network-policy";

export const networkPolicy = defineNetworkComponent({
  name: "network-policy",
  scope: "node",
  flags: {},

  async start({ network, transportFor, clock, random, log, signal }) {
    const { namespace, owner, nodeName, bridge } = network;
    const podCidrs = [network.podCidr, network.ipv6?.podCidr].flatMap((cidr) => cidr ?? []);
    const mode = await clock.external(chooseEnforcer(namespace));
    const rules = mode.open({ owner, namespace, podCidrs, bridge });
    const onBridge = bridge === undefined ? undefined : enforceOnBridge(rules, { owner, namespace, bridge, podCidrs });
    const transport = transportFor(nodeIdentity(nodeName), AGENT);
    await using starting = new Disposables();
    const options = { nodeName, enforcer: onBridge ?? rules, transport, clock, random, log };
    const enforcement = starting.use(await startEnforcement(options, signal));
    // Left by a run that used another one: two sets of rules would both have to allow a packet.
    for (const other of enforcers) if (other !== mode) await clock.external(other.cleanUp({ owner, namespace }));
    const owned = starting.move();
    return {
      get description() {
        const way = onBridge?.way;
        return way === undefined || way === brNetfilter.name ? mode.name : `${mode.name}, with ${way}`;
      },
      admitPod: (pod, addresses) => enforcement.admitPod(pod, addresses),
      [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
    };
  },

  needOf: (pod, { network, transportFor, clock }) =>
    selectingPolicy(pod, { transport: transportFor(nodeIdentity(network.nodeName), AGENT), clock }),

  async cleanUp({ owner, namespace }) {
    for (const way of bridgedPacketsWays) await way.cleanUp({ owner, namespace });
    for (const enforcer of enforcers) await enforcer.cleanUp({ owner, namespace });
  },
});

async function chooseEnforcer(namespace: NetworkNamespace): Promise<EnforcerMode> {
  const problems: string[] = [];
  for (const enforcer of enforcers) {
    const problem = await enforcer.problem(namespace);
    if (problem === undefined) return enforcer;
    problems.push(problem);
  }
  throw new Error(`Cannot enforce network policies: ${problems.join("; ")}; install nftables or iptables and run as root`);
}
