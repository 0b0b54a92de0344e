/** A workload whose Pods are missing or not available: refused Pods, a paused or stuck rollout, no replicas, no matching node. */
import { addQuantities, formatQuantity, parseQuantity } from "../../api/machinery/quantity.ts";
import type { Seen, Subject } from "./cluster-view.ts";
import {
  conditionOf,
  defineExplainer,
  found,
  nameOf,
  patch,
  subjectOf,
  type ExplainContext,
  type Explanation,
  type Remedy,
  type Manifest,
} from "./explainer.ts";

export const workload = defineExplainer({
  resources: ["deployments.apps", "replicasets.apps", "statefulsets.apps", "daemonsets.apps", "replicationcontrollers"],
  explain(object, subject, context) {
    const { spec, status = {} } = object;
    const isDaemon = subject.resource === "daemonsets.apps";
    const wanted: number = isDaemon ? (status.desiredNumberScheduled ?? 0) : (spec.replicas ?? 1);
    const available: number = (isDaemon ? status.numberAvailable : status.availableReplicas) ?? 0;
    const updated: number = (isDaemon ? status.updatedNumberScheduled : status.updatedReplicas) ?? 0;
    if (wanted === 0) return idle(object, subject, isDaemon);
    const isCurrent = subject.resource !== "deployments.apps" || updated >= wanted;
    if (available >= wanted && isCurrent && (status.replicas ?? wanted) <= wanted) return undefined;
    const text = `${nameOf(subject)} has ${available} of ${wanted} Pods available${isCurrent ? "" : `, ${updated} of them of the current template`}`;
    if (spec.paused === true && !isCurrent) {
      const cause = { text: "its rollout is paused (spec.paused)", root: "Paused" };
      return found({ text, because: [cause] }, [{ text: "Resume the rollout", changes: [patch(subject, { spec: { paused: null } })] }]);
    }
    return createProblem(text, object, subject, context) ?? podsProblem(text, object, subject, context);
  },
});

function idle(object: Seen, subject: Subject, isDaemon: boolean): Explanation | undefined {
  const text = `${nameOf(subject)} has no Pods`;
  if (isDaemon)
    return found({ text, because: [{ text: "no node matches its node selector, affinity and tolerations", root: "NoMatchingNode" }] });
  if (object.metadata.ownerReferences !== undefined) return undefined;
  const cause = { text: "it is scaled to 0 (spec.replicas)", root: "ScaledToZero" };
  return found({ text, because: [cause] }, [{ text: "Scale it to 1", changes: [patch(subject, { spec: { replicas: 1 } })] }]);
}

/** The API server refused its Pods: quota, a missing service account, pod security, a webhook or policy. */
function createProblem(text: string, object: Seen, subject: Subject, context: ExplainContext): Explanation | undefined {
  const { view } = context;
  const sets = subject.resource === "deployments.apps" ? view.ownedBy(object, "replicasets.apps") : [object];
  for (const set of sets) {
    const failure = conditionOf(set, "ReplicaFailure");
    const message: string | undefined = failure?.status === "True" ? failure.message : view.event(set, ["FailedCreate"])?.message;
    const isShort = view.ownedBy(set, "pods").length < (set.spec.replicas ?? 0) || subject.resource === "daemonsets.apps";
    if (message === undefined || !isShort) continue;
    const { finding, remedies } = refusedPods(message, set, subject, context);
    return found({ text, because: [{ text: `the API server refuses its Pods: ${message}`, because: [finding] }] }, remedies);
  }
  return undefined;
}

