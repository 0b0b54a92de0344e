/** Validation of `/status`, which the kubelet, the scheduler and others write. */
import type {
  Container,
  ContainerStatus,
  Pod,
  PodCondition,
  PodExtendedResourceClaimStatus,
  PodResourceClaimStatus,
  PodSpec,
  PodStatus,
  ResourceStatus,
} from "../../../../generated/core/v1.ts";
import {
  duplicate,
  forbidden,
  immutable,
  internalFieldError,
  invalid,
  notSupported,
  required,
  tooLong,
  type FieldError,
} from "../../../../machinery/field-error.ts";
import { parseSloppyIp, unmapIp } from "../../../../machinery/ip-address.ts";
import { validateLegacyIp } from "../../../../machinery/ip-validation.ts";
import { firstByName } from "../containers.ts";
import { dnsLabel, dnsSubdomain, groupId, qualifiedName, userId } from "./checks.ts";
import { validateAnnotationUpdates } from "./update.ts";
import { validatePodAnnotations } from "./annotations.ts";
import { specOf } from "./pod.ts";
import { validateStateTransitions } from "./transitions.ts";

const SYSTEM_CONDITIONS: ReadonlySet<string> = new Set(["PodScheduled", "Ready", "Initialized"]);
const HEALTH = ["Healthy", "Unhealthy", "Unknown"];
const HEALTH_MESSAGE_LENGTH_MAX_BYTES = 1_024;

export function* validateStatusUpdate(next: Pod, previous: Pod): Iterable<FieldError> {
  const [status, before] = [next.status ?? {}, previous.status ?? {}];
  const [annotations, annotationsBefore] = [next.metadata.annotations ?? {}, previous.metadata.annotations ?? {}];
  yield* validateAnnotationUpdates(annotations, annotationsBefore);
  if (annotations !== annotationsBefore) yield* validatePodAnnotations(annotations, specOf(next), "metadata.annotations");
  yield* validateConditions(status.conditions ?? [], "status.conditions");
  yield* validateNominatedNode(status, before, specOf(previous));
  if ((status.observedGeneration ?? 0) < 0) {
    yield invalid("status.observedGeneration", status.observedGeneration, "must be a non-negative integer");
  }
  if (status.qosClass !== before.qosClass) yield immutable("status.qosClass", status.qosClass ?? "");
  yield* validateStateTransitions(status, before, specOf(previous));
  yield* validateClaimStatuses(status.resourceClaimStatuses ?? [], specOf(next), "status.resourceClaimStatuses");
  if (status.extendedResourceClaimStatus !== undefined) {
    yield* validateExtendedClaim(status.extendedResourceClaimStatus, specOf(next), "status.extendedResourceClaimStatus");
  }
  yield* validateAddresses(status.podIPs ?? [], before.podIPs ?? [], "status.podIPs");
  yield* validateHostAddresses(status, before);
  yield* validateContainerStatuses(status, specOf(next));
}

function* validateConditions(conditions: readonly PodCondition[], at: string): Iterable<FieldError> {
  for (const [index, { type = "", observedGeneration }] of conditions.entries()) {
    if ((observedGeneration ?? 0) < 0) {
      yield invalid(`${at}[${index}].observedGeneration`, observedGeneration, "must be a non-negative integer");
    }
    if (!SYSTEM_CONDITIONS.has(type)) yield* qualifiedName(type, `${at}[${index}].Type`);
  }
}

/** The nominated node of an unscheduled Pod. */
function* validateNominatedNode(status: PodStatus, before: PodStatus, spec: PodSpec): Iterable<FieldError> {
  const { nominatedNodeName } = status;
  if (!nominatedNodeName || nominatedNodeName === before.nominatedNodeName) return;
  const at = "status.nominatedNodeName";
  yield* dnsSubdomain(nominatedNodeName, at);
  if (spec.nodeName) yield forbidden(at, "may not be set on pods that are already bound to a node");
}

function* validateClaimStatuses(statuses: readonly PodResourceClaimStatus[], spec: PodSpec, at: string): Iterable<FieldError> {
  const known = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  const seen = new Set<string>();
  for (const [index, { name, resourceClaimName }] of statuses.entries()) {
    const here = `${at}[${index}]`;
    if (!known.has(name)) {
      yield invalid(`${here}.name`, name, "must match the name of an entry in `spec.resourceClaims`");
    }
    if (seen.has(name)) yield duplicate(`${here}.name`, name);
    seen.add(name);
    if (resourceClaimName !== undefined) yield* dnsSubdomain(resourceClaimName, `${here}.resourceClaimName`);
  }
}

function* validateExtendedClaim(
  { requestMappings, resourceClaimName }: PodExtendedResourceClaimStatus,
  spec: PodSpec,
  at: string,
): Iterable<FieldError> {
  const here = `${at}.requestMappings`;
  if ((requestMappings ?? []).length === 0) yield required(here, "at least one request mapping is required");
  const containers = firstByName([...(spec.containers ?? []), ...(spec.initContainers ?? [])]);
  const seen = new Set<string>();
  for (const [index, mapping] of (requestMappings ?? []).entries()) {
    const { containerName, resourceName, requestName } = mapping;
    yield* validateMappedContainer(containers, mapping, `${here}[${index}]`);
    yield* dnsLabel(requestName ?? "", `${at}.requestName`);
    const key = JSON.stringify([containerName, resourceName, requestName]);
    if (seen.has(key)) {
      for (const member of ["containerName", "resourceName", "requestName"] as const) {
        yield duplicate(`${here}[${index}].${member}`, mapping[member]);
      }
    }
    seen.add(key);
  }
  if (!resourceClaimName) yield required(`${at}.resourceClaimName`);
  else yield* dnsSubdomain(resourceClaimName, `${at}.resourceClaimName`);
}

