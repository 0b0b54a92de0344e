/** Table cell of current and target metrics: "cpu: 40%/50%, 3/2k + 1 more...". */
import type { MetricSpec, MetricStatus, MetricTarget, MetricValueStatus } from "../../generated/autoscaling/v2.ts";
import { NONE, UNKNOWN } from "../../machinery/columns.ts";

const SHOWN_MAX = 2;

export function targetsCell(metrics: readonly MetricSpec[], current: readonly MetricStatus[]): string {
  if (metrics.length === 0) return NONE;
  const shown = metrics.slice(0, SHOWN_MAX).map((metric, index) => targetText(metric, current[index]));
  const more = metrics.length - shown.length;
  return more > 0 ? `${shown.join(", ")} + ${more} more...` : shown.join(", ");
}

function targetText(metric: MetricSpec, status: MetricStatus | undefined): string {
  const { external, pods, object, resource, containerResource } = metric;
  switch (metric.type) {
    case "External":
      return valueText(external?.target, status?.external?.current);
    case "Object":
      return valueText(object?.target, status?.object?.current);
    case "Pods":
      return `${status?.pods?.current.averageValue ?? UNKNOWN}/${pods?.target.averageValue ?? NONE}`;
    case "Resource":
      return `${resource?.name}: ${resourceText(resource?.target, status?.resource?.current)}`;
    case "ContainerResource":
      return `${containerResource?.name}: ${resourceText(containerResource?.target, status?.containerResource?.current)}`;
    default:
      return "<unknown type>";
  }
}

function valueText(target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) return `${current?.averageValue ?? UNKNOWN}/${target.averageValue} (avg)`;
  return `${current?.value ?? UNKNOWN}/${target?.value ?? NONE}`;
}

function resourceText(target: MetricTarget | undefined, current: MetricValueStatus | undefined): string {
  if (target?.averageValue !== undefined) return `${current?.averageValue ?? UNKNOWN}/${target.averageValue}`;
  const share = current?.averageUtilization === undefined ? UNKNOWN : `${current.averageUtilization}%`;
  return `${share}/${target?.averageUtilization === undefined ? "<auto>" : `${target.averageUtilization}%`}`;
}
