/** A Pod without a node: what the scheduler rejected each node for, and what would make it fit. */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  subtractQuantities,
  type Quantity,
} from "../../api/machinery/quantity.ts";
import type { ClusterView, RejectedNodes, Seen, Subject } from "./cluster-view.ts";
import {
  conditionOf,
  defineExplainer,
  found,
  nameOf,
  patch,
  since,
  subjectOf,
  type ExplainContext,
  type Explanation,
  type Finding,
  type Manifest,
  type Remedy,
} from "./explainer.ts";
import { nodeAffinity, podAffinity, topologySpread } from "./facts/placement.ts";
import { isOfCondition, taintNames, tolerationsOf, untolerated } from "./facts/taints.ts";
import { labelsOf, matchesLabels, podSource, podSpecChanges, podSpecOf, requestChanges } from "./pod-template.ts";
import { deviceProblems } from "./resource-claim.ts";

/** Schedulers that exist in every cluster of k8ts. */
const DEFAULT_SCHEDULER = "default-scheduler";

export const podUnscheduled = defineExplainer({
  resources: ["pods"],
  explain(pod, subject, context) {
    if (pod.spec.nodeName || pod.metadata.deletionTimestamp || ["Succeeded", "Failed"].includes(pod.status?.phase)) return undefined;
    const { view } = context;
    const text = `${nameOf(subject)} is Pending: it has no node`;
    const source = podSource(view, pod);
    const gates: readonly Seen[] = pod.spec.schedulingGates ?? [];
    if (gates.length > 0) {
      const names = gates.map(({ name }) => name).join(", ");
      const remedy: Remedy = { text: "Remove the scheduling gates", changes: [patch(subject, { spec: { schedulingGates: null } })] };
      return found(
        { text, because: [{ text: `it has scheduling gates, which no controller has removed: ${names}`, root: "SchedulingGated" }] },
        [remedy],
      );
    }
    const scheduled = conditionOf(pod, "PodScheduled");
    if (scheduled === undefined && pod.spec.schedulerName !== DEFAULT_SCHEDULER) {
      const changes = podSpecChanges(source, { schedulerName: DEFAULT_SCHEDULER });
      const remedy: Remedy = { text: `Use the scheduler ${DEFAULT_SCHEDULER}`, changes, goal: source.subject };
      const cause = { text: `no scheduler has considered it: spec.schedulerName is "${pod.spec.schedulerName}"`, root: "UnknownScheduler" };
      return found({ text, because: [cause] }, [remedy]);
    }
    const claims = [...claimProblems(pod, source.subject, context), ...deviceProblems(pod, context)];
    if (claims.length > 0)
      return found(
        { text, because: claims.map(({ finding }) => finding) },
        claims.flatMap(({ remedies }) => remedies),
      );
    const decision = view.decisions(subject).findLast(({ outcome }) => outcome !== "placed");
    const message: string = decision?.message ?? scheduled?.message ?? "";
    if (view.list("nodes").length === 0) return found({ text, because: [{ text: "the cluster has no nodes", root: "NoNodes" }] });
    const rejected = decision?.refused ?? rejectionsIn(message);
    const reasons = rejected.map((each) => reasonOf(each, pod, context));
    if (reasons.length === 0) return found({ text, because: [undivided(message)] });
    const because = reasons.map(({ finding }) => finding);
    return found(
      { text: `${text}${since(scheduled?.lastTransitionTime)}`, because },
      reasons.flatMap(({ remedies }) => remedies),
    );
  },
});

/** A message that names no nodes for its reasons is one reason for all of them. */
function undivided(message: string): Finding {
  if (message === "") return { text: "the scheduler has not decided yet", isUnknown: true };
  return { text: /nodes are available: (.*?)\.( |$)/.exec(message)?.[1] ?? message, root: "Unschedulable" };
}

/** "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable. preemption: …" */
function rejectionsIn(message: string): readonly RejectedNodes[] {
  const list = /nodes are available: (.*?)\.( |$)/.exec(message)?.[1] ?? "";
  return list.split(", ").flatMap((part) => {
    const [, count, reason] = /^(\d+) (.*)$/.exec(part) ?? [];
    return reason === undefined ? [] : [{ plugin: "", reason, nodes: Number(count), examples: [] }];
  });
}

function claimProblems(pod: Seen, goal: Subject, { view, explain }: ExplainContext): readonly Explanation[] {
  const { namespace } = pod.metadata;
  return claimNamesOf(pod).flatMap((name) => {
    const subject = { resource: "persistentvolumeclaims", namespace, name };
    return (view.get(subject) === undefined ? missingClaim(subject, goal) : explain(subject)) ?? [];
  });
}

/** The size that a claim is given whose intended one is not known. */
const CLAIM_SIZE = "1Gi";

