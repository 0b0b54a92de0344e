/** Streams a container's log: a slow client applies back-pressure to the reading, and a disconnect ends it. */
import type { Pod } from "../../api/generated/core/v1.ts";
import { quoteGo } from "../../api/machinery/codec/go-text.ts";
import { NOT_NEEDED, signalOf } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { HttpSink } from "../../host/http/contract.ts";
import { logBytes, loggedContainer, runtimeLogOptions } from "../logs/container-logs.ts";
import { Refusal, TEXT_TYPE, type Handler } from "./call.ts";
import { logOptions } from "./log-query.ts";

/** Bytes buffered for a slow client; above it reading pauses. A thousand clients that never read cost a quarter of a GiB. */
const WAITING_BYTES_MAX = 256 << 10;

/** Delay of the response head: most read errors occur at once; after it they could be reported only within the log. */
const FIRST_PIECE_WITHIN_MS = 1_000;

export const containerLogs: Handler = async ({ kubelet, clock }, { request, reply, query, parameters }) => {
  const { namespace = "", pod: name = "", container = "" } = parameters;
  const options = logOptions(query);
  const pod = kubelet.pod({ namespace, name });
  if (pod === undefined) throw new Refusal(404, `pod ${quoteGo(name)} does not exist`);
  if (containerSpec(pod, container) === undefined)
    throw new Refusal(404, `container ${quoteGo(container)} not found in pod ${quoteGo(name)}`);
  const found = loggedContainer(pod, container, options);
  if (found.is === "refused") throw new Refusal(400, found.message);
  const lines = kubelet.runtime.logs(found.id, runtimeLogOptions(options, clock.now()), signalOf(request.signal));
  const pieces = await begun(logBytes(lines, options), clock);
  return pour(pieces, reply.stream({ code: 200, headers: { "content-type": TEXT_TYPE } }));
};

/** Rejects with a Refusal if it cannot be read. Does not wait long for a container that logs nothing. */
async function begun(pieces: AsyncGenerator<Uint8Array>, clock: Clock): Promise<AsyncIterable<Uint8Array>> {
  const first = pieces.next();
  const over = new AbortController();
  try {
    await Promise.race([first, clock.sleep(FIRST_PIECE_WITHIN_MS, over.signal).catch(() => undefined)]);
  } catch (error) {
    throw new Refusal(400, error instanceof Error ? error.message : String(error));
  } finally {
    over.abort(NOT_NEEDED);
  }
  return resumed(first, pieces);
}

async function* resumed(first: Promise<IteratorResult<Uint8Array>>, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { done, value } = await first;
  if (done === true) return;
  yield value;
  yield* rest;
}

/** Of any kind. */
export function containerSpec({ spec }: Pod, name: string): { readonly tty?: boolean } | undefined {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {};
  return [...containers, ...initContainers, ...ephemeralContainers].find((container) => container.name === name);
}

/** Never rejects. A failure after the response has begun is reported within it. */
async function pour(pieces: AsyncIterable<Uint8Array>, sink: HttpSink): Promise<void> {
  let resume = (): void => undefined;
  sink.onDrained(() => resume());
  sink.onClosed(() => resume());
  try {
    for await (const bytes of pieces)
      if (sink.write({ bytes }) > WAITING_BYTES_MAX) await new Promise<void>((resolve) => (resume = resolve));
  } catch (error) {
    sink.write({ bytes: new TextEncoder().encode(error instanceof Error ? error.message : String(error)) });
  }
  sink.end();
}
