import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { matchRoute, metricPath } from "./routes.ts";

for (const { method = "GET", path, expected } of [
  { path: "/healthz", expected: "healthz" },
  { path: "/healthz/syncloop", expected: 'healthCheck {"check":"syncloop"}' },
  { path: "/pods", expected: "pods" },
  { path: "/pods/", expected: "pods" },
  { method: "POST", path: "/pods", expected: "not-allowed" },
  { path: "/runningpods/", expected: "runningPods" },
  { path: "/containerLogs/default/web/main", expected: 'containerLogs {"namespace":"default","pod":"web","container":"main"}' },
  { method: "POST", path: "/containerLogs/default/web/main", expected: "not-allowed" },
  { path: "/containerLogs/default/web", expected: "not-found" },
  { path: "/containerLogs/default//main", expected: "not-found" },
  { path: "/exec/default/web/main", expected: 'exec {"namespace":"default","pod":"web","container":"main"}' },
  {
    method: "POST",
    path: "/exec/default/web/u-1/main",
    expected: 'exec {"namespace":"default","pod":"web","uid":"u-1","container":"main"}',
  },
  { method: "PUT", path: "/exec/default/web/main", expected: "not-allowed" },
  { path: "/attach/default/web/main", expected: 'attach {"namespace":"default","pod":"web","container":"main"}' },
  { path: "/portForward/default/web", expected: 'portForward {"namespace":"default","pod":"web"}' },
  { method: "POST", path: "/portForward/default/web/u-1", expected: 'portForward {"namespace":"default","pod":"web","uid":"u-1"}' },
  { method: "POST", path: "/run/default/web/main", expected: 'run {"namespace":"default","pod":"web","container":"main"}' },
  { method: "GET", path: "/run/default/web/main", expected: "not-allowed" },
  { path: "/stats/summary", expected: "statsSummary" },
  { path: "/stats", expected: "not-found" },
  { path: "/metrics", expected: "metrics" },
  { path: "/metrics/resource", expected: "resourceMetrics" },
  { path: "/metrics/probes", expected: "probeMetrics" },
  { path: "/metrics/cadvisor", expected: "cadvisorMetrics" },
  { path: "/configz", expected: "configz" },
  {
    method: "POST",
    path: "/csi/d.example/csi.v1.Controller/CreateVolume",
    expected: 'driverCall {"driver":"d.example","service":"csi.v1.Controller","method":"CreateVolume"}',
  },
  { path: "/csi/d.example/csi.v1.Controller/CreateVolume", expected: "not-allowed" },
  { path: "/exec/a%2Fb/web/main", expected: 'exec {"namespace":"a/b","pod":"web","container":"main"}' },
  { path: "/exec%2Fdefault/web/main", expected: "not-found" },
  { path: "/exec/%ZZ/web/main", expected: "not-found" },
  { path: "/stats/../exec/default/web/main", expected: "not-found" },
  { path: "//pods", expected: "not-found" },
  { path: "/", expected: "not-found" },
  { path: "", expected: "not-found" },
  { method: "POST", path: "/checkpoint/default/web/main", expected: "not-found" },
  { path: "/debug/pprof/profile", expected: "not-found" },
]) {
  test(`${method} ${path} routes to ${expected}`, () => {
    const match = matchRoute(method, path);
    const found =
      match.is === "found"
        ? [match.route, ...(Object.keys(match.parameters).length === 0 ? [] : [JSON.stringify(match.parameters)])]
        : [match.is];

    deepEqual(found.join(" "), expected);
  });
}

for (const [path, counted] of [
  ["/exec/default/web/main", "exec"],
  ["/metrics", "metrics"],
  ["/metrics/cadvisor", "metrics/cadvisor"],
  ["/metrics/secret-name", "other"],
  ["/anything", "other"],
] as const) {
  test(`a request for ${path} is counted as ${counted}`, () => deepEqual(metricPath(path), counted));
}