function* validateMappedContainer(
  containers: ReadonlyMap<string, Container>,
  { containerName, resourceName }: { readonly containerName: string; readonly resourceName: string },
  at: string,
): Iterable<FieldError> {
  const container = containers.get(containerName);
  if (container === undefined) {
    const why = "must match the name of an entry in spec.initContainers.name or spec.containers.name";
    return yield invalid(`${at}.containerName`, containerName, why);
  }
  if (Object.hasOwn(container.resources?.requests ?? {}, resourceName)) return;
  const why =
    "must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests";
  yield invalid(`${at}.resourceName`, resourceName, why);
}

interface Address {
  readonly ip: string;
}

/** At most one of each IP family. Existing addresses remain valid. */
function* validateAddresses(addresses: readonly Address[], before: readonly Address[], at: string): Iterable<FieldError> {
  const previous = new Set(before.map(({ ip }) => ip));
  for (const [index, { ip = "" }] of addresses.entries()) {
    if (previous.has(ip)) continue;
    for (const problem of validateLegacyIp(ip, { strict: true })) yield invalid(`${at}[${index}]`, ip, problem);
  }
  if (addresses.length < 2) return;
  const families = addresses.map(({ ip }) => familyOf(ip));
  const unknown = families.indexOf(undefined);
  if (unknown !== -1) {
    yield internalFieldError(at, `failed to check for dual stack with error:invalid IP[${unknown}]: ${addresses[unknown]?.ip ?? ""}`);
  } else if (families.length === 2 && families[0] !== families[1]) return;
  const shown = addresses.map(({ ip }) => ({ IP: ip }));
  yield invalid(at, shown, "may specify no more than one IP for each IP family");
}

/** An IPv4-mapped IPv6 address is of family IPv4. */
function familyOf(ip: string): number | undefined {
  const address = parseSloppyIp(ip);
  return address && unmapIp(address).family;
}

function* validateHostAddresses({ hostIP, hostIPs = [] }: PodStatus, before: PodStatus): Iterable<FieldError> {
  const [first] = hostIPs;
  if (first === undefined) return;
  if ((hostIP ?? "") !== first.ip) yield invalid("status.hostIPs[0].ip", first.ip, "must be equal to `hostIP`");
  yield* validateAddresses(hostIPs, before.hostIPs ?? [], "status.hostIPs");
}

function* validateContainerStatuses(status: PodStatus, spec: PodSpec): Iterable<FieldError> {
  for (const member of ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] as const) {
    for (const [index, each] of (status[member] ?? []).entries()) yield* validateUser(each, spec, `status.${member}[${index}].user.linux`);
  }
  for (const [member, containers] of [
    ["containerStatuses", spec.containers],
    ["initContainerStatuses", spec.initContainers],
  ] as const) {
    const byName = firstByName(containers ?? []);
    for (const [index, each] of (status[member] ?? []).entries()) {
      yield* validateAllocated(
        each.allocatedResourcesStatus ?? [],
        byName.get(each.name),
        `status.${member}[${index}].allocatedResourcesStatus`,
      );
    }
  }
  for (const [index, { allocatedResourcesStatus }] of (status.ephemeralContainerStatuses ?? []).entries()) {
    if ((allocatedResourcesStatus ?? []).length === 0) continue;
    const at = `status.ephemeralContainerStatuses[${index}].allocatedResourcesStatus`;
    yield forbidden(at, "must not be specified in container status");
  }
}

function* validateUser({ user }: ContainerStatus, spec: PodSpec, at: string): Iterable<FieldError> {
  if (user?.linux === undefined) return;
  if (spec.os?.name === "windows") return yield forbidden(at, "cannot be set for a windows pod");
  const { uid, gid, supplementalGroups } = user.linux;
  yield* userId(uid, `${at}.uid`);
  yield* groupId(gid, `${at}.gid`);
  for (const [index, group] of (supplementalGroups ?? []).entries()) yield* groupId(group, `${at}.supplementalGroups[${index}]`);
}

/** Health of the devices of a container. */
function* validateAllocated(statuses: readonly ResourceStatus[], container: Container | undefined, at: string): Iterable<FieldError> {
  const claims = new Set((container?.resources?.claims ?? []).map(({ name, request }) => `claim:${name}${request ? `/${request}` : ""}`));
  for (const [index, { name, resources }] of statuses.entries()) {
    if (container !== undefined) yield* validateAllocatedName(name, container, claims, `${at}[${index}].name`);
    const seen = new Set<string>();
    for (const [position, { resourceID, health = "", message }] of (resources ?? []).entries()) {
      const here = `${at}[${index}].resources[${position}]`;
      if (!HEALTH.includes(health)) yield notSupported(`${here}.health`, health, HEALTH);
      if (message === "") yield required(`${here}.message`, "must be non-empty if specified");
      else if (message !== undefined && new TextEncoder().encode(message).length > HEALTH_MESSAGE_LENGTH_MAX_BYTES) {
        yield tooLong(`${here}.message`, HEALTH_MESSAGE_LENGTH_MAX_BYTES);
      }
      if (seen.has(resourceID)) yield duplicate(`${here}.resourceID`, resourceID);
      seen.add(resourceID);
    }
  }
}

function* validateAllocatedName(name: string, { resources }: Container, claims: ReadonlySet<string>, at: string): Iterable<FieldError> {
  if (!name.startsWith("claim:")) {
    if (!Object.hasOwn(resources?.requests ?? {}, name)) yield invalid(at, name, "must match one of the container's resource requests");
    return;
  }
  if (claims.has(name)) return;
  const why =
    "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
  yield invalid(at, name, why);
}