function refusedPods(message: string, set: Seen, goal: Subject, { view }: ExplainContext): Explanation {
  const namespace: string = set.metadata.namespace;
  const [, account] = /serviceaccount "([^"]+)" not found/.exec(message) ?? [];
  if (account !== undefined) {
    const object: Manifest = {
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { namespace, name: account.split("/").at(-1) ?? account },
    };
    return found({ text: `service account ${account} does not exist`, root: "MissingServiceAccount" }, [
      { text: "Create the service account", changes: [{ type: "create", object }], goal },
    ]);
  }
  const [, quota] = /exceeded quota: ([^,]+)/.exec(message) ?? [];
  if (quota !== undefined) return quotaProblem(quota, message, set, goal, view);
  if (message.includes("violates PodSecurity"))
    return found({ text: "the namespace's Pod Security level forbids them", root: "PodSecurity" }, podSecurity(namespace, message, goal));
  const [, webhook] = /admission webhook "([^"]+)"/.exec(message) ?? [];
  if (webhook !== undefined) return found({ text: `admission webhook ${webhook} refuses them`, root: "AdmissionWebhook" });
  const [, policy] = /ValidatingAdmissionPolicy '([^']+)'/.exec(message) ?? [];
  if (policy !== undefined) return found({ text: `ValidatingAdmissionPolicy ${policy} refuses them`, root: "AdmissionPolicy" });
  if (message.includes("maximum") || message.includes("minimum"))
    return found({ text: "a LimitRange of the namespace refuses them", root: "LimitRange" });
  return found({ text: "the message is all that is known", root: "FailedCreate" });
}

/** Raises the limits by what all missing Pods request. */
function quotaProblem(name: string, message: string, set: Seen, goal: Subject, view: ExplainContext["view"]): Explanation {
  const target = { resource: "resourcequotas", namespace: set.metadata.namespace as string, name };
  const quota = view.get(target);
  const [, requested = "", used = ""] = /requested: (.*?), used: (.*?), limited:/.exec(message) ?? [];
  const amounts = (list: string) => new Map(list.split(",").map((part) => part.split("=") as [string, string]));
  const missing = Math.max((set.spec.replicas ?? 1) - view.ownedBy(set, "pods").length, 1);
  const usedNow = amounts(used);
  const hard = Object.fromEntries(
    [...amounts(requested)].map(([resource, amount]) => {
      let sum = parseQuantity(quota?.status?.used?.[resource] ?? usedNow.get(resource) ?? "0");
      for (let pod = 0; pod < missing; pod++) sum = addQuantities(sum, parseQuantity(amount));
      return [resource, formatQuantity(sum)];
    }),
  );
  const cause = { text: `ResourceQuota ${name} is exhausted`, root: "ExceededQuota" };
  return found(cause, [{ text: "Raise the quota to what its Pods need", changes: [patch(target, { spec: { hard } })], goal }]);
}

/** The next weaker level that allows the Pods. */
function podSecurity(namespace: string, message: string, goal: Subject): readonly Remedy[] {
  const target = { resource: "namespaces", namespace: "", name: namespace };
  const levels = message.includes('PodSecurity "restricted') ? ["baseline", "privileged"] : ["privileged"];
  return levels.map((level) => ({
    text: `Allow level ${level} in the namespace`,
    changes: [patch(target, { metadata: { labels: { "pod-security.kubernetes.io/enforce": level } } })],
    goal,
  }));
}

function podsProblem(text: string, object: Seen, subject: Subject, { view, explain }: ExplainContext): Explanation {
  const sets = subject.resource === "deployments.apps" ? view.ownedBy(object, "replicasets.apps") : [object];
  const pods = sets.flatMap((set) => view.ownedBy(set, "pods"));
  const explained = pods.flatMap((pod) => explain(subjectOf("pods", pod)) ?? []);
  if (explained.length === 0) {
    const progress = conditionOf(object, "Progressing");
    const said = progress?.message === undefined ? "" : `: ${progress.message}`;
    return found({
      text: `${text}${said}`,
      because: [{ text: "no problem of its Pods is reported; they may need more time", isUnknown: true }],
    });
  }
  const different = distinct(explained);
  return found(
    { text, because: different.map(({ finding }) => finding) },
    different.flatMap(({ remedies }) => remedies),
  );
}

/** Pods of one template usually have the same problem: each root cause is shown once. */
function distinct(explained: readonly Explanation[]): readonly Explanation[] {
  const seen = new Set<string>();
  return explained.filter(({ finding }) => {
    const key = JSON.stringify((finding.because ?? [finding]).map(({ root, isUnknown }) => root ?? isUnknown));
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
