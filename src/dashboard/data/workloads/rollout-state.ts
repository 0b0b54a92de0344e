/** How far the rollout or the work of a workload is, by the rules of `kubectl rollout status`. Pure. */
import { field, objectsAt, textAt } from "../fields.ts";

export interface RolloutState {
  /** Shown as a state: Complete, Progressing, Paused, Suspended, Failed, Running, Waiting. */
  readonly state: string;
  readonly detail: string;
  /** "2/3". */
  readonly ready: string;
}

/** By the kind of the object. */
export function rolloutState(object: { readonly kind: string }): RolloutState {
  switch (object.kind) {
    case "Deployment":
      return deploymentState(object);
    case "StatefulSet":
      return statefulSetState(object);
    case "DaemonSet":
      return daemonSetState(object);
    case "Job":
      return jobState(object);
    default:
      return cronJobState(object);
  }
}

const count = (object: unknown, ...path: readonly string[]) => Number(textAt(object, ...path) || "0");

/** The controller has not seen the last change. */
function isUnobserved(object: unknown): boolean {
  return count(object, "metadata", "generation") > count(object, "status", "observedGeneration");
}

const UNOBSERVED = { state: "Progressing", detail: "Waiting for the controller to observe the change" };

function condition(object: unknown, type: string) {
  return objectsAt(object, "status", "conditions").find((candidate) => candidate["type"] === type);
}

function deploymentState(object: unknown): RolloutState {
  const wanted = Number(textAt(object, "spec", "replicas") || "1");
  const [updated, available, total] = ["updatedReplicas", "availableReplicas", "replicas"].map((name) => count(object, "status", name));
  const ready = `${count(object, "status", "readyReplicas")}/${wanted}`;
  if (field(object, "spec", "paused") === true) return { state: "Paused", detail: "Changes of the template wait", ready };
  if (isUnobserved(object)) return { ...UNOBSERVED, ready };
  if (condition(object, "Progressing")?.["reason"] === "ProgressDeadlineExceeded")
    return { state: "Failed", detail: "Exceeded its progress deadline", ready };
  if ((updated ?? 0) < wanted) return { state: "Progressing", detail: `${updated} of ${wanted} new replicas updated`, ready };
  if ((total ?? 0) > (updated ?? 0))
    return { state: "Progressing", detail: `${(total ?? 0) - (updated ?? 0)} old replicas pending termination`, ready };
  if ((available ?? 0) < (updated ?? 0))
    return { state: "Progressing", detail: `${available} of ${updated} updated replicas available`, ready };
  return { state: "Complete", detail: "", ready };
}

function statefulSetState(object: unknown): RolloutState {
  const wanted = Number(textAt(object, "spec", "replicas") || "1");
  const readyCount = count(object, "status", "readyReplicas");
  const updated = count(object, "status", "updatedReplicas");
  const partition = count(object, "spec", "updateStrategy", "rollingUpdate", "partition");
  const ready = `${readyCount}/${wanted}`;
  if (isUnobserved(object)) return { ...UNOBSERVED, ready };
  if (readyCount < wanted) return { state: "Progressing", detail: `${readyCount} of ${wanted} Pods ready`, ready };
  const isOnDelete = textAt(object, "spec", "updateStrategy", "type") === "OnDelete";
  const isUpdated = textAt(object, "status", "currentRevision") === textAt(object, "status", "updateRevision");
  if (isOnDelete && !isUpdated) return { state: "Waiting", detail: "Pods are replaced when they are deleted (OnDelete)", ready };
  if (partition > 0 && updated < wanted - partition)
    return { state: "Progressing", detail: `${updated} of ${wanted - partition} Pods of the partition updated`, ready };
  if (partition === 0 && !isUpdated) return { state: "Progressing", detail: `${updated} of ${wanted} Pods updated`, ready };
  return { state: "Complete", detail: "", ready };
}

function daemonSetState(object: unknown): RolloutState {
  const [wanted = 0, updated = 0, available = 0, readyCount = 0] = [
    "desiredNumberScheduled",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberReady",
  ].map((name) => count(object, "status", name));
  const ready = `${readyCount}/${wanted}`;
  if (isUnobserved(object)) return { ...UNOBSERVED, ready };
  if (updated < wanted) return { state: "Progressing", detail: `${updated} of ${wanted} Pods updated`, ready };
  if (available < wanted) return { state: "Progressing", detail: `${available} of ${wanted} Pods available`, ready };
  return { state: "Complete", detail: "", ready };
}

function jobState(object: unknown): RolloutState {
  const succeeded = count(object, "status", "succeeded");
  const completions = textAt(object, "spec", "completions");
  const ready = `${succeeded}/${completions || "1"}`;
  const failed = condition(object, "Failed");
  if (failed?.["status"] === "True") return { state: "Failed", detail: textAt(failed, "message"), ready };
  if (condition(object, "Complete")?.["status"] === "True") return { state: "Complete", detail: "", ready };
  if (field(object, "spec", "suspend") === true) return { state: "Suspended", detail: "", ready };
  const [active, failures] = [count(object, "status", "active"), count(object, "status", "failed")];
  return { state: "Running", detail: `${active} active${failures === 0 ? "" : `, ${failures} failed`}`, ready };
}

function cronJobState(object: unknown): RolloutState {
  const active = objectsAt(object, "status", "active").length;
  const last = textAt(object, "status", "lastScheduleTime");
  const schedule = textAt(object, "spec", "schedule");
  const detail = `${schedule}${last === "" ? "" : `, last at ${last}`}`;
  if (field(object, "spec", "suspend") === true) return { state: "Suspended", detail, ready: "" };
  return { state: active === 0 ? "Waiting" : "Running", detail, ready: active === 0 ? "" : `${active} active` };
}
