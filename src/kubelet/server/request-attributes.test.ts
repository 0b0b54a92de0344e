import { equal } from "node:assert/strict";
import { test } from "node:test";
import { attributesOf } from "./request-attributes.ts";

for (const { method = "GET", path, expected } of [
  { path: "/pods", expected: "get pods proxy" },
  { path: "/pods/", expected: "get pods proxy" },
  { path: "/podsandmore", expected: "get proxy" },
  { path: "/runningpods/", expected: "get pods proxy" },
  { path: "/healthz", expected: "get healthz proxy" },
  { path: "/healthz/ping", expected: "get healthz proxy" },
  { path: "/configz", expected: "get configz proxy" },
  { path: "/flagz", expected: "get configz" },
  { path: "/statusz", expected: "get statusz" },
  { path: "/stats/summary", expected: "get stats" },
  { method: "POST", path: "/stats/summary", expected: "create stats" },
  { path: "/metrics/cadvisor", expected: "get metrics" },
  { path: "/logs/", expected: "get log" },
  { method: "POST", path: "/checkpoint/a/b/c", expected: "create checkpoint" },
  { path: "/containerLogs/a/b/c", expected: "get proxy" },
  { path: "/exec/a/b/c", expected: "get proxy" },
  { method: "POST", path: "/exec/a/b/c", expected: "create proxy" },
  { method: "PUT", path: "/whatever", expected: "update proxy" },
  { method: "PATCH", path: "/whatever", expected: "patch proxy" },
  { method: "DELETE", path: "/whatever", expected: "delete proxy" },
  { method: "HEAD", path: "/pods", expected: " pods proxy" },
]) {
  test(`${method} ${path} requires "${expected}"`, () => {
    const { verb, subresources } = attributesOf(method, path);

    equal([verb, ...subresources].join(" "), expected);
  });
}
