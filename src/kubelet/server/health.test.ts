import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Call, ServerContext } from "./call.ts";
import { healthHandlers } from "./health.ts";
import { stub } from "../../base/testing/stub.ts";

const LATE = "sync Loop took longer than expected";

for (const { path, problem, expected } of [
  { path: "/healthz", problem: undefined, expected: [200, "ok"] },
  { path: "/healthz?verbose", problem: undefined, expected: [200, "[+]ping ok\n[+]log ok\n[+]syncloop ok\nhealthz check passed\n"] },
  {
    path: "/healthz",
    problem: LATE,
    expected: [500, "[+]ping ok\n[+]log ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n"],
  },
  { path: "/healthz?exclude=syncloop", problem: LATE, expected: [200, "ok"] },
  {
    path: "/healthz?verbose&exclude=syncloop&exclude=b&exclude=a",
    problem: LATE,
    expected: [
      200,
      '[+]ping ok\n[+]log ok\n[+]syncloop excluded: ok\nwarn: some health checks cannot be excluded: no matches for "a","b"\nhealthz check passed\n',
    ],
  },
  { path: "/healthz/ping", problem: LATE, expected: [200, "ok"] },
  { path: "/healthz/syncloop", problem: undefined, expected: [200, "ok"] },
  { path: "/healthz/syncloop", problem: LATE, expected: [500, `internal server error: ${LATE}\n`] },
  { path: "/healthz/other", problem: undefined, expected: [404, "404 page not found\n"] },
]) {
  test(`${path} of a kubelet ${problem === undefined ? "without problems" : "with a late sync loop"} returns ${JSON.stringify(expected)}`, () => {
    const [, check] = path.split("?")[0]?.split("/healthz/") ?? [];
    const sent: unknown[] = [];
    const reply = {
      send: (head: { readonly code: number }, [body]: readonly Uint8Array[]) => sent.push(head.code, new TextDecoder().decode(body)),
    };
    const call = stub<Call>({ reply, query: new URLSearchParams(path.split("?")[1] ?? ""), parameters: { check } });
    const { healthz, healthCheck } = healthHandlers(() => problem);
    void (check === undefined ? healthz : healthCheck)({} as ServerContext, call);

    deepEqual(sent, expected);
  });
}
