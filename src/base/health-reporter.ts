/**
 * Answers /healthz, /livez and /readyz of every component in upstream's format and counts the results for /metrics/slis. Load balancers and
 * scripts read the status code, people the text; the reason of a failed check is only in the answer of that check. Not here: which checks a
 * component has, and who is authorized to read them.
 */
import type { Family, Sample } from "./metrics/prometheus-text.ts";

export interface HealthCheck {
  /** Upstream's name where it has the same check: "ping", "etcd", "poststarthook/…". */
  readonly name: string;
  /** The failure; undefined if the check passes. */
  problem(): string | undefined;
}

export interface HealthAnswer {
  readonly code: number;
  readonly text: string;
}

/** Passes while the process answers requests. */
export const PING: HealthCheck = { name: "ping", problem: () => undefined };

interface Counted {
  readonly name: string;
  readonly type: string;
  isPassing: boolean;
  passed: number;
  failed: number;
}

export class HealthReporter {
  /** Bounded by the number of checks of a component, times three. */
  readonly #counted = new Map<string, Counted>();

  /** `type`: "healthz", "livez" or "readyz". */
  answer(type: string, checks: readonly HealthCheck[], query: URLSearchParams): HealthAnswer {
    const excluded = new Set(query.getAll("exclude"));
    let isPassing = true;
    let lines = "";
    for (const { name, problem } of checks) {
      if (excluded.delete(name)) {
        lines += `[+]${name} excluded: ok\n`;
        continue;
      }
      const ok = problem() === undefined;
      this.#count(name, type, ok);
      isPassing &&= ok;
      lines += ok ? `[+]${name} ok\n` : `[-]${name} failed: reason withheld\n`;
    }
    if (excluded.size > 0) lines += `warn: some health checks cannot be excluded: no matches for ${quoted(excluded)}\n`;
    if (!isPassing) return { code: 500, text: `${lines}${type} check failed\n` };
    return { code: 200, text: query.has("verbose") ? `${lines}${type} check passed\n` : "ok" };
  }

  /** A single check by its path; undefined if it does not exist. */
  answerOne(checks: readonly HealthCheck[], name: string): HealthAnswer | undefined {
    const check = checks.find((candidate) => candidate.name === name);
    if (check === undefined) return undefined;
    const problem = check.problem();
    return problem === undefined ? { code: 200, text: "ok" } : { code: 500, text: `internal server error: ${problem}\n` };
  }

  /** For /metrics/slis. */
  families(): readonly Family[] {
    const counted = [...this.#counted.values()];
    return [
      {
        name: "kubernetes_healthcheck",
        help: "Result of the last run of a health check: 1 if it passed, 0 if it failed",
        type: "gauge",
        samples: counted.map(({ name, type, isPassing }) => ({ labels: { name, type }, value: isPassing ? 1 : 0 })),
      },
      {
        name: "kubernetes_healthchecks_total",
        help: "Number of health check results by status",
        type: "counter",
        samples: counted.flatMap(totals),
      },
    ];
  }

  #count(name: string, type: string, ok: boolean): void {
    const key = `${type} ${name}`;
    let counted = this.#counted.get(key);
    if (counted === undefined) this.#counted.set(key, (counted = { name, type, isPassing: ok, passed: 0, failed: 0 }));
    counted.isPassing = ok;
    if (ok) counted.passed++;
    else counted.failed++;
  }
}

function totals({ name, type, passed, failed }: Counted): readonly Sample[] {
  return [
    { labels: { name, status: "error", type }, value: failed },
    { labels: { name, status: "success", type }, value: passed },
  ].filter(({ value }) => value > 0);
}

/** As Go's %q, sorted. */
function quoted(names: Iterable<string>): string {
  return [...names]
    .toSorted()
    .map((name) => JSON.stringify(name))
    .join(",");
}
