/** Client of serve-store.ts: accesses the store of a running API server from a command in another process. */
import { joinPath } from "../../host/files/files.ts";
import { connectPrivately, type LineConnection } from "../../host/network/private-socket.ts";
import type { TrustOptions } from "../../host/files/trusted-path.ts";
import type { Environment } from "../../cli/framework/command.ts";
import type { Entry, ListOptions, ListResult, ReadOptions, StoreStatistics, Watch, WatchEnd, WatchListener } from "../../store/store.ts";
import { compacted, StoreError } from "../../store/store-error.ts";
import {
  ANSWER_BYTES_MAX,
  changeOfLine,
  entryOfLine,
  PAGE_ENTRIES_MAX,
  STORE_SOCKET,
  type Answer,
  type StoreAccess,
  type StoreRequest,
} from "./protocol.ts";

/** Undefined: no process serves the store of this directory. */
export async function connectStore(directory: string, { HOME: userHome }: Environment): Promise<StoreAccess | undefined> {
  const store = new RunningStore(directory, { userHome });
  return (await store.isServed()) ? store : undefined;
}

class RunningStore implements StoreAccess {
  readonly #directory: string;
  readonly #trust: TrustOptions;

  constructor(directory: string, trust: TrustOptions) {
    this.#directory = directory;
    this.#trust = trust;
  }

  async isServed(): Promise<boolean> {
    const connection = await this.#connect();
    connection?.destroy();
    return connection !== undefined;
  }

  async get(key: string, options: ReadOptions = {}): Promise<Entry | undefined> {
    const { entry } = await this.#request({ do: "get", key, ...options });
    return entry === undefined || entry === null ? undefined : entryOfLine(entry);
  }

  /** In pages, at one revision. `remaining` is 0 if none are left and at least 1 otherwise, as without `countRemaining`. */
  async list(prefix: string, { limit = Infinity, ...options }: ListOptions = {}): Promise<ListResult> {
    const entries: Entry[] = [];
    let at: Pick<ListResult, "revision" | "remaining"> | undefined;
    do {
      const startAfter = entries.at(-1)?.key ?? options.startAfter;
      const revision = at?.revision ?? options.revision;
      at = await this.#listPage(
        {
          ...{ do: "list", prefix, limit: Math.min(limit - entries.length, PAGE_ENTRIES_MAX) },
          ...(startAfter === undefined ? {} : { startAfter }),
          ...(revision === undefined ? {} : { revision }),
        },
        entries,
      );
    } while (at.remaining > 0 && entries.length < limit);
    return { entries, ...at };
  }

  async #listPage(request: StoreRequest, into: Entry[]): Promise<Pick<ListResult, "revision" | "remaining">> {
    for await (const { item, listed } of this.#answers(request)) {
      if (item !== undefined) into.push(entryOfLine(item));
      if (listed !== undefined) return listed;
    }
    throw cutOff(this.#directory);
  }

  async currentRevision(): Promise<number> {
    const { revision } = await this.#request({ do: "revision" });
    return revision ?? 0;
  }

  async statistics(): Promise<StoreStatistics> {
    const { statistics } = await this.#request({ do: "statistics" });
    if (statistics === undefined) throw cutOff(this.#directory);
    return statistics;
  }

  async compact(revision: number): Promise<void> {
    await this.#request({ do: "compact", revision });
  }

  watch(prefix: string, { after }: { readonly after: number }, listener: WatchListener): Watch {
    const stop = new AbortController();
    const end = this.#follow({ do: "watch", prefix, after }, listener, stop.signal).catch((error: unknown): WatchEnd =>
      stop.signal.aborted ? { reason: "closed" } : { reason: "failed", error },
    );
    void end.then((ended) => listener.ended(ended));
    return { requestProgress: () => undefined, close: () => stop.abort() };
  }

  async #follow(request: StoreRequest, listener: WatchListener, signal: AbortSignal): Promise<WatchEnd> {
    for await (const { change, ended } of this.#answers(request, signal)) {
      if (change !== undefined) await listener.changes([changeOfLine(change)]);
      if (ended === undefined) continue;
      if (ended.reason === "compacted") return { reason: "compacted", compactedRevision: ended.compactedRevision ?? 0 };
      return ended.reason === "failed" ? { reason: "failed", error: cutOff(this.#directory) } : { reason: ended.reason };
    }
    if (signal.aborted) return { reason: "closed" };
    throw cutOff(this.#directory);
  }

  async #request(request: StoreRequest): Promise<Answer> {
    for await (const answer of this.#answers(request)) return answer;
    throw cutOff(this.#directory);
  }

  async *#answers(request: StoreRequest, signal?: AbortSignal): AsyncGenerator<Answer> {
    const connection = await this.#connect();
    if (connection === undefined) throw cutOff(this.#directory);
    const stop = () => connection.destroy();
    signal?.addEventListener("abort", stop);
    if (signal?.aborted === true) stop();
    try {
      await connection.send(JSON.stringify(request));
      for (;;) {
        const { value: line, done } = await connection.lines.next();
        if (done === true) return;
        const answer = JSON.parse(line) as Answer;
        if (answer.error !== undefined) throw errorOf(answer.error);
        yield answer;
      }
    } finally {
      signal?.removeEventListener("abort", stop);
      connection.destroy();
    }
  }

  #connect(): Promise<LineConnection | undefined> {
    return connectPrivately(joinPath(this.#directory, STORE_SOCKET), { lineBytesMax: ANSWER_BYTES_MAX, ...this.#trust });
  }
}

function errorOf({ reason, message, compactedRevision }: NonNullable<Answer["error"]>): StoreError {
  return new StoreError(reason, message, compactedRevision === undefined ? {} : { compactedRevision });
}

function cutOff(directory: string): StoreError {
  return new StoreError("Unavailable", `Cannot read the store of ${directory}: its API server has stopped; try again`);
}

/** Message for the user of a closed watch. */
export function explainEnd(end: WatchEnd, { prefix, after }: { readonly prefix: string; readonly after: number }): Error {
  switch (end.reason) {
    case "closed":
      return new StoreError("Unavailable", `The watch of ${JSON.stringify(prefix)} ended: the API server has stopped`);
    case "slow":
      return new StoreError("Unavailable", `The watch of ${JSON.stringify(prefix)} was closed: the client read too slowly; watch again`);
    case "compacted":
      return compacted(after, end.compactedRevision);
    case "failed":
      return end.error as Error;
  }
}
