/**
 * Extended resources whose amounts are devices of a class: the scheduler creates a claim for a Pod that requests them. Containers that run
 * at the same time get devices of their own; init containers reuse those of later containers. Pure.
 */
import type { Container, ContainerExtendedResourceRequest, Pod } from "../../../api/generated/core/v1.ts";
import type { DeviceClass, DeviceRequest, ResourceClaim } from "../../../api/generated/resource.k8s.io/v1.ts";
import { parseQuantity, quantityToNumber } from "../../../api/machinery/quantity.ts";

export const EXTENDED_CLAIM_ANNOTATION = "resource.kubernetes.io/extended-resource-claim";

/** The claim before it is created. Users cannot create one of this name. */
export const UNCREATED_NAME = "<extended-resources>";

export interface ExtendedRequests {
  readonly requests: readonly DeviceRequest[];
  readonly mappings: readonly ContainerExtendedResourceRequest[];
}

/** A claim for extended resources in memory, without requests: they differ by node. */
export function uncreatedClaim({ metadata }: Pod, uid: string): ResourceClaim {
  const owner = { apiVersion: "v1", kind: "Pod", name: metadata.name, uid: metadata.uid ?? "", controller: true };
  return {
    apiVersion: "resource.k8s.io/v1",
    kind: "ResourceClaim",
    metadata: {
      namespace: metadata.namespace ?? "",
      name: UNCREATED_NAME,
      uid,
      generateName: `${metadata.name}-extended-resources-`,
      ownerReferences: [owner],
      annotations: { [EXTENDED_CLAIM_ANNOTATION]: "true" },
    },
    spec: {},
  };
}

export function isExtendedClaim({ metadata }: ResourceClaim): boolean {
  return metadata.annotations?.[EXTENDED_CLAIM_ANNOTATION] === "true";
}

export function isUncreated({ metadata }: ResourceClaim): boolean {
  return metadata.name === UNCREATED_NAME;
}

/** `classes`: of the resources that devices provide on this node. */
export function extendedRequests({ spec }: Pod, classes: ReadonlyMap<string, DeviceClass>): ExtendedRequests {
  const initContainers = spec?.initContainers ?? [];
  const containers = [...initContainers, ...(spec?.containers ?? [])];
  const isShortLived = (index: number) => index < initContainers.length && containers[index]?.restartPolicy !== "Always";
  const requests: DeviceRequest[] = [];
  const mappings: ContainerExtendedResourceRequest[] = [];
  for (const [resource, deviceClass] of [...classes].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const of = { resource, className: deviceClass.metadata.name };
    const longLived = containers.map((container, index) => (isShortLived(index) ? NOTHING : requestOf(container, index, of, [])));
    const shortLived = containers.map((container, index) =>
      isShortLived(index) ? requestOf(container, index, of, longLived.slice(index)) : NOTHING,
    );
    const largest = largestOf(shortLived);
    requests.push(...[largest, ...longLived.map(({ request }) => request)].filter((request) => request !== undefined));
    mappings.push(...longLived.flatMap((each) => each.mappings));
    mappings.push(...shortLived.flatMap((each) => each.mappings.map((mapping) => sharedBy(each, largest, mapping))));
  }
  requests.sort((a, b) => (a.name < b.name ? -1 : 1));
  return { requests, mappings };
}

interface OfContainer {
  /** Undefined if it needs no devices of its own. */
  readonly request: DeviceRequest | undefined;
  readonly mappings: readonly ContainerExtendedResourceRequest[];
}

const NOTHING: OfContainer = { request: undefined, mappings: [] };

/** `reusable`: containers that start after it has ended. */
function requestOf(
  { name: containerName, resources }: Container,
  index: number,
  { resource, className }: { readonly resource: string; readonly className: string },
  reusable: readonly OfContainer[],
): OfContainer {
  const written = resources?.requests ?? {};
  const amount = Object.hasOwn(written, resource) ? quantityToNumber(parseQuantity(written[resource] ?? "0")) : 0;
  if (amount === 0) return NOTHING;
  const mappings: ContainerExtendedResourceRequest[] = [];
  let reused = 0;
  for (const { request } of reusable) {
    if (request === undefined) continue;
    reused += request.exactly?.count ?? 0;
    mappings.push({ containerName, resourceName: resource, requestName: request.name });
    if (reused >= amount) return { request: undefined, mappings };
  }
  const requestName = `container-${index}-request-${Object.keys(written).toSorted().indexOf(resource)}`;
  mappings.push({ containerName, resourceName: resource, requestName });
  const exactly = { deviceClassName: className, allocationMode: "ExactCount", count: amount - reused } as const;
  return { request: { name: requestName, exactly }, mappings };
}

/** Init containers run one after the other: the largest request is enough for all. */
function largestOf(containers: readonly OfContainer[]): DeviceRequest | undefined {
  let largest: DeviceRequest | undefined;
  for (const { request } of containers) {
    if (request !== undefined && (largest?.exactly?.count ?? 0) < (request.exactly?.count ?? 0)) largest = request;
  }
  return largest;
}

function sharedBy(
  { request }: OfContainer,
  largest: DeviceRequest | undefined,
  mapping: ContainerExtendedResourceRequest,
): ContainerExtendedResourceRequest {
  return request !== undefined && largest !== undefined && mapping.requestName === request.name
    ? { ...mapping, requestName: largest.name }
    : mapping;
}
