/** core/v1 PodTemplate: a stored template of Pods. No component acts on it. */
import { deepEqual } from "../../../base/deep.ts";
import { containerColumns } from "../../apps/v1/workload.ts";
import { changed, withChanges } from "../../changes.ts";
import type { PodTemplate } from "../../generated/core/v1.ts";
import { formatLabels, nameColumn, textColumn } from "../../machinery/columns.ts";
import { defineResource } from "../../machinery/resource.ts";
import { defaultPodTemplate } from "./pod/defaults/pod.ts";
import { validatePodTemplateSpec } from "./pod/validation/template.ts";
import { podTemplateWarnings } from "./pod/warnings/pod.ts";
import { errorsOf, warningsOf } from "../../machinery/findings.ts";

export const podTemplates = defineResource<PodTemplate>({
  kind: "PodTemplate",
  plural: "podtemplates",
  singular: "podtemplate",
  scope: "Namespaced",
  served: [
    {
      group: "",
      version: "v1",
      schema: "io.k8s.api.core.v1.PodTemplate",
      defaults: (object: PodTemplate) => withChanges(object, { template: changed(object.template, defaultPodTemplate) }),
    },
  ],
  returnsDeletedObject: true,

  changesGeneration,
  *validate({ template }, previous) {
    if (template !== undefined) yield* errorsOf((errors) => validatePodTemplateSpec(errors, template, "template", previous?.template));
  },
  *warnings(podTemplate, previous) {
    const { template } = podTemplate;
    if (template === undefined || (previous !== undefined && !changesGeneration(podTemplate, previous))) return;
    yield* warningsOf((warnings) => podTemplateWarnings(warnings, template, "template"));
  },

  columns: [
    nameColumn,
    ...containerColumns<PodTemplate>(({ template }) => template, { priority: 0 }),
    textColumn("Pod Labels", "Labels of the Pod template", ({ template }) => formatLabels(template?.metadata?.labels)),
  ],
});

function changesGeneration(next: PodTemplate, previous: PodTemplate): boolean {
  return !deepEqual(next.template, previous.template);
}
