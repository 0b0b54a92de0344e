import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import type { Row } from "./live-table.ts";
import { orderedRows } from "./row-order.ts";

const COLUMNS = ["Name", "Ready", "Restarts", "Age"].map((name) => ({ name, priority: 0 }));

function row(
  name: string,
  restarts: string | number,
  createdMs: number,
  labels: Readonly<Record<string, string>> = {},
): readonly [string, Row] {
  return [name, { namespace: "shop", name, createdMs, isTerminating: false, cells: [name, "1/1", restarts, "5m"], labels }];
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
      const found = orderedRows({ items: ROWS, columns: COLUMNS }, filter, order).map(({ name }) => name);
      deepEqual(found, names);
    });
});
