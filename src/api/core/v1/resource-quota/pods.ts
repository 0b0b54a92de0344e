/**
 * Usage of Pods: their number, requests and limits. Finished Pods, and those that are past their deletion deadline, count as stored objects
 * only (`count/pods`).
 */
import type { Container, Pod, PodAffinityTerm, ScopedResourceSelectorRequirement } from "../../../generated/core/v1.ts";
import type { KubeObject } from "../../../machinery/object.ts";
import type { Quantity } from "../../../machinery/quantity.ts";
import { parseTime } from "../../../machinery/time.ts";
import { qosClassOf } from "../pod/qos.ts";
import { isHugePages, isNativeResource } from "../pod/resource-list.ts";
import { isExtendedResource } from "../pod/validation/resources.ts";
import { ONE, amountsOf, type Amounts } from "./amounts.ts";
import { countName, type QuotaEvaluator } from "./evaluator.ts";
import { podLimits, podRequests, saysPodLevel } from "./pod-demand.ts";
import { isSelected } from "./scopes.ts";

const COUNT = countName("", "pods");
/** Usage of a finished Pod. */
const OVER: Amounts = new Map([[COUNT, ONE]]);
const REQUESTS = "requests.";
const LIMITS = "limits.";
/** Requests also have their bare names. */
const COMPUTE: readonly string[] = ["cpu", "memory", "ephemeral-storage"];
const NAMES: readonly string[] = [COUNT, "pods", ...COMPUTE.flatMap((name) => [name, REQUESTS + name, LIMITS + name])];
/** If a quota has one of these, every container must set it: upstream's original rule, regretted but kept. */
const REQUIRED: readonly string[] = ["cpu", "memory"].flatMap((name) => [name, REQUESTS + name, LIMITS + name]);
/** A device class as an extended resource of containers. */
export const DEVICE_CLASS_PREFIX = "deviceclass.resource.kubernetes.io/";

export const podEvaluator: QuotaEvaluator = {
  group: "",
  plural: "pods",
  handles({ operation, subresource, object, oldObject }) {
    if (subresource === "resize") return operation === "UPDATE";
    if (subresource !== "") return false;
    return (
      operation === "CREATE" || (operation === "UPDATE" && oldObject !== undefined && isTerminating(object) !== isTerminating(oldObject))
    );
  },
  namesAmong: (hard) => [...hard].filter(isPodName),
  isInScope,
  whatIsMissing,
  usageOf: (object, { nowMs }) => podUsage(object as Pod, nowMs),
};

/** Usage of unfinished Pods, cached: few Pods of a namespace change between two counts. */
const cached = new WeakMap<Pod, Amounts>();

export function podUsage(pod: Pod, nowMs: number): Amounts {
  if (isOver(pod, nowMs)) return OVER;
  const known = cached.get(pod);
  if (known !== undefined) return known;
  const usage = new Map<string, Quantity>([[COUNT, ONE]]);
  putCompute(usage, podRequests(pod), podLimits(pod));
  cached.set(pod, usage);
  return usage;
}

/** True if this quota name is a request of an extended resource. */
export function isExtendedName(name: string): boolean {
  return name.startsWith(REQUESTS) && (!isNativeResource(name) || name.startsWith(REQUESTS + DEVICE_CLASS_PREFIX));
}

function isPodName(name: string): boolean {
  return NAMES.includes(name) || isHugePages(name) || name.startsWith(`${REQUESTS}hugepages-`) || isExtendedName(name);
}

function putCompute(usage: Map<string, Quantity>, requests: Amounts, limits: Amounts): void {
  usage.set("pods", ONE);
  for (const [name, quantity] of requests) {
    const isPlain = COMPUTE.includes(name) || isHugePages(name);
    if (isPlain) usage.set(name, quantity);
    if (isPlain || isExtendedResource(name) || name.startsWith(DEVICE_CLASS_PREFIX)) usage.set(REQUESTS + name, quantity);
  }
  for (const name of COMPUTE) {
    const limit = limits.get(name);
    if (limit !== undefined) usage.set(LIMITS + name, limit);
  }
}

/** A lost node would keep its Pods counted forever and block replacements. */
function isOver({ metadata, status }: Pod, nowMs: number): boolean {
  if (status?.phase === "Failed" || status?.phase === "Succeeded") return true;
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  if (deletionTimestamp === undefined || deletionGracePeriodSeconds === undefined) return false;
  return nowMs > (parseTime(deletionTimestamp) ?? Infinity) + deletionGracePeriodSeconds * 1_000;
}

function whatIsMissing(object: KubeObject, names: readonly string[]): string | undefined {
  const pod = object as Pod;
  if (saysPodLevel(pod)) return undefined;
  const required = names.filter((name) => REQUIRED.includes(name)).toSorted();
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])].map((one) => [one.name, saidBy(one)] as const);
  const sentences = required.flatMap((name) => {
    const silent = containers.filter(([, said]) => !said.has(name)).map(([container]) => container);
    return silent.length === 0 ? [] : [`${name} for: ${[...new Set(silent)].toSorted().join(",")}`];
  });
  return sentences.length === 0 ? undefined : `must specify ${sentences.join("; ")}`;
}

function saidBy({ resources }: Container): ReadonlySet<string> {
  const said = new Map<string, Quantity>();
  putCompute(said, amountsOf(resources?.requests), amountsOf(resources?.limits));
  return new Set(said.keys());
}

function isInScope(object: KubeObject, scope: ScopedResourceSelectorRequirement): boolean {
  const { spec } = object as Pod;
  switch (scope.scopeName) {
    case "Terminating":
      return isTerminating(object);
    case "NotTerminating":
      return !isTerminating(object);
    case "BestEffort":
      return isBestEffort(object);
    case "NotBestEffort":
      return !isBestEffort(object);
    case "PriorityClass":
      return isSelected(scope, (spec?.priorityClassName ?? "") === "" ? [] : [spec?.priorityClassName ?? ""]);
    case "CrossNamespacePodAffinity":
      return affinityTermsOf(object).some(
        ({ namespaces = [], namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined,
      );
    default:
      return false;
  }
}

/** The Terminating scope as upstream defines it: a Pod with a deadline, not one that is being deleted. */
function isTerminating(object: KubeObject): boolean {
  return ((object as Pod).spec?.activeDeadlineSeconds ?? -1) >= 0;
}

function isBestEffort(object: KubeObject): boolean {
  const { spec, status } = object as Pod;
  return (status?.qosClass ?? qosClassOf(spec ?? { containers: [] })) === "BestEffort";
}

function affinityTermsOf(object: KubeObject): readonly PodAffinityTerm[] {
  const { podAffinity, podAntiAffinity } = (object as Pod).spec?.affinity ?? {};
  return [podAffinity, podAntiAffinity].flatMap((affinity) => [
    ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
  ]);
}
