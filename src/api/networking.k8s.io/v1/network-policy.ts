/**
 * networking.k8s.io/v1 NetworkPolicy: which traffic the selected Pods may receive and send. A Pod without a policy is unrestricted; a
 * selected one is allowed what any of its policies allows.
 *
 * Not here: enforcement (the network's own controller).
 */
import { deepEqual } from "../../../base/deep.ts";
import { changed, changedItems, withChanges } from "../../changes.ts";
import type { IPBlock, NetworkPolicy, NetworkPolicyPort, NetworkPolicySpec } from "../../generated/networking.k8s.io/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { child, element } from "../../machinery/field-error.ts";
import { cidrWarnings } from "../../machinery/ip/ip-validation.ts";
import { formatLabelSelector } from "../../machinery/selectors/label-selector.ts";
import { defineResource } from "../../machinery/resource.ts";
import { directions, validateNetworkPolicy } from "./network-policy/validate.ts";

export const networkPolicies = defineResource<NetworkPolicy>({
  kind: "NetworkPolicy",
  plural: "networkpolicies",
  singular: "networkpolicy",
  shortNames: ["netpol"],
  scope: "Namespaced",
  served: [{ group: "networking.k8s.io", version: "v1", schema: "io.k8s.api.networking.v1.NetworkPolicy", defaults: defaultPolicy }],

  changesGeneration: (next, previous) => !deepEqual(next.spec, previous.spec),

  validate: validateNetworkPolicy,
  *warnings({ spec = {} }) {
    for (const { peers } of directions(spec)) {
      for (const { peer, at } of peers) if (peer.ipBlock !== undefined) yield* blockWarnings(peer.ipBlock, child(at, "ipBlock"));
    }
  },

  columns: [
    nameColumn,
    textColumn("Pod-Selector", "Selector of the affected Pods", ({ spec }) => formatLabelSelector(spec?.podSelector ?? {})),
    ageColumn,
  ],
});

function defaultPolicy(policy: NetworkPolicy): NetworkPolicy {
  return withChanges(policy, { spec: changed(policy.spec, defaultSpec) });
}

function defaultSpec(spec: NetworkPolicySpec): NetworkPolicySpec {
  const { ingress, egress, policyTypes = [] } = spec;
  return withChanges(spec, {
    ingress: changedItems(ingress, withDefaultPorts),
    egress: changedItems(egress, withDefaultPorts),
    policyTypes: policyTypes.length > 0 ? policyTypes : impliedTypes(spec),
  });
}

/** The default is Ingress, and Egress only if there are egress rules. */
function impliedTypes({ egress = [] }: NetworkPolicySpec): NonNullable<NetworkPolicySpec["policyTypes"]> {
  return egress.length === 0 ? ["Ingress"] : ["Ingress", "Egress"];
}

function withDefaultPorts<Rule extends { readonly ports?: readonly NetworkPolicyPort[] }>(rule: Rule): Rule {
  const ports = changedItems(rule.ports, (port) => withChanges(port, { protocol: port.protocol ?? "TCP" }));
  return ports === undefined || ports === rule.ports ? rule : { ...rule, ports };
}

function* blockWarnings({ cidr, except = [] }: IPBlock, at: string): Iterable<string> {
  yield* cidrWarnings(cidr, child(at, "cidr"));
  for (const [index, excepted] of except.entries()) yield* cidrWarnings(excepted, element(child(at, "except"), index));
}
