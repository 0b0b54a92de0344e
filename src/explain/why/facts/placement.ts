/** Rules of a Pod that keep it from nodes by labels: node affinity, Pod affinity, topology spread. What they require, and what there is. */
import type { Json } from "../../../api/machinery/object.ts";
import { labelSelectorFromObject } from "../../../api/machinery/selectors/label-selector.ts";
import type { ClusterView, Seen } from "../cluster-view.ts";
import { found, patch, subjectOf, type Explanation, type Finding, type Remedy } from "../explainer.ts";
import { labelsOf, podSource, podSpecChanges, podSpecOf } from "../pod-template.ts";
import { similarName } from "./similar-name.ts";

/** Says on which nodes the fact is true. */
type OnNodes = (text: string, root: string) => Finding;

/** Labels that a node reports about itself: setting them by hand would be a lie. */
const REPORTED = ["kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch"];
/** Values of a label that are listed. */
const VALUES_SHOWN_MAX = 5;

export function nodeAffinity(pod: Seen, view: ClusterView, on: OnNodes): Explanation {
  const terms: readonly Seen[] = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const text = "its labels do not match the Pod's node affinity";
  if (terms.length === 0) return found(on(text, "NodeAffinity"));
  const required = terms.map(({ matchExpressions = [] }) => matchExpressions.map(requirementText).join(" and ")).join(" or ");
  const [first] = terms;
  const missing = (first.matchExpressions ?? []).filter((expression: Seen) => isUnmet(expression, view));
  const hints = missing.map((expression: Seen) => `; ${existingText(expression, view)}`).join("");
  return found(on(`${text}: ${required}${hints}`, "NodeAffinity"), missing.length === 1 ? affinityRemedies(pod, missing[0], view) : []);
}

/** "kubernetes.io/hostname in (node-0)". */
function requirementText({ key, operator, values = [] }: Seen): string {
  return `${key} ${String(operator).toLowerCase()}${values.length === 0 ? "" : ` (${values.join(", ")})`}`;
}

/** An expression that names values of which no node has one. Other operators are not examined. */
function isUnmet({ key, operator, values = [] }: Seen, view: ClusterView): boolean {
  return operator === "In" && !valuesOf(key, view).some((value) => values.includes(value));
}

function valuesOf(key: string, view: ClusterView): readonly string[] {
  const values = view.list("nodes").flatMap(({ metadata }) => labelsOf(metadata.labels)[key] ?? []);
  return [...new Set(values)].toSorted();
}

function existingText({ key }: Seen, view: ClusterView): string {
  const values = valuesOf(key, view);
  if (values.length === 0) return `no node has the label ${key}`;
  const more = values.length > VALUES_SHOWN_MAX ? `, and ${values.length - VALUES_SHOWN_MAX} more` : "";
  return `nodes have ${key} ${values.slice(0, VALUES_SHOWN_MAX).join(", ")}${more}`;
}

function affinityRemedies(pod: Seen, expression: Seen, view: ClusterView): readonly Remedy[] {
  const { key, values } = expression;
  const source = podSource(view, pod);
  const existing = valuesOf(key, view);
  const meant: string | undefined = values.map((value: string) => similarName(value, existing)).find(Boolean);
  const affinity = podSpecOf(source).affinity as Json;
  const written = JSON.stringify(values);
  const corrected =
    meant === undefined
      ? []
      : [
          {
            text: `Require ${key} ${meant}`,
            changes: podSpecChanges(source, { affinity: withValues(affinity, written, [meant]) }),
            goal: source.subject,
          },
        ];
  const node = view.list("nodes").find(({ spec }) => !spec?.unschedulable);
  if (node === undefined || REPORTED.includes(key)) return corrected;
  const changes = [patch(subjectOf("nodes", node), { metadata: { labels: { [key]: values[0] } } })];
  return [...corrected, { text: `Label node ${node.metadata.name}`, changes }];
}

/** The same affinity; lists of values that read like `written` are replaced. */
function withValues(affinity: Json, written: string, values: readonly string[]): Json {
  return JSON.parse(JSON.stringify(affinity).replaceAll(`"values":${written}`, `"values":${JSON.stringify(values)}`)) as Json;
}

/** The required terms, and whether a Pod exists that matches. */
export function podAffinity(pod: Seen, view: ClusterView, on: OnNodes): Explanation {
  const terms: readonly Seen[] = pod.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const described = terms.map(({ labelSelector, namespaces, namespaceSelector, topologyKey }) => {
    const selector = labelSelectorFromObject(labelSelector ?? {});
    const isElsewhere = namespaces !== undefined || namespaceSelector !== undefined;
    const matching = view
      .list("pods", isElsewhere ? undefined : pod.metadata.namespace)
      .filter(({ metadata, spec }) => spec.nodeName && selector.matches(labelsOf(metadata.labels)));
    const wanted = `a Pod with the labels ${selectorText(labelSelector)} on a node with the same ${topologyKey}`;
    const where = isElsewhere ? "" : ` in namespace ${pod.metadata.namespace}`;
    return matching.length === 0 ? `${wanted}; no Pod with a node${where} has these labels` : wanted;
  });
  const detail = described.length === 0 ? "" : `: ${described.join("; ")}`;
  return found(on(`no Pod that it requires by affinity is there${detail}`, "PodAffinity"));
}

function selectorText(selector: Seen): string {
  const labels = Object.entries(labelsOf(selector?.matchLabels)).map(([key, value]) => `${key}=${value}`);
  return [...labels, ...(selector?.matchExpressions ?? []).map(requirementText)].join(", ");
}

/** `reason`: as the scheduler states it. */
export function topologySpread(reason: string, pod: Seen, view: ClusterView, on: OnNodes): Explanation {
  const constraints: readonly Seen[] = (pod.spec.topologySpreadConstraints ?? []).filter(
    ({ whenUnsatisfiable }: Seen) => whenUnsatisfiable === "DoNotSchedule",
  );
  const source = podSource(view, pod);
  const topologySpreadConstraints = constraints.map((constraint) => ({ ...constraint, whenUnsatisfiable: "ScheduleAnyway" }));
  const remedies: readonly Remedy[] = [
    {
      text: "Spread its Pods where possible, instead of always",
      changes: podSpecChanges(source, { topologySpreadConstraints }),
      goal: source.subject,
    },
  ];
  const keys = constraints.map(({ topologyKey }) => String(topologyKey));
  if (!reason.includes("missing required label")) {
    const skews = constraints.map(({ maxSkew, topologyKey }) => `at most ${maxSkew} more Pods per ${topologyKey} than elsewhere`);
    return found(on(`topology spread constraints exclude it: ${skews.join("; ")}`, "TopologySpread"), remedies);
  }
  const lacking = keys.filter((key) => valuesOf(key, view).length === 0);
  const label =
    lacking.length === 0
      ? `lacks a label by which the Pod must be spread: ${keys.join(", ")}`
      : `no node has the label ${lacking.join(", ")}, by which the Pod must be spread`;
  return found(on(label, "TopologySpread"), remedies);
}
