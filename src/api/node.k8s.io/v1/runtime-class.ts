/**
 * node.k8s.io/v1 RuntimeClass: the container runtime handler for Pods of this class, its overhead, and the nodes that support it.
 *
 * The handler is immutable. An update requires a resourceVersion; a PUT creates it. Not here: setting overhead, node selector and
 * tolerations in Pods (admission).
 */
import { deprecatedNodeLabel } from "../../core/v1/node/label-warnings.ts";
import { validateContainerResources } from "../../core/v1/pod/validation/resources.ts";
import { validateTolerations } from "../../core/v1/pod/validation/scheduling.ts";
import type { Toleration } from "../../generated/core/v1.ts";
import type { RuntimeClass, Scheduling } from "../../generated/node.k8s.io/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { duplicate, element, immutable, invalid, required, type FieldError } from "../../machinery/field-error.ts";
import { errorsOf } from "../../machinery/findings.ts";
import { validateLabels } from "../../machinery/metadata-validation.ts";
import { validateDnsLabel } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";

export const runtimeClasses = defineResource<RuntimeClass>({
  kind: "RuntimeClass",
  plural: "runtimeclasses",
  singular: "runtimeclass",
  scope: "Cluster",
  served: [{ group: "node.k8s.io", version: "v1", schema: "io.k8s.api.node.v1.RuntimeClass" }],
  createOnUpdate: true,
  unconditionalUpdate: false,
  allowsPlainFinalizers: true,

  *validate({ handler, overhead, scheduling }, previous) {
    if (handler === "") yield required("handler");
    else for (const wrong of validateDnsLabel(handler)) yield invalid("handler", handler, wrong);
    if (overhead !== undefined)
      yield* errorsOf((errors) => validateContainerResources(errors, { limits: overhead.podFixed ?? {} }, new Set(), "overhead"));
    if (scheduling !== undefined) yield* validateScheduling(scheduling);
    if (previous !== undefined && handler !== previous.handler) yield immutable("handler", handler);
  },
  *warnings({ scheduling }) {
    for (const label of Object.keys(scheduling?.nodeSelector ?? {})) {
      const message = deprecatedNodeLabel(label);
      if (message !== undefined) yield `scheduling.nodeSelector: ${message}`;
    }
  },

  columns: [nameColumn, textColumn("Handler", "Handler of the CRI configuration", ({ handler }) => handler), ageColumn],
});

function* validateScheduling({ nodeSelector, tolerations = [] }: Scheduling): Iterable<FieldError> {
  const at = "scheduling.tolerations";
  yield* errorsOf((errors) => validateLabels(errors, nodeSelector, "scheduling.nodeSelector"));
  yield* errorsOf((errors) => validateTolerations(errors, tolerations, at));
  const seen = new Set<string>();
  for (const [index, toleration] of tolerations.entries()) {
    const { key = "", operator = "", value = "", effect = "" } = toleration;
    const identity = JSON.stringify([key, operator, value, effect]);
    if (seen.has(identity)) yield duplicate(element(at, index), shownToleration(toleration));
    seen.add(identity);
  }
}

/** In the format of upstream's message: with the names of its own type. */
function shownToleration({ key = "", operator, value = "", effect, tolerationSeconds }: Toleration): unknown {
  return { Key: key, Operator: operator ?? "", Value: value, Effect: effect ?? "", TolerationSeconds: tolerationSeconds ?? null };
}
