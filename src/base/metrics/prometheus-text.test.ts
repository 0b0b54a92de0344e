import { equal } from "node:assert/strict";
import { test } from "node:test";
import { prometheusText } from "./prometheus-text.ts";

test("a metric family is written with help, type and samples", () => {
  const samples = [
    { labels: { a: "1", b: "2" }, value: 3 },
    { labels: {}, value: 0.5 },
  ];

  equal(
    prometheusText([{ name: "x_total", help: "How many", type: "counter", samples }]),
    '# HELP x_total How many\n# TYPE x_total counter\nx_total{a="1",b="2"} 3\nx_total 0.5\n',
  );
});

test("histogram buckets are cumulative, and the last one counts all observations", () => {
  const samples = [{ labels: { verb: "GET" }, counts: [1, 2, 4], sum: 9.5, count: 7 }];

  equal(
    prometheusText([{ name: "d", help: "h", type: "histogram", bounds: [0.5, 1], samples }]),
    [
      "# HELP d h",
      "# TYPE d histogram",
      'd_bucket{verb="GET",le="0.5"} 1',
      'd_bucket{verb="GET",le="1"} 3',
      'd_bucket{verb="GET",le="+Inf"} 7',
      'd_sum{verb="GET"} 9.5',
      'd_count{verb="GET"} 7',
      "",
    ].join("\n"),
  );
});

test("label values and help are escaped", () => {
  const samples = [{ labels: { path: 'a"b\\c\nd' }, value: 1 }];

  equal(
    prometheusText([{ name: "x", help: "a\\b\nc", type: "gauge", samples }]),
    '# HELP x a\\\\b\\nc\n# TYPE x gauge\nx{path="a\\"b\\\\c\\nd"} 1\n',
  );
});

test("a family without samples is omitted", () => {
  equal(prometheusText([{ name: "x", help: "h", type: "gauge", samples: [] }]), "");
});
