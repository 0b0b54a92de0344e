/** The cluster map: Ingresses, Services, workloads, Pods and Nodes of a namespace, and how they are connected, live. */
import { Fragment, h, type JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { KubeObject } from "../../../../api/machinery/object.ts";
import type { LiveState } from "../../../data/live-list.ts";
import { findKind, pathOf } from "../../../data/kinds.ts";
import { mapGraph, type MapItem } from "../../../data/map-graph.ts";
import { groupedMap } from "../../../data/map-groups.ts";
import { ITEM_HEIGHT, ITEM_WIDTH, mapLayout, type MapLayout, type PlacedEdge, type PlacedItem } from "../../../data/map-layout.ts";
import { referenceAddress } from "../../parts/links.ts";
import { useAllowedObjects, useTable } from "../../parts/live.ts";
import { Empty, ErrorNote, Waiting } from "../../parts/notes.ts";
import { statusClass } from "../../parts/status-class.ts";
import type { Context, View, ViewProps } from "../view.ts";

export const mapView: View = { name: "map", menuTitle: "Cluster map", titleOf: () => "Cluster map", component: MapView };

/** Pods that a person can still distinguish; more are shown in groups. */
const PODS_MAX = 500;
/** Characters that fit an item. */
const NAME_LENGTH = 22;

function MapView({ context, route }: ViewProps): JSX.Element {
  const { ns: namespace = "" } = route.query;
  const { state: pods, forbidden } = useKind(context, { plural: "pods", group: "", namespace, max: PODS_MAX });
  const isGrouped = pods?.isTruncated === true;
  const of = (plural: string, group: string) => useKind(context, { plural, group, namespace }).state;
  const frame = {
    nodes: of("nodes", ""),
    replicaSets: of("replicasets", "apps"),
    services: of("services", ""),
    ingresses: of("ingresses", "networking.k8s.io"),
  };
  const error = [pods, ...Object.values(frame)].find((state) => state?.error !== undefined)?.error;
  return h(
    "section",
    { class: "map" },
    h(
      "div",
      { class: "bar" },
      h("h1", null, "Cluster map"),
      h("span", { class: "count" }, namespace === "" ? "all namespaces" : namespace),
      isGrouped ? h("span", { class: "count" }, "in groups: choose a namespace for single Pods") : null,
    ),
    error === undefined ? null : h(ErrorNote, { error }),
    forbidden === "" ? null : h(Empty, { text: forbidden }),
    pods === undefined && forbidden === ""
      ? h(Waiting, { what: "the map" })
      : h(isGrouped ? GroupedMap : SingleMap, { context, namespace, pods, frame }),
  );
}

type Objects = LiveState<KubeObject> | undefined;

interface MapProps {
  readonly context: Context;
  readonly namespace: string;
  readonly pods: Objects;
  readonly frame: Readonly<Record<"nodes" | "replicaSets" | "services" | "ingresses", Objects>>;
}

function SingleMap({ context, namespace, pods, frame }: MapProps): JSX.Element {
  const { state: slices } = useKind(context, { plural: "endpointslices", group: "discovery.k8s.io", namespace });
  const layout = useMemo(
    () => mapLayout(mapGraph({ ...framed(frame), pods: items(pods), endpointSlices: items(slices) })),
    [...Object.values(frame), pods, slices],
  );
  return h(Picture, { context, layout });
}

/** Pods as rows: their number does not matter. */
function GroupedMap({ context, namespace, frame }: MapProps): JSX.Element {
  const kind = findKind(context.kinds, "pods");
  const table = useTable(context, kind === undefined ? "" : pathOf(kind, { namespace }));
  const layout = useMemo(
    () => mapLayout(groupedMap({ ...framed(frame), pods: table?.items.values() ?? [], columns: table?.columns ?? [] })),
    [...Object.values(frame), table],
  );
  if (table === undefined) return h(Waiting, { what: "Pods" });
  return h(
    Fragment,
    null,
    table.isComplete ? null : h(Waiting, { what: `Pods, ${table.items.size.toLocaleString("en")} so far` }),
    h(Picture, { context, layout }),
  );
}

function framed({ nodes, replicaSets, services, ingresses }: MapProps["frame"]) {
  return { nodes: items(nodes), replicaSets: items(replicaSets), services: items(services), ingresses: items(ingresses) };
}

interface WantedKind {
  readonly plural: string;
  readonly group: string;
  readonly namespace: string;
  readonly max?: number;
}

function useKind(context: Context, { plural, group, namespace, max = Infinity }: WantedKind) {
  const kind = findKind(context.kinds, plural, group);
  return useAllowedObjects(context, kind, kind?.isNamespaced === true ? namespace : "", max);
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
  const address = item.address ?? referenceAddress(context.kinds, referenceOf(item));
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
