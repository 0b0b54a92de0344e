/** Any settings of a simulated container, for property tests. */
import fc from "fast-check";
import type { Settings } from "../settings.ts";

/** Short ones are likely, so that timestamps coincide. */
const durationMs = fc.oneof(
  fc.nat(5).map((seconds) => seconds * 1_000),
  fc.nat(60_000),
);

export function anySettings(): fc.Arbitrary<Settings> {
  return fc.record(
    {
      startedAfterMs: durationMs,
      readyAfterMs: durationMs,
      unready: fc.array(
        fc.tuple(durationMs, durationMs).map(([fromMs, lengthMs]) => ({ fromMs, toMs: fromMs + lengthMs + 1 })),
        { maxLength: 3 },
      ),
      runForMs: durationMs,
      exitCode: fc.constantFrom(0, 1, 137),
      exitReason: fc.constantFrom("OOMKilled", "Error"),
      exitMessage: fc.constant("bye"),
      failTimes: fc.nat(2),
      failAfterMs: durationMs,
      stopTakesMs: durationMs,
      logs: fc.constant(["one", "two"]),
      logEveryMs: durationMs,
    },
    { requiredKeys: [] },
  );
}
