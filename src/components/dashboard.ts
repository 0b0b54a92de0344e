/** The dashboard on the port of an API server, with secrets of this machine, and `k8ts why` as a process that it starts. */
import { randomBytes } from "node:crypto";
import { StatusError } from "../api/machinery/status-error.ts";
import type { Exchange } from "../apiserver/framework/exchange.ts";
import { withDashboard } from "../dashboard/server/dashboard-exchange.ts";
import type { RunWhy, WhyQuestion } from "../dashboard/server/why-requests.ts";
import { runForOutput } from "../host/processes/child-process.ts";
import { selfCommand } from "../host/processes/self-command.ts";
import type { ApiServerPart } from "./api-server/secure-serving.ts";
import type { CoreContext } from "./api-server/start-api-server.ts";

/** Of randomness: not to be guessed. */
const SECRET_BYTES = 32;

/** Reading a large cluster and up to five copies of it that run for ten virtual minutes each, on a busy machine. */
const WHY_TIMEOUT_MS = 120_000;

/** An answer is a few thousand characters. */
const ANSWER_LENGTH_MAX = 1_000_000;

/** Where the API server is reached, once it serves. */
export type DashboardPlace = () => Pick<ApiServerPart, "url" | "authority"> | undefined;

/** For `aroundExchange` of an API server. */
export function dashboardAround(context: CoreContext, place: DashboardPlace): (exchange: Exchange) => Exchange {
  const secret = () => randomBytes(SECRET_BYTES).toString("base64url");
  const { clock, log } = context;
  return (exchange) => withDashboard(exchange, { clock, log: log.with({ part: "dashboard" }), secret, runWhy: whyProcess(context, place) });
}

function whyProcess({ clock }: CoreContext, place: DashboardPlace): RunWhy {
  return async (question, signal) => {
    const server = place();
    if (server === undefined) throw new StatusError("ServiceUnavailable", "The API server is starting");
    const lines: string[] = [];
    let length = 0;
    const { exitCode, output } = await clock.external(
      runForOutput({
        ...selfCommand(whyArguments(question)),
        ...{ clock, signal, timeoutMs: WHY_TIMEOUT_MS, input: kubeconfigOf(server, question.token) },
        onLine(line) {
          length += line.length;
          if (length <= ANSWER_LENGTH_MAX) lines.push(line);
        },
      }),
    );
    if (exitCode === 0) return answerIn(lines);
    throw new StatusError("InternalError", output.replace(/^Error: /, "") || "k8ts why was killed");
  };
}

/** Values are behind "=", so that none is taken for a flag. */
function whyArguments({ resource, namespace, name, at, tries }: WhyQuestion): readonly string[] {
  const options = [`--namespace=${namespace || "default"}`, `--try=${tries}`, ...(at === undefined ? [] : [`--at=${at}`])];
  return ["why", `${resource}/${name}`, ...options, "--output=json", "--kubeconfig=-"];
}

/** As standard input: it contains the token. */
function kubeconfigOf({ url, authority }: Pick<ApiServerPart, "url" | "authority">, token: string): string {
  const cluster = { server: url, "certificate-authority-data": Buffer.from(authority).toString("base64") };
  return JSON.stringify({
    ...{ apiVersion: "v1", kind: "Config", "current-context": "why" },
    clusters: [{ name: "why", cluster }],
    users: [{ name: "why", user: { token } }],
    contexts: [{ name: "why", context: { cluster: "why", user: "why" } }],
  });
}

/** From the first line of the JSON to its last: warnings of the program are not part of it. */
function answerIn(lines: readonly string[]): string {
  return lines.slice(lines.indexOf("{"), lines.lastIndexOf("}") + 1).join("\n");
}
