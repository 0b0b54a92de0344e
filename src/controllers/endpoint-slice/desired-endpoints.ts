/**
 * The desired endpoints of a Service in one address family, grouped by their ports: a named port may be another number in every Pod, and a
 * slice has one list of ports. Pure. Not here: packing into slices (slice-packing.ts), hints (hints.ts).
 */
import type { Node, Pod, Service } from "../../api/generated/core/v1.ts";
import type { Endpoint, EndpointPort } from "../../api/generated/discovery.k8s.io/v1.ts";
import { isReady } from "../../api/core/v1/pod/readiness.ts";
import { hostnameWithin, isBackend, podAddresses, targetPortOf } from "../../api/core/v1/service/backends.ts";
import { specOf } from "../../api/core/v1/service/needs.ts";
import type { IpFamily } from "../../api/core/v1/service/validate-cluster-ips.ts";
import { inSliceOrder, portSetKey } from "../shared/service-endpoints/port-set.ts";

export const ZONE_LABEL = "topology.kubernetes.io/zone";

export interface EndpointGroup {
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

export interface DesiredEndpoints {
  /** By the key of their ports (portSetKey). None is empty. */
  readonly groups: ReadonlyMap<string, EndpointGroup>;
  /** Pods whose node is unknown: whether they are reachable is unknown, too. */
  readonly skipped: readonly Pod[];
}

export interface EndpointSources {
  readonly service: Service;
  /** The selected Pods. */
  readonly pods: readonly Pod[];
  node(name: string): Node | undefined;
}

export function desiredEndpoints({ service, pods, node }: EndpointSources, family: IpFamily): DesiredEndpoints {
  const groups = new Map<string, { readonly ports: readonly EndpointPort[]; readonly endpoints: Endpoint[] }>();
  const skipped: Pod[] = [];
  const { publishNotReadyAddresses: publishesAll = false } = specOf(service);
  for (const pod of pods.filter(isBackend)) {
    const nodeOfPod = node(pod.spec?.nodeName ?? "");
    if (nodeOfPod === undefined && !publishesAll) {
      skipped.push(pod);
      continue;
    }
    const endpoint = endpointOf(pod, nodeOfPod, service, family);
    if (endpoint.addresses.length === 0) continue;
    const ports = endpointPorts(service, pod);
    const key = portSetKey(ports);
    const group = groups.get(key) ?? { ports: inSliceOrder(ports), endpoints: [] };
    groups.set(key, group);
    group.endpoints.push(endpoint);
  }
  return { groups, skipped };
}

/** A terminating Pod is not ready unless the Service publishes not-ready addresses; `serving` shows its state. */
function endpointOf(pod: Pod, node: Node | undefined, service: Service, family: IpFamily): Endpoint {
  const { namespace, name, uid, deletionTimestamp } = pod.metadata;
  const serving = isReady(pod);
  const terminating = deletionTimestamp !== undefined;
  const hostname = hostnameWithin(service, pod);
  const { nodeName = "" } = pod.spec ?? {};
  const zone = node?.metadata.labels?.[ZONE_LABEL] ?? "";
  return {
    addresses: podAddresses(pod, family),
    conditions: { ready: (specOf(service).publishNotReadyAddresses ?? false) || (serving && !terminating), serving, terminating },
    ...(hostname === undefined ? {} : { hostname }),
    targetRef: { kind: "Pod", namespace: namespace ?? "", name, uid: uid ?? "" },
    ...(nodeName === "" ? {} : { nodeName }),
    ...(zone === "" ? {} : { zone }),
  };
}

/** A port whose name the Pod does not have is omitted. */
function endpointPorts(service: Service, pod: Pod): readonly EndpointPort[] {
  const found: EndpointPort[] = [];
  for (const servicePort of specOf(service).ports ?? []) {
    const { name = "", protocol = "TCP", appProtocol } = servicePort;
    const port = targetPortOf(pod, servicePort);
    if (port !== undefined) found.push({ name, protocol, port, ...(appProtocol === undefined ? {} : { appProtocol }) });
  }
  return found;
}
