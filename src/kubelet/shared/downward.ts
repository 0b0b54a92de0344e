/**
 * The downward API: Pod fields and container resources as texts. Environment variables support all of them; volume files only metadata
 * fields and resources. Error messages are upstream's; the caller decides their effect (container not created, volume not mounted). Not
 * here: building variables (environment.ts) or files (volumes).
 */
import type { ObjectFieldSelector, Pod, ResourceFieldSelector } from "../../api/generated/core/v1.ts";
import type { AnyContainer } from "../../api/core/v1/pod/containers.ts";
import { isHugePages, isPodLevelResource, readQuantity, type ResourceList } from "../../api/core/v1/pod/resource-list.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { validateQualifiedName } from "../../api/machinery/names.ts";
import { isZero, quantityMilliValue, quantityToNumber, type Quantity } from "../../api/machinery/quantity.ts";
import { parseIp } from "../../api/machinery/ip/ip-address.ts";

export class DownwardError extends Error {
  override readonly name = "DownwardError";
}

// ── Pod fields ──────────────────────────────────────────────────────────────────────────────────────

export interface PodAddresses {
  /** Pod IPs; with hostNetwork: the node's. */
  readonly podIps: readonly string[];
  /** Addresses of the node, the primary one first. */
  readonly hostIps: readonly string[];
}

/** Fields that upstream recognizes but does not support here: requesting one is a different error. */
const UNSUPPORTED_FIELDS = ["spec.restartPolicy", "spec.schedulerName", "status.phase"];
const OF_METADATA = ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];

/** Value of an environment variable with a `fieldRef`. */
export function variableField({ apiVersion = "v1", fieldPath }: ObjectFieldSelector, pod: Pod, { podIps, hostIps }: PodAddresses): string {
  if (apiVersion !== "v1") throw new DownwardError(`unsupported pod version: ${apiVersion}`);
  const ips = inOrderOfNode(podIps, hostIps);
  switch (fieldPath) {
    case "spec.nodeName":
    // Alias that very old clients use.
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
  if (key === undefined && !OF_METADATA.includes(path) && !UNSUPPORTED_FIELDS.includes(path))
    throw new DownwardError(`field label not supported: ${fieldPath}`);
  return fileField(fieldPath, pod);
}

/** Content of a volume file with a `fieldRef`. */
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

/** A missing key is an empty text. */
function memberOf({ annotations, labels }: Pod["metadata"], { fieldPath, path, key }: Subscripted): string {
  if (path !== "metadata.annotations" && path !== "metadata.labels")
    throw new DownwardError(`fieldPath ${quoteGo(fieldPath)} does not support subscript`);
  const isAnnotation = path === "metadata.annotations";
  const wrong = validateQualifiedName(isAnnotation ? key.toLowerCase() : key);
  if (wrong.length > 0) throw new DownwardError(`invalid key subscript in ${fieldPath}: ${wrong.join(";")}`);
  const members = (isAnnotation ? annotations : labels) ?? {};
  return Object.hasOwn(members, key) ? (members[key] ?? "") : "";
}

/** Splits "metadata.labels['app']" into the path "metadata.labels" and the key "app". */
function withSubscript(fieldPath: string): { readonly path: string; readonly key?: string } {
  const start = fieldPath.indexOf("['");
  if (start <= 0 || !fieldPath.endsWith("']")) return { path: fieldPath };
  return { path: fieldPath.slice(0, start), key: fieldPath.slice(start + 2, -2) };
}

/** Formats `key="value"` lines, sorted by key. */
export function formatMap(map: Readonly<Record<string, string>> = {}): string {
  return Object.keys(map)
    .toSorted()
    .map((key) => `${key}=${quoteGo(map[key] ?? "")}`)
    .join("\n");
}

/** At most one address per family, the family of the node's primary address first, regardless of the network's order. */
export function inOrderOfNode(podIps: readonly string[], hostIps: readonly string[]): readonly string[] {
  const family = familyOf(hostIps[0]) ?? 4;
  const first = podIps.find((ip) => familyOf(ip) === family);
  const second = podIps.find((ip) => familyOf(ip) !== family);
  return [first, second].filter((ip) => ip !== undefined);
}

function familyOf(ip: string | undefined): 4 | 6 | undefined {
  return ip === undefined ? undefined : parseIp(ip)?.family;
}

// ── container resources ─────────────────────────────────────────────────────────────────────────────

/** A missing limit defaults to what the container can use at most. Huge pages always have a limit of their own. */
const LIMITED_BY_NODE = ["cpu", "memory", "ephemeral-storage"];

/** Value of an environment variable with a `resourceFieldRef`: of its own container, or of another by name. */
export function variableAmount(
  selector: ResourceFieldSelector,
  { pod, container, allocatable }: { readonly pod: Pod; readonly container: AnyContainer; readonly allocatable: ResourceList },
): string {
  const most = withPodLimits(allocatable, pod.spec?.resources?.limits);
  const name = selector.containerName ?? "";
  if (name === "") return amountOf(selector, withLimits(container, most));
  const other = containerNamed(pod, name);
  // Upstream does not default the limits of init containers that are referenced by name.
  return amountOf(selector, pod.spec?.containers?.includes(other) === true ? withLimits(other, most) : other);
}

/** Content of a volume file with a `resourceFieldRef`, which always names the container. */
export function fileAmount(selector: ResourceFieldSelector, pod: Pod, allocatable: ResourceList): string {
  return amountOf(selector, withLimits(containerNamed(pod, selector.containerName ?? ""), allocatable));
}

function containerNamed({ spec }: Pod, name: string) {
  const found = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].find((container) => container.name === name);
  if (found === undefined) throw new DownwardError(`container ${name} not found`);
  return found;
}

/** A Pod-level limit is below the node's allocatable. */
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

/** Rounds up to whole divisors: 1250m of cpu are 2. */
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
