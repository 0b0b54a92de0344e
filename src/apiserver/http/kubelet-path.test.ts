import { equal, throws } from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "../../api/machinery/object.ts";
import { kubeletPath } from "./kubelet-path.ts";
import type { ConnectionCall } from "../framework/node-connector.ts";

const NODE = { name: "a", host: "10.0.0.1", port: 10_250 };
const POD = { namespace: "shop", name: "web-0" };

function callOf(subresource: string, options: JsonObject, container?: string): ConnectionCall {
  return {
    subresource,
    target: { is: "kubelet", node: NODE, pod: POD, ...(container === undefined ? {} : { container }) },
    options,
    method: "GET",
    path: "",
    query: "",
    headers: {},
    body: () => Promise.resolve(new Uint8Array()),
    signal: new AbortController().signal,
  };
}

const ROWS: readonly [title: string, call: ConnectionCall, path: string][] = [
  ["a log", callOf("log", {}, "main"), "/containerLogs/shop/web-0/main"],
  [
    "all that can be said of a log",
    callOf(
      "log",
      { follow: true, previous: false, tailLines: 3, sinceTime: "2026-01-01T00:00:00Z", timestamps: true, limitBytes: 10n },
      "main",
    ),
    "/containerLogs/shop/web-0/main?follow=true&limitBytes=10&sinceTime=2026-01-01T00%3A00%3A00Z&tailLines=3&timestamps=true",
  ],
  ["the last lines, none", callOf("log", { tailLines: 0 }, "main"), "/containerLogs/shop/web-0/main?tailLines=0"],
  [
    "a command, word by word",
    callOf("exec", { command: ["sh", "-c", "echo a b"], stdin: true, stdout: true, tty: true, stderr: false }, "main"),
    "/exec/shop/web-0/main?input=1&output=1&tty=1&command=sh&command=-c&command=echo+a+b",
  ],
  ["attaching", callOf("attach", { stdout: true, stderr: true }, "main"), "/attach/shop/web-0/main?output=1&error=1"],
  ["ports", callOf("portforward", { ports: [80, 443] }), "/portForward/shop/web-0?port=80&port=443"],
  ["ports that come later", callOf("portforward", {}), "/portForward/shop/web-0"],
  ["a name that needs care", callOf("log", {}, "a/b?c"), "/containerLogs/shop/web-0/a%2Fb%3Fc"],
];

for (const [title, call, path] of ROWS) {
  test(`kubelet request path: ${title}`, () => equal(kubeletPath(call), path));
}

test("a kubelet path without a Pod is an error", () => {
  const call: ConnectionCall = { ...callOf("exec", {}), target: { is: "kubelet", node: NODE } };
  throws(() => kubeletPath(call), /needs a Pod/);
});
