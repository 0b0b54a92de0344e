/** The plugins that report: errors, metrics, health. */
import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { createLogger } from "../base/logger.ts";
import { prometheusText } from "../base/metrics/prometheus-text.ts";
import { virtualClock } from "../testing/virtual-clock.ts";
import { answerText, pluginContext, query } from "./testing/plugin-context.ts";
import { errors } from "./plugins/errors/errors.ts";
import { health } from "./plugins/health/health.ts";
import { metrics } from "./plugins/metrics/metrics.ts";

test("errors: failures are answered with SERVFAIL, and repeated ones are logged once per interval", async () => {
  const clock = virtualClock();
  const lines: string[] = [];
  const log = createLogger({
    clock,
    level: "debug",
    sink: ({ fields }) => void lines.push(JSON.stringify([fields["error"], fields["repeated"]])),
  });
  await using plugin = await errors.start(pluginContext(clock, { log }));
  const fail = (how: () => never | Promise<never>) => plugin.handle?.(query("a"), how);
  for (let count = 0; count < 3; count++) {
    const answer = await fail(() => {
      throw new Error("broken");
    });
    equal(answer === undefined ? "" : answerText(answer), "SERVFAIL");
  }
  await fail(() => Promise.reject(new Error("late")));
  await clock.advance(10_000);
  await fail(() => Promise.reject(new Error("broken")));
  deepEqual(lines, ['["broken",0]', '["late",0]', '["broken",2]']);
});

test("metrics: responses are counted by type, code and transport, with their durations", async () => {
  const clock = virtualClock();
  await using plugin = await metrics.start(pluginContext(clock));
  for (const type of [1, 1, 28, 250, 65_000]) plugin.observed?.({ transport: "udp", type, rcode: 0, durationMs: 0.1, responseBytes: 100 });
  plugin.observed?.({ transport: "tcp", type: 1, rcode: 3, durationMs: 9_000, responseBytes: 50 });
  const text = prometheusText(plugin.metrics?.() ?? []);
  match(text, /coredns_dns_requests_total\{proto="udp",type="A"\} 2/);
  match(text, /coredns_dns_requests_total\{proto="udp",type="other"\} 2/);
  match(text, /coredns_dns_responses_total\{proto="tcp",rcode="NXDOMAIN"\} 1/);
  match(text, /coredns_dns_request_duration_seconds_bucket\{le="0.00025"\} 5/);
  match(text, /coredns_dns_request_duration_seconds_count 6/);
});

test("health: /ready names the plugins that are not ready, /health is always there", async () => {
  const missing: string[] = ["kubernetes"];
  await using plugin = await health.start(pluginContext(virtualClock(), { notReady: () => missing }));
  const page = (path: string) => {
    const { code = 0, text = "" } = plugin.pages?.[path]?.() ?? {};
    return `${code} ${text}`;
  };
  deepEqual([page("/health"), page("/ready")], ["200 OK", "503 kubernetes"]);
  missing.pop();
  equal(page("/ready"), "200 OK");
});
