/**
 * Why a Pod is where it is, or nowhere, as the scheduler of this process remembers it: GET /debug/k8ts/decisions?pod=namespace/name answers
 * {"items": [...]}, the last decisions about the Pod, oldest first. Only who leads decides, so only who leads can tell.
 */
import type { RunningScheduler } from "../scheduler/scheduler.ts";
import type { Page } from "./http-pages.ts";

export const DECISIONS_PATH = "/debug/k8ts/decisions";

/** `acting`: the scheduler, while this process leads. */
export function decisionsPage(acting: () => Pick<RunningScheduler, "decisions"> | undefined): Page {
  return {
    type: "application/json",
    text(query) {
      const pod = query.get("pod");
      const [namespace, name, ...more] = (pod ?? "").split("/");
      if (!namespace || !name || more.length > 0) {
        const is = pod === null ? "is missing" : `is ${JSON.stringify(pod)}`;
        return { code: 400, problem: `The parameter "pod" must be a namespace and a name, as in ?pod=default/web-0, ${is}` };
      }
      const scheduler = acting();
      if (scheduler === undefined) return { code: 503, problem: "This process stands by and decides nothing: ask the one that leads" };
      return JSON.stringify({ items: scheduler.decisions({ namespace, name }) });
    },
  };
}
