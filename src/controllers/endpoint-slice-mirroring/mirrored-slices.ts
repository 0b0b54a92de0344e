/**
 * The EndpointSlices that mirror custom Endpoints of a Service without a selector: one for each set of ports and each address family. Pure.
 */
import type { EndpointAddress, Endpoints, EndpointSubset } from "../../api/generated/core/v1.ts";
import type { Endpoint, EndpointPort, EndpointSlice } from "../../api/generated/discovery.k8s.io/v1.ts";
import { formatIp, parseSloppyIp, unmapIp } from "../../api/machinery/ip/ip-address.ts";
import type { ObjectMeta } from "../../api/machinery/object.ts";
import type { Labels } from "../../api/core/v1/service/backends.ts";
import type { IpFamily } from "../../api/core/v1/service/validate-cluster-ips.ts";
import { deepEqual } from "../../base/deep.ts";
import { controlledBy } from "../runtime/keys.ts";
import { SERVICE_NAME, SLICE_MANAGED_BY, TRIGGER_TIME } from "../shared/service-endpoints/labels.ts";
import { inSliceOrder, portSetKey } from "../shared/service-endpoints/port-set.ts";
import { slicePrefix, type SlicePlan } from "../shared/service-endpoints/slices.ts";
import { repackSubsets } from "../shared/service-endpoints/subsets.ts";

/** Value of the slices' managed-by label. */
export const MIRROR_MANAGER = "endpointslicemirroring-controller.k8s.io";

/** Annotations that do not apply to the slice. */
const ANNOTATIONS_NOT_MIRRORED = [TRIGGER_TIME, "kubectl.kubernetes.io/last-applied-configuration"];

export interface MirrorSources {
  readonly endpoints: Endpoints;
  /** All slices of this controller for a Service of this name. */
  readonly existing: readonly EndpointSlice[];
  readonly maxEndpointsPerSubset: number;
}

export interface MirrorPlan extends SlicePlan {
  /** Number of invalid addresses. */
  readonly invalid: number;
  /** Number of skipped addresses, for any reason. */
  readonly skipped: number;
}

interface MirroredGroup {
  readonly family: IpFamily;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

export function planMirror(sources: MirrorSources): MirrorPlan {
  const { endpoints, existing, maxEndpointsPerSubset } = sources;
  const mirrored = repackSubsets(endpoints.subsets ?? []).map((subset) => mirrorSubset(subset, maxEndpointsPerSubset));
  const groups = mirrored.flatMap((subset) => subset.groups);

  // The first slice of each group is kept; others are reused for another group of the family, or deleted.
  const free = new Set(existing);
  const claimed = groups.map((group) => {
    const slice = existing.find(
      (other) => free.has(other) && groupKey(other.addressType, other.ports) === groupKey(group.family, group.ports),
    );
    if (slice !== undefined) free.delete(slice);
    return { group, slice };
  });
  const slices = claimed.map(({ group, slice }) => {
    const before = slice ?? [...free].find(({ addressType }) => addressType === group.family);
    if (before !== undefined) free.delete(before);
    return { group, before };
  });
  const isTerminating = endpoints.metadata.deletionTimestamp !== undefined;
  return {
    create: slices.flatMap(({ group, before }) => (isTerminating || before ? [] : sliceOf(group, newMetadata(endpoints), endpoints))),
    update: slices.flatMap(({ group, before }) => {
      const after = before === undefined ? undefined : sliceOf(group, before.metadata, endpoints);
      return before === undefined || after === undefined || isSame(before, after) ? [] : after;
    }),
    remove: [...free],
    invalid: mirrored.reduce((sum, subset) => sum + subset.invalid, 0),
    skipped: mirrored.reduce((sum, subset) => sum + subset.skipped, 0),
  };
}

function groupKey(family: string, ports: readonly EndpointPort[] | undefined): string {
  return `${family} ${portSetKey(ports ?? [])}`;
}

interface MirroredSubset {
  readonly groups: readonly MirroredGroup[];
  readonly invalid: number;
  readonly skipped: number;
}

/** Ready ones first, so that surplus ones that are dropped serve no traffic. */
function mirrorSubset({ addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset, max: number): MirroredSubset {
  const endpoints: Record<IpFamily, Endpoint[]> = { IPv4: [], IPv6: [] };
  let added = 0;
  let invalid = 0;
  const add = (address: EndpointAddress, ready: boolean): void => {
    if (added >= max) return;
    const parsed = parseSloppyIp(address.ip);
    if (parsed === undefined) {
      invalid++;
      return;
    }
    const ip = unmapIp(parsed);
    endpoints[ip.family === 6 ? "IPv6" : "IPv4"].push(endpointOf(address, formatIp(ip), ready));
    added++;
  };
  for (const address of addresses) add(address, true);
  for (const address of notReadyAddresses) add(address, false);

  const mirrored = inSliceOrder(ports.map(({ name = "", protocol = "TCP", ...port }) => ({ name, protocol, ...port })));
  const families: readonly IpFamily[] = ["IPv4", "IPv6"];
  const groups = families.map((family) => ({ family, ports: mirrored, endpoints: endpoints[family] }));
  return {
    groups: groups.filter((group) => group.endpoints.length > 0),
    invalid,
    skipped: addresses.length + notReadyAddresses.length - added,
  };
}

function endpointOf({ hostname = "", nodeName, targetRef }: EndpointAddress, address: string, ready: boolean): Endpoint {
  return {
    addresses: [address],
    conditions: { ready },
    ...(hostname === "" ? {} : { hostname }),
    ...(targetRef === undefined ? {} : { targetRef }),
    ...(nodeName === undefined ? {} : { nodeName }),
  };
}

// ── slices ──────────────────────────────────────────────────────────────────────────────────────────

function sliceOf<M extends Partial<ObjectMeta>>({ family, ports, endpoints: list }: MirroredGroup, metadata: M, endpoints: Endpoints) {
  const { name, labels } = endpoints.metadata;
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      ...metadata,
      labels: { ...labels, [SERVICE_NAME]: name, [SLICE_MANAGED_BY]: MIRROR_MANAGER },
      annotations: mirroredAnnotations(endpoints),
      ownerReferences: [controlledBy(endpoints)],
    },
    addressType: family,
    endpoints: list,
    ports,
  } as const;
}

function mirroredAnnotations({ metadata: { annotations = {} } }: Endpoints): Labels {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !ANNOTATIONS_NOT_MIRRORED.includes(key)));
}

/** The server gives it a name. */
function newMetadata({ metadata: { name, namespace = "" } }: Endpoints): Partial<ObjectMeta> {
  return { generateName: slicePrefix(name), namespace };
}

function isSame(before: EndpointSlice, after: EndpointSlice): boolean {
  return (
    deepEqual(before.metadata.labels ?? {}, after.metadata.labels ?? {}) &&
    deepEqual(before.metadata.annotations ?? {}, after.metadata.annotations ?? {}) &&
    deepEqual(before.metadata.ownerReferences ?? [], after.metadata.ownerReferences ?? []) &&
    portSetKey(before.ports ?? []) === portSetKey(after.ports ?? []) &&
    deepEqual(inOrder(before.endpoints ?? []), inOrder(after.endpoints ?? []))
  );
}

/** Endpoints of a slice are a set: another order is equal. */
function inOrder(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  const keyed = endpoints.map((endpoint) => ({ endpoint, key: `${endpoint.addresses[0] ?? ""} ${endpoint.targetRef?.uid ?? ""}` }));
  return keyed.toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key))).map(({ endpoint }) => endpoint);
}