function missingClaim(subject: Subject, goal: Subject): Explanation {
  const { namespace, name } = subject;
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: CLAIM_SIZE } } };
  const object: Manifest = { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: { namespace, name }, spec };
  return found({ text: `${nameOf(subject)}, which the Pod mounts, does not exist`, root: "MissingClaim" }, [
    {
      text: `Create the claim with ${CLAIM_SIZE} of the default StorageClass; the size is a placeholder, since the intended one is not known`,
      changes: [{ type: "create", object }],
      goal,
    },
  ]);
}

function claimNamesOf(pod: Seen): readonly string[] {
  return (pod.spec.volumes ?? []).flatMap(({ persistentVolumeClaim }: Seen) => persistentVolumeClaim?.claimName ?? []);
}

function reasonOf(rejected: RejectedNodes, pod: Seen, context: ExplainContext): Explanation {
  const { view } = context;
  const { reason, nodes, examples } = rejected;
  const where = `${nodes} node${nodes === 1 ? "" : "s"}${examples.length === 0 ? "" : ` (${examples.join(", ")})`}`;
  const finding = (text: string, root: string): Finding => ({ text: `${where}: ${text}`, root });
  if (reason.startsWith("Insufficient ")) return insufficient(reason.slice("Insufficient ".length), pod, view, finding);
  if (reason === "Too many pods") return found(finding("the maximum number of Pods is running", "TooManyPods"));
  if (reason.includes("were unschedulable")) return found(finding("cordoned (spec.unschedulable)", "NodeCordoned"), uncordon(view));
  if (reason.includes("untolerated taint")) {
    const silent = brokenNodes(pod, context);
    if (silent.length > 0) return found({ text: `${where}: not Ready`, because: silent });
    return found(finding(`${taintsOf(pod, view)}, which the Pod does not tolerate`, "UntoleratedTaint"), tolerate(pod, view));
  }
  if (/volume node affinity|PersistentVolume's node affinity/.test(reason))
    return found(finding(`a volume of the Pod is not accessible from there${volumesOf(pod, view)}`, "VolumeNodeAffinity"));
  if (reason.includes("node affinity/selector")) return selectorMismatch(pod, view, finding);
  if (reason.includes("free ports"))
    return found(finding("the requested host port is in use", "HostPortInUse"), withoutHostPorts(pod, view));
  if (reason.includes("anti-affinity")) return found(finding("another Pod excludes it by anti-affinity", "PodAntiAffinity"));
  if (reason.includes("pod affinity")) return podAffinity(pod, view, finding);
  if (reason.includes("topology spread")) return topologySpread(reason, pod, view, finding);
  return found(finding(reason, "Unschedulable"));
}

/** The largest amount that one node has left, and the container that requests most, which gets what fits. */
function insufficient(resource: string, pod: Seen, view: ClusterView, finding: (text: string, root: string) => Finding): Explanation {
  const wanted = requestOf(pod, resource);
  const free = freest(view, pod, resource);
  const text = `not enough ${resource}: the Pod requests ${formatQuantity(wanted)}, the most that a node has left is ${free === undefined ? "unknown" : formatQuantity(free.left)}`;
  if (free === undefined || compareQuantities(free.left, ZERO) <= 0) return found(finding(text, "InsufficientResources"));
  const source = podSource(view, pod);
  const spec = podSpecOf(source);
  const largest = spec.containers.toSorted((a: Seen, b: Seen) => compareQuantities(requested(b, resource), requested(a, resource)))[0];
  const others = subtractQuantities(wanted, requested(largest, resource));
  const fits = subtractQuantities(free.left, others);
  if (compareQuantities(fits, ZERO) <= 0) return found(finding(text, "InsufficientResources"));
  const amount = formatQuantity(fits);
  const changes = requestChanges(source, largest.name, { [resource]: amount });
  return found(finding(text, "InsufficientResources"), [
    { text: `Request at most ${amount} of ${resource} in container ${largest.name}`, changes, goal: source.subject },
  ]);
}

const ZERO = parseQuantity("0");

function requested(container: Seen, resource: string): Quantity {
  return parseQuantity(container?.resources?.requests?.[resource] ?? container?.resources?.limits?.[resource] ?? "0");
}

function requestOf(pod: Seen, resource: string): Quantity {
  return pod.spec.containers.reduce((sum: Quantity, container: Seen) => addQuantities(sum, requested(container, resource)), ZERO);
}

/** Of the nodes that could run the Pod otherwise: schedulable and ready. */
function freest(view: ClusterView, pod: Seen, resource: string): { readonly left: Quantity } | undefined {
  const usable = view.list("nodes").filter((node) => !node.spec?.unschedulable && conditionOf(node, "Ready")?.status === "True");
  const rests = usable.map((node) => {
    const running = view
      .list("pods")
      .filter(
        ({ spec, status, metadata }) =>
          spec.nodeName === node.metadata.name && !["Succeeded", "Failed"].includes(status?.phase) && metadata.uid !== pod.metadata.uid,
      );
    const used = running.reduce((sum: Quantity, other: Seen) => addQuantities(sum, requestOf(other, resource)), ZERO);
    return subtractQuantities(parseQuantity(node.status?.allocatable?.[resource] ?? "0"), used);
  });
  const [most] = rests.toSorted((a, b) => compareQuantities(b, a));
  return most === undefined ? undefined : { left: most };
}

function uncordon(view: ClusterView): readonly Remedy[] {
  const cordoned = view.list("nodes").filter(({ spec }) => spec?.unschedulable === true);
  return cordoned.slice(0, 1).map((node) => ({
    text: `Uncordon node ${node.metadata.name}`,
    changes: [patch(subjectOf("nodes", node), { spec: { unschedulable: null } })],
  }));
}

/** Nodes whose only taints are those of their own condition: why they are not Ready is the cause, not the taint. */
function brokenNodes(pod: Seen, { view, explain }: ExplainContext): readonly Finding[] {
  const tainted = view.list("nodes").filter((node) => untoleratedBy(pod, node).length > 0);
  const isBroken = (node: Seen) => untoleratedBy(pod, node).every(({ key }) => CONDITION_TAINTS.includes(key));
  if (!tainted.every(isBroken)) return [];
  return tainted.slice(0, BROKEN_NODES_MAX).flatMap((node) => explain(subjectOf("nodes", node))?.finding ?? []);
}

const CONDITION_TAINTS = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
const BROKEN_NODES_MAX = 3;

/** ": PersistentVolume pv requires topology.kubernetes.io/zone in b". */
function volumesOf(pod: Seen, view: ClusterView): string {
  const { namespace } = pod.metadata;
  const described = claimNamesOf(pod).flatMap((name) => {
    const claim = view.get({ resource: "persistentvolumeclaims", namespace, name });
    const volume = claim && view.get({ resource: "persistentvolumes", namespace: "", name: claim.spec.volumeName ?? "" });
    const terms: readonly Seen[] = volume?.spec.nodeAffinity?.required?.nodeSelectorTerms ?? [];
    const wanted = terms.map(({ matchExpressions = [] }) =>
      matchExpressions
        .map(({ key, operator, values = [] }: Seen) => `${key} ${String(operator).toLowerCase()} ${values.join(", ")}`)
        .join(" and "),
    );
    return wanted.length === 0 ? [] : [`PersistentVolume ${volume.metadata.name} requires a node with ${wanted.join(" or ")}`];
  });
  return described.length === 0 ? "" : `: ${described.join("; ")}`;
}

function untoleratedBy(pod: Seen, node: Seen): readonly Seen[] {
  return untolerated(pod.spec.tolerations ?? [], node);
}

function taintsOf(pod: Seen, view: ClusterView): string {
  return `taint ${taintNames(view.list("nodes").flatMap((node) => untoleratedBy(pod, node)))}`;
}

/** Taints of node conditions are not tolerated: the node is broken, and the Pod would be, too. */
function tolerate(pod: Seen, view: ClusterView): readonly Remedy[] {
  const source = podSource(view, pod);
  const candidates = view
    .list("nodes")
    .map((node) => ({ node, taints: untoleratedBy(pod, node) }))
    .filter(({ taints }) => taints.length > 0 && !taints.some(isOfCondition));
  return candidates.slice(0, 1).map(({ node, taints }) => {
    const tolerations = [...(podSpecOf(source).tolerations ?? []), ...tolerationsOf(taints)];
    const changes = source.isPod ? [patch(source.subject, { spec: { tolerations } })] : podSpecChanges(source, { tolerations });
    return { text: `Tolerate the taint of node ${node.metadata.name}`, changes, goal: source.subject };
  });
}

function selectorMismatch(pod: Seen, view: ClusterView, finding: (text: string, root: string) => Finding): Explanation {
  const selector = labelsOf(pod.spec.nodeSelector);
  const wanted = Object.entries(selector).map(([key, value]) => `${key}=${value}`);
  // The scheduler has one reason for both.
  const isSelected = view.list("nodes").some((node) => matchesLabels(selector, labelsOf(node.metadata.labels)));
  if (isSelected && pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution !== undefined)
    return nodeAffinity(pod, view, finding);
  const text = `lacks the labels of the Pod's nodeSelector ${wanted.join(", ")}`;
  const nodes = view.list("nodes").filter((node) => !node.spec?.unschedulable && !matchesLabels(selector, labelsOf(node.metadata.labels)));
  const [node] = nodes;
  const remedies: readonly Remedy[] =
    node === undefined
      ? []
      : [{ text: `Label node ${node.metadata.name}`, changes: [patch(subjectOf("nodes", node), { metadata: { labels: selector } })] }];
  return found(finding(text, "NodeSelector"), remedies);
}

function withoutHostPorts(pod: Seen, view: ClusterView): readonly Remedy[] {
  const source = podSource(view, pod);
  const containers = podSpecOf(source).containers.map((container: Seen) => ({
    ...container,
    ports: (container.ports ?? []).map(({ hostPort: _port, ...port }: Seen) => port),
  }));
  return [{ text: "Do not request the host port", changes: podSpecChanges(source, { containers }), goal: source.subject }];
}
