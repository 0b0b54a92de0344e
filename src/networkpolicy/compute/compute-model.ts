/**
 * The model of a node from NetworkPolicies, Pods and Namespaces. Pure. A Pod is isolated in a direction if at least one policy of that
 * direction selects it; then it may do what any of these policies allows, and nothing else.
 */
import type { Namespace, Pod } from "../../api/generated/core/v1.ts";
import type { EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import type { NetworkPolicy } from "../../api/generated/networking.k8s.io/v1.ts";
import type { Allowance, AllowedTraffic, Direction, Isolation, PolicyModel } from "../model.ts";
import { allowances, type AllowanceContext, type DirectedRule } from "./allowances.ts";
import { dnsServers, type DnsServer } from "./dns-servers.ts";
import { policyPod, type PolicyPod } from "./policy-pod.ts";
import { SelectedPods } from "./selected-pods.ts";

export interface PolicyObjects {
  readonly nodeName: string;
  readonly policies: readonly NetworkPolicy[];
  readonly pods: readonly Pod[];
  readonly namespaces: readonly Namespace[];
  /** Of the cluster's DNS servers (DNS_SLICES). */
  readonly dnsSlices?: readonly EndpointSlice[];
  /** Addresses of Pods whose status does not report them yet, by "namespace/name". */
  readonly sandboxAddresses?: ReadonlyMap<string, readonly string[]>;
}

export function computeModel({ nodeName, policies, pods, namespaces, dnsSlices = [], sandboxAddresses }: PolicyObjects): PolicyModel {
  const all = pods.flatMap((pod) => {
    const addresses = sandboxAddresses?.get(`${pod.metadata.namespace}/${pod.metadata.name}`);
    return policyPod(pod, { nodeName, ...(addresses === undefined ? {} : { addresses }) }) ?? [];
  });
  const owners = addressOwners(all.filter(({ isLocal }) => isLocal));
  const computed = new LocalPolicies(new SelectedPods(all, namespaces), owners, dnsServers(dnsSlices));
  for (const policy of policies) computed.add(policy);
  return {
    hasPolicies: policies.length > 0,
    localAddresses: [...owners.keys()].toSorted(),
    ...computed.result(),
  };
}

/** The Pod that has each address. */
function addressOwners(pods: readonly PolicyPod[]): ReadonlyMap<string, PolicyPod> {
  const oldestFirst = pods.toSorted((a, b) => (a.created < b.created ? -1 : a.created > b.created ? 1 : 0));
  return new Map(oldestFirst.flatMap((pod) => pod.addresses.map((address) => [address, pod] as const)));
}

class LocalPolicies {
  readonly #selected: SelectedPods;
  readonly #owners: ReadonlyMap<string, PolicyPod>;
  readonly #dnsServers: readonly DnsServer[];
  readonly #isolated = new Map<string, { [direction in Direction]?: string[] }>();
  readonly #policies = new Map<string, AllowedTraffic>();
  readonly #addressSets = new Map<string, readonly string[]>();

  constructor(selected: SelectedPods, owners: ReadonlyMap<string, PolicyPod>, servers: readonly DnsServer[]) {
    this.#selected = selected;
    this.#owners = owners;
    this.#dnsServers = servers;
  }

  add({ metadata: { namespace = "", name }, spec = {} }: NetworkPolicy): void {
    const key = `${namespace}/${name}`;
    const pods = this.#selected.select({ namespace, podSelector: spec.podSelector }).pods.filter(({ isLocal }) => isLocal);
    const addresses = pods.flatMap((pod) => pod.addresses.filter((address) => this.#owners.get(address) === pod));
    if (addresses.length === 0) return;
    const directions = directionsOf(spec);
    for (const address of addresses) for (const direction of directions) this.#isolate(address, direction, key);
    const rulesOf = (direction: Direction, rules: readonly DirectedRule[]): readonly Allowance[] => {
      if (!directions.includes(direction)) return [];
      const context: AllowanceContext = {
        ...{ direction, namespace, selected: this.#selected, dnsServers: this.#dnsServers },
        targets: { key: `policy ${key}`, pods },
        useAddresses: (set, members) => this.#useAddresses(set, members),
      };
      return rules.flatMap((rule) => allowances(rule, context));
    };
    this.#policies.set(key, {
      ingress: rulesOf(
        "ingress",
        (spec.ingress ?? []).map(({ from = [], ports = [] }) => ({ peers: from, ports })),
      ),
      egress: rulesOf(
        "egress",
        (spec.egress ?? []).map(({ to = [], ports = [] }) => ({ peers: to, ports })),
      ),
    });
  }

  result(): Pick<PolicyModel, "isolated" | "policies" | "addressSets"> {
    const sorted = <T>(map: ReadonlyMap<string, T>): ReadonlyMap<string, T> => new Map([...map].sort(([a], [b]) => (a < b ? -1 : 1)));
    for (const keys of this.#isolated.values()) for (const list of Object.values(keys)) list.sort();
    return { isolated: sorted<Isolation>(this.#isolated), policies: sorted(this.#policies), addressSets: sorted(this.#addressSets) };
  }

  #isolate(address: string, direction: Direction, policy: string): void {
    let isolation = this.#isolated.get(address);
    if (isolation === undefined) this.#isolated.set(address, (isolation = {}));
    (isolation[direction] ??= []).push(policy);
  }

  #useAddresses(key: string, pods: readonly PolicyPod[]): string {
    if (!this.#addressSets.has(key)) this.#addressSets.set(key, [...new Set(pods.flatMap(({ addresses }) => addresses))].toSorted());
    return key;
  }
}

/** Without policyTypes, as policies before their defaulting: ingress always, egress if it has rules. */
function directionsOf({ policyTypes, egress = [] }: NonNullable<NetworkPolicy["spec"]>): readonly Direction[] {
  const types = policyTypes ?? [];
  if (types.length === 0) return egress.length > 0 ? ["ingress", "egress"] : ["ingress"];
  return (["ingress", "egress"] as const).filter((direction) => types.includes(direction === "ingress" ? "Ingress" : "Egress"));
}
