/** Health checks of the kubelet in upstream's format, and the result counts for /metrics/slis. */
import { HealthReporter, PING, type HealthAnswer, type HealthCheck } from "../../base/health-reporter.ts";
import { PROMETHEUS_TYPE, prometheusText } from "../../base/metrics/prometheus-text.ts";
import { sendText, type Call, type Handler } from "./call.ts";

/** Always ok: without a log the kubelet would not answer. */
const LOG: HealthCheck = { name: "log", problem: () => undefined };

export interface HealthHandlers {
  readonly healthz: Handler;
  readonly healthCheck: Handler;
  readonly healthIndicators: Handler;
}

/** `syncProblem`: of the loop that reconciles Pods. */
export function healthHandlers(syncProblem: () => string | undefined = () => undefined): HealthHandlers {
  const reporter = new HealthReporter();
  const checks = [PING, LOG, { name: "syncloop", problem: syncProblem }];
  return {
    healthz: (_context, { reply, query }) => send(reply, reporter.answer("healthz", checks, query)),
    healthCheck(_context, { reply, parameters }) {
      const answer = reporter.answerOne(checks, parameters["check"] ?? "");
      if (answer === undefined) return sendText(reply, 404, "404 page not found\n");
      send(reply, answer);
    },
    healthIndicators(_context, { reply }) {
      sendText(reply, 200, prometheusText(reporter.families()), { type: PROMETHEUS_TYPE });
    },
  };
}

function send(reply: Call["reply"], { code, text }: HealthAnswer): void {
  sendText(reply, code, text, { headers: { "x-content-type-options": "nosniff" } });
}
