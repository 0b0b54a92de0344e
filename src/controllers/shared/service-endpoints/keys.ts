/** Which Services are queued by a Pod change: those that select it, or did, and only if endpoints would change. */
import type { Pod } from "../../../api/generated/core/v1.ts";
import { isReady } from "../../../api/core/v1/pod/readiness.ts";
import { followsPods, isBackend, selectorOf, selects, type Labels } from "../../../api/core/v1/service/backends.ts";
import { services } from "../../../api/core/v1/service.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { Reader } from "../../../client/informer/informer.ts";
import type { Change, WorkKey } from "../../runtime/controller.ts";
import { keyOf } from "../../runtime/keys.ts";

export function* servicesOfPod({ is, object: pod, previous }: Change<Pod>, read: Reader): Iterable<WorkKey> {
  // Most Pod changes happen before it has an address; a deleted one may have had one in an unobserved state.
  if (is !== "deleted" && !isBackend(pod) && (previous === undefined || !isBackend(previous))) return;
  const before = previous ?? pod;
  const isRelabelled = before !== pod && !deepEqual(before.metadata.labels ?? {}, pod.metadata.labels ?? {});
  const isChanged = previous === undefined || !showsSame(previous, pod);
  if (isRelabelled || isChanged) yield* servicesSelecting(pod, isRelabelled ? before.metadata.labels : undefined, { isChanged }, read);
}

/** If only labels have changed, it concerns Services that select it now and did not, or vice versa. */
function* servicesSelecting(
  { metadata: { namespace, labels } }: Pod,
  labelsBefore: Labels | undefined,
  { isChanged }: { readonly isChanged: boolean },
  read: Reader,
): Iterable<WorkKey> {
  for (const service of read.list(services, namespace)) {
    const selector = followsPods(service) ? selectorOf(service) : undefined;
    if (selector === undefined) continue;
    const isSelected = selects(selector, labels);
    const wasSelected = labelsBefore === undefined ? isSelected : selects(selector, labelsBefore);
    if (isChanged ? isSelected || wasSelected : isSelected !== wasSelected) yield keyOf(service);
  }
}

/** Container ports cannot change. */
function showsSame(a: Pod, b: Pod): boolean {
  return (
    a.status?.phase === b.status?.phase &&
    isReady(a) === isReady(b) &&
    (a.metadata.deletionTimestamp === undefined) === (b.metadata.deletionTimestamp === undefined) &&
    deepEqual(a.status?.podIPs ?? [], b.status?.podIPs ?? []) &&
    a.metadata.uid === b.metadata.uid &&
    a.spec?.nodeName === b.spec?.nodeName &&
    a.spec?.hostname === b.spec?.hostname &&
    a.spec?.subdomain === b.spec?.subdomain
  );
}
