/**
 * What a Pod tells its containers about itself (the downward API): fields of the Pod and amounts of a container, as texts. Variables may
 * have all of it; files of volumes only what is in the Pod's metadata, and amounts. The words of the errors are upstream's; whoever asked
 * says what they mean for it (a container that cannot be made, a volume that cannot be mounted).
 * Not here: making variables (environment.ts) or files (volumes) of it.
 */
import type { ObjectFieldSelector, Pod, ResourceFieldSelector } from "../../api/generated/core/v1.ts";
import type { AnyContainer } from "../../api/core/v1/pod/containers.ts";
import { isHugePages, isPodLevelResource, readQuantity, type ResourceList } from "../../api/core/v1/pod/resource-list.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { validateQualifiedName } from "../../api/machinery/names.ts";
import { isZero, quantityMilliValue, quantityToNumber, type Quantity } from "../../api/machinery/quantity.ts";
import { parseIp } from "../../api/machinery/ip-address.ts";

export class DownwardError extends Error {
  override readonly name = "DownwardError";
}

// ── fields of the Pod ───────────────────────────────────────────────────────────────────────────────

export interface PodAddresses {
  /** Of the Pod; in the node's own network: the node's. */
  readonly podIps: readonly string[];
  /** Of the node, the main one first. */
  readonly hostIps: readonly string[];
}

/** What upstream knows by name but does not tell: asking for it is a mistake of another kind. */
const NAMED_BUT_UNTOLD = ["spec.restartPolicy", "spec.schedulerName", "status.phase"];
const OF_METADATA = ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];

/** The value of an environment variable with a `fieldRef`. */
export function variableField({ apiVersion = "v1", fieldPath }: ObjectFieldSelector, pod: Pod, { podIps, hostIps }: PodAddresses): string {
  if (apiVersion !== "v1") throw new DownwardError(`unsupported pod version: ${apiVersion}`);
  const ips = inOrderOfNode(podIps, hostIps);
  switch (fieldPath) {
    case "spec.nodeName":
    // A name that very old clients use.
    case "spec.host":
      return pod.spec?.nodeName ?? "";
    case "spec.serviceAccountName":
      return pod.spec?.serviceAccountName ?? "";
    case "status.hostIP":
      return hostIps[0] ?? "";
    case "status.hostIPs":
      return hostIps.join(",");
    case "status.podIP":
      return ips[0] ?? "";
    case "status.podIPs":
      return ips.join(",");
    default:
      return metadataField(fieldPath, pod);
  }
}

function metadataField(fieldPath: string, pod: Pod): string {
  const { path, key } = withSubscript(fieldPath);
  if (key !== undefined && path !== "metadata.annotations" && path !== "metadata.labels")
    throw new DownwardError(`field label does not support subscript: ${fieldPath}`);
  if (key === undefined && !OF_METADATA.includes(path) && !NAMED_BUT_UNTOLD.includes(path))
    throw new DownwardError(`field label not supported: ${fieldPath}`);
  return fileField(fieldPath, pod);
}

/** The content of a volume's file with a `fieldRef`. */
export function fileField(fieldPath: string, { metadata }: Pod): string {
  const { path, key } = withSubscript(fieldPath);
  if (key !== undefined) return memberOf(metadata, { fieldPath, path, key });
  switch (path) {
    case "metadata.annotations":
      return formatMap(metadata.annotations);
    case "metadata.labels":
      return formatMap(metadata.labels);
    case "metadata.name":
      return metadata.name;
    case "metadata.namespace":
      return metadata.namespace ?? "";
    case "metadata.uid":
      return metadata.uid ?? "";
    default:
      throw new DownwardError(`unsupported fieldPath: ${fieldPath}`);
  }
}

interface Subscripted {
  readonly fieldPath: string;
  readonly path: string;
  readonly key: string;
}

/** A key that the Pod does not have reads as nothing. */
function memberOf({ annotations, labels }: Pod["metadata"], { fieldPath, path, key }: Subscripted): string {
  if (path !== "metadata.annotations" && path !== "metadata.labels")
    throw new DownwardError(`fieldPath ${quoteGo(fieldPath)} does not support subscript`);
  const isAnnotation = path === "metadata.annotations";
  const wrong = validateQualifiedName(isAnnotation ? key.toLowerCase() : key);
  if (wrong.length > 0) throw new DownwardError(`invalid key subscript in ${fieldPath}: ${wrong.join(";")}`);
  const members = (isAnnotation ? annotations : labels) ?? {};
  return Object.hasOwn(members, key) ? (members[key] ?? "") : "";
}

