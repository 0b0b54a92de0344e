/**
 * Who uses a port of a node's address, from the objects of the cluster: node ports, Ingresses, and Pods with host ports on any node. Pure.
 * The service proxy translates packets before any process sees them, so that a load balancer on such a port would cut its user off.
 */
import type { Node, Pod, Service, ServicePort } from "../../api/generated/core/v1.ts";
import type { Ingress } from "../../api/generated/networking.k8s.io/v1.ts";

/** Of an Ingress whose status names no ports: those of HTTP and HTTPS. */
const INGRESS_PORTS = [80, 443];

export interface PortUserSource {
  readonly nodes: readonly Node[];
  readonly ingresses: readonly Ingress[];
  /** Pods with host ports that are bound to this node. */
  hostPortPods(nodeName: string): readonly Pod[];
  /** Services with this node port: "30080/TCP", see nodePortsOf. */
  nodePortServices(port: string): readonly Service[];
}

/** Describes the user of the port, with a remedy if it is one of the cluster's own components; undefined: no object uses it. */
export function portUserOf(address: string, port: ServicePort, source: PortUserSource): string | undefined {
  const [service] = source.nodePortServices(shown(port));
  if (service !== undefined) return `the Service ${nameOf(service)} as a node port`;
  const ingress = source.ingresses.find((one) => servesAt(one, address, port));
  if (ingress !== undefined)
    return `the ingress controller, for the Ingress ${nameOf(ingress)}; use another port, or move the ingress with --ingress-http-port and --ingress-https-port`;
  for (const { metadata } of source.nodes.filter((node) => addressesOfNode(node).includes(address))) {
    const pod = source.hostPortPods(metadata.name).find((one) => hasHostPort(one, address, port));
    if (pod !== undefined) return `the Pod ${nameOf(pod)} as a host port`;
  }
  return undefined;
}

/** Node ports of a Service: "30080/TCP". */
export function nodePortsOf({ spec }: Service): readonly string[] {
  const ports = (spec?.ports ?? []).flatMap(({ nodePort = 0, protocol }) => (nodePort === 0 ? [] : [shown({ port: nodePort, protocol })]));
  const { healthCheckNodePort = 0 } = spec ?? {};
  return healthCheckNodePort === 0 ? ports : [...ports, shown({ port: healthCheckNodePort })];
}

/** True if it may use ports of its node's addresses. */
export function usesHostPorts(pod: Pod): boolean {
  return pod.status?.phase !== "Succeeded" && pod.status?.phase !== "Failed" && hostPortsOf(pod).length > 0;
}

function hasHostPort(pod: Pod, address: string, port: ServicePort): boolean {
  return hostPortsOf(pod).some(
    ({ hostPort, hostIP = "", protocol = "TCP" }) =>
      hostPort === port.port && protocol === (port.protocol ?? "TCP") && ["", "0.0.0.0", "::", address].includes(hostIP),
  );
}

/** Those of containers in the node's network are their container ports; the API server sets them as host ports. */
function hostPortsOf({ spec }: Pod) {
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...sidecars, ...(spec?.containers ?? [])].flatMap(({ ports = [] }) => ports.filter(({ hostPort = 0 }) => hostPort !== 0));
}

function servesAt({ status }: Ingress, address: string, { port, protocol = "TCP" }: ServicePort): boolean {
  return (
    protocol === "TCP" &&
    status?.loadBalancer?.ingress?.some(
      ({ ip, ports = [] }) => ip === address && (ports.length === 0 ? INGRESS_PORTS : ports.map((one) => one.port)).includes(port),
    ) === true
  );
}

function addressesOfNode({ status }: Node): readonly string[] {
  return status?.addresses?.map(({ address }) => address) ?? [];
}

function shown({ port, protocol = "TCP" }: { readonly port: number; readonly protocol?: ServicePort["protocol"] | undefined }): string {
  return `${port}/${protocol}`;
}

function nameOf({ metadata }: Service | Pod | Ingress): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}
