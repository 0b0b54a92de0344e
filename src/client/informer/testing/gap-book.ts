/** Records the gaps that an informer closes by comparing: from its state to the complete list that it receives next. */
import type { Transport } from "../../../api/machinery/transport.ts";
import type { Gap } from "./expected-calls.ts";

/** `known`: the informer's revision. */
export function withGapBook(transport: Transport, gaps: Gap[], known: () => string): Transport {
  const heardAll = (revision: string): void => {
    const [from, to] = [Number(known()), Number(revision)];
    // Older lists are ignored.
    if (to >= from) gaps.push({ from, to });
  };
  return {
    document: (path, options) => transport.document(path, options),
    async request(request) {
      const answer = await transport.request(request);
      if (answer.is === "list" && answer.metadata.continue === undefined) heardAll(answer.metadata.resourceVersion ?? "");
      return answer;
    },
    watch: (request, listener) =>
      transport.watch(request, {
        ended: () => listener.ended(),
        event(event) {
          if (event.type === "BOOKMARK" && event.initialEventsEnd) heardAll(event.resourceVersion);
          listener.event(event);
        },
      }),
  };
}
