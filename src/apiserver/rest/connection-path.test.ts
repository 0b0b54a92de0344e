import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { podConnections } from "../../api/core/v1/pod/connections.ts";
import { connectionVerb, pathBehind } from "./connection-path.ts";
import { parsePath, type ResourcePath } from "../framework/access/request-path.ts";

const PROXY = "/api/v1/namespaces/x/pods/y/proxy";
const behind: readonly [path: string, behind: string][] = [
  ["", ""],
  ["/", "/"],
  ["/a", "/a"],
  ["/a/", "/a/"],
  ["/a%2Fb%2f", "/a/b/"],
  ["//a", "//a"],
  ["/%C3%BC", "/ü"],
];

for (const [sent, path] of behind) {
  test(`the path after the proxy in "${sent}" is "${path}"`, () => {
    equal(pathBehind(parsePath(`${PROXY}${sent}`) as ResourcePath, `${PROXY}${sent}`), path);
  });
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "__proto__"];

const verbs: readonly [name: keyof typeof podConnections, verbs: readonly (string | undefined)[]][] = [
  ["log", ["get", undefined, undefined, undefined, undefined, undefined, undefined, undefined, undefined]],
  ["exec", ["get", undefined, "create", undefined, undefined, undefined, undefined, undefined, undefined]],
  ["proxy", ["get", "get", "create", "update", "patch", "delete", "get", undefined, undefined]],
];

for (const [name, expected] of verbs) {
  test(`the methods of pods/${name} map to verbs, or are not allowed`, () => {
    deepEqual(
      METHODS.map((method) => connectionVerb(method, podConnections[name])),
      expected,
    );
  });
}
