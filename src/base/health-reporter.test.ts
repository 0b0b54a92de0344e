import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { HealthReporter, PING, type HealthCheck } from "./health-reporter.ts";
import { prometheusText } from "./metrics/prometheus-text.ts";

function failing(name: string, problem: string): HealthCheck {
  return { name, problem: () => problem };
}

for (const { query, checks, code, text } of [
  { query: "", checks: [PING], code: 200, text: "ok" },
  { query: "verbose", checks: [PING], code: 200, text: "[+]ping ok\nlivez check passed\n" },
  { query: "", checks: [PING, failing("etcd", "x")], code: 500, text: "[+]ping ok\n[-]etcd failed: reason withheld\nlivez check failed\n" },
  { query: "exclude=etcd&verbose", checks: [failing("etcd", "x")], code: 200, text: "[+]etcd excluded: ok\nlivez check passed\n" },
  {
    query: "verbose&exclude=b&exclude=a&exclude=c,d",
    checks: [PING],
    code: 200,
    text: '[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "a","b","c,d"\nlivez check passed\n',
  },
]) {
  test(`health of ${checks.map(({ name }) => name).join(" and ")} with ?${query} is answered with ${code}`, () => {
    deepEqual(new HealthReporter().answer("livez", checks, new URLSearchParams(query)), { code, text });
  });
}

test("a single check is answered with its reason", () => {
  const reporter = new HealthReporter();
  const checks = [PING, failing("etcd", "no disk")];
  deepEqual(
    ["ping", "etcd", "nope"].map((name) => reporter.answerOne(checks, name)),
    [{ code: 200, text: "ok" }, { code: 500, text: "internal server error: no disk\n" }, undefined],
  );
});

test("check results are counted by name and type for /metrics/slis, excluded checks are not", () => {
  const reporter = new HealthReporter();
  let problem: string | undefined = "no disk";
  const checks = [PING, { name: "etcd", problem: () => problem }];

  reporter.answer("healthz", checks, new URLSearchParams());
  problem = undefined;
  reporter.answer("healthz", checks, new URLSearchParams());
  reporter.answer("readyz", checks, new URLSearchParams("exclude=etcd"));

  const lines = prometheusText(reporter.families()).split("\n");
  deepEqual(
    lines.filter((line) => line.startsWith("kubernetes_")),
    [
      'kubernetes_healthcheck{name="ping",type="healthz"} 1',
      'kubernetes_healthcheck{name="etcd",type="healthz"} 1',
      'kubernetes_healthcheck{name="ping",type="readyz"} 1',
      'kubernetes_healthchecks_total{name="ping",status="success",type="healthz"} 2',
      'kubernetes_healthchecks_total{name="etcd",status="error",type="healthz"} 1',
      'kubernetes_healthchecks_total{name="etcd",status="success",type="healthz"} 1',
      'kubernetes_healthchecks_total{name="ping",status="success",type="readyz"} 1',
    ],
  );
  equal(prometheusText(new HealthReporter().families()), "");
});
