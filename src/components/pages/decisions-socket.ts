/**
 * Scheduling decisions over a private Unix socket: how the API server of `k8ts up --processes` gets those of the scheduler's process.
 * Other users cannot connect. One request and one answer per connection, a line of JSON each.
 */
import type { TrustOptions } from "../../host/files/trusted-path.ts";
import { connectPrivately, listenPrivately } from "../../host/network/private-socket.ts";
import { readDecisions, type DecidingScheduler, type DecisionsAnswer } from "./decisions-page.ts";

/** The name of a Pod and its namespace. */
const REQUEST_BYTES_MAX = 4 * 1024;
/** Decisions about one Pod with the reasons of thousands of nodes. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
/** The API server's requests in flight about decisions. */
const CONNECTIONS_MAX = 64;

/** `acting`: the scheduler, while this process is the leader. */
export function serveDecisions(path: string, acting: () => DecidingScheduler | undefined): Promise<AsyncDisposable> {
  return listenPrivately(path, {
    connectionsMax: CONNECTIONS_MAX,
    lineBytesMax: REQUEST_BYTES_MAX,
    async serve({ lines, send }) {
      const { value: query, done } = await lines.next();
      if (done !== true) await send(JSON.stringify(readDecisions(new URLSearchParams(query), acting())));
    },
  });
}

/** Reads decisions of the scheduler that listens at `path`. */
export async function fetchDecisions(path: string, query: URLSearchParams, trust: TrustOptions): Promise<DecisionsAnswer> {
  const connection = await connectPrivately(path, { lineBytesMax: ANSWER_BYTES_MAX, ...trust });
  if (connection === undefined) return { is: "no scheduler" };
  try {
    await connection.send(query.toString());
    const { value: line, done } = await connection.lines.next();
    return done === true ? { is: "no scheduler" } : (JSON.parse(line) as DecisionsAnswer);
  } finally {
    connection.destroy();
  }
}
