/** Builders of Services, Pods and nodes for tests of endpoints: valid for the server, with every part overridable. */
import type { Node, Pod, PodSpec, Service, ServiceSpec } from "../../../../api/generated/core/v1.ts";
import { buildPod } from "../../../../api/testing/pod.ts";

const NAMESPACE = "default";
export const READY_AT = "2030-01-01T00:00:00Z";

export interface ServiceParts {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: ServiceSpec;
}

/** Selects `app: <name>`, at port 80. */
export function aService(name: string, { labels = {}, annotations = {}, spec = {} }: ServiceParts = {}): Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: NAMESPACE, labels, annotations },
    spec: { selector: { app: name }, ports: [{ port: 80, protocol: "TCP" }], ...spec },
  };
}

export interface PodParts {
  readonly app?: string;
  readonly ips?: readonly string[];
  readonly isReady?: boolean;
  readonly node?: string;
  readonly phase?: "Running" | "Succeeded" | "Failed";
  readonly port?: number;
  readonly spec?: Partial<PodSpec>;
  readonly readyAt?: string;
}

/** On node "n1", running, ready, of the Service "web"; its port "web" is 8080. Without `ips` it has no address yet. */
export function aPod(name: string, parts: PodParts = {}): Pod {
  const { app = "web", ips = [], isReady = true, node = "n1", phase = "Running", port = 8080, spec = {}, readyAt = READY_AT } = parts;
  const [podIP] = ips;
  return buildPod({
    metadata: { name, namespace: NAMESPACE, uid: `uid-${name}`, labels: { app } },
    spec: { nodeName: node, containers: [{ name: "main", image: "image", ports: [{ name: "web", containerPort: port }] }], ...spec },
    status: {
      phase,
      ...(podIP === undefined ? {} : { podIP, podIPs: ips.map((ip) => ({ ip })) }),
      conditions: [{ type: "Ready", status: isReady ? "True" : "False", lastTransitionTime: readyAt }],
    },
  });
}

export interface NodeParts {
  readonly zone?: string;
  readonly cpu?: string;
  readonly isReady?: boolean;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Ready, with four CPUs. */
export function aNode(name: string, { zone, cpu = "4", isReady = true, labels = {} }: NodeParts = {}): Node {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { ...labels, ...(zone === undefined ? {} : { "topology.kubernetes.io/zone": zone }) } },
    status: { allocatable: { cpu }, capacity: { cpu }, conditions: [{ type: "Ready", status: isReady ? "True" : "False" }] },
  };
}
