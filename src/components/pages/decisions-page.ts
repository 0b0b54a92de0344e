/**
 * Scheduling decisions of this process: GET /debug/k8ts/decisions?pod=NAMESPACE/NAME returns {"items": [...]}, the last decisions about the
 * Pod, oldest first. Only the leader decides, so only the leader can answer. Served by `k8ts scheduler` (here) and by the API server of
 * `k8ts up` (decisions-document.ts).
 */
import type { RunningScheduler } from "../../scheduler/scheduler.ts";
import type { Page } from "./http-pages.ts";

export type DecidingScheduler = Pick<RunningScheduler, "decisions">;

export type DecisionsAnswer =
  | { readonly is: "decisions"; readonly text: string }
  | { readonly is: "bad request"; readonly problem: string }
  | { readonly is: "no scheduler" };

export function readDecisions(query: URLSearchParams, scheduler: DecidingScheduler | undefined): DecisionsAnswer {
  const pod = query.get("pod");
  const [namespace, name, ...more] = (pod ?? "").split("/");
  if (!namespace || !name || more.length > 0) {
    const is = pod === null ? "is missing" : `is ${JSON.stringify(pod)}`;
    return { is: "bad request", problem: `The parameter "pod" must be a namespace and a name, as in ?pod=default/web-0, ${is}` };
  }
  if (scheduler === undefined) return { is: "no scheduler" };
  return { is: "decisions", text: JSON.stringify({ items: scheduler.decisions({ namespace, name }) }) };
}

/** `acting`: the scheduler, while this process is the leader. */
export function decisionsPage(acting: () => DecidingScheduler | undefined): Page {
  return {
    type: "application/json",
    text(query) {
      const answer = readDecisions(query, acting());
      if (answer.is === "bad request") return { code: 400, problem: answer.problem };
      if (answer.is === "no scheduler") return { code: 503, problem: "This process is not the leader; query the current leader" };
      return answer.text;
    },
  };
}
