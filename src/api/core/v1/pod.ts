/**
 * core/v1 Pod: containers that run together on one node. Defaults, validation and write strategy are in pod/. Not here: the targets of log,
 * exec, attach, port-forward and proxy (apiserver/connections), and the execution of binding and eviction (apiserver/resources).
 */
import type { Pod } from "../../generated/core/v1.ts";
import { errorsOf, warningsOf } from "../../machinery/findings.ts";
import { defineResource, type Resource } from "../../machinery/resource.ts";
import { BINDING_BYTES_MAX } from "./binding.ts";
import { podColumns, podRowConditions } from "./pod/columns.ts";
import { podConnections } from "./pod/connections.ts";
import { defaultPod } from "./pod/defaults/pod.ts";
import {
  gracePeriodOf,
  prepareEphemeralContainersUpdate,
  preparePodForCreate,
  preparePodForUpdate,
  prepareResize,
  prepareStatusUpdate,
} from "./pod/prepare.ts";
import { isSameSpec } from "./pod/same-spec.ts";
import { specOf, validatePod } from "./pod/validation/pod.ts";
import { validateEphemeralContainersUpdate, validateResize } from "./pod/validation/resize.ts";
import { validateStatusUpdate } from "./pod/validation/status.ts";
import { validatePodUpdate } from "./pod/validation/update.ts";
import { podWarnings } from "./pod/warnings/pod.ts";

export const pods: Resource<Pod> = defineResource<Pod>({
  kind: "Pod",
  plural: "pods",
  singular: "pod",
  shortNames: ["po"],
  categories: ["all"],
  scope: "Namespaced",
  served: [{ group: "", version: "v1", schema: "io.k8s.api.core.v1.Pod", defaults: (object) => defaultPod(object as Pod) }],

  prepareForCreate: preparePodForCreate,
  prepareForUpdate: preparePodForUpdate,
  changesGeneration: (next, previous) => !isSameSpec(specOf(next), specOf(previous)),
  gracePeriodSeconds: gracePeriodOf,
  returnsDeletedObject: true,
  validate: (pod, previous) => errorsOf((errors) => validatePod(errors, pod, previous)),
  validateUpdate: (pod, previous) => errorsOf((errors) => validatePodUpdate(errors, pod, previous)),
  warnings: (pod, previous) => warningsOf((warnings) => podWarnings(warnings, pod, previous)),

  subresources: {
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      ignoredFields: [["spec"], ["metadata", "deletionTimestamp"], ["metadata", "ownerReferences"]],
      prepareForUpdate: prepareStatusUpdate,
      validateUpdate: (pod, previous) => errorsOf((errors) => validateStatusUpdate(errors, pod, previous)),
    },
    ephemeralcontainers: {
      of: "object",
      verbs: ["get", "patch", "update"],
      prepareForUpdate: prepareEphemeralContainersUpdate,
      validateUpdate: (pod, previous) => errorsOf((errors) => validateEphemeralContainersUpdate(errors, pod, previous)),
    },
    resize: {
      of: "object",
      verbs: ["get", "patch", "update"],
      prepareForUpdate: prepareResize,
      validateUpdate: (pod, previous) => errorsOf((errors) => validateResize(errors, pod, previous)),
    },
    binding: {
      of: "action",
      verbs: ["create"],
      takes: { group: "", version: "v1", kind: "Binding", schema: "io.k8s.api.core.v1.Binding", bodyBytesMax: BINDING_BYTES_MAX },
    },
    eviction: {
      of: "action",
      verbs: ["create"],
      takes: { group: "policy", version: "v1", kind: "Eviction", schema: "io.k8s.api.policy.v1.Eviction", olderVersions: ["v1beta1"] },
    },
    ...podConnections,
  },

  selectableFields: {
    "spec.nodeName": (pod) => specOf(pod).nodeName ?? "",
    // Legacy name of the field.
    "spec.host": (pod) => specOf(pod).nodeName ?? "",
    "spec.restartPolicy": (pod) => specOf(pod).restartPolicy ?? "",
    "spec.schedulerName": (pod) => specOf(pod).schedulerName ?? "",
    "spec.serviceAccountName": (pod) => specOf(pod).serviceAccountName ?? "",
    "spec.hostNetwork": (pod) => `${specOf(pod).hostNetwork === true}`,
    "status.phase": (pod) => pod.status?.phase ?? "",
    // Upstream accepts the field but it never matches.
    "status.podIPs": () => "",
    "status.podIP": (pod) => pod.status?.podIPs?.[0]?.ip ?? "",
    "status.nominatedNodeName": (pod) => pod.status?.nominatedNodeName ?? "",
  },
  indexedFields: ["spec.nodeName"],
  columns: podColumns,
  rowConditions: podRowConditions,
});
