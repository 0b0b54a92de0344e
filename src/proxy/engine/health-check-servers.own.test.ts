import assert from "node:assert/strict";
import { get } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { test } from "node:test";
import type { Clock } from "../../base/clock.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import { realClock } from "../../host/real-clock.ts";
import type { HealthCheck } from "../model.ts";
import { HealthCheckServers } from "./health-check-servers.ts";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function fetchCheck(port: number): Promise<{ readonly code: number; readonly weight: unknown; readonly body: string }> {
  return new Promise((resolve, reject) => {
    get({ host: "127.0.0.1", port, path: "/", agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      response.on("end", () =>
        resolve({ code: response.statusCode ?? 0, weight: response.headers["x-load-balancing-endpoint-weight"], body }),
      );
    }).on("error", reject);
  });
}

const check = (port: number, localEndpoints: number): HealthCheck => ({ namespace: "default", name: "web", port, localEndpoints });

/** Time passes only where a test lets it. */
function clockAt(): { nowMs: number; readonly clock: Clock } {
  const time = { nowMs: 0 };
  return Object.assign(time, { clock: { ...realClock, monotonic: () => time.nowMs } });
}

test("a healthCheckNodePort reports local endpoints in upstream's form and closes with its Service", async () => {
  let isHealthy = true;
  const { clock } = clockAt();
  const failures: string[] = [];
  await using servers = new HealthCheckServers({
    hosts: ["127.0.0.1"],
    isHealthy: () => isHealthy,
    failed: (_check, message) => void failures.push(message),
    ...{ clock, random: seededRandom(1), log: silentLogger },
  });
  const port = await freePort();

  await servers.update([check(port, 2)]);
  assert.deepEqual(await fetchCheck(port), {
    code: 200,
    weight: "2",
    body: '{\n\t"service": {\n\t\t"namespace": "default",\n\t\t"name": "web"\n\t},\n\t"localEndpoints": 2,\n\t"serviceProxyHealthy": true\n}',
  });

  isHealthy = false;
  assert.equal((await fetchCheck(port)).code, 503);
  isHealthy = true;
  await servers.update([check(port, 0)]);
  assert.deepEqual([(await fetchCheck(port)).code, (await fetchCheck(port)).weight], [503, "0"]);

  await servers.update([]);
  await assert.rejects(fetchCheck(port), /ECONNREFUSED/);
  assert.deepEqual(failures, []);
});

test("a healthCheckNodePort that is in use is reported and opened once it is free, after its back-off", async () => {
  const time = clockAt();
  const { clock } = time;
  const holder = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => holder.once("listening", resolve));
  const { port } = holder.address() as AddressInfo;
  const failures: string[] = [];
  await using servers = new HealthCheckServers({
    hosts: ["127.0.0.1"],
    isHealthy: () => true,
    failed: (_check, message) => void failures.push(message),
    ...{ clock, random: seededRandom(1), log: silentLogger },
  });

  const checks = [check(port, 1)];
  await servers.update(checks);
  assert.match(failures.join(), /^node port \d+: Cannot listen .*EADDRINUSE/);

  await new Promise((resolve) => holder.close(resolve));
  await servers.update(checks);
  await assert.rejects(fetchCheck(port), /ECONNREFUSED/);
  time.nowMs = 2_000;
  await servers.update(checks);
  assert.equal((await fetchCheck(port)).code, 200);
});
