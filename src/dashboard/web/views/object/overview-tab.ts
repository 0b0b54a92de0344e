/** What any object has: metadata, owners, conditions; and the containers of a Pod. */
import { h, type JSX } from "preact";
import { humanDuration } from "../../../../api/machinery/duration.ts";
import { isObject, type KubeObject } from "../../../../api/machinery/object.ts";
import { escapeInvisible } from "../../../../base/text.ts";
import { field, objectsAt, textAt, type Fields } from "../../../data/fields.ts";
import { Facts } from "../../parts/facts.ts";
import { referenceAddress } from "../../parts/links.ts";
import { useNow } from "../../parts/live.ts";
import { SmallTable } from "../../parts/small-table.ts";
import { statusClass } from "../../parts/status-class.ts";
import type { Context } from "../view.ts";
import type { Tab, TabProps } from "./tab.ts";
import { UsageSection } from "./usage-section.ts";

export const overviewTab: Tab = { name: "", title: "Overview", isFor: () => true, component: OverviewTab };

function OverviewTab({ context, kind, object }: TabProps): JSX.Element {
  const now = useNow(context);
  const { metadata } = object;
  const created = metadata.creationTimestamp;
  return h(
    "div",
    { class: "overview" },
    h(Facts, {
      facts: [
        ["Kind", `${object.kind} (${object.apiVersion})`],
        ["Created", created === undefined ? undefined : `${created} (${humanDuration(now - Date.parse(created))} ago)`],
        ["Terminating since", metadata.deletionTimestamp],
        ["Status", phaseOf(object)],
        ["Node", nodeLink(context, object)],
        ["Owned by", ownerLinks(context, object)],
        ["Labels", pairs(metadata.labels, "chips")],
        ["Annotations", pairs(metadata.annotations, "pairs")],
        ["Replicas", replicasOf(object)],
        ["Selector", selectorOf(object)],
        ["Finalizers", metadata.finalizers?.join(", ")],
        ["UID", metadata.uid],
        ["Resource version", metadata.resourceVersion],
      ],
    }),
    h(UsageSection, { context, kind, object }),
    h(Containers, { object }),
    h(Conditions, { object }),
  );
}

/** "3 wanted, 2 ready, 3 of the current template": of workloads. */
function replicasOf(object: KubeObject): string | undefined {
  const wanted = numberAt(object, "spec", "replicas");
  if (wanted === undefined) return undefined;
  const updated = numberAt(object, "status", "updatedReplicas");
  const ready = `${wanted} wanted, ${numberAt(object, "status", "readyReplicas") ?? 0} ready`;
  return updated === undefined ? ready : `${ready}, ${updated} of the current template`;
}

function numberAt(object: KubeObject, ...path: readonly string[]): number | undefined {
  const value = field(object, ...path);
  return typeof value === "number" ? value : undefined;
}

/** Of a workload, or a Service: "app=web". */
function selectorOf(object: KubeObject): string | undefined {
  const selector = field(object, "spec", "selector");
  const labels = field(selector, "matchLabels") ?? selector;
  if (!isObject(labels)) return undefined;
  const parts = Object.entries(labels).flatMap(([key, value]) => (typeof value === "string" ? `${key}=${value}` : []));
  const expressions = objectsAt(selector, "matchExpressions").length;
  return [...parts, ...(expressions === 0 ? [] : [`${expressions} expression${expressions === 1 ? "" : "s"}`])].join(", ");
}

function phaseOf(object: KubeObject): JSX.Element | undefined {
  const phase = textAt(object, "status", "phase");
  return phase === "" ? undefined : h("span", { class: statusClass(phase) }, phase);
}

function nodeLink(context: Context, object: KubeObject): JSX.Element | string | undefined {
  const name = object.kind === "Pod" ? textAt(object, "spec", "nodeName") : "";
  return name === "" ? undefined : linkTo(context, { apiVersion: "v1", kind: "Node", metadata: { name } });
}

function ownerLinks(context: Context, { metadata }: KubeObject): readonly (JSX.Element | string)[] | undefined {
  const owners = metadata.ownerReferences ?? [];
  if (owners.length === 0) return undefined;
  return owners.map(({ apiVersion, kind, name }) =>
    linkTo(context, { apiVersion, kind, metadata: { name, namespace: metadata.namespace ?? "" } }, `${kind} ${name}`),
  );
}

function linkTo(
  { kinds }: Pick<Context, "kinds">,
  reference: Pick<KubeObject, "apiVersion" | "kind" | "metadata">,
  text?: string,
): JSX.Element | string {
  const address = referenceAddress(kinds, reference);
  const shown = text ?? reference.metadata.name ?? "";
  return address === undefined ? shown : h("a", { href: `#${address}` }, shown);
}

/** A longer value is shown on demand: kubectl keeps whole objects in an annotation. */
const VALUE_LENGTH_MAX = 200;

function pairs(values: Readonly<Record<string, string>> | undefined, style: "chips" | "pairs"): JSX.Element | undefined {
  const entries = Object.entries(values ?? {});
  if (entries.length === 0) return undefined;
  return h(
    "ul",
    { class: style },
    entries.map(([key, value]) =>
      h("li", { key }, value.length > VALUE_LENGTH_MAX ? h(LongValue, { name: key, value }) : `${key}: ${escapeInvisible(value)}`),
    ),
  );
}

function LongValue({ name, value }: { readonly name: string; readonly value: string }): JSX.Element {
  return h("details", null, h("summary", null, `${name} (${value.length} characters)`), escapeInvisible(value));
}

/** "Running", or the reason of another state. */
function stateOf(status: Fields | undefined): string {
  const [name = "waiting", detail] = Object.entries(field(status, "state") ?? {})[0] ?? [];
  return textAt(detail, "reason") || name.slice(0, 1).toUpperCase() + name.slice(1);
}

function Containers({ object }: { readonly object: KubeObject }): JSX.Element | null {
  const statuses = [...objectsAt(object, "status", "initContainerStatuses"), ...objectsAt(object, "status", "containerStatuses")];
  const containers = [...objectsAt(object, "spec", "initContainers"), ...objectsAt(object, "spec", "containers")];
  if (containers.length === 0) return null;
  const rows = containers.map((container) => {
    const own = statuses.find((candidate) => candidate["name"] === container["name"]);
    const state = stateOf(own);
    const restarts = textAt(own, "restartCount") || "0";
    return [textAt(container, "name"), textAt(container, "image"), h("span", { class: statusClass(state) }, state), restarts];
  });
  return h(SmallTable, { title: "Containers", heads: ["Name", "Image", "State", "Restarts"], rows });
}

function Conditions({ object }: { readonly object: KubeObject }): JSX.Element | null {
  const conditions = objectsAt(object, "status", "conditions");
  if (conditions.length === 0) return null;
  const names = ["type", "status", "reason", "message", "lastTransitionTime"];
  const rows = conditions.map((condition) => names.map((name) => textAt(condition, name)));
  return h(SmallTable, { title: "Conditions", heads: ["Type", "Status", "Reason", "Message", "Since"], rows });
}
