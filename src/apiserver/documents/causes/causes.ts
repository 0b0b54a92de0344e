/**
 * /debug/k8ts/causes: the latest writes and refused requests with their causes, oldest first, in pages if requested, or as a stream of
 * those to come (`?watch=true`). It reveals users and object names, so it needs permission for this path (administrators have it).
 */
import { StatusError } from "../../../api/machinery/status-error.ts";
import { CAUSES_PATH, EXPLAIN_API_VERSION, type CauseEvent, type CauseList } from "../../../explain/explain-api.ts";
import type { Causes, CauseRecord } from "../../framework/recording/causes.ts";
import type { Document, DocumentDependencies } from "../../framework/document.ts";
import type { Sink, StreamedAnswer } from "../../framework/exchange.ts";
import { causeItem } from "../../shared/explain/cause-item.ts";
import { jsonAnswer, JSON_HEADERS, mustAcceptJson } from "../../shared/explain/json-document.ts";
import { causeQuery, type CauseQuery } from "./cause-filter.ts";

/** A watcher that is so far behind is disconnected: it can continue with `after`. */
const BUFFERED_BYTES_MAX = 1024 * 1024;

export function causesDocument({ causes }: DocumentDependencies): Document {
  return {
    name: "causes",
    answers: (path) => path === CAUSES_PATH,
    answer(request) {
      mustAcceptJson(request);
      const query = causeQuery(request.query);
      return query.isWatch ? watchAnswer(causes, query) : jsonAnswer(listOf(causes, query));
    },
  };
}

function listOf(causes: Causes, { matches, afterId, limit }: CauseQuery): CauseList {
  const kept = causes.list();
  const found = kept.filter((record) => record.id > afterId && matches(record));
  const page = limit === 0 ? found : found.slice(0, limit);
  const last = page.at(-1);
  return {
    kind: "CauseList",
    apiVersion: EXPLAIN_API_VERSION,
    metadata: {
      oldest: kept[0]?.id ?? 0,
      newest: causes.newestId,
      ...(page.length === found.length || last === undefined ? {} : { continue: String(last.id) }),
    },
    items: page.map(causeItem),
  };
}

/** Without `after`: only records to come. */
function watchAnswer(causes: Causes, query: CauseQuery): StreamedAnswer {
  const isFromNow = query.afterId === 0;
  return {
    code: 200,
    headers: JSON_HEADERS,
    stream(sink) {
      const send = (record: CauseRecord): void => {
        if (!query.matches(record)) return;
        if (write(sink, { type: "ADDED", object: causeItem(record) }) <= BUFFERED_BYTES_MAX) return;
        write(sink, { type: "ERROR", object: TOO_SLOW.toStatus() });
        sink.end();
      };
      if (!isFromNow) causes.list().forEach((record) => record.id > query.afterId && send(record));
      sink.onClosed(causes.subscribe(send));
    },
  };
}

const TOO_SLOW = new StatusError(
  "Expired",
  "The client reads causes more slowly than they are recorded; continue with the parameter after",
);

function write(sink: Sink, event: CauseEvent): number {
  return sink.write({ bytes: new TextEncoder().encode(`${JSON.stringify(event)}\n`) });
}
