/**
 * GET /debug/k8ts/decisions?pod=NAMESPACE/NAME of the API server: the scheduler's last decisions about a Pod. Authorized by path, like
 * /debug/k8ts/causes: by default only for administrators.
 */
import { JSON_TYPE, negotiate, notAcceptable } from "../../api/machinery/codec/media-type.ts";
import { badRequest, StatusError } from "../../api/machinery/status-error.ts";
import type { Document } from "../../apiserver/framework/document.ts";
import { DECISIONS_PATH } from "../../explain/explain-api.ts";
import type { DecisionsAnswer } from "../pages/decisions-page.ts";

export interface DecisionsDocumentOptions {
  read(query: URLSearchParams): Promise<DecisionsAnswer> | DecisionsAnswer;
  /** Where to find the decisions otherwise, without a full stop. */
  readonly elsewhere: string;
}

export function decisionsDocument({ read, elsewhere }: DecisionsDocumentOptions): Document {
  return {
    name: "debug/k8ts/decisions",
    answers: (path) => path === DECISIONS_PATH,
    async answer(request) {
      if (negotiate(request.header("accept"), [JSON_TYPE]) === undefined) throw notAcceptable([JSON_TYPE]);
      const answer = await read(new URLSearchParams(request.query));
      if (answer.is === "bad request") throw badRequest(answer.problem);
      if (answer.is === "no scheduler") throw new StatusError("ServiceUnavailable", elsewhere);
      const body = new TextEncoder().encode(answer.text);
      return { code: 200, headers: { "content-type": JSON_TYPE, "cache-control": "no-cache, private" }, body: [body] };
    },
  };
}

/** For an API server that no scheduler on this machine is connected to: `k8ts apiserver`, or if another process is the leader. */
export const DECISIONS_ELSEWHERE =
  "No active scheduler is connected to this API server. Query the scheduler that holds the Lease " +
  `kube-system/kube-scheduler, at ${DECISIONS_PATH}: start it with "k8ts scheduler --metrics-address 127.0.0.1:10259", or connect one on ` +
  'this machine by a socket: "k8ts scheduler --decisions-socket FILE" and "k8ts apiserver --scheduler-decisions-socket FILE"';
