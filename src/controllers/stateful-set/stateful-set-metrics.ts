/** Metrics of the StatefulSet controller, with upstream's names and labels: how many Pods may be, and are, unavailable. */
import type { AvailabilityRule } from "../../api/core/v1/pod/readiness.ts";
import type { StatefulSet } from "../../api/generated/apps/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { GaugeDefinition, MetricSet } from "../../base/metrics/metric-set.ts";
import type { Labels } from "../../base/metrics/prometheus-text.ts";
import type { WorkKey } from "../runtime/controller.ts";
import { keyOf } from "../runtime/keys.ts";
import { desiredOrdinals, ordinalOf } from "./ordinals.ts";
import { isUnavailable, maxUnavailableOf } from "./plan.ts";

const MAX_UNAVAILABLE: GaugeDefinition = {
  type: "gauge",
  name: "statefulset_controller_statefulset_max_unavailable",
  help: "Maximum number of unavailable pods allowed during StatefulSet rolling updates",
};
const UNAVAILABLE: GaugeDefinition = {
  type: "gauge",
  name: "statefulset_controller_statefulset_unavailable_replicas",
  help: "Current number of unavailable pods in StatefulSet",
};

const POLICIES = ["OrderedReady", "Parallel"] as const;

/** A Pod that should exist and does not is unavailable, too. */
export function recordAvailability(set: StatefulSet, members: readonly Pod[], availability: AvailabilityRule, metrics: MetricSet): void {
  const byOrdinal = new Map(members.map((pod) => [ordinalOf(pod), pod]));
  const unavailable = desiredOrdinals(set).filter((ordinal) => {
    const pod = byOrdinal.get(ordinal);
    return pod === undefined || isUnavailable(pod, availability);
  });
  const labels = labelsOf(keyOf(set), set.spec?.podManagementPolicy ?? "OrderedReady");
  metrics.set(MAX_UNAVAILABLE, labels, maxUnavailableOf(set));
  metrics.set(UNAVAILABLE, labels, unavailable.length);
}

/** When the set is gone. Its policy is not known any more. */
export function forgetAvailability(key: WorkKey, metrics: MetricSet): void {
  for (const policy of POLICIES) {
    metrics.remove(MAX_UNAVAILABLE, labelsOf(key, policy));
    metrics.remove(UNAVAILABLE, labelsOf(key, policy));
  }
}

function labelsOf({ namespace = "", name }: WorkKey, policy: string): Labels {
  return { statefulset_namespace: namespace, statefulset_name: name, pod_management_policy: policy };
}
