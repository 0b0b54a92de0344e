import { deepEqual, ok } from "node:assert/strict";
import { test } from "node:test";
import { processFamilies } from "./process-metrics.ts";

test("the metrics of a process have the names of Prometheus's libraries and plausible values", () => {
  const values = new Map(processFamilies().map(({ name, samples }) => [name, samples[0]?.value ?? 0]));

  ok((values.get("process_resident_memory_bytes") ?? 0) > 1 << 20);
  ok(Math.abs((values.get("process_start_time_seconds") ?? 0) + process.uptime() - Date.now() / 1_000) < 5);
  deepEqual([...values.keys()].slice(0, 3), ["process_cpu_seconds_total", "process_resident_memory_bytes", "process_start_time_seconds"]);
});
