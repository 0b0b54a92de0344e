/** Which Pods belong to an object: the label selector of a workload or a Service, as the query of a list. Pure. */
import type { KubeObject } from "../../api/machinery/object.ts";
import { isObject } from "../../api/machinery/object.ts";
import { field, objectsAt, textAt } from "./fields.ts";

/** Kinds of which `podSelector` knows the Pods. */
export const KINDS_WITH_PODS: readonly string[] = [
  "deployments.apps",
  "replicasets.apps",
  "statefulsets.apps",
  "daemonsets.apps",
  "jobs.batch",
  "replicationcontrollers",
  "services",
];

/** Undefined: it selects no Pods. */
export function podSelector(object: KubeObject): string | undefined {
  const selector = field(object, "spec", "selector");
  if (!isObject(selector)) return undefined;
  const isPlain = object.apiVersion === "v1";
  const labels = isPlain ? selector : (field(selector, "matchLabels") ?? {});
  const equal = Object.entries(labels).map(([key, value]) => `${key}=${String(value)}`);
  const expressions = isPlain ? [] : objectsAt(selector, "matchExpressions").map(expressionText);
  const all = [...equal, ...expressions];
  return all.length === 0 ? undefined : all.join(",");
}

function expressionText(expression: Readonly<Record<string, unknown>>): string {
  const key = textAt(expression, "key");
  const found = expression["values"];
  const values = Array.isArray(found) ? found.map(String).join(",") : "";
  switch (textAt(expression, "operator")) {
    case "In":
      return `${key} in (${values})`;
    case "NotIn":
      return `${key} notin (${values})`;
    case "Exists":
      return key;
    default:
      return `!${key}`;
  }
}

/** Names of the containers of a Pod, in the order in which they start. */
export function containerNames(pod: KubeObject): readonly string[] {
  return ["initContainers", "containers", "ephemeralContainers"].flatMap((list) =>
    objectsAt(pod, "spec", list).map((container) => textAt(container, "name")),
  );
}
