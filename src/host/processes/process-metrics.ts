/** Metrics of this process, under the names of Prometheus's client libraries: CPU time, memory, file descriptors, start. */
import { readdirSync } from "node:fs";
import type { Family } from "../../base/metrics/prometheus-text.ts";

/** When this module was loaded: at the start of the process, except for its first milliseconds. */
const STARTED_S = Date.now() / 1_000 - process.uptime();

export function processFamilies(): readonly Family[] {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  const descriptors = openDescriptors();
  return [
    single("process_cpu_seconds_total", "counter", "Total user and system CPU time spent in seconds.", (user + system) / 1e6),
    single("process_resident_memory_bytes", "gauge", "Resident memory size in bytes.", rss),
    single("process_start_time_seconds", "gauge", "Start time of the process since unix epoch in seconds.", STARTED_S),
    ...(descriptors === undefined ? [] : [single("process_open_fds", "gauge", "Number of open file descriptors.", descriptors)]),
    single("nodejs_heap_size_used_bytes", "gauge", "Used size of the JavaScript heap in bytes.", heapUsed),
  ];
}

/** Undefined on machines without /proc. */
function openDescriptors(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length;
  } catch {
    return undefined;
  }
}

function single(name: string, type: Family["type"], help: string, value: number): Family {
  return { name, help, type, samples: [{ labels: {}, value }] };
}
