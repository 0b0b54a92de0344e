/** A HorizontalPodAutoscaler that does not scale: its target, its metrics, or the requests that utilization is a share of. */
import type { Seen, Subject } from "./cluster-view.ts";
import { conditionOf, defineExplainer, found, nameOf, type ExplainContext, type Finding } from "./explainer.ts";
import { resourceOfKind } from "./facts/resource-of-kind.ts";

const METRICS_API: Subject = { resource: "apiservices.apiregistration.k8s.io", namespace: "", name: "v1beta1.metrics.k8s.io" };

export const autoscaler = defineExplainer({
  resources: ["horizontalpodautoscalers.autoscaling"],
  explain(object, subject, context) {
    const failed = ["AbleToScale", "ScalingActive"].map((type) => conditionOf(object, type)).find((each) => each?.status === "False");
    if (failed === undefined) return undefined;
    const text = `${nameOf(subject)} does not scale: ${failed.reason}`;
    // As upstream: the autoscaler has nothing to do, which its condition says.
    if (failed.reason === "ScalingDisabled") return found({ text, because: [{ text: failed.message, root: "ScaledToZero" }] });
    return found({ text, because: [causeOf(failed, object, subject, context)] });
  },
});

function causeOf(failed: Seen, object: Seen, subject: Subject, { view, explain }: ExplainContext): Finding {
  const { apiVersion, kind, name } = object.spec.scaleTargetRef;
  const resource = resourceOfKind(view, apiVersion, kind);
  const target = { resource: resource ?? "", namespace: subject.namespace, name };
  if (resource !== undefined && view.get(target) === undefined)
    return { text: `its target ${nameOf(target)} does not exist`, root: "MissingTarget" };
  const message: string = failed.message ?? "no message was reported";
  if (/missing request for/.test(message))
    return {
      text: `the containers of its target have no request that a utilization could be a share of: ${message}`,
      root: "MissingRequests",
    };
  if (failed.reason !== "FailedGetResourceMetric" || !view.isReadable(METRICS_API.resource))
    return { text: message, root: String(failed.reason) };
  if (view.get(METRICS_API) === undefined) {
    const missing = {
      text: `the APIService ${METRICS_API.name} does not exist: no metrics server is installed`,
      root: "MissingMetricsAPI",
    };
    return { text: message, because: [missing] };
  }
  const explained = explain(METRICS_API);
  return explained === undefined ? { text: message, root: String(failed.reason) } : { text: message, because: [explained.finding] };
}
