/** Checks one container, Pod or claim against the constraints of a LimitRange, with upstream's messages. Returns all violations. */
import type { LimitRange, LimitRangeItem, PersistentVolumeClaim, Pod, ResourceRequirements } from "../../../api/generated/core/v1.ts";
import { aggregateOverContainers, readQuantity, type ResourceList } from "../../../api/core/v1/pod/resource-list.ts";
import { formatQuantity, quantityOf, scaledValue, type Quantity } from "../../../api/machinery/quantity.ts";

const MILLI = -3;
/** Above this upstream compares whole units: thousandths would overflow. */
const MILLI_COMPARED_MAX = (2n ** 63n - 1n) / 1_000n;
const ZERO = quantityOf(0);

/** Requests and limits. */
type Demand = Pick<ResourceRequirements, "requests" | "limits">;

export function podViolations({ spec }: LimitRange, pod: Pod): readonly string[] {
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  return (spec?.limits ?? []).flatMap((item) => {
    if (item.type === "Container") return containers.flatMap(({ resources = {} }) => violations(item, resources));
    return item.type === "Pod" ? violations(item, podDemand(pod)) : [];
  });
}

/** Only the requests of a claim count; its limits have no meaning. */
export function claimViolations({ spec }: LimitRange, { spec: claim }: PersistentVolumeClaim): readonly string[] {
  const requests = claim?.resources?.requests ?? {};
  return (spec?.limits ?? []).flatMap((item) => {
    if (item.type !== "PersistentVolumeClaim") return [];
    const below = sorted(item.min).map(([name, limit]) => belowMin(item.type, name, limit, { requests }));
    const above = sorted(item.max).map(([name, limit]) => aboveMaxRequest(item.type, name, limit, { requests }));
    return [...below, ...above].filter((sentence) => sentence !== undefined);
  });
}

function violations({ type, min, max, maxLimitRequestRatio }: LimitRangeItem, demand: Demand): readonly string[] {
  const found = [
    ...sorted(min).map(([name, limit]) => belowMin(type, name, limit, demand)),
    ...sorted(max).map(([name, limit]) => aboveMax(type, name, limit, demand)),
    ...sorted(maxLimitRequestRatio).map(([name, limit]) => aboveRatio(type, name, limit, demand)),
  ];
  return found.filter((sentence) => sentence !== undefined);
}

/** Upstream iterates a Go map, so the order is unspecified; here it is sorted by name. */
function sorted(list: ResourceList = {}): readonly (readonly [string, string])[] {
  return Object.entries(list).toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** Based on desired, not allocated resources; Pod-level resources count for cpu and memory only, without overhead. */
function podDemand({ spec }: Pod): Demand {
  const whole = (part: "requests" | "limits"): ResourceList => {
    const sums = [...aggregateOverContainers(spec ?? { containers: [] }, part)].map(([name, sum]) => [name, formatQuantity(sum)] as const);
    const own = Object.entries(spec?.resources?.[part] ?? {}).filter(([name]) => name === "cpu" || name === "memory");
    return Object.fromEntries([...sums, ...own]);
  };
  return { requests: whole("requests"), limits: whole("limits") };
}

interface Compared {
  readonly request: Quantity | undefined;
  readonly limit: Quantity | undefined;
  readonly enforced: Quantity;
  /** Both as integers of the same unit. */
  readonly values: { readonly request: bigint; readonly limit: bigint; readonly enforced: bigint };
}

function compared(name: string, enforcedText: string, { requests = {}, limits = {} }: Demand): Compared {
  const [request, limit] = [requests, limits].map((list) => (Object.hasOwn(list, name) ? readQuantity(list[name] ?? "0") : undefined));
  const enforced = readQuantity(enforcedText);
  const all = [request ?? ZERO, limit ?? ZERO, enforced];
  const exponent = all.every((quantity) => scaledValue(quantity, 0) <= MILLI_COMPARED_MAX) ? MILLI : 0;
  const [asked, allowed, bound] = all.map((quantity) => scaledValue(quantity, exponent)) as [bigint, bigint, bigint];
  return { request, limit, enforced, values: { request: asked, limit: allowed, enforced: bound } };
}

function belowMin(type: string, name: string, bound: string, demand: Demand): string | undefined {
  const { request, limit, enforced, values } = compared(name, bound, demand);
  const sentence = `minimum ${name} usage per ${type} is ${formatQuantity(enforced)}`;
  if (request === undefined) return `${sentence}.  No request is specified`;
  if (values.request < values.enforced) return `${sentence}, but request is ${formatQuantity(request)}`;
  if (limit !== undefined && values.limit < values.enforced) return `${sentence}, but limit is ${formatQuantity(limit)}`;
  return undefined;
}

function aboveMax(type: string, name: string, bound: string, demand: Demand): string | undefined {
  const { request, limit, enforced, values } = compared(name, bound, demand);
  const sentence = `maximum ${name} usage per ${type} is ${formatQuantity(enforced)}`;
  if (limit === undefined) return `${sentence}.  No limit is specified`;
  if (values.limit > values.enforced) return `${sentence}, but limit is ${formatQuantity(limit)}`;
  if (request !== undefined && values.request > values.enforced) return `${sentence}, but request is ${formatQuantity(request)}`;
  return undefined;
}

function aboveMaxRequest(type: string, name: string, bound: string, demand: Demand): string | undefined {
  const { request, enforced, values } = compared(name, bound, demand);
  const sentence = `maximum ${name} usage per ${type} is ${formatQuantity(enforced)}`;
  if (request === undefined) return `${sentence}.  No request is specified`;
  return values.request > values.enforced ? `${sentence}, but request is ${formatQuantity(request)}` : undefined;
}

function aboveRatio(type: string, name: string, bound: string, demand: Demand): string | undefined {
  const { request, limit, enforced, values } = compared(name, bound, demand);
  const sentence = `${name} max limit to request ratio per ${type} is ${formatQuantity(enforced)}`;
  if (request === undefined || values.request === 0n) return `${sentence}, but no request is specified or request is 0`;
  if (limit === undefined || values.limit === 0n) return `${sentence}, but no limit is specified or limit is 0`;
  const ratio = Number(values.limit) / Number(values.request);
  const isFine = scaledValue(enforced, 0) <= MILLI_COMPARED_MAX;
  const isAbove = isFine ? ratio * 1_000 > Number(scaledValue(enforced, MILLI)) : ratio > Number(scaledValue(enforced, 0));
  return isAbove ? `${sentence}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}
