/**
 * /healthz, /livez and /readyz with upstream's checks, each check at its own path, and /metrics/slis, which counts their results. Not here:
 * the output format (base/health-reporter.ts), and the checks (post-start-hooks.ts, api-server.ts).
 */
import { HealthReporter, type HealthAnswer, type HealthCheck } from "../../base/health-reporter.ts";
import { PROMETHEUS_TYPE, prometheusText } from "../../base/metrics/prometheus-text.ts";
import { noSuchPath } from "../../api/machinery/status-error.ts";
import type { Document, DocumentDependencies, Readiness } from "../framework/document.ts";
import type { WholeAnswer } from "../framework/exchange.ts";

const ROOTS = ["/healthz", "/livez", "/readyz"] as const;
const INDICATORS_PATH = "/metrics/slis";

/** A server that is stopping, or whose caches are not synced, is not ready, but a restart would not help. */
const READY_ONLY: ReadonlySet<string> = new Set(["etcd-readiness", "informer-sync", "shutdown"]);

export function healthDocument({ readiness }: Pick<DocumentDependencies, "readiness">): Document {
  const reporter = new HealthReporter();
  return {
    name: "health",
    answers: (path) => path === INDICATORS_PATH || rootOf(path) !== undefined,
    async listedPaths() {
      const { checks } = await readiness();
      const names = (root: string) => checksOf(root, checks).map(({ name }) => `${root}/${name}`);
      return [INDICATORS_PATH, ...ROOTS.flatMap((root) => [root, ...names(root)])];
    },
    async answer({ query }, path) {
      if (path === INDICATORS_PATH) return text({ code: 200, text: prometheusText(reporter.families()) }, PROMETHEUS_TYPE);
      const root = rootOf(path) ?? path;
      const checks = checksOf(root, (await readiness()).checks);
      if (path === root) return text(reporter.answer(root.slice(1), checks, new URLSearchParams(query)));
      const answer = reporter.answerOne(checks, path.slice(root.length + 1));
      if (answer === undefined) throw noSuchPath();
      return text(answer);
    },
  };
}

function rootOf(path: string): string | undefined {
  return ROOTS.find((root) => path === root || path.startsWith(`${root}/`));
}

function checksOf(root: string, checks: Readiness["checks"]): readonly HealthCheck[] {
  return checks
    .filter(({ name }) => root === "/readyz" || !READY_ONLY.has(name))
    .map(({ name, ok, reason = "failed" }) => ({ name, problem: () => (ok ? undefined : reason) }));
}

function text({ code, text: body }: HealthAnswer, type = "text/plain; charset=utf-8"): WholeAnswer {
  const headers = { "content-type": type, "cache-control": "no-cache, private", "x-content-type-options": "nosniff" };
  return { code, headers, body: [new TextEncoder().encode(body)] };
}
