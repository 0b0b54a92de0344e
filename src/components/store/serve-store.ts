/**
 * Serves the embedded store of a running API server to `k8ts store …`: only that process has the data directory open. The socket in the
 * data directory is accessible only by its owner and root. Reads, watches and compaction only: objects are changed through the API.
 */
import { joinPath } from "../../host/files/files.ts";
import { listenPrivately, type LineConnection } from "../../host/network/private-socket.ts";
import type { Logger } from "../../base/logger.ts";
import type { WatchEnd } from "../../store/store.ts";
import {
  changeLine,
  entryLine,
  errorAnswer,
  PAGE_ENTRIES_MAX,
  parseRequest,
  REQUEST_BYTES_MAX,
  STORE_SOCKET,
  type Answer,
  type StoreAccess,
  type StoreRequest,
} from "./protocol.ts";

/** Limit of concurrent commands, which people run. */
const CONNECTIONS_MAX = 16;

/** If the socket cannot be created, the cluster still starts, without serving its store. */
export async function serveStore(store: StoreAccess, directory: string, { log }: { readonly log: Logger }): Promise<AsyncDisposable> {
  try {
    return await listenPrivately(joinPath(directory, STORE_SOCKET), {
      connectionsMax: CONNECTIONS_MAX,
      lineBytesMax: REQUEST_BYTES_MAX,
      serve: (connection) => answer(store, connection),
    });
  } catch (error) {
    log.warn("Serving the store to k8ts store commands failed", { directory, error });
    return { [Symbol.asyncDispose]: () => Promise.resolve() };
  }
}

async function answer(store: StoreAccess, connection: LineConnection): Promise<void> {
  const { value: line, done } = await connection.lines.next();
  if (done === true) return;
  const send = (message: Answer) => connection.send(JSON.stringify(message));
  try {
    await perform(store, parseRequest(line), { send, closed: connection.closed });
  } catch (error) {
    await send(errorAnswer(error));
  }
}

interface Receiver {
  send(answer: Answer): Promise<void>;
  readonly closed: Promise<void>;
}

async function perform(store: StoreAccess, request: StoreRequest, receiver: Receiver): Promise<void> {
  const { send } = receiver;
  switch (request.do) {
    case "get": {
      const entry = await store.get(request.key, atRevision(request));
      return send({ entry: entry === undefined ? null : entryLine(entry) });
    }
    case "list":
      return sendList(store, request, send);
    case "revision":
      return send({ revision: await store.currentRevision() });
    case "statistics":
      return send({ statistics: await store.statistics() });
    case "compact":
      await store.compact(request.revision);
      return send({ compacted: true });
    case "watch":
      return sendChanges(store, request, receiver);
  }
}

function atRevision({ revision }: { readonly revision?: number }): { readonly revision?: number } {
  return revision === undefined ? {} : { revision };
}

async function sendList(store: StoreAccess, request: Extract<StoreRequest, { do: "list" }>, send: Receiver["send"]): Promise<void> {
  const { entries, revision, remaining } = await store.list(request.prefix, {
    ...atRevision(request),
    ...(request.startAfter === undefined ? {} : { startAfter: request.startAfter }),
    limit: Math.max(1, Math.min(request.limit, PAGE_ENTRIES_MAX)),
    countRemaining: false,
  });
  for (const entry of entries) await send({ item: entryLine(entry) });
  await send({ listed: { revision, remaining } });
}

/** Until the watch ends or the client disconnects. The watch of a client that does not read is closed as "slow". */
async function sendChanges(
  store: StoreAccess,
  { prefix, after }: Extract<StoreRequest, { do: "watch" }>,
  { send, closed }: Receiver,
): Promise<void> {
  let end: (ended: WatchEnd) => void = () => undefined;
  const ended = new Promise<WatchEnd>((resolve) => (end = resolve));
  const watch = store.watch(
    prefix,
    { after },
    {
      async changes(changes) {
        for (const change of changes) await send({ change: changeLine(change) });
      },
      ended: end,
    },
  );
  void closed.then(() => watch.close());
  const { reason, ...details } = await ended;
  const compacted = "compactedRevision" in details ? { compactedRevision: details.compactedRevision } : {};
  await send({ ended: { reason, ...compacted } });
}
