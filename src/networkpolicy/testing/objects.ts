/** Builders for tests: the upstream matrix of three namespaces with three Pods each, on two nodes, and policies. */
import type { Namespace, Pod } from "../../api/generated/core/v1.ts";
import type { NetworkPolicy, NetworkPolicySpec } from "../../api/generated/networking.k8s.io/v1.ts";
import type { Protocol } from "../model.ts";
import { buildPod } from "../../api/testing/pod.ts";

export type Labels = Readonly<Record<string, string>>;

export function aNamespace(name: string, labels: Labels = {}): Namespace {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels: { "kubernetes.io/metadata.name": name, ...labels } } };
}

export interface PodFields {
  readonly labels?: Labels;
  readonly node?: string;
  readonly phase?: "Pending" | "Running" | "Succeeded" | "Failed";
  readonly hostNetwork?: true;
  /** Named ports. */
  readonly ports?: readonly { readonly name: string; readonly port: number; readonly protocol?: Protocol }[];
  readonly created?: string;
}

/** "x/a" with these addresses, running on "node-1". */
export function aPod(key: string, addresses: readonly string[], fields: PodFields = {}): Pod {
  const [namespace = "", name = ""] = key.split("/");
  const { labels = {}, node = "node-1", phase = "Running", hostNetwork, ports = [], created = "2026-01-01T00:00:00Z" } = fields;
  return buildPod({
    metadata: { namespace, name, uid: `uid of ${key}`, labels, creationTimestamp: created },
    spec: {
      nodeName: node,
      ...(hostNetwork === undefined ? {} : { hostNetwork }),
      containers: [
        {
          name: "main",
          image: "image",
          ports: ports.map(({ name: portName, port, protocol = "TCP" }) => ({ name: portName, containerPort: port, protocol })),
        },
      ],
    },
    status: { phase, ...(addresses.length === 0 ? {} : { podIP: addresses[0] ?? "", podIPs: addresses.map((ip) => ({ ip })) }) },
  });
}

export function aPolicy(key: string, spec: NetworkPolicySpec): NetworkPolicy {
  const [namespace = "", name = ""] = key.split("/");
  return { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: { namespace, name }, spec };
}

/** Ports that every Pod of the matrix serves, TCP and UDP. Named "serve-80-tcp". */
export const MATRIX_PORTS = [80, 81];
export const MATRIX_PROTOCOLS = ["TCP", "UDP"] as const;

/** The namespaces have the labels of the examples in the documentation, and so do some Pods. */
export const matrixNamespaces: readonly Namespace[] = [
  aNamespace("x", { ns: "x" }),
  aNamespace("y", { ns: "y", project: "myproject", namespace: "frontend", team: "operations", purpose: "production" }),
  aNamespace("z", { ns: "z", namespace: "backend" }),
];

const EXTRA_LABELS: Readonly<Record<string, Labels>> = {
  "x/a": { role: "db", app: "web" },
  "x/b": { role: "frontend", app: "bookstore" },
  "x/c": { app: "foo" },
  "y/a": { role: "client", type: "monitoring" },
};

const NODES: Readonly<Record<string, 1 | 2>> = { "x/a": 1, "x/b": 1, "x/c": 2, "y/a": 1, "y/b": 2, "y/c": 2, "z/a": 1, "z/b": 2, "z/c": 1 };

export const matrixPods: readonly Pod[] = Object.entries(NODES).map(([key, node], index) =>
  aPod(key, [`10.244.${node}.${index + 10}`], {
    labels: { pod: key.slice(-1), ...EXTRA_LABELS[key] },
    node: `node-${node}`,
    ports: MATRIX_PORTS.flatMap((port) =>
      MATRIX_PROTOCOLS.map((protocol) => ({ name: `serve-${port}-${protocol.toLowerCase()}`, port, protocol })),
    ),
  }),
);

/** The same Pods with an IPv6 address as their second one. */
export const dualStackPods: readonly Pod[] = matrixPods.map((pod) => ({
  ...pod,
  status: { ...pod.status, podIPs: [{ ip: addressOf(pod) }, { ip: ipv6AddressOf(pod) }] },
}));

export function keyOf({ metadata: { namespace, name } }: Pod): string {
  return `${namespace}/${name}`;
}

export function addressOf({ status }: Pod): string {
  return status?.podIP ?? "";
}

/** "fd00:10:244:1::10" beside 10.244.1.10. */
export function ipv6AddressOf(pod: Pod): string {
  const [first = "", second = "", node = "", host = ""] = addressOf(pod).split(".");
  return `fd00:${first}:${second}:${node}::${host}`;
}
