/**
 * /healthz, /livez and /readyz, and each check of theirs by its own path. Load balancers and scripts read the code, people the text, which
 * is upstream's: why a check failed is for the log, not for whoever asks.
 */
import { noSuchPath } from "../../api/machinery/status-error.ts";
import type { Document, DocumentDependencies, Readiness } from "../document.ts";
import type { WholeAnswer } from "../exchange.ts";

type Check = Readiness["checks"][number];

const ROOTS = ["/healthz", "/livez", "/readyz"] as const;

/** A server that is stopping is not ready for more, but nobody needs to restart it. */
const READY_ONLY = "shutdown";

export function healthDocument({ readiness }: Pick<DocumentDependencies, "readiness">): Document {
  return {
    name: "health",
    answers: (path) => rootOf(path) !== undefined,
    async answer({ query }, path) {
      const root = rootOf(path) ?? path;
      const checks = (await readiness()).checks.filter(({ name }) => root === "/readyz" || name !== READY_ONLY);
      if (path !== root) return answerOne(checks, path.slice(root.length + 1));
      return answerAll(root.slice(1), checks, new URLSearchParams(query));
    },
  };
}

function rootOf(path: string): string | undefined {
  return ROOTS.find((root) => path === root || path.startsWith(`${root}/`));
}

function answerOne(checks: readonly Check[], wanted: string): WholeAnswer {
  const check = checks.find(({ name }) => name === wanted);
  if (check === undefined) throw noSuchPath();
  return check.ok ? text(200, "ok") : text(500, `internal server error: ${check.reason ?? "failed"}\n`);
}

function answerAll(root: string, checks: readonly Check[], parameters: URLSearchParams): WholeAnswer {
  const excluded = new Set(parameters.getAll("exclude"));
  const counted = checks.filter(({ name }) => !excluded.has(name));
  const unknown = [...excluded].filter((name) => !checks.some((check) => check.name === name)).sort();
  const lines = [
    ...checks.map((check) => lineOf(check, excluded.has(check.name))),
    ...(unknown.length === 0
      ? []
      : [`warn: some health checks cannot be excluded: no matches for ${unknown.map((name) => JSON.stringify(name)).join(", ")}`]),
  ];
  if (counted.some(({ ok }) => !ok)) return text(500, `${lines.join("\n")}\n${root} check failed\n`);
  return text(200, parameters.has("verbose") ? `${lines.join("\n")}\n${root} check passed\n` : "ok");
}

function lineOf({ name, ok }: Check, isExcluded: boolean): string {
  if (isExcluded) return `[+]${name} excluded: ok`;
  return ok ? `[+]${name} ok` : `[-]${name} failed: reason withheld`;
}

function text(code: number, body: string): WholeAnswer {
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-cache, private",
    "x-content-type-options": "nosniff",
  };
  return { code, headers, body: [new TextEncoder().encode(body)] };
}
