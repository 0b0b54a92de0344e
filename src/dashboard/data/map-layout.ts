/**
 * Coordinates of the cluster map: one column per kind of item, items of a column ordered so that connected ones are near each other. Pure
 * and deterministic: the same objects are drawn at the same place, so that a change does not shuffle the picture.
 */
import { MAP_COLUMNS, type MapColumn, type MapEdge, type MapGraph, type MapItem } from "./map-graph.ts";

export interface PlacedItem extends MapItem {
  readonly x: number;
  readonly y: number;
}

export interface PlacedEdge extends MapEdge {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

export interface MapLayout {
  readonly items: readonly PlacedItem[];
  readonly edges: readonly PlacedEdge[];
  readonly heads: readonly { readonly column: MapColumn; readonly x: number }[];
  readonly width: number;
  readonly height: number;
}

export const ITEM_WIDTH = 168;
export const ITEM_HEIGHT = 30;
const COLUMN_WIDTH = 208;
const ROW_HEIGHT = 38;
const HEAD_HEIGHT = 36;
const MARGIN = 8;

export function mapLayout({ items, edges }: MapGraph): MapLayout {
  const shown = MAP_COLUMNS.filter((column) => items.some((item) => item.column === column));
  const orders = orderColumns(shown, items, edges);
  const placed = new Map<string, PlacedItem>();
  const rows = Math.max(0, ...[...orders.values()].map((order) => order.length));
  for (const [index, column] of shown.entries()) {
    const order = orders.get(column) ?? [];
    // Shorter columns are spread over the height of the longest.
    const step = (rows * ROW_HEIGHT) / Math.max(1, order.length);
    for (const [row, item] of order.entries())
      placed.set(item.id, { ...item, x: MARGIN + index * COLUMN_WIDTH, y: HEAD_HEIGHT + row * step + (step - ITEM_HEIGHT) / 2 });
  }
  return {
    items: [...placed.values()],
    edges: edges.flatMap((edge) => placeEdge(edge, placed)),
    heads: shown.map((column, index) => ({ column, x: MARGIN + index * COLUMN_WIDTH })),
    width: MARGIN * 2 + Math.max(0, shown.length - 1) * COLUMN_WIDTH + ITEM_WIDTH,
    height: HEAD_HEIGHT + rows * ROW_HEIGHT + MARGIN,
  };
}

/** Pods are ordered by owner and name; every other column by the mean position of the Pods that it is connected to. */
function orderColumns(
  columns: readonly MapColumn[],
  items: readonly MapItem[],
  edges: readonly MapEdge[],
): ReadonlyMap<MapColumn, readonly MapItem[]> {
  const of = (column: MapColumn) => items.filter((item) => item.column === column).sort((a, b) => compare(a.id, b.id));
  const positions = new Map<string, number>();
  const orders = new Map<MapColumn, readonly MapItem[]>();
  // From the Pods outwards, so that each column has a neighbour with positions.
  for (const column of ["Pod", "Workload", "Node", "Service", "Ingress"] as const) {
    if (!columns.includes(column)) continue;
    const weights = new Map(of(column).map((item) => [item.id, meanPosition(item.id, edges, positions)]));
    const order = of(column).sort((a, b) => compare(weights.get(a.id) ?? Infinity, weights.get(b.id) ?? Infinity));
    for (const [index, item] of order.entries()) positions.set(item.id, index);
    orders.set(column, order);
  }
  return orders;
}

function meanPosition(id: string, edges: readonly MapEdge[], positions: ReadonlyMap<string, number>): number {
  const found = edges.flatMap(({ from, to }) => (from === id ? [positions.get(to)] : to === id ? [positions.get(from)] : []));
  const known = found.filter((position) => position !== undefined);
  return known.length === 0 ? Infinity : known.reduce((sum, position) => sum + position, 0) / known.length;
}

function compare<T extends string | number>(a: T, b: T): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

function placeEdge(edge: MapEdge, placed: ReadonlyMap<string, PlacedItem>): readonly PlacedEdge[] {
  const [from, to] = [placed.get(edge.from), placed.get(edge.to)];
  if (from === undefined || to === undefined) return [];
  const middle = ITEM_HEIGHT / 2;
  return [{ ...edge, x1: from.x + ITEM_WIDTH, y1: from.y + middle, x2: to.x, y2: to.y + middle }];
}
