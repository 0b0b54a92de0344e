import assert from "node:assert/strict";
import { test } from "node:test";
import type { HTTPGetAction } from "../../api/generated/core/v1.ts";
import { containerPort, httpRequestOf } from "./probe-requests.ts";

const CONTAINER = { name: "c", ports: [{ name: "web", containerPort: 8080 }] };
const PLACE = { podIp: "10.0.0.7", purpose: "probe" } as const;
const OWN = [
  ["User-Agent", "kube-probe/1.36"],
  ["Accept", "*/*"],
];

const rows: readonly (readonly [it: string, action: HTTPGetAction, text: string, headers: readonly (readonly string[])[]])[] = [
  ["the Pod's IP is the default host", { port: 80, path: "/healthz?full=1" }, "http://10.0.0.7:80/healthz?full=1", OWN],
  ["a named host is used", { port: 443, host: "other", scheme: "HTTPS" }, "https://other:443/", OWN],
  ["a port may have a name", { port: "web", path: "live" }, "http://10.0.0.7:8080/live", OWN],
  [
    "headers of the Pod take precedence",
    {
      port: 80,
      httpHeaders: [
        { name: "user-agent", value: "mine" },
        { name: "Accept", value: "" },
        { name: "Host", value: "h" },
      ],
    },
    "http://10.0.0.7:80/",
    [
      ["user-agent", "mine"],
      ["Host", "h"],
    ],
  ],
];

test("an HTTP probe sends the fields of the Pod and upstream's defaults", async (t) => {
  for (const [it, action, text, headers] of rows) {
    await t.test(it, () => {
      const request = httpRequestOf(action, CONTAINER, PLACE);
      const { scheme, host, port, path } = request;

      assert.deepEqual([`${scheme}://${host}:${port}${path}`, request.headers], [text, headers]);
    });
  }
});

test("hooks send the User-Agent of hooks", () => {
  const { headers } = httpRequestOf({ port: 80 }, CONTAINER, { podIp: "1.2.3.4", purpose: "lifecycle" });
  assert.deepEqual(headers[0], ["User-Agent", "kube-lifecycle/1.36"]);
});

test("an unknown port is an error", () => {
  assert.equal(containerPort("81", CONTAINER), 81);
  assert.throws(() => containerPort("none", CONTAINER), /parsing "none": invalid syntax/);
  assert.throws(() => containerPort(70_000, CONTAINER), /invalid port number: 70000/);
});
