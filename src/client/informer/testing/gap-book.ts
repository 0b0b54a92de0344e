/** Writes down what will be told by comparing: from what an informer knows to what it then hears as everything there is. */
import type { Transport } from "../../../api/machinery/transport.ts";
import type { Gap } from "./told.ts";

/** `known`: the informer's revision. */
export function withGapBook(transport: Transport, gaps: Gap[], known: () => string): Transport {
  const heardAll = (revision: string): void => {
    const [from, to] = [Number(known()), Number(revision)];
    // What is older is not taken.
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
