/** Plugin `health`: the pages /health (the process answers) and /ready (all plugins are ready, otherwise 503 with their names). */
import type { DnsPlugin, RunningPlugin } from "../../plugin.ts";

const PLAIN = "text/plain; charset=utf-8";

export const health: DnsPlugin = {
  name: "health",
  order: 30,
  async start({ notReady }): Promise<RunningPlugin> {
    return {
      pages: {
        "/health": () => ({ code: 200, type: PLAIN, text: "OK" }),
        "/ready": () => {
          const missing = notReady();
          return missing.length === 0 ? { code: 200, type: PLAIN, text: "OK" } : { code: 503, type: PLAIN, text: missing.join(",") };
        },
      },
      async [Symbol.asyncDispose]() {},
    };
  },
};
