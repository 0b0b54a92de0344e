/**
 * Resolves the PriorityClass of a pod to its value and preemption policy; a pod without a class gets the global default or, if none exists,
 * 0. Pods cannot set the value themselves. Equivalent to upstream's plugin of this name, which also keeps the global default unique.
 */
import { pods } from "../../../api/core/v1/pod.ts";
import { priorityClasses } from "../../../api/scheduling.k8s.io/v1/priority-class.ts";
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { PriorityClass } from "../../../api/generated/scheduling.k8s.io/v1.ts";
import { changed, withChanges } from "../../../api/changes.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { AdmissionDependencies, AdmissionPlugin, AdmissionRequest } from "../../framework/admission.ts";
import { isCreateOf, isUpdateOf, refused } from "../../shared/admission-request.ts";
import { PreferredObject } from "../../shared/preferred-object.ts";

const PRIORITY_CLASSES = { group: "scheduling.k8s.io", plural: "priorityclasses" };

/** Priority of pods if there is no default class. */
const NO_CLASS: Priority = { priorityClassName: "", priority: 0, preemptionPolicy: "PreemptLowerPriority" };

interface Priority {
  readonly priorityClassName: string;
  readonly priority: number;
  readonly preemptionPolicy?: NonNullable<Pod["spec"]>["preemptionPolicy"] | undefined;
}

export function priority({ objects }: Pick<AdmissionDependencies, "objects">): AdmissionPlugin {
  // Two defaults can exist only if they were created concurrently; the lower value is safer.
  const defaultClass = new PreferredObject<PriorityClass>(
    ({ globalDefault }) => globalDefault === true,
    (a, b) => valueOf(a) - valueOf(b),
  );

  function priorityOf(request: AdmissionRequest, name: string): Priority {
    const found = name === "" ? defaultClass.get() : objects.cached<PriorityClass>(PRIORITY_CLASSES, { namespace: "", name });
    if (found !== undefined)
      return { priorityClassName: found.metadata.name, priority: valueOf(found), preemptionPolicy: found.preemptionPolicy };
    if (name === "") return NO_CLASS;
    throw refused(request, `no PriorityClass with name ${name} was found`);
  }

  return {
    name: "Priority",

    start: () => objects.follow(PRIORITY_CLASSES, defaultClass),

    mutate(request) {
      if (isUpdateOf(request, pods)) return kept(request.object, request.oldObject);
      if (!isCreateOf(request, pods)) return undefined;
      const { object: pod } = request;
      return prioritized(request, pod, priorityOf(request, pod.spec?.priorityClassName ?? ""));
    },

    validate(request) {
      if (!isCreateOf(request, priorityClasses) && !isUpdateOf(request, priorityClasses)) return;
      const { globalDefault, metadata } = request.object;
      if (globalDefault !== true) return;
      const other = defaultClass.get()?.metadata.name;
      if (other === undefined || (request.operation === "UPDATE" && other === metadata.name)) return;
      throw refused(request, `PriorityClass ${other} is already marked as default. Only one default can exist`);
    },
  };
}

/** The value 0 is omitted. */
function valueOf({ value = 0 }: PriorityClass): number {
  return value;
}

/** An update that omits defaulted fields keeps them; other changes are rejected by the resource's validation. */
function kept(pod: Pod, before: Pod): KubeObject {
  const ofBefore = { priority: before.spec?.priority, preemptionPolicy: before.spec?.preemptionPolicy };
  return withChanges(pod, {
    spec: changed(pod.spec, (spec) =>
      withChanges(spec, {
        priority: spec.priority ?? ofBefore.priority,
        preemptionPolicy: spec.preemptionPolicy ?? ofBefore.preemptionPolicy,
      }),
    ),
  });
}

function prioritized(request: AdmissionRequest, pod: Pod, { priorityClassName, ...computed }: Priority): KubeObject {
  const { priority: number = computed.priority, preemptionPolicy: policy = computed.preemptionPolicy } = pod.spec ?? {};
  const why = "priority admission controller computed";
  if (number !== computed.priority) {
    const given = `the integer value of priority (${number}) must not be provided in pod spec`;
    throw refused(request, `${given}; ${why} ${computed.priority} from the given PriorityClass name`);
  }
  if (computed.preemptionPolicy !== undefined && policy !== computed.preemptionPolicy) {
    const given = `the string value of PreemptionPolicy (${policy}) must not be provided in pod spec`;
    throw refused(request, `${given}; ${why} ${computed.preemptionPolicy} from the given PriorityClass name`);
  }
  const named = priorityClassName === "" ? {} : { priorityClassName };
  return { ...pod, spec: { ...pod.spec, ...named, ...computed } } as KubeObject;
}
