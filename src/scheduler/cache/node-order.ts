/**
 * The order in which nodes are examined: zones alternate, each with its next node, in order of appearance within a zone. So the first
 * hundred of thousands cover all zones evenly. A node that changes its zone is last in the new one.
 */
import type { Node } from "../../api/generated/core/v1.ts";

/** Item: what is put in order for a node. */
export class NodeOrder<Item> {
  /** By zone. A zone without nodes is dropped, and comes last if it reappears. */
  readonly #zones = new Map<string, Set<Item>>();

  /** `previous`: the node version under which the item is already ordered. Returns whether the order changed. */
  put(item: Item, node: Node, previous: Node | undefined): boolean {
    const zone = zoneOf(node);
    if (previous !== undefined) {
      if (zoneOf(previous) === zone) return false;
      this.remove(item, previous);
    }
    const items = this.#zones.get(zone);
    if (items === undefined) this.#zones.set(zone, new Set([item]));
    else items.add(item);
    return true;
  }

  remove(item: Item, node: Node): void {
    const zone = zoneOf(node);
    const items = this.#zones.get(zone);
    items?.delete(item);
    if (items?.size === 0) this.#zones.delete(zone);
  }

  list(): readonly Item[] {
    const zones = [...this.#zones.values()].map((items) => [...items]);
    const listed: Item[] = [];
    for (let turn = 0, before = -1; listed.length > before; turn++) {
      before = listed.length;
      for (const items of zones) if (turn < items.length) listed.push(items[turn] as Item);
    }
    return listed;
  }
}

/** "" without a zone and a region. The deprecated labels take precedence, as upstream. */
function zoneOf({ metadata: { labels } }: Node): string {
  const zone = labels?.["failure-domain.beta.kubernetes.io/zone"] ?? labels?.["topology.kubernetes.io/zone"] ?? "";
  const region = labels?.["failure-domain.beta.kubernetes.io/region"] ?? labels?.["topology.kubernetes.io/region"] ?? "";
  // A label value has no ":", so that two pairs never collide.
  return zone === "" && region === "" ? "" : `${region}:${zone}`;
}
