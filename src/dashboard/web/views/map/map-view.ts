/** The cluster map: Ingresses, Services, workloads, Pods and Nodes of a namespace, and how they are connected, live. */
import { h, type JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { KubeObject } from "../../../../api/machinery/object.ts";
import type { LiveState } from "../../../data/live-list.ts";
import { findKind, pathOf } from "../../../data/kinds.ts";
import { mapGraph, type MapItem } from "../../../data/map-graph.ts";
import { ITEM_HEIGHT, ITEM_WIDTH, mapLayout, type MapLayout, type PlacedEdge, type PlacedItem } from "../../../data/map-layout.ts";
import { referenceAddress } from "../../parts/links.ts";
import { useObjects } from "../../parts/live.ts";
import { Empty, ErrorNote, Waiting } from "../../parts/notes.ts";
import { statusClass } from "../../parts/status-class.ts";
import type { Context, View, ViewProps } from "../view.ts";

export const mapView: View = { name: "map", menuTitle: "Cluster map", titleOf: () => "Cluster map", component: MapView };

/** Pods that a person can still distinguish; reading whole objects of more would take long. */
const PODS_MAX = 500;
/** Characters that fit an item. */
const NAME_LENGTH = 22;

function MapView({ context, route }: ViewProps): JSX.Element {
  const { ns: namespace = "" } = route.query;
  const of = (plural: string, group: string, max?: number) =>
    useKind(context, { plural, group, namespace, ...(max === undefined ? {} : { max }) });
  const nodes = of("nodes", "");
  const pods = of("pods", "", PODS_MAX);
  const replicaSets = of("replicasets", "apps");
  const services = of("services", "");
  const endpointSlices = of("endpointslices", "discovery.k8s.io");
  const ingresses = of("ingresses", "networking.k8s.io");
  const states = [nodes, pods, replicaSets, services, endpointSlices, ingresses];
  const layout = useMemo(
    () =>
      mapLayout(
        mapGraph({
          ...{ nodes: items(nodes), pods: items(pods), replicaSets: items(replicaSets), services: items(services) },
          ...{ endpointSlices: items(endpointSlices), ingresses: items(ingresses) },
        }),
      ),
    states,
  );
  const error = states.find((state) => state?.error !== undefined)?.error;
  return h(
    "section",
    { class: "map" },
    h(
      "div",
      { class: "bar" },
      h("h1", null, "Cluster map"),
      h("span", { class: "count" }, namespace === "" ? "all namespaces" : namespace),
    ),
    error === undefined ? null : h(ErrorNote, { error }),
    pods?.isTruncated === true ? h(Empty, { text: `Only the first ${PODS_MAX} Pods are shown: choose a namespace.` }) : null,
    pods === undefined ? h(Waiting, { what: "the map" }) : h(Picture, { context, layout }),
  );
}

function useKind(
  context: Context,
  { plural, group, namespace, max }: { readonly plural: string; readonly group: string; readonly namespace: string; readonly max?: number },
): LiveState<KubeObject> | undefined {
  const kind = findKind(context.kinds, plural, group);
  return useObjects(context, kind === undefined ? "" : pathOf(kind, kind.isNamespaced ? { namespace } : {}), undefined, max);
}

function items(state: LiveState<KubeObject> | undefined): Iterable<KubeObject> {
  return state?.items.values() ?? [];
}

function Picture({ context, layout }: { readonly context: Context; readonly layout: MapLayout }): JSX.Element {
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const near = useMemo(() => connected(layout.edges, chosen), [layout, chosen]);
  const { width, height } = layout;
  return h(
    "div",
    { class: "picture", tabIndex: 0, role: "region", "aria-label": "Map of the cluster" },
    h(
      "svg",
      { width, height, viewBox: `0 0 ${width} ${height}`, class: chosen === undefined ? "" : "has-choice" },
      layout.heads.map(({ column, x }) => h("text", { key: column, class: "head", x, y: 18 }, column)),
      layout.edges.map((edge) => h(Edge, { key: `${edge.from} ${edge.to}`, edge, isNear: near.has(edge.from) && near.has(edge.to) })),
      layout.items.map((item) =>
        h(Item, {
          key: item.id,
          context,
          item,
          isNear: near.has(item.id),
          onChoose: (isChosen: boolean) => setChosen(isChosen ? item.id : undefined),
        }),
      ),
    ),
  );
}

function Edge({ edge: { x1, y1, x2, y2, means }, isNear }: { readonly edge: PlacedEdge; readonly isNear: boolean }): JSX.Element {
  const bend = Math.abs(x2 - x1) / 2;
  const d = `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`;
  return h("path", { class: `edge ${means === "routes" ? "routes" : ""} ${isNear ? "near" : ""}`, d });
}

interface ItemProps {
  readonly context: Context;
  readonly item: PlacedItem;
  readonly isNear: boolean;
  onChoose(isChosen: boolean): void;
}

function Item({ context, item, isNear, onChoose }: ItemProps): JSX.Element {
  const { x, y, name, kind, namespace, status } = item;
  const address = referenceAddress(context.kinds, referenceOf(item));
  return h(
    "a",
    {
      class: `item ${statusClass(status)} ${item.column.toLowerCase()} ${isNear ? "near" : ""}`,
      href: address === undefined ? undefined : `#${address}`,
      "aria-label": `${kind} ${name}${namespace === "" ? "" : ` in ${namespace}`}${status === "" ? "" : `, ${status}`}`,
      onMouseEnter: () => onChoose(true),
      onMouseLeave: () => onChoose(false),
      onFocus: () => onChoose(true),
      onBlur: () => onChoose(false),
    },
    h("title", null, `${kind} ${name}${status === "" ? "" : `: ${status}`}`),
    h("rect", { x, y, width: ITEM_WIDTH, height: ITEM_HEIGHT, rx: 6 }),
    h("text", { x: x + 10, y: y + 19 }, name.length > NAME_LENGTH ? `${name.slice(0, NAME_LENGTH - 1)}…` : name),
  );
}

function referenceOf({ apiVersion, kind, name, namespace }: MapItem): Pick<KubeObject, "apiVersion" | "kind" | "metadata"> {
  return { apiVersion, kind, metadata: { name, namespace } };
}

/** Everything on a path through the item, in both directions. */
function connected(edges: readonly PlacedEdge[], id: string | undefined): ReadonlySet<string> {
  if (id === undefined) return new Set();
  const along = (from: "from" | "to", to: "from" | "to") => {
    const seen = new Set([id]);
    for (const one of seen) for (const edge of edges) if (edge[from] === one) seen.add(edge[to]);
    return seen;
  };
  return new Set([...along("from", "to"), ...along("to", "from")]);
}
