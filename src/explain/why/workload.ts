/** A workload whose Pods are missing or not available: refused Pods, a paused or stuck rollout, no replicas, no matching node. */
import type { ClusterView, Seen, Subject } from "./cluster-view.ts";
import { conditionOf, defineExplainer, found, nameOf, patch, subjectOf, type ExplainContext, type Explanation } from "./explainer.ts";
import { refusedPods } from "./facts/refused-pods.ts";
import { isOfCondition, taintNames, tolerationsOf, untolerated } from "./facts/taints.ts";
import { labelsOf, matchesLabels } from "./pod-template.ts";

export const workload = defineExplainer({
  resources: ["deployments.apps", "replicasets.apps", "statefulsets.apps", "daemonsets.apps", "replicationcontrollers"],
  explain(object, subject, context) {
    const { spec, status = {} } = object;
    const isDaemon = subject.resource === "daemonsets.apps";
    const wanted: number = isDaemon ? (status.desiredNumberScheduled ?? 0) : (spec.replicas ?? 1);
    const available: number = (isDaemon ? status.numberAvailable : status.availableReplicas) ?? 0;
    const updated: number = (isDaemon ? status.updatedNumberScheduled : status.updatedReplicas) ?? 0;
    if (wanted === 0) return idle(object, subject, context.view);
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

function idle(object: Seen, subject: Subject, view: ClusterView): Explanation | undefined {
  const text = `${nameOf(subject)} has no Pods`;
  if (subject.resource === "daemonsets.apps") return noNode(text, object, subject, view);
  if (object.metadata.ownerReferences !== undefined) return undefined;
  const cause = { text: "it is scaled to 0 (spec.replicas)", root: "ScaledToZero" };
  return found({ text, because: [cause] }, [{ text: "Scale it to 1", changes: [patch(subject, { spec: { replicas: 1 } })] }]);
}

/** A DaemonSet without a node: kept away by taints, or by the labels that it selects. */
function noNode(text: string, object: Seen, subject: Subject, view: ClusterView): Explanation {
  const nodes = view.list("nodes");
  if (nodes.length === 0) return found({ text, because: [{ text: "the cluster has no nodes", root: "NoNodes" }] });
  const { tolerations = [], nodeSelector = {} } = object.spec.template.spec;
  const selected = nodes.filter((node) => matchesLabels(labelsOf(nodeSelector), labelsOf(node.metadata.labels)));
  if (selected.length === 0) {
    const wanted = Object.entries(nodeSelector).map(([key, value]) => `${key}=${String(value)}`);
    const [first] = nodes;
    const change = patch(subjectOf("nodes", first), { metadata: { labels: nodeSelector } });
    return found({ text, because: [{ text: `no node has the labels of its nodeSelector ${wanted.join(", ")}`, root: "NodeSelector" }] }, [
      { text: `Label node ${first.metadata.name}`, changes: [change] },
    ]);
  }
  // The controller adds tolerations of node conditions to its Pods.
  const kept = selected.map((node) => untolerated(tolerations, node).filter((taint) => !isOfCondition(taint)));
  const [taints] = kept;
  if (taints === undefined || kept.some((each) => each.length === 0))
    return found({ text, because: [{ text: "no node matches its node selector, affinity and tolerations", root: "NoMatchingNode" }] });
  const cause = { text: `it does not tolerate the taints of the nodes: ${taintNames(kept.flat())}`, root: "UntoleratedTaint" };
  const changes = [patch(subject, { spec: { template: { spec: { tolerations: [...tolerations, ...tolerationsOf(taints)] } } } })];
  return found({ text, because: [cause] }, [{ text: `Tolerate the taint of node ${selected[0].metadata.name}`, changes }]);
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
