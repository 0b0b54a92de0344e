import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { seededRandom } from "../../base/random.ts";
import type { Row } from "./live-table.ts";
import { RowOrder } from "./row-order.ts";

const COLUMNS = ["Name", "Ready", "Restarts", "Age"].map((name) => ({ name, priority: 0 }));

function row(
  name: string,
  restarts: string | number,
  createdMs: number,
  labels: Readonly<Record<string, string>> = {},
): readonly [string, Row] {
  return [
    `shop/${name}`,
    { key: `shop/${name}`, namespace: "shop", name, createdMs, isTerminating: false, cells: [name, "1/1", restarts, "5m"], labels },
  ];
}

const ROWS = new Map([row("web", "10 (3m ago)", 300, { app: "Web" }), row("api", 9, 100), row("job", "2", 200)]);

describe("rows are filtered and ordered", () => {
  const rows: readonly { it: string; filter?: string; order?: { column: number; isDescending: boolean }; names: readonly string[] }[] = [
    { it: "in the server's order without an order", names: ["web", "api", "job"] },
    { it: "by name", order: { column: 0, isDescending: false }, names: ["api", "job", "web"] },
    { it: "numbers by value, also at the beginning of a text", order: { column: 2, isDescending: false }, names: ["job", "api", "web"] },
    { it: "descending", order: { column: 2, isDescending: true }, names: ["web", "api", "job"] },
    { it: "ages by creation, the youngest first", order: { column: 3, isDescending: false }, names: ["web", "job", "api"] },
    { it: "rows with all words", filter: "SHOP w", names: ["web"] },
    { it: "rows with a label", filter: "app=web", names: ["web"] },
    { it: "no row", filter: "app=other", names: [] },
  ];
  for (const { it, filter = "", order, names } of rows)
    test(it, () => {
      const found = new RowOrder().rowsOf({ items: ROWS, columns: COLUMNS }, filter, order).map(({ name }) => name);
      deepEqual(found, names);
    });
});

test("rows that are ordered again after changes are those of a new order", () => {
  const random = seededRandom(7);
  const order = new RowOrder();
  const items = new Map(Array.from({ length: 200 }, (_, index) => row(`pod-${index}`, index % 7, index)));
  for (let round = 0; round < 100; round++) {
    for (let change = 0; change < 5; change++) {
      const name = `pod-${random.below(250)}`;
      if (random.below(3) === 0) items.delete(`shop/${name}`);
      else items.set(...row(name, random.below(9), random.below(1_000)));
    }
    const wanted = { column: round % 20 < 10 ? 2 : 3, isDescending: round % 4 < 2 };
    const filter = round % 30 < 15 ? "" : "pod-1";

    const again = order.rowsOf({ items, columns: COLUMNS }, filter, wanted);

    deepEqual(again, new RowOrder().rowsOf({ items, columns: COLUMNS }, filter, wanted));
  }
});
