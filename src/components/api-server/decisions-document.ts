/**
 * GET /debug/k8ts/decisions?pod=NAMESPACE/NAME of the API server: the scheduler's last decisions about a Pod. Authorized by path, like
 * /debug/k8ts/causes: by default only for administrators.
 */
import { JSON_TYPE, negotiate, notAcceptable } from "../../api/machinery/codec/media-type.ts";
import { badRequest, StatusError } from "../../api/machinery/status-error.ts";
import type { Document } from "../../apiserver/framework/document.ts";
import { DECISIONS_PATH } from "../../explain/explain-api.ts";
import { readDecisions, type DecidingScheduler } from "../pages/decisions-page.ts";

export interface DecisionsDocumentOptions {
  /** The scheduler, while it is active in this process. */
  acting(): DecidingScheduler | undefined;
  /** Where to find the decisions otherwise, without a full stop. */
  readonly elsewhere: string;
}

export function decisionsDocument({ acting, elsewhere }: DecisionsDocumentOptions): Document {
  return {
    name: "debug/k8ts/decisions",
    answers: (path) => path === DECISIONS_PATH,
    answer(request) {
      if (negotiate(request.header("accept"), [JSON_TYPE]) === undefined) throw notAcceptable([JSON_TYPE]);
      const answer = readDecisions(new URLSearchParams(request.query), acting());
      if (answer.is === "bad request") throw badRequest(answer.problem);
      if (answer.is === "no scheduler") throw new StatusError("ServiceUnavailable", elsewhere);
      const body = new TextEncoder().encode(answer.text);
      return { code: 200, headers: { "content-type": JSON_TYPE, "cache-control": "no-cache, private" }, body: [body] };
    },
  };
}

/** For an API server whose scheduler is another process: with --processes, `k8ts apiserver`, or if another process is the leader. */
export const DECISIONS_ELSEWHERE =
  "No scheduler runs in the process of this API server. Query the scheduler that holds the Lease " +
  `kube-system/kube-scheduler, at ${DECISIONS_PATH}: start it with "k8ts scheduler --metrics-address 127.0.0.1:10259", or run ` +
  "k8ts up without --processes";
