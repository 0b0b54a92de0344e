/**
 * Validation of a Pod's spec, in a Pod or in the template of a workload. The order is upstream's, because all errors are reported at once
 * and people compare lists.
 *
 * Upstream lets an update keep errors that older versions accepted. No older version has written here, so that is not needed.
 */
import type { ObjectMeta } from "../../../../machinery/object.ts";
import type { PodSpec } from "../../../../generated/core/v1.ts";
import { invalid, notFoundField, notSupported, required, type FieldError } from "../../../../machinery/field-error.ts";
import { validateLabels } from "../../../../machinery/metadata-validation.ts";
import { rangeMessage } from "../../../../machinery/names.ts";
import { dnsSubdomain } from "./checks.ts";
import { allContainers, firstByName } from "../containers.ts";
import { validateAffinity } from "./affinity.ts";
import { annotation, MIRROR_ANNOTATION } from "./annotations.ts";
import { validateAllContainers } from "./containers.ts";
import {
  validateDnsConfig,
  validateDnsPolicy,
  validateHostAliases,
  validateHostName,
  validateHostNameOverride,
  validateHostNetworkPorts,
} from "./network.ts";
import { validateContainerResources, validatePodResources } from "./resources.ts";
import {
  validateReadinessGates,
  validateResourceClaims,
  validateSchedulingGates,
  validateTolerations,
  validateTopologySpread,
} from "./scheduling.ts";
import { validateHostUsers, validatePodSecurityContext } from "./security.ts";
import { validateVolumes } from "./volumes.ts";
import { validateHostProcess, validateOperatingSystem } from "./windows.ts";

const RESTART_POLICIES = ["Always", "OnFailure", "Never"];
const PREEMPTION_POLICIES = ["PreemptLowerPriority", "Never"];
/** An int64 in the API; upstream limits it to 31 bits. */
const ACTIVE_DEADLINE_MAX_SECONDS = 2 ** 31 - 1;

/** `pod` is the metadata of the enclosing Pod; absent for a template. */
export function* validatePodSpec(spec: PodSpec, at: string, pod?: ObjectMeta): Iterable<FieldError> {
  const isPod = pod !== undefined;
  if (spec.terminationGracePeriodSeconds === undefined) yield required(`${at}.terminationGracePeriodSeconds`);
  const volumes = validateVolumes(spec.volumes ?? [], `${at}.volumes`, { podName: pod?.name, isPod });
  yield* volumes.errors;
  const isMirror = annotation(pod?.annotations, MIRROR_ANNOTATION) !== undefined;
  yield* validateResourceClaims(spec.resourceClaims ?? [], `${at}.resourceClaims`, { isMirror });
  yield* validateAllContainers(spec, volumes.sound, at);
  if (spec.resources !== undefined) yield* validatePodResources(spec.resources, spec, `${at}.resources`);
  yield* validateHostNetworkPorts(spec, at, { isPod });
  yield* validateRestartPolicy(spec.restartPolicy, `${at}.restartPolicy`);
  yield* validateDnsPolicy(spec.dnsPolicy, `${at}.dnsPolicy`);
  if (spec.nodeSelector !== undefined) yield* validateLabels(spec.nodeSelector, `${at}.nodeSelector`);
  yield* validatePodSecurityContext(spec.securityContext ?? {}, spec, `${at}.securityContext`);
  if (spec.affinity !== undefined) yield* validateAffinity(spec.affinity, `${at}.affinity`);
  yield* validateDnsConfig(spec.dnsConfig, spec.dnsPolicy, `${at}.dnsConfig`);
  if (spec.readinessGates !== undefined) yield* validateReadinessGates(spec.readinessGates, `${at}.readinessGates`);
  if (spec.schedulingGates !== undefined) yield* validateSchedulingGates(spec.schedulingGates, `${at}.schedulingGates`);
  if (spec.topologySpreadConstraints !== undefined) {
    yield* validateTopologySpread(spec.topologySpreadConstraints, `${at}.topologySpreadConstraints`);
  }
  yield* validateHostProcess(spec, at);
  yield* validateHostUsers(spec, at);
  yield* validateHostNameOverride(spec, at);
  yield* validateNamesAndNumbers(spec, at);
  yield* validateOperatingSystem(spec, at);
  yield* validateFilesOfVariables(spec, at);
}

function* validateRestartPolicy(policy: string | undefined, at: string): Iterable<FieldError> {
  if (!policy) yield required(at);
  else if (!RESTART_POLICIES.includes(policy)) yield notSupported(at, policy, RESTART_POLICIES);
}

function* validateNamesAndNumbers(spec: PodSpec, at: string): Iterable<FieldError> {
  const { serviceAccountName, nodeName, activeDeadlineSeconds, priorityClassName, runtimeClassName, preemptionPolicy, overhead } = spec;
  if (serviceAccountName) yield* dnsSubdomain(serviceAccountName, `${at}.serviceAccountName`);
  if (nodeName) yield* dnsSubdomain(nodeName, `${at}.nodeName`);
  if (activeDeadlineSeconds !== undefined && (activeDeadlineSeconds < 1 || activeDeadlineSeconds > ACTIVE_DEADLINE_MAX_SECONDS)) {
    yield invalid(`${at}.activeDeadlineSeconds`, activeDeadlineSeconds, rangeMessage(1, ACTIVE_DEADLINE_MAX_SECONDS));
  }
  yield* validateHostName(spec, at);
  if (spec.tolerations !== undefined) yield* validateTolerations(spec.tolerations, `${at}.tolerations`);
  if (spec.hostAliases !== undefined) yield* validateHostAliases(spec.hostAliases, `${at}.hostAliases`);
  if (priorityClassName) yield* dnsSubdomain(priorityClassName, `${at}.priorityClassName`);
  if (runtimeClassName !== undefined) yield* dnsSubdomain(runtimeClassName, `${at}.runtimeClassName`);
  if (preemptionPolicy !== undefined) yield* validatePreemptionPolicy(preemptionPolicy, `${at}.preemptionPolicy`);
  if (overhead !== undefined) yield* validateContainerResources({ limits: overhead }, new Set(), `${at}.overhead`);
}

export function* validatePreemptionPolicy(policy: string, at: string): Iterable<FieldError> {
  if (policy === "") yield required(at);
  else if (!PREEMPTION_POLICIES.includes(policy)) yield notSupported(at, policy, PREEMPTION_POLICIES);
}

/** A variable may be read from a file only in an emptyDir volume of the Pod. */
function* validateFilesOfVariables(spec: PodSpec, at: string): Iterable<FieldError> {
  if (!allContainers(spec, at).some(({ container }) => container.env?.some(({ valueFrom }) => valueFrom?.fileKeyRef !== undefined))) return;
  const volumes = firstByName(spec.volumes ?? []);
  for (const { container, at: here } of allContainers(spec, at)) {
    for (const [index, { valueFrom }] of (container.env ?? []).entries()) {
      const volumeName = valueFrom?.fileKeyRef?.volumeName;
      if (valueFrom?.fileKeyRef === undefined) continue;
      const volume = volumeName === undefined ? undefined : volumes.get(volumeName);
      const nameAt = `${here}.env[${index}].valueFrom.fileKeyRef.volumeName`;
      if (volume === undefined) yield notFoundField(nameAt, volumeName ?? "");
      else if (volume.emptyDir === undefined) yield invalid(nameAt, volumeName, "referenced volume must be of type emptyDir");
    }
  }
}
