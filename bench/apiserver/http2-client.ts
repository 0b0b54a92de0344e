/** Opens an HTTP/2 connection as Go clients do: with windows so large that the server never waits for WINDOW_UPDATE frames. */
import { connect, type ClientHttp2Session } from "node:http2";
import type { Credentials } from "./server-child.ts";

const STREAM_WINDOW_BYTES = 4 * 1024 * 1024;
const CONNECTION_WINDOW_BYTES = 2 ** 30;

export function connectLikeGo({
  port,
  credentials: { cert, key },
}: {
  readonly port: number;
  readonly credentials: Credentials;
}): ClientHttp2Session {
  const settings = { initialWindowSize: STREAM_WINDOW_BYTES };
  const session = connect(`https://127.0.0.1:${port}`, {
    rejectUnauthorized: false,
    settings,
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  });
  session.once("connect", () => session.setLocalWindowSize(CONNECTION_WINDOW_BYTES));
  return session;
}
