/**
 * The cluster's DNS servers as peers of policies. They are programs of a node instead of Pods, so that no selector would match them, but
 * policies select them by the labels of CoreDNS' Pods: `k8s-app: kube-dns` in kube-system. Only their own ports: other programs of the node,
 * such as the API server, share the address. Pure.
 */
import type { EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import type { NetworkPolicyPort } from "../../api/generated/networking.k8s.io/v1.ts";
import type { IpBlock, PortRange } from "../model.ts";
import { ipBlock } from "./ip-block.ts";

const NAMESPACE = "kube-system";
const SERVICE = "kube-dns";
const LABELS = { "k8s-app": "kube-dns" };

/** The EndpointSlices that dnsServers reads. */
export const DNS_SLICES = { namespace: NAMESPACE, labelSelector: `kubernetes.io/service-name=${SERVICE}` };

export interface DnsServer {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Its address. */
  readonly block: IpBlock;
  readonly ports: readonly NamedPort[];
}

interface NamedPort {
  readonly name: string;
  readonly range: PortRange;
}

/** Without those that are Pods: selectors match them. */
export function dnsServers(slices: readonly EndpointSlice[]): readonly DnsServer[] {
  return slices.flatMap(({ endpoints, ports }) => {
    const named = (ports ?? []).flatMap(({ name = "", protocol = "TCP", port }) =>
      port === undefined ? [] : [{ name, range: { protocol, first: port, last: port } }],
    );
    return (endpoints ?? [])
      .filter(({ targetRef }) => targetRef === undefined)
      .flatMap(({ addresses }) => addresses.flatMap((address) => ipBlock({ cidr: `${address}/${address.includes(":") ? 128 : 32}` }) ?? []))
      .map((block) => ({ namespace: NAMESPACE, labels: LABELS, block, ports: named }));
  });
}

/** The ports of the server that a rule with these ports allows; all without any. */
export function allowedPorts({ ports }: DnsServer, rulePorts: readonly NetworkPolicyPort[]): readonly PortRange[] {
  const allowed = rulePorts.length === 0 ? ports : ports.filter((port) => rulePorts.some((rulePort) => isAllowed(port, rulePort)));
  return allowed.map(({ range }) => range);
}

function isAllowed({ name, range }: NamedPort, { protocol = "TCP", port, endPort }: NetworkPolicyPort): boolean {
  if (protocol !== range.protocol) return false;
  if (port === undefined) return true;
  return typeof port === "string" ? port === name : port <= range.first && range.first <= (endPort ?? port);
}
