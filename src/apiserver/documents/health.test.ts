import { deepEqual, equal, match } from "node:assert/strict";
import { test } from "node:test";
import type { Readiness } from "../framework/document.ts";
import type { ExchangeRequest, WholeAnswer } from "../framework/exchange.ts";
import type { RequestContext } from "../framework/request.ts";
import { isStatusError } from "../../api/machinery/status-error.ts";
import { healthDocument } from "./health.ts";

const CONTEXT: RequestContext = { user: { name: "jane", groups: [] }, userAgent: "test", warn() {} };

const healthy: Readiness["checks"] = [
  { name: "ping", ok: true },
  { name: "etcd", ok: true },
  { name: "shutdown", ok: true },
];
const broken: Readiness["checks"] = [
  { name: "ping", ok: true },
  { name: "etcd", ok: false, reason: "no disk" },
];
const stopping: Readiness["checks"] = [
  { name: "ping", ok: true },
  { name: "shutdown", ok: false, reason: "process is shutting down" },
];

async function ask(checks: Readiness["checks"], target: string): Promise<{ readonly code: number; readonly text: string }> {
  const [path = "", query = ""] = target.split("?");
  const document = healthDocument({ readiness: () => Promise.resolve({ isReady: checks.every(({ ok }) => ok), checks }) });
  equal(document.answers(path), true);
  try {
    const { code, body } = (await document.answer({ query } as ExchangeRequest, path, CONTEXT)) as WholeAnswer;
    return { code, text: body.map((piece) => new TextDecoder().decode(piece)).join("") };
  } catch (error) {
    if (isStatusError(error)) return { code: error.code, text: "" };
    throw error;
  }
}

const rows: readonly {
  readonly it: string;
  readonly checks: Readiness["checks"];
  readonly path: string;
  readonly code: number;
  readonly text: string;
}[] = [
  { it: "returns only ok if all checks pass", checks: healthy, path: "/readyz", code: 200, text: "ok" },
  {
    it: "lists its checks with ?verbose",
    checks: healthy,
    path: "/readyz?verbose",
    code: 200,
    text: "[+]ping ok\n[+]etcd ok\n[+]shutdown ok\nreadyz check passed\n",
  },
  {
    it: "lists its checks without reasons if one fails",
    checks: broken,
    path: "/healthz",
    code: 500,
    text: "[+]ping ok\n[-]etcd failed: reason withheld\nhealthz check failed\n",
  },
  {
    it: "ignores excluded checks",
    checks: broken,
    path: "/livez?exclude=etcd&verbose=true",
    code: 200,
    text: "[+]ping ok\n[+]etcd excluded: ok\nlivez check passed\n",
  },
  {
    it: "warns about unknown excluded checks",
    checks: healthy,
    path: "/livez?verbose&exclude=b&exclude=a",
    code: 200,
    text: '[+]ping ok\n[+]etcd ok\nwarn: some health checks cannot be excluded: no matches for "a","b"\nlivez check passed\n',
  },
  { it: "returns ok for a single passing check", checks: healthy, path: "/readyz/etcd", code: 200, text: "ok" },
  {
    it: "returns an error for a single failing check",
    checks: broken,
    path: "/readyz/etcd",
    code: 500,
    text: "internal server error: no disk\n",
  },
  { it: "returns 404 for an unknown check", checks: healthy, path: "/readyz/nope", code: 404, text: "" },
  { it: "is live while the server stops", checks: stopping, path: "/livez", code: 200, text: "ok" },
  {
    it: "is not ready while the server stops",
    checks: stopping,
    path: "/readyz",
    code: 500,
    text: "[+]ping ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n",
  },
];

for (const { it, checks, path, code, text } of rows) {
  test(`the server's health at ${path} ${it}`, async () => {
    deepEqual(await ask(checks, path), { code, text });
  });
}

test("/metrics/slis counts health check results", async () => {
  const document = healthDocument({ readiness: () => Promise.resolve({ isReady: false, checks: broken }) });
  await document.answer({ query: "" } as ExchangeRequest, "/livez", CONTEXT);

  const { headers, body } = (await document.answer({ query: "" } as ExchangeRequest, "/metrics/slis", CONTEXT)) as WholeAnswer;

  equal(headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
  match(new TextDecoder().decode(body[0]), /^kubernetes_healthcheck\{name="etcd",type="livez"\} 0$/m);
});

test("health is served at its own paths only", () => {
  const document = healthDocument({ readiness: () => Promise.resolve({ isReady: true, checks: [] }) });

  deepEqual(["/healthz", "/healthzz", "/health", "/readyz/a/b"].map(document.answers), [true, false, false, true]);
});
