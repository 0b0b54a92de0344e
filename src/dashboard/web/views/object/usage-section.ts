/** The usage of a Pod or a node in its overview. */
import { h, type JSX } from "preact";
import type { KubeObject } from "../../../../api/machinery/object.ts";
import { field, objectsAt } from "../../../data/fields.ts";
import { kindId, type Kind } from "../../../data/kinds.ts";
import { amountsOf, cpuText, memoryText, sum } from "../../../data/usage/usage.ts";
import { UsageChart, useUsage } from "../../parts/usage.ts";
import type { Context } from "../view.ts";

export interface UsageSectionProps {
  readonly context: Context;
  readonly kind: Kind;
  readonly object: KubeObject;
}

/** Null for other kinds, and for Pods that do not run. */
export function UsageSection(props: UsageSectionProps): JSX.Element | null {
  const id = kindId(props.kind);
  if (id === "nodes") return h(Charts, props);
  return id === "pods" && field(props.object, "status", "phase") === "Running" ? h(Charts, props) : null;
}

function Charts({ context, kind: { plural: resource }, object }: UsageSectionProps): JSX.Element {
  const { namespace = "", name } = object.metadata;
  const attributes = { verb: "list", group: "metrics.k8s.io", resource, namespace };
  // A list by name is empty while there is no measurement, where one object would be an error.
  const within = namespace === "" ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
  const query = new URLSearchParams({ fieldSelector: `metadata.name=${name}` }).toString();
  const { history, problem } = useUsage(context, attributes, `/apis/metrics.k8s.io/v1beta1${within}/${resource}?${query}`);
  const limit = limitOf(object);
  const samples = history.of(`${namespace}/${name}`);
  return h(
    "div",
    { class: "usage-section" },
    h("h2", null, "Usage"),
    problem === undefined
      ? h(
          "div",
          { class: "controls" },
          h("span", null, "CPU ", h(UsageChart, { label: "CPU", samples, max: limit.cpu, read: ({ cpu }) => cpu, write: cpuText })),
          h(
            "span",
            null,
            "Memory ",
            h(UsageChart, { label: "Memory", samples, max: limit.memory, read: ({ memory }) => memory, write: memoryText }),
          ),
        )
      : h("p", { class: "count" }, problem),
  );
}

/** Of a node what is allocatable; of a Pod the limits of all containers, if all have one. */
function limitOf(object: KubeObject): { readonly cpu: number; readonly memory: number } {
  if (object.kind === "Node") return amountsOf(field(object, "status", "allocatable"));
  const limits = objectsAt(object, "spec", "containers").map((container) => amountsOf(field(container, "resources", "limits")));
  const total = sum(limits);
  return {
    cpu: limits.every(({ cpu }) => cpu > 0) ? total.cpu : 0,
    memory: limits.every(({ memory }) => memory > 0) ? total.memory : 0,
  };
}
