/** The Endpoints object of a Service as it is to be, made from what is there, and whether that is a change. Pure. */
import type { Endpoints, EndpointSubset, Pod, Service } from "../../api/generated/core/v1.ts";
import { isReady } from "../../api/core/v1/pod/readiness.ts";
import { hasNoClusterIp, type Labels } from "../../api/core/v1/service/backends.ts";
import { deepEqual } from "../../base/deep.ts";
import { HEADLESS } from "../shared/service-endpoints/labels.ts";
import { repackSubsets } from "../shared/service-endpoints/subsets.ts";
import { triggerTime, withTriggerTime } from "../shared/service-endpoints/trigger-time.ts";
import { desiredSubsets } from "./desired-subsets.ts";

/** A label: who writes them. */
export const MANAGED_BY = "endpoints.kubernetes.io/managed-by";
export const MANAGER = "endpoint-controller";
/** An annotation: there are more addresses than one object may have. */
const OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity";
const TRUNCATED = "truncated";

/** Undefined if `current` is as it should be. `pods` are those that the Service selects. */
export function changedEndpoints(service: Service, pods: readonly Pod[], current: Endpoints | undefined): Endpoints | undefined {
  const { subsets, isTruncated } = desiredSubsets(service, pods);
  const labels = endpointsLabels(service);
  const annotations = withCapacity(withTriggerTime(current?.metadata.annotations, undefined), isTruncated);
  if (current !== undefined && isSame(current, { subsets, labels, annotations })) return undefined;

  const { name, namespace } = service.metadata;
  const metadata = current?.metadata ?? { name, ...(namespace === undefined ? {} : { namespace }) };
  const time = timeOf(service, pods, current);
  return {
    apiVersion: "v1",
    kind: "Endpoints",
    metadata: { ...metadata, labels, annotations: withTriggerTime(annotations, time) },
    ...(subsets.length === 0 ? {} : { subsets }),
  };
}

/** All of the Service's, so that they can be found by them, and two that say what it is. */
function endpointsLabels(service: Service): Labels {
  const { [HEADLESS]: _, ...labels } = service.metadata.labels ?? {};
  return { ...labels, ...(hasNoClusterIp(service) ? { [HEADLESS]: "" } : {}), [MANAGED_BY]: MANAGER };
}

function withCapacity(annotations: Labels, isTruncated: boolean): Labels {
  const { [OVER_CAPACITY]: _, ...others } = annotations;
  return isTruncated ? { ...others, [OVER_CAPACITY]: TRUNCATED } : others;
}

interface Wanted {
  readonly subsets: readonly EndpointSubset[];
  readonly labels: Labels;
  readonly annotations: Labels;
}

/** Subsets that another program has put into another order are no change. */
function isSame({ metadata, subsets = [] }: Endpoints, wanted: Wanted): boolean {
  return (
    deepEqual(metadata.labels ?? {}, wanted.labels) &&
    deepEqual(withTriggerTime(metadata.annotations, undefined), wanted.annotations) &&
    (deepEqual(subsets, wanted.subsets) || deepEqual(repackSubsets(subsets), wanted.subsets))
  );
}

/** What they are written for: Pods that are shown for the first time or otherwise than before; if they are new, the Service as well. */
function timeOf(service: Service, pods: readonly Pod[], current: Endpoints | undefined): string | undefined {
  const readyBefore = new Map<string | undefined, boolean>();
  for (const { addresses = [], notReadyAddresses = [] } of current?.subsets ?? []) {
    for (const { targetRef } of addresses) readyBefore.set(targetRef?.uid, true);
    for (const { targetRef } of notReadyAddresses) readyBefore.set(targetRef?.uid, false);
  }
  const time = triggerTime(
    service,
    pods.filter((pod) => readyBefore.get(pod.metadata.uid) !== isReady(pod)),
  );
  return time ?? (current === undefined ? service.metadata.creationTimestamp : undefined);
}
