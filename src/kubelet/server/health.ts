/** Whether the kubelet is well, check by check, in upstream's words. Why one failed is told only to who asks for that check. */
import { sendText, type Handler } from "./call.ts";

export interface HealthCheck {
  readonly name: string;
  /** What is wrong; undefined: nothing. */
  problem(): string | undefined;
}

/** The kubelet answers, and its log takes lines: whoever reads this knows. */
const ALWAYS_WELL: readonly HealthCheck[] = ["ping", "log"].map((name) => ({ name, problem: () => undefined }));

export interface HealthHandlers {
  readonly healthz: Handler;
  readonly healthCheck: Handler;
}

/** `syncProblem`: of the loop that sees to Pods. */
export function healthHandlers(syncProblem: () => string | undefined = () => undefined): HealthHandlers {
  const checks = [...ALWAYS_WELL, { name: "syncloop", problem: syncProblem }];
  return {
    healthz(_context, { reply, query }) {
      const excluded = new Set(query.getAll("exclude").flatMap((names) => names.split(",")));
      const { isWell, lines } = healthReport(checks, excluded);
      if (!isWell) return sendText(reply, 500, `${lines}healthz check failed\n`, NO_SNIFFING);
      sendText(reply, 200, query.has("verbose") ? `${lines}healthz check passed\n` : "ok", NO_SNIFFING);
    },
    healthCheck(_context, { reply, parameters }) {
      const check = checks.find(({ name }) => name === parameters["check"]);
      if (check === undefined) return sendText(reply, 404, "404 page not found\n");
      const problem = check.problem();
      sendText(reply, problem === undefined ? 200 : 500, problem === undefined ? "ok" : `internal server error: ${problem}\n`, NO_SNIFFING);
    },
  };
}

const NO_SNIFFING = { headers: { "x-content-type-options": "nosniff" } };

function healthReport(checks: readonly HealthCheck[], excluded: ReadonlySet<string>): { readonly isWell: boolean; readonly lines: string } {
  let isWell = true;
  let lines = "";
  for (const { name, problem } of checks) {
    const isExcluded = excluded.has(name);
    const isFailing = !isExcluded && problem() !== undefined;
    if (isFailing) isWell = false;
    lines += isFailing ? `[-]${name} failed: reason withheld\n` : `[+]${name} ${isExcluded ? "excluded: " : ""}ok\n`;
  }
  const unknown = [...excluded].filter((name) => name !== "" && !checks.some((check) => check.name === name));
  if (unknown.length > 0)
    lines += `warn: some health checks cannot be excluded: no matches for ${unknown
      .toSorted()
      .map((name) => JSON.stringify(name))
      .join(",")}\n`;
  return { isWell, lines };
}
