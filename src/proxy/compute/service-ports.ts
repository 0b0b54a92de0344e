/**
 * What one Service is on this node: a ServicePort per port and family, and its health check. Upstream's rules (pkg/proxy/serviceport.go,
 * endpointslicecache.go). Pure. Not here: which endpoints are usable (usable-endpoints.ts).
 */
import { announcerOf } from "../../api/core/v1/service/announcer.ts";
import type { Service, ServicePort as ApiServicePort } from "../../api/generated/core/v1.ts";
import type { EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import { formatCidr, formatIp, networkOf, parseSloppyCidr, parseSloppyIp } from "../../api/machinery/ip/ip-address.ts";
import type { HealthCheck, ServiceEndpoint, ServicePort } from "../model.ts";
import { endpointsByPort, hostPort, portKey, type EndpointsByPort } from "./slice-endpoints.ts";
import { usableEndpoints, type Endpoint, type NodeTopology } from "./usable-endpoints.ts";

/** Label of Services that another proxy implements. */
export const PROXY_NAME_LABEL = "service.kubernetes.io/service-proxy-name";
/** Label of the EndpointSlices of headless Services. */
export const HEADLESS_LABEL = "service.kubernetes.io/headless";

/** The API server's default for ClientIP session affinity: three hours. */
const AFFINITY_SECONDS_DEFAULT = 10_800;

export interface ComputedService {
  readonly ports: readonly ServicePort[];
  readonly healthCheck?: HealthCheck;
  /** Load balancer addresses that this node answers for. */
  readonly announcedIps?: readonly string[];
}

const NOTHING: ComputedService = { ports: [] };

/** `slices` are those of the Service, in a stable order. */
export function computeService(service: Service | undefined, slices: readonly EndpointSlice[], node: NodeTopology): ComputedService {
  const spec = service?.spec;
  if (service === undefined || spec === undefined || spec.type === "ExternalName") return NOTHING;
  if (service.metadata.labels?.[PROXY_NAME_LABEL] !== undefined) return NOTHING;
  const proxied = slices.filter(({ metadata }) => metadata.labels?.[HEADLESS_LABEL] === undefined);
  const families = clusterIpsOf(service).map((ip) => ({ ...ip, endpoints: endpointsByPort(proxied, ip.family) }));
  const ports = families.flatMap((family) => (spec.ports ?? []).map((port) => servicePort(service, port, family, node)));
  const [primary] = families;
  const port = healthCheckPort(service);
  const announced = announcerOf(service) === node.name ? { announcedIps: [...new Set(ports.flatMap((one) => one.loadBalancerIps))] } : {};
  if (primary === undefined || port === undefined) return { ports, ...announced };
  const { namespace = "", name } = service.metadata;
  return { ports, ...announced, healthCheck: { namespace, name, port, localEndpoints: countLocal(primary.endpoints, node) } };
}

interface FamilyInput {
  readonly family: 4 | 6;
  readonly clusterIp: string;
  readonly endpoints: EndpointsByPort;
}

/** Empty if it is headless. */
function clusterIpsOf({ spec = {} }: Service): readonly Pick<FamilyInput, "family" | "clusterIp">[] {
  const all = spec.clusterIPs ?? (spec.clusterIP === undefined ? [] : [spec.clusterIP]);
  return all.flatMap((text) => {
    const ip = parseSloppyIp(text);
    return ip === undefined ? [] : [{ family: ip.family, clusterIp: formatIp(ip) }];
  });
}

function servicePort(service: Service, port: ApiServicePort, input: FamilyInput, node: NodeTopology): ServicePort {
  const { family, clusterIp, endpoints } = input;
  const { namespace = "", name } = service.metadata;
  const { name: portName = "", protocol = "TCP" } = port;
  const displayName = `${namespace}/${name}${portName === "" ? "" : `:${portName}`}`;
  const addresses = externalAddresses(service, port, family);
  const policies = policiesOf(service);
  const known = endpoints.get(portKey(portName, protocol)) ?? [];
  const isExternal = addresses.nodePort !== undefined || addresses.externalIps.length > 0 || addresses.loadBalancerIps.length > 0;
  const usable = usableEndpoints(known, { ...policies, isExternal }, node);
  const healthCheckNodePort = healthCheckPort(service);
  return {
    key: `${namespace}/${name}:${portName}/${protocol}/${family}`,
    displayName,
    namespace,
    name,
    portName,
    protocol,
    family,
    port: port.port,
    clusterIp,
    ...addresses,
    ...affinityOf(service),
    ...policies,
    ...(healthCheckNodePort === undefined ? {} : { healthCheckNodePort }),
    clusterEndpoints: usable.cluster.map((one) => modelEndpoint(one, node)),
    localEndpoints: usable.local.map((one) => modelEndpoint(one, node)),
    hasEndpoints: usable.hasAny,
    servingEndpoints: protocol === "UDP" ? known.filter(({ isServing }) => isServing).map((one) => hostPort(one.address, one.port)) : [],
  };
}

function modelEndpoint({ address, port, nodeName }: Endpoint, node: NodeTopology): ServiceEndpoint {
  return { address, port, isLocal: nodeName === node.name };
}

function policiesOf({ spec = {} }: Service): Pick<ServicePort, "internalPolicy" | "externalPolicy"> {
  const isReachable = spec.type === "LoadBalancer" || spec.type === "NodePort" || (spec.externalIPs ?? []).length > 0;
  return {
    internalPolicy: spec.internalTrafficPolicy === "Local" ? "Local" : "Cluster",
    externalPolicy: isReachable && spec.externalTrafficPolicy === "Local" ? "Local" : "Cluster",
  };
}

function affinityOf({ spec = {} }: Service): Pick<ServicePort, "affinitySeconds"> {
  if (spec.sessionAffinity !== "ClientIP") return {};
  return { affinitySeconds: spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? AFFINITY_SECONDS_DEFAULT };
}

type ExternalAddresses = Pick<ServicePort, "externalIps" | "loadBalancerIps" | "nodePort" | "sourceRanges">;

function externalAddresses({ spec = {}, status }: Service, { nodePort = 0 }: ApiServicePort, family: 4 | 6): ExternalAddresses {
  // With ipMode Proxy, traffic must pass through the load balancer.
  const ingress = (status?.loadBalancer?.ingress ?? []).filter(({ ipMode }) => (ipMode ?? "VIP") === "VIP");
  return {
    externalIps: ipsOf(spec.externalIPs ?? [], family),
    loadBalancerIps: ipsOf(
      ingress.flatMap(({ ip }) => ip ?? []),
      family,
    ),
    ...(nodePort === 0 ? {} : { nodePort }),
    sourceRanges: rangesOf(spec.loadBalancerSourceRanges ?? [], family),
  };
}

function ipsOf(texts: readonly string[], family: 4 | 6): readonly string[] {
  const ips = texts.flatMap((text) => {
    const ip = parseSloppyIp(text);
    return ip?.family === family ? [formatIp(ip)] : [];
  });
  return [...new Set(ips)].sort();
}

/** A range of all addresses is no restriction. */
function rangesOf(texts: readonly string[], family: 4 | 6): readonly string[] {
  const ranges = texts.flatMap((text) => {
    const range = parseSloppyCidr(text.trim());
    return range?.address.family === family ? [range] : [];
  });
  if (ranges.some(({ prefixLength }) => prefixLength === 0)) return [];
  return [...new Set(ranges.map((range) => formatCidr(networkOf(range))))].sort();
}

function healthCheckPort({ spec = {} }: Service): number | undefined {
  if (spec.type !== "LoadBalancer" || spec.externalTrafficPolicy !== "Local" || (spec.healthCheckNodePort ?? 0) === 0) return undefined;
  return spec.healthCheckNodePort;
}

function countLocal(endpoints: EndpointsByPort, node: NodeTopology): number {
  const local = [...endpoints.values()].flat().filter(({ isReady, nodeName }) => isReady && nodeName === node.name);
  return new Set(local.map(({ address }) => address)).size;
}
