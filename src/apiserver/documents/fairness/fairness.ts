/** /debug/api_priority_and_fairness/dump_…: priority levels, queues and requests as text (upstream's paths). */
import { noSuchPath } from "../../../api/machinery/status-error.ts";
import type { Document, DocumentDependencies } from "../../framework/document.ts";

const PREFIX = "/debug/api_priority_and_fairness/";
const HEADERS = { "content-type": "text/plain; charset=utf-8", "cache-control": "no-cache, private" };

export function fairnessDocument({ fairness }: Pick<DocumentDependencies, "fairness">): Document {
  const texts: Readonly<Record<string, (query: URLSearchParams) => string>> =
    fairness === undefined
      ? {}
      : {
          dump_priority_levels: () => fairness.dumpPriorityLevels(),
          dump_queues: () => fairness.dumpQueues(),
          dump_requests: (query) => fairness.dumpRequests({ withDetails: (query.get("includeRequestDetails") ?? "") !== "" }),
        };
  return {
    name: "priority-and-fairness",
    answers: (path) => path.startsWith(PREFIX) && Object.hasOwn(texts, path.slice(PREFIX.length)),
    answer({ query }, path) {
      const text = texts[path.slice(PREFIX.length)];
      if (text === undefined) throw noSuchPath();
      return { code: 200, headers: HEADERS, body: [new TextEncoder().encode(text(new URLSearchParams(query)))] };
    },
  };
}
