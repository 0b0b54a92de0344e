import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { describe, test } from "node:test";
import { loopbackAddress, startMetricsPages } from "./metrics-pages.ts";
import { parseHttpAddress, startHttpPages } from "./http-pages.ts";

const ANYWHERE = { host: "127.0.0.1", port: 0 };

async function ask(url: string, method = "GET"): Promise<string> {
  const response = await fetch(url, { method });
  return `${response.status} ${response.headers.get("content-type")} ${await response.text()}`;
}

test("pages are served with their current content; other paths are rejected with the list of pages", async () => {
  let count = 0;
  const page = { type: "text/html", text: () => `asked ${++count} times` };
  await using pages = await startHttpPages(ANYWHERE, { "/count": page });
  const plain = "text/plain; charset=utf-8";

  equal(await ask(`${pages.url}/count?verbose`), "200 text/html asked 1 times");
  equal(await ask(`${pages.url}/count`), "200 text/html asked 2 times");
  equal(await ask(`${pages.url}/count`, "HEAD"), "200 text/html ");
  equal(await ask(`${pages.url}/healthz`), `200 ${plain} ok`);
  equal(await ask(`${pages.url}/constructor`), `404 ${plain} Not found; the paths are /count and /healthz\n`);
  equal(await ask(`${pages.url}/count`, "POST"), `405 ${plain} Only GET is supported\n`);
});

test("an address in use is reported, and released when the server is closed", async () => {
  const first = await startHttpPages(ANYWHERE, {});
  const port = Number(new URL(first.url).port);
  await rejects(startHttpPages({ ...ANYWHERE, port }, {}), new RegExp(`^ListenError: Cannot listen on 127.0.0.1:${port}: .*EADDRINUSE`));

  await first[Symbol.asyncDispose]();

  await using again = await startHttpPages({ ...ANYWHERE, port }, {});
  equal(again.url, first.url);
});

describe("an address is a host and a port", () => {
  for (const [text, address, isOfThisMachine] of [
    ["127.0.0.1:10257", { host: "127.0.0.1", port: 10_257 }, true],
    ["127.1.2.3:1", { host: "127.1.2.3", port: 1 }, true],
    ["[::1]:80", { host: "::1", port: 80 }, true],
    ["localhost:0", { host: "localhost", port: 0 }, true],
    [":4040", { host: "0.0.0.0", port: 4_040 }, false],
    ["0.0.0.0:80", { host: "0.0.0.0", port: 80 }, false],
    ["[::]:80", { host: "::", port: 80 }, false],
    ["127.example.com:80", { host: "127.example.com", port: 80 }, false],
    ["10.0.0.1:80", { host: "10.0.0.1", port: 80 }, false],
    ["127.0.0.1", undefined, false],
    ["127.0.0.1:70000", undefined, false],
    ["::1:80", undefined, false],
    ["", undefined, false],
  ] as const) {
    test(`"${text}"`, () => {
      deepEqual(parseHttpAddress(text), address);
      deepEqual(loopbackAddress(text), isOfThisMachine ? address : undefined);
    });
  }
});

test("metrics are in Prometheus format, with upstream's name of the leader metric", async () => {
  let isLeading = false;
  const family = { name: "some_total", type: "counter", help: "Some", samples: [{ labels: {}, value: 3 }] } as const;
  const election = { name: "kube-controller-manager", isLeading: () => isLeading };
  await using pages = await startMetricsPages({ ...ANYWHERE, metrics: () => [family], election });
  await using alone = await startMetricsPages({ ...ANYWHERE, metrics: () => [family] });

  match(await ask(`${pages.url}/metrics`), /^200 text\/plain; version=0.0.4; charset=utf-8 # HELP some_total Some\n/);
  match(await ask(`${pages.url}/metrics`), /\nsome_total 3\n[^]*\nleader_election_master_status\{name="kube-controller-manager"\} 0\n$/);
  isLeading = true;
  match(await ask(`${pages.url}/metrics`), /\nleader_election_master_status\{name="kube-controller-manager"\} 1\n$/);
  match(await ask(`${alone.url}/metrics`), /\nsome_total 3\n[^]*\nprocess_cpu_seconds_total \d/);
});

test("a standalone component serves its health in upstream's format, and counts the results", async () => {
  await using pages = await startMetricsPages({ ...ANYWHERE, metrics: () => [] });

  equal(await ask(`${pages.url}/livez`), "200 text/plain; charset=utf-8 ok");
  equal(await ask(`${pages.url}/readyz?verbose`), "200 text/plain; charset=utf-8 [+]ping ok\nreadyz check passed\n");
  match(await ask(`${pages.url}/metrics/slis`), /\nkubernetes_healthchecks_total\{name="ping",status="success",type="readyz"\} 1\n$/);
});
