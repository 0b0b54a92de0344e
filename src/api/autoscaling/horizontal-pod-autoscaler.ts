/**
 * HorizontalPodAutoscaler: scales replicas by metrics, within bounds. autoscaling/v2 is stored; autoscaling/v1 is a view with fewer fields,
 * and the rest in annotations (horizontal-pod-autoscaler/convert.ts). Not here: measuring and scaling
 * (controllers/horizontal-pod-autoscaler).
 */
import { withChanges } from "../changes.ts";
import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerStatus } from "../generated/autoscaling/v2.ts";
import { absentList, listOrAbsent } from "../members.ts";
import { ageColumn, nameColumn, textColumn, UNSET } from "../machinery/columns.ts";
import { defineResource } from "../machinery/resource.ts";
import { toV1, toV2 } from "./horizontal-pod-autoscaler/convert.ts";
import { defaultV1, defaultV2 } from "./horizontal-pod-autoscaler/defaults.ts";
import { targetsCell } from "./horizontal-pod-autoscaler/targets-cell.ts";
import { validateAutoscaler, validateAutoscalerStatus } from "./horizontal-pod-autoscaler/validate.ts";

export const horizontalPodAutoscalers = defineResource<HorizontalPodAutoscaler>({
  kind: "HorizontalPodAutoscaler",
  plural: "horizontalpodautoscalers",
  singular: "horizontalpodautoscaler",
  shortNames: ["hpa"],
  categories: ["all"],
  scope: "Namespaced",
  served: [
    {
      group: "autoscaling",
      version: "v2",
      schema: "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler",
      defaults: (autoscaler: HorizontalPodAutoscaler) => withChanges(defaultV2(autoscaler), { status: withMetrics(autoscaler.status) }),
    },
    {
      group: "autoscaling",
      version: "v1",
      schema: "io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler",
      defaults: defaultV1,
      toStorage: toV2,
      fromStorage: toV1,
    },
  ],
  storage: { group: "autoscaling", version: "v2" },

  prepareForCreate: (autoscaler) => ({ ...autoscaler, status: { desiredReplicas: 0, currentMetrics: absentList } }),
  prepareForUpdate: (next, previous) => withChanges(next, { status: previous.status }),

  validate: validateAutoscaler,

  subresources: {
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      prepareForUpdate: (next, previous) => withChanges(next, { spec: previous.spec, status: withMetrics(next.status) }),
      validateUpdate: validateAutoscalerStatus,
    },
  },

  columns: [
    nameColumn,
    textColumn("Reference", "Scaled object", ({ spec }) => `${spec.scaleTargetRef.kind}/${spec.scaleTargetRef.name}`),
    textColumn("Targets", "Current and target metric values", ({ spec, status }) =>
      targetsCell(spec.metrics ?? [], status?.currentMetrics ?? []),
    ),
    textColumn("MinPods", "Minimum number of replicas", ({ spec }) => spec.minReplicas?.toString() ?? UNSET),
    textColumn("MaxPods", "Maximum number of replicas", ({ spec }) => spec.maxReplicas),
    textColumn("Replicas", "Current number of replicas", ({ status }) => status?.currentReplicas ?? 0),
    ageColumn,
  ],
});

/** Current metrics are always written, also if none exist. */
function withMetrics(status: HorizontalPodAutoscalerStatus | undefined): HorizontalPodAutoscalerStatus | undefined {
  return status === undefined ? undefined : withChanges(status, { currentMetrics: listOrAbsent(status.currentMetrics) });
}
