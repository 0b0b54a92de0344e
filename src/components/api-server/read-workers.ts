/**
 * Read workers of an API server: processes that accept its clients' connections, answer gets, lists and watches of stored objects from
 * caches of their own, and relay everything else to this process (read-worker.ts). Reads stay consistent: a worker asks this process for
 * the newest revision and waits until its cache has reached it.
 *
 * All workers listen on the same sockets, which this process has bound, so the kernel gives a connection to a worker that is not busy, and
 * keeps it while all of them are being restarted.
 */
import { writeFile } from "node:fs/promises";
import { serveRelayedRequests, startRelayedApi } from "../../apiserver/http/http-api.ts";
import type { Exchange } from "../../apiserver/framework/exchange.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Logger } from "../../base/logger.ts";
import type { ApiServerOptions } from "../../config/api-server-config.ts";
import { PRIVATE_FILE_MODE } from "../../host/files/files.ts";
import { makeProcessDirectory } from "../../host/files/private-files.ts";
import { bindPort, type BoundPort } from "../../host/relay/bound-port.ts";
import { listenForFrames, type FrameSocket } from "../../host/relay/frame-socket.ts";
import { RELAYED_FRAME_BYTES_MAX } from "../../host/relay/framed-requests.ts";
import { writeNumbers } from "../../host/relay/shared-numbers.ts";
import { SupervisedProcess } from "../../processes/supervised-process.ts";
import { MESSAGE_BYTES_MAX } from "../../store/remote/messages.ts";
import { serveStoreTo, type Pages } from "../../store/remote/store-server.ts";
import type { Store } from "../../store/store.ts";
import {
  encodeStart,
  pageOf,
  READ_WORKER_COMMAND,
  READ_WORKER_READY_LINE,
  relaySocketOf,
  startFileOf,
  storeSocketOf,
  writesSocketOf,
} from "./read-worker-start.ts";

/** Grace period of a worker's running requests, and a margin for its exit. */
const STOP_WITHIN_MS = 12_000;

export interface ReadWorkersContext {
  readonly store: Store;
  readonly exchange: Exchange;
  readonly clock: Clock;
  readonly log: Logger;
}

export class ReadWorkers implements AsyncDisposable {
  readonly #ports: BoundPort[] = [];
  readonly #owned = new Disposables();
  readonly #stopping = new AbortController();

  /** Binds a socket for the workers. Port 0: any free one. Throws a ListenError. */
  bind(place: { readonly host: string; readonly port: number }): BoundPort {
    const bound = bindPort(place);
    this.#ports.push(bound);
    return bound;
  }

  /** Resolves when all workers accept connections. Rejects if one of them cannot start. */
  async start(options: ApiServerOptions & { readonly readWorkers: number }, context: ReadWorkersContext): Promise<void> {
    const { store, exchange, log } = context;
    const directory = this.#owned.use(await makeProcessDirectory("k8ts-reads-")).path;
    const frames = { frameBytesMax: MESSAGE_BYTES_MAX };
    this.#owned.use(
      await listenForFrames(storeSocketOf(directory), frames, (channel) => serveStoreTo(channel, store, (page) => pageAt(directory, page))),
    );
    const serveWrites = (socket: FrameSocket) => serveRelayedRequests(socket, { exchange, log });
    this.#owned.use(await listenForFrames(writesSocketOf(directory), { frameBytesMax: RELAYED_FRAME_BYTES_MAX }, serveWrites));
    this.#owned.use(await startRelayedApi({ exchange, path: relaySocketOf(directory), log }));
    await writeFile(startFileOf(directory), encodeStart({ options, descriptors: this.#ports.length }), { mode: PRIVATE_FILE_MODE });
    const numbers = Array.from({ length: options.readWorkers }, (_, index) => index + 1);
    await Promise.all(numbers.map((number) => this.#startOne(number, directory, context)));
  }

  async #startOne(number: number, directory: string, { clock, log }: ReadWorkersContext): Promise<void> {
    const name = `read worker ${number}`;
    const worker = await SupervisedProcess.start({
      name,
      words: () => [READ_WORKER_COMMAND, directory, String(number)],
      ready: new RegExp(`^${READ_WORKER_READY_LINE}$`),
      descriptors: this.#ports.map(({ descriptor }) => descriptor),
      // It logs warnings and errors only.
      onLine: (line) => {
        if (line !== READ_WORKER_READY_LINE) log.warn("A read worker reports a problem", { worker: name, line });
      },
      stopWithinMs: STOP_WITHIN_MS,
      report: (line) => log.warn("A read worker ended", { worker: name, line }),
      onRestarted: () => undefined,
      signal: this.#stopping.signal,
      clock,
    });
    this.#owned.use(worker);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#owned[Symbol.asyncDispose]();
    for (const bound of this.#ports) bound[Symbol.dispose]();
  }
}

function pageAt(directory: string, number: number): ReturnType<Pages> {
  const numbers = writeNumbers(pageOf(directory, number));
  return { write: ({ sent, revision }) => numbers.write(sent, revision), [Symbol.dispose]: () => numbers[Symbol.dispose]() };
}
