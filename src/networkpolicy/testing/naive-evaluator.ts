/**
 * Decides whether policies allow a connection, by reading them one after the other as the documentation describes them. Deliberately
 * without anything of compute/, which it is compared with.
 */
import type { Namespace, Pod } from "../../api/generated/core/v1.ts";
import type { NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec } from "../../api/generated/networking.k8s.io/v1.ts";
import type { Protocol } from "../model.ts";

export interface Connection {
  readonly from: Pod;
  readonly to: Pod;
  readonly port: number;
  readonly protocol: Protocol;
}

export interface Cluster {
  readonly policies: readonly NetworkPolicy[];
  readonly namespaces: readonly Namespace[];
}

export function isAllowed(connection: Connection, cluster: Cluster): boolean {
  const { from, to } = connection;
  if (from === to) return true;
  return (
    passes(connection, cluster, { type: "Egress", selected: from, peer: to }) &&
    passes(connection, cluster, { type: "Ingress", selected: to, peer: from })
  );
}

interface Side {
  readonly type: "Ingress" | "Egress";
  readonly selected: Pod;
  readonly peer: Pod;
}

function passes(connection: Connection, cluster: Cluster, { type, selected, peer }: Side): boolean {
  const isolating = cluster.policies.filter(
    ({ metadata, spec = {} }) =>
      metadata.namespace === selected.metadata.namespace &&
      typesOf(spec).includes(type) &&
      matches(spec.podSelector ?? {}, selected.metadata.labels),
  );
  if (isolating.length === 0) return true;
  return isolating.some((policy) => {
    const rules =
      type === "Ingress"
        ? (policy.spec?.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }))
        : (policy.spec?.egress ?? []).map(({ to, ports }) => ({ peers: to, ports }));
    return rules.some(
      ({ peers = [], ports = [] }) =>
        (peers.length === 0 || peers.some((one) => isPeer(one, peer, policy, cluster))) &&
        (ports.length === 0 || ports.some((port) => isPort(port, connection))),
    );
  });
}

function typesOf({ policyTypes, egress }: NetworkPolicySpec): readonly string[] {
  return policyTypes ?? (egress === undefined || egress.length === 0 ? ["Ingress"] : ["Ingress", "Egress"]);
}

function isPeer(
  { ipBlock, podSelector, namespaceSelector }: NetworkPolicyPeer,
  pod: Pod,
  policy: NetworkPolicy,
  { namespaces }: Cluster,
): boolean {
  const address = pod.status?.podIP ?? "";
  if (ipBlock !== undefined) return isIn(address, ipBlock.cidr) && !(ipBlock.except ?? []).some((cidr) => isIn(address, cidr));
  const namespace = namespaces.find(({ metadata }) => metadata.name === pod.metadata.namespace);
  const isNamespace =
    namespaceSelector === undefined
      ? pod.metadata.namespace === policy.metadata.namespace
      : matches(namespaceSelector, namespace?.metadata.labels);
  return isNamespace && matches(podSelector ?? {}, pod.metadata.labels);
}

function isPort({ port, endPort, protocol = "TCP" }: NetworkPolicyPort, connection: Connection): boolean {
  if (protocol !== connection.protocol) return false;
  if (port === undefined) return true;
  if (typeof port === "number") return connection.port >= port && connection.port <= (endPort ?? port);
  const named = connection.to.spec?.containers[0]?.ports?.find(({ name }) => name === port);
  return named?.containerPort === connection.port && named.protocol === protocol;
}

type Selector = NonNullable<NetworkPolicySpec["podSelector"]>;

function matches({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Readonly<Record<string, string>> = {}): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === "Exists") return value !== undefined;
      if (operator === "DoesNotExist") return value === undefined;
      const isListed = value !== undefined && values.includes(value);
      return operator === "In" ? isListed : !isListed;
    })
  );
}

/** IPv4 only. */
function isIn(address: string, cidr: string): boolean {
  const [network = "", length = "32"] = cidr.split("/");
  const bits = (text: string): string =>
    text
      .split(".")
      .map((byte) => Number(byte).toString(2).padStart(8, "0"))
      .join("");
  return bits(address).slice(0, Number(length)) === bits(network).slice(0, Number(length));
}
