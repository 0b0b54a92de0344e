/**
 * The desired subsets of a Service's Endpoints: the selected Pods, in its primary address family, ready or not. Terminating Pods are
 * included only if the Service publishes not-ready addresses. There is one object for all, so there are at most a thousand addresses. Pure.
 */
import type { EndpointAddress, EndpointPort, EndpointSubset, Pod, Service, ServicePort } from "../../api/generated/core/v1.ts";
import { isReady } from "../../api/core/v1/pod/readiness.ts";
import { familiesOf, hostnameWithin, isBackend, podAddresses, targetPortOf } from "../../api/core/v1/service/backends.ts";
import { specOf } from "../../api/core/v1/service/needs.ts";
import { repackSubsets } from "../shared/service-endpoints/subsets.ts";

/** As upstream: the whole object is sent to every watcher on every change. */
export const ADDRESSES_MAX = 1000;

export interface DesiredSubsets {
  readonly subsets: readonly EndpointSubset[];
  /** Whether some were dropped. */
  readonly isTruncated: boolean;
}

/** `pods` are the selected ones. */
export function desiredSubsets(service: Service, pods: readonly Pod[]): DesiredSubsets {
  const { publishNotReadyAddresses: publishesAll = false } = specOf(service);
  const single = pods
    .filter((pod) => isBackend(pod) && (publishesAll || pod.metadata.deletionTimestamp === undefined))
    .flatMap((pod) => [...subsetsOfPod(service, pod, { isReady: publishesAll || isReady(pod) })]);
  return truncate(repackSubsets(single));
}

/** One for each port; merged later. */
function* subsetsOfPod(service: Service, pod: Pod, state: { readonly isReady: boolean }): Iterable<EndpointSubset> {
  const address = addressOf(service, pod);
  if (address === undefined) return;
  const addresses = state.isReady ? { addresses: [address] } : { notReadyAddresses: [address] };
  const { ports = [] } = specOf(service);
  // A headless Service may have addresses without ports.
  if (ports.length === 0) yield addresses;
  for (const servicePort of ports) {
    const port = targetPortOf(pod, servicePort);
    if (port !== undefined) yield { ...addresses, ports: [endpointPort(servicePort, port)] };
  }
}

function addressOf(service: Service, pod: Pod): EndpointAddress | undefined {
  const [ip] = podAddresses(pod, familiesOf(service)[0] ?? "IPv4");
  if (ip === undefined) return undefined;
  const { namespace, name, uid } = pod.metadata;
  const { nodeName = "" } = pod.spec ?? {};
  const hostname = hostnameWithin(service, pod);
  return {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName === "" ? {} : { nodeName }),
    targetRef: { kind: "Pod", namespace: namespace ?? "", name, uid: uid ?? "" },
  };
}

function endpointPort({ name = "", protocol = "TCP", appProtocol }: ServicePort, port: number): EndpointPort {
  return { ...(name === "" ? {} : { name }), port, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) };
}

// ── the limit of a thousand ─────────────────────────────────────────────────────────────────────────

/** Ready ones first; each subset gives in proportion to its size, rounded so that the last ones may have to give more. */
function truncate(subsets: readonly EndpointSubset[]): DesiredSubsets {
  const readyCount = subsets.reduce((sum, { addresses = [] }) => sum + addresses.length, 0);
  const notReadyCount = subsets.reduce((sum, { notReadyAddresses = [] }) => sum + notReadyAddresses.length, 0);
  if (readyCount + notReadyCount <= ADDRESSES_MAX) return { subsets, isTruncated: false };

  const isReadyTruncated = readyCount > ADDRESSES_MAX;
  const room = isReadyTruncated ? ADDRESSES_MAX : ADDRESSES_MAX - readyCount;
  const total = isReadyTruncated ? readyCount : notReadyCount;
  let left = room;
  const take = (all: readonly EndpointAddress[]): readonly EndpointAddress[] => {
    const taken = all.slice(0, Math.min(left, Math.ceil((all.length / total) * room)));
    left -= taken.length;
    return taken;
  };
  const truncated = subsets.map(({ addresses = [], notReadyAddresses = [], ports = [] }) =>
    isReadyTruncated ? subset(take(addresses), [], ports) : subset(addresses, take(notReadyAddresses), ports),
  );
  // A subset without addresses would be invalid.
  return { subsets: truncated.filter((one) => one.addresses ?? one.notReadyAddresses), isTruncated: true };
}

function subset(
  addresses: readonly EndpointAddress[],
  notReadyAddresses: readonly EndpointAddress[],
  ports: readonly EndpointPort[],
): EndpointSubset {
  return {
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
    ...(ports.length === 0 ? {} : { ports }),
  };
}
