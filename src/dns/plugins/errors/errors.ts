/** Plugin `errors`: answers failures of later plugins with SERVFAIL and logs them, repeated ones once per interval with their number. */
import { failure } from "../../answers.ts";
import type { DnsAnswer, DnsPlugin, DnsQuery, RunningPlugin } from "../../plugin.ts";
import { RCODE, typeName } from "../../wire/codes.ts";

/** A broken upstream fails thousands of queries per second: the log keeps one line of each message in this time. */
const INTERVAL_MS = 10_000;

/** Different messages that are counted; others are logged each time. */
const MESSAGES_MAX = 100;

export const errors: DnsPlugin = {
  name: "errors",
  order: 10,
  async start({ clock, log }): Promise<RunningPlugin> {
    const logged = new Map<string, { atMs: number; suppressed: number }>();
    const report = (query: DnsQuery, error: unknown): DnsAnswer => {
      const message = error instanceof Error ? error.message : String(error);
      const nowMs = clock.monotonic();
      const last = logged.get(message);
      if (last !== undefined && nowMs - last.atMs < INTERVAL_MS) {
        last.suppressed++;
      } else {
        if (logged.size >= MESSAGES_MAX) logged.clear();
        logged.set(message, { atMs: nowMs, suppressed: 0 });
        log.warn("Answering a query failed", { name: query.name, type: typeName(query.type), error, repeated: last?.suppressed ?? 0 });
      }
      return failure(RCODE.SERVFAIL);
    };
    return {
      handle(query, next) {
        try {
          const handled = next(query);
          return handled instanceof Promise ? handled.catch((error: unknown) => report(query, error)) : handled;
        } catch (error) {
          return report(query, error);
        }
      },
      async [Symbol.asyncDispose]() {},
    };
  },
};
