import assert from "node:assert/strict";
import { test } from "node:test";
import { startServer } from "../../testing/server.ts";

const SERVICES = "/api/v1/namespaces/default/services";

for (const [what, clusterIP, why] of [
  ["outside of the range", "1.2.3.4", "the provided network does not match the current range"],
  ["that another Service has", "10.96.200.1", "provided IP is already allocated"],
] as const) {
  test(`an address ${what} is refused in upstream's words`, async () => {
    await using server = await startServer();
    await server.call("POST", SERVICES, { metadata: { name: "first" }, spec: { clusterIP: "10.96.200.1", ports: [{ port: 80 }] } });

    const { code, body } = await server.call("POST", SERVICES, {
      metadata: { name: "second" },
      spec: { clusterIP, ports: [{ port: 80 }] },
    });

    const message = `Service "second" is invalid: spec.clusterIPs: Invalid value: ["${clusterIP}"]: failed to allocate IP ${clusterIP}: ${why}`;
    assert.deepEqual([code, body.message], [422, message]);
  });
}