/** "metadata.labels['app']" is the path "metadata.labels" and the key "app". */
function withSubscript(fieldPath: string): { readonly path: string; readonly key?: string } {
  const start = fieldPath.indexOf("['");
  if (start <= 0 || !fieldPath.endsWith("']")) return { path: fieldPath };
  return { path: fieldPath.slice(0, start), key: fieldPath.slice(start + 2, -2) };
}

/** `key="value"`, one a line, by key. */
export function formatMap(map: Readonly<Record<string, string>> = {}): string {
  return Object.keys(map)
    .toSorted()
    .map((key) => `${key}=${quoteGo(map[key] ?? "")}`)
    .join("\n");
}

/** At most one of each family, that of the node's main address first: whatever order the network made them in. */
export function inOrderOfNode(podIps: readonly string[], hostIps: readonly string[]): readonly string[] {
  const family = familyOf(hostIps[0]) ?? 4;
  const first = podIps.find((ip) => familyOf(ip) === family);
  const second = podIps.find((ip) => familyOf(ip) !== family);
  return [first, second].filter((ip) => ip !== undefined);
}

function familyOf(ip: string | undefined): 4 | 6 | undefined {
  return ip === undefined ? undefined : parseIp(ip)?.family;
}

// ── amounts of a container ──────────────────────────────────────────────────────────────────────────

/** What a container without a limit may have at most counts as its limit. Huge pages always have one of their own. */
const LIMITED_BY_NODE = ["cpu", "memory", "ephemeral-storage"];

/** The value of an environment variable with a `resourceFieldRef`: of its own container, or of another by name. */
export function variableAmount(
  selector: ResourceFieldSelector,
  { pod, container, allocatable }: { readonly pod: Pod; readonly container: AnyContainer; readonly allocatable: ResourceList },
): string {
  const most = withPodLimits(allocatable, pod.spec?.resources?.limits);
  const name = selector.containerName ?? "";
  if (name === "") return amountOf(selector, withLimits(container, most));
  const other = containerNamed(pod, name);
  // Upstream fills in no limits of init containers that are asked for by name.
  return amountOf(selector, pod.spec?.containers?.includes(other) === true ? withLimits(other, most) : other);
}

/** The content of a volume's file with a `resourceFieldRef`, which always names the container. */
export function fileAmount(selector: ResourceFieldSelector, pod: Pod, allocatable: ResourceList): string {
  return amountOf(selector, withLimits(containerNamed(pod, selector.containerName ?? ""), allocatable));
}

function containerNamed({ spec }: Pod, name: string) {
  const found = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].find((container) => container.name === name);
  if (found === undefined) throw new DownwardError(`container ${name} not found`);
  return found;
}

/** What the Pod as a whole may have is less than what the node has. */
function withPodLimits(allocatable: ResourceList, limits: ResourceList = {}): ResourceList {
  const most = new Map(Object.entries(allocatable));
  for (const [name, text] of Object.entries(limits)) {
    if (LIMITED_BY_NODE.includes(name) && isPodLevelResource(name) && most.has(name) && !isZero(readQuantity(text))) most.set(name, text);
  }
  return Object.fromEntries(most);
}

function withLimits(container: AnyContainer, most: ResourceList): AnyContainer {
  const limits = new Map(Object.entries(container.resources?.limits ?? {}));
  for (const name of LIMITED_BY_NODE) {
    const limit = most[name];
    if (limit !== undefined && isZero(readQuantity(limits.get(name) ?? "0"))) limits.set(name, limit);
  }
  return { ...container, resources: { ...container.resources, limits: Object.fromEntries(limits) } };
}

/** So many of the divisor as cover it: 1250m of cpu are 2. */
function amountOf({ resource, divisor = "0" }: ResourceFieldSelector, { resources }: AnyContainer): string {
  const [, part, name] = /^(limits|requests)\.(.+)$/.exec(resource) ?? [];
  if ((part !== "limits" && part !== "requests") || name === undefined || !(LIMITED_BY_NODE.includes(name) || isHugePages(name)))
    throw new DownwardError(`unsupported container resource : ${resource}`);
  const list = resources?.[part] ?? {};
  const amount = readQuantity(Object.hasOwn(list, name) ? (list[name] ?? "0") : "0");
  const unit = isZero(readQuantity(divisor)) ? readQuantity("1") : readQuantity(divisor);
  const valueOf: (quantity: Quantity) => number = name === "cpu" ? quantityMilliValue : quantityToNumber;
  return BigInt(Math.ceil(valueOf(amount) / valueOf(unit))).toString();
}
