/**
 * Validation of a Pod's spec, in a Pod or in the template of a workload. The order is upstream's, because all errors are reported at once
 * and people compare lists.
 *
 * Upstream lets an update keep errors that older versions accepted. No older version has written here, so that is not needed.
 */
import type { ObjectMeta } from "../../../../machinery/object.ts";
import type { PodSpec } from "../../../../generated/core/v1.ts";
import { invalid, notFoundField, notSupported, required } from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";
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
export function validatePodSpec(errors: FieldErrors, spec: PodSpec, at: string, pod?: ObjectMeta): void {
  const isPod = pod !== undefined;
  if (spec.terminationGracePeriodSeconds === undefined) errors.add(required(`${at}.terminationGracePeriodSeconds`));
  const volumes = validateVolumes(errors, spec.volumes ?? [], `${at}.volumes`, { podName: pod?.name, isPod });
  const isMirror = annotation(pod?.annotations, MIRROR_ANNOTATION) !== undefined;
  validateResourceClaims(errors, spec.resourceClaims ?? [], `${at}.resourceClaims`, { isMirror });
  validateAllContainers(errors, spec, volumes, at);
  if (spec.resources !== undefined) validatePodResources(errors, spec.resources, spec, `${at}.resources`);
  validateHostNetworkPorts(errors, spec, at, { isPod });
  validateRestartPolicy(errors, spec.restartPolicy, `${at}.restartPolicy`);
  validateDnsPolicy(errors, spec.dnsPolicy, `${at}.dnsPolicy`);
  if (spec.nodeSelector !== undefined) validateLabels(errors, spec.nodeSelector, `${at}.nodeSelector`);
  validatePodSecurityContext(errors, spec.securityContext ?? {}, spec, `${at}.securityContext`);
  if (spec.affinity !== undefined) validateAffinity(errors, spec.affinity, `${at}.affinity`);
  validateDnsConfig(errors, spec.dnsConfig, spec.dnsPolicy, `${at}.dnsConfig`);
  if (spec.readinessGates !== undefined) validateReadinessGates(errors, spec.readinessGates, `${at}.readinessGates`);
  if (spec.schedulingGates !== undefined) validateSchedulingGates(errors, spec.schedulingGates, `${at}.schedulingGates`);
  if (spec.topologySpreadConstraints !== undefined) {
    validateTopologySpread(errors, spec.topologySpreadConstraints, `${at}.topologySpreadConstraints`);
  }
  validateHostProcess(errors, spec, at);
  validateHostUsers(errors, spec, at);
  validateHostNameOverride(errors, spec, at);
  validateNamesAndNumbers(errors, spec, at);
  validateOperatingSystem(errors, spec, at);
  validateFilesOfVariables(errors, spec, at);
}

function validateRestartPolicy(errors: FieldErrors, policy: string | undefined, at: string): void {
  if (!policy) errors.add(required(at));
  else if (!RESTART_POLICIES.includes(policy)) errors.add(notSupported(at, policy, RESTART_POLICIES));
}

function validateNamesAndNumbers(errors: FieldErrors, spec: PodSpec, at: string): void {
  const { serviceAccountName, nodeName, activeDeadlineSeconds, priorityClassName, runtimeClassName, preemptionPolicy, overhead } = spec;
  if (serviceAccountName) errors.addAll(dnsSubdomain(serviceAccountName, `${at}.serviceAccountName`));
  if (nodeName) errors.addAll(dnsSubdomain(nodeName, `${at}.nodeName`));
  if (activeDeadlineSeconds !== undefined && (activeDeadlineSeconds < 1 || activeDeadlineSeconds > ACTIVE_DEADLINE_MAX_SECONDS)) {
    errors.add(invalid(`${at}.activeDeadlineSeconds`, activeDeadlineSeconds, rangeMessage(1, ACTIVE_DEADLINE_MAX_SECONDS)));
  }
  validateHostName(errors, spec, at);
  if (spec.tolerations !== undefined) validateTolerations(errors, spec.tolerations, `${at}.tolerations`);
  if (spec.hostAliases !== undefined) validateHostAliases(errors, spec.hostAliases, `${at}.hostAliases`);
  if (priorityClassName) errors.addAll(dnsSubdomain(priorityClassName, `${at}.priorityClassName`));
  if (runtimeClassName !== undefined) errors.addAll(dnsSubdomain(runtimeClassName, `${at}.runtimeClassName`));
  if (preemptionPolicy !== undefined) validatePreemptionPolicy(errors, preemptionPolicy, `${at}.preemptionPolicy`);
  if (overhead !== undefined) validateContainerResources(errors, { limits: overhead }, new Set(), `${at}.overhead`);
}

export function validatePreemptionPolicy(errors: FieldErrors, policy: string, at: string): void {
  if (policy === "") errors.add(required(at));
  else if (!PREEMPTION_POLICIES.includes(policy)) errors.add(notSupported(at, policy, PREEMPTION_POLICIES));
}

/** A variable may be read from a file only in an emptyDir volume of the Pod. */
function validateFilesOfVariables(errors: FieldErrors, spec: PodSpec, at: string): void {
  if (!allContainers(spec, at).some(({ container }) => container.env?.some(({ valueFrom }) => valueFrom?.fileKeyRef !== undefined))) return;
  const volumes = firstByName(spec.volumes ?? []);
  for (const { container, at: here } of allContainers(spec, at)) {
    for (const [index, { valueFrom }] of (container.env ?? []).entries()) {
      const volumeName = valueFrom?.fileKeyRef?.volumeName;
      if (valueFrom?.fileKeyRef === undefined) continue;
      const volume = volumeName === undefined ? undefined : volumes.get(volumeName);
      const nameAt = `${here}.env[${index}].valueFrom.fileKeyRef.volumeName`;
      if (volume === undefined) errors.add(notFoundField(nameAt, volumeName ?? ""));
      else if (volume.emptyDir === undefined) errors.add(invalid(nameAt, volumeName, "referenced volume must be of type emptyDir"));
    }
  }
}
