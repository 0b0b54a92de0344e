import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import { startServer, type StartedServer } from "../../testing/server.ts";

async function linesOf({ call }: StartedServer, name: string): Promise<readonly string[]> {
  const { text } = await call("GET", "/metrics");
  return text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
}

test("/metrics counts requests under upstream's names, writes by their method", async () => {
  await using started = await startServer();
  await started.call("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "a" } });
  await started.call("GET", "/api/v1/namespaces/default/configmaps/nope");

  const counted = await linesOf(started, "apiserver_request_total");

  const rest = 'component="apiserver",dry_run="",group="",resource="configmaps"';
  deepEqual(
    counted.filter((line) => line.includes("configmaps")),
    [
      `apiserver_request_total{code="201",${rest},scope="namespace",subresource="",verb="POST",version="v1"} 1`,
      `apiserver_request_total{code="404",${rest},scope="resource",subresource="",verb="GET",version="v1"} 1`,
    ],
  );
  equal((await linesOf(started, "apiserver_request_duration_seconds_count")).filter((line) => line.includes("configmaps")).length, 2);
});

test("/metrics shows running watches, events sent to them, and stored objects", async () => {
  await using started = await startServer();
  const watch = await started.watch("/api/v1/configmaps?watch=true");
  await started.call("POST", "/api/v1/namespaces/default/configmaps", { metadata: { name: "a" } });
  await started.clock.settle();

  const running = await linesOf(started, "apiserver_longrunning_requests");
  const events = await linesOf(started, "apiserver_watch_events_total");
  const objects = await linesOf(started, "apiserver_storage_objects");
  watch.close();

  equal(running.length, 1);
  match(running[0] ?? "", /resource="configmaps".*verb="WATCH".* 1$/);
  match(events[0] ?? "", / 1$/);
  deepEqual(
    objects.filter((line) => line.includes("configmaps")),
    ['apiserver_storage_objects{resource="configmaps"} 1'],
  );
});

test("/metrics is in Prometheus text format and includes the store", async () => {
  await using started = await startServer();
  const { headers } = await started.call("GET", "/metrics");

  equal(headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
  match((await linesOf(started, "k8ts_store_revision"))[0] ?? "", / [1-9]\d*$/);
});

test("/metrics appends current metrics of other components of the process", async () => {
  let asked = 0;
  const moreMetrics = () => [{ name: "more_total", type: "counter", help: "More", samples: [{ labels: {}, value: ++asked }] }] as const;
  await using started = await startServer({ moreMetrics });

  deepEqual([...(await linesOf(started, "more_total")), ...(await linesOf(started, "more_total"))], ["more_total 1", "more_total 2"]);
});
