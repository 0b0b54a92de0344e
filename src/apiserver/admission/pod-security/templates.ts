/** Resources that contain a pod template, and the path of the template in them. */
import type { PodTemplateSpec } from "../../../api/generated/core/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { ResourceName } from "../../../api/machinery/status-error.ts";
import type { CheckedPod } from "./check.ts";

type Read = (object: never) => PodTemplateSpec | undefined;

const ofSpec: Read = ({ spec }: { readonly spec?: { readonly template?: PodTemplateSpec } }) => spec?.template;

const TEMPLATES: Readonly<Record<string, Read>> = {
  "/podtemplates": ({ template }: { readonly template?: PodTemplateSpec }) => template,
  "/replicationcontrollers": ofSpec,
  "apps/replicasets": ofSpec,
  "apps/deployments": ofSpec,
  "apps/statefulsets": ofSpec,
  "apps/daemonsets": ofSpec,
  "batch/jobs": ofSpec,
  "batch/cronjobs": ({
    spec,
  }: {
    readonly spec?: { readonly jobTemplate?: { readonly spec?: { readonly template?: PodTemplateSpec } } };
  }) => spec?.jobTemplate?.spec?.template,
};

export function hasPodTemplate({ group, plural }: ResourceName): boolean {
  return Object.hasOwn(TEMPLATES, `${group}/${plural}`);
}

/** undefined: the object has no template, which is optional in some resources. */
export function templateOf({ group, plural }: ResourceName, object: KubeObject): CheckedPod | undefined {
  const template = TEMPLATES[`${group}/${plural}`]?.(object as never);
  return template === undefined
    ? undefined
    : { annotations: template.metadata?.annotations ?? {}, spec: template.spec ?? { containers: [] } };
}
