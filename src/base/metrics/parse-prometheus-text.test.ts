import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { parsePrometheusText } from "./parse-prometheus-text.ts";
import { prometheusText } from "./prometheus-text.ts";

test("parsePrometheusText reads names, labels, values and timestamps, and skips all other lines", () => {
  const page = [
    "# HELP up a help",
    "# TYPE up gauge",
    "up 1",
    'cpu_seconds_total{container="a",pod="b-0"} 12.5 1767225600123',
    'text{path="C:\\\\dir",quote="\\"x\\"",lines="1\\n2"} 3e-3',
    'odd{brace="}",comma=","} 4 # {trace_id="1"} 0.5',
    "infinite +Inf",
    "negative -Inf",
    "broken{",
    "word many",
    "",
  ].join("\n");

  deepEqual(
    [...parsePrometheusText(page)],
    [
      { name: "up", labels: {}, value: 1 },
      { name: "cpu_seconds_total", labels: { container: "a", pod: "b-0" }, value: 12.5, atMs: 1_767_225_600_123 },
      { name: "text", labels: { path: "C:\\dir", quote: '"x"', lines: "1\n2" }, value: 0.003 },
      { name: "odd", labels: { brace: "}", comma: "," }, value: 4 },
      { name: "infinite", labels: {}, value: Infinity },
      { name: "negative", labels: {}, value: -Infinity },
    ],
  );
});

test("a written page is read back, restricted to the requested metrics", () => {
  const sample = { labels: { a: 'x"y\\z\n' }, value: 0.25, atMs: 5 };
  const families = ["one", "two"].map((name) => ({ name, help: "h", type: "gauge" as const, samples: [sample] }));

  deepEqual([...parsePrometheusText(prometheusText(families), { only: new Set(["two"]) })], [{ name: "two", ...sample }]);
});
