/**
 * The writes that bring the slices of one address family to the desired state: desired endpoints, packed, with hints, compared with the
 * actual ones. Pure.
 */
import type { Pod, Service } from "../../api/generated/core/v1.ts";
import type { Endpoint, EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import type { ObjectMeta } from "../../api/machinery/object.ts";
import { hasNoClusterIp, type Labels } from "../../api/core/v1/service/backends.ts";
import type { IpFamily } from "../../api/core/v1/service/validate-cluster-ips.ts";
import { deepEqual } from "../../base/deep.ts";
import { controlledBy } from "../runtime/keys.ts";
import { HEADLESS, SERVICE_NAME, SLICE_MANAGED_BY } from "../shared/service-endpoints/labels.ts";
import { slicePrefix, type SlicePlan } from "../shared/service-endpoints/slices.ts";
import { triggerTime, withTriggerTime } from "../shared/service-endpoints/trigger-time.ts";
import { desiredEndpoints, type EndpointSources } from "./desired-endpoints.ts";
import { distributionOf, hintsCloseBy, withHintsOf } from "./hints.ts";
import { packEndpoints, type PlannedSlice } from "./slice-packing.ts";
import { topologyHints, type HintedSlices } from "./topology-hints.ts";
import type { ZoneShares } from "./zone-shares.ts";

/** Value of the slices' managed-by label. */
export const SLICE_MANAGER = "endpointslice-controller.k8s.io";

const RESERVED_LABELS = [SERVICE_NAME, SLICE_MANAGED_BY, HEADLESS];

export interface FamilySources extends EndpointSources {
  readonly family: IpFamily;
  /** All slices of this controller for a Service of this name, of this family. */
  readonly existing: readonly EndpointSlice[];
  readonly maxEndpointsPerSlice: number;
  /** Only called if the Service wants topology hints. */
  zoneShares(): ZoneShares | undefined;
}

export interface FamilyPlan extends SlicePlan {
  readonly family: IpFamily;
  /** Pods that are omitted because their node is unknown. */
  readonly skipped: readonly Pod[];
  /** Why a Service with the topology annotation has no hints. */
  readonly hintsRefused?: string;
}

export function planFamily(sources: FamilySources): FamilyPlan {
  const { service, family, existing, maxEndpointsPerSlice: max } = sources;
  const { groups, skipped } = desiredEndpoints(sources, family);
  const labels = sliceLabels(service);
  const isOwn = ({ metadata }: EndpointSlice): boolean => (metadata.ownerReferences ?? []).some(({ uid }) => uid === service.metadata.uid);
  const isStale = ({ metadata }: EndpointSlice): boolean => !deepEqual(metadata.labels ?? {}, labels);
  const packed = packEndpoints(groups, existing.filter(isOwn), { max, isStale });
  const hinted = withHints(packed.slices, sources);
  const slices = "refused" in hinted ? packed.slices.map(withNoHints) : hinted.slices;

  const changed = slices.filter((slice) => isDifferent(slice, labels));
  const isTerminating = service.metadata.deletionTimestamp !== undefined;
  return {
    family,
    // While the garbage collector deletes the Service's dependents, nothing is added.
    create: changed.flatMap((slice) => (isTerminating || slice.existing ? [] : sliceOf(slice, newMetadata(service), labels, sources))),
    update: changed.flatMap((slice) => (slice.existing ? sliceOf(slice, slice.existing.metadata, labels, sources) : [])),
    // Those of an older Service of the same name belong to the garbage collector, but proxies would use them for this one.
    remove: [...packed.surplus, ...existing.filter((slice) => !isOwn(slice))],
    skipped,
    ...("refused" in hinted ? { hintsRefused: hinted.refused } : {}),
  };
}

/** The Service's labels, except reserved ones. */
function sliceLabels(service: Service): Labels {
  const { name, labels = {} } = service.metadata;
  return {
    ...Object.fromEntries(Object.entries(labels).filter(([key]) => !RESERVED_LABELS.includes(key))),
    ...(hasNoClusterIp(service) ? { [HEADLESS]: "" } : {}),
    [SERVICE_NAME]: name,
    [SLICE_MANAGED_BY]: SLICE_MANAGER,
  };
}

function withHints(slices: readonly PlannedSlice[], { service, zoneShares }: FamilySources): HintedSlices {
  const distribution = distributionOf(service);
  switch (distribution) {
    case "topology":
      return topologyHints(slices, zoneShares());
    case "same-zone":
    case "same-node":
      return { slices: slices.map((slice) => withHintsOf(slice, (endpoint) => hintsCloseBy(endpoint, distribution))) };
    case "none":
      return { slices: slices.map(withNoHints) };
  }
}

function withNoHints(slice: PlannedSlice): PlannedSlice {
  return slice.endpoints.some(({ hints }) => hints !== undefined) ? withHintsOf(slice, () => undefined) : slice;
}

function isDifferent({ existing, ports, endpoints }: PlannedSlice, labels: Labels): boolean {
  return (
    existing === undefined ||
    !deepEqual(existing.endpoints ?? [], endpoints) ||
    !deepEqual(existing.ports ?? [], ports) ||
    !deepEqual(existing.metadata.labels ?? {}, labels)
  );
}

function sliceOf<M extends Partial<ObjectMeta>>(slice: PlannedSlice, metadata: M, labels: Labels, sources: FamilySources) {
  const annotations = withTriggerTime(metadata.annotations, timeOf(slice, sources));
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { ...metadata, labels, annotations },
    addressType: sources.family,
    endpoints: slice.endpoints,
    ports: slice.ports,
  } as const;
}

/** The server gives it a name. */
function newMetadata(service: Service): Partial<ObjectMeta> {
  const { name, namespace = "" } = service.metadata;
  return { generateName: slicePrefix(name), namespace, ownerReferences: [controlledBy(service)] };
}

/** The trigger of a write: Pods that are new or changed in the slice; if it is new and empty, the Service. */
function timeOf({ existing, endpoints }: PlannedSlice, { service, pods, existing: all }: FamilySources): string | undefined {
  const servingBefore = new Map(
    all.flatMap((slice) => slice.endpoints ?? []).map((endpoint) => [podUid(endpoint), endpoint.conditions?.serving]),
  );
  const changed = new Set(endpoints.filter((now) => servingBefore.get(podUid(now)) !== now.conditions?.serving).map(podUid));
  const time = triggerTime(
    service,
    pods.filter(({ metadata }) => changed.has(metadata.uid)),
  );
  return time ?? (existing === undefined ? service.metadata.creationTimestamp : undefined);
}

function podUid({ targetRef }: Endpoint): string | undefined {
  return targetRef?.uid;
}
