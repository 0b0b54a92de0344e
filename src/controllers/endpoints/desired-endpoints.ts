/** The desired Endpoints object of a Service, based on the current one, and whether it differs. Pure. */
import type { Endpoints, EndpointSubset, Pod, Service } from "../../api/generated/core/v1.ts";
import { isReady } from "../../api/core/v1/pod/readiness.ts";
import { hasNoClusterIp, type Labels } from "../../api/core/v1/service/backends.ts";
import { deepEqual } from "../../base/deep.ts";
import { HEADLESS } from "../shared/service-endpoints/labels.ts";
import { repackSubsets } from "../shared/service-endpoints/subsets.ts";
import { triggerTime, withTriggerTime } from "../shared/service-endpoints/trigger-time.ts";
import { desiredSubsets } from "./desired-subsets.ts";

/** managed-by label. */
export const MANAGED_BY = "endpoints.kubernetes.io/managed-by";
export const MANAGER = "endpoint-controller";
/** Over-capacity annotation: there are more addresses than one object may have. */
const OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity";
const TRUNCATED = "truncated";

/** Undefined if `current` is up to date. `pods` are the selected ones. */
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

/** The Service's labels, so that selectors find them, plus two of our own. */
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

/** Another order of subsets is not a change. */
function isSame({ metadata, subsets = [] }: Endpoints, wanted: Wanted): boolean {
  return (
    deepEqual(metadata.labels ?? {}, wanted.labels) &&
    deepEqual(withTriggerTime(metadata.annotations, undefined), wanted.annotations) &&
    (deepEqual(subsets, wanted.subsets) || deepEqual(repackSubsets(subsets), wanted.subsets))
  );
}

/** The trigger of the write: new or changed Pods; if the object is new, the Service as well. */
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
