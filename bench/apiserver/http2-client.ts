/** An HTTP/2 connection as clients in Go open it: with windows so large that the server never waits for a note from the client. */
import { connect, type ClientHttp2Session } from "node:http2";

const STREAM_WINDOW_BYTES = 4 * 1024 * 1024;
const CONNECTION_WINDOW_BYTES = 2 ** 30;

export function connectLikeGo(port: number): ClientHttp2Session {
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false, settings: { initialWindowSize: STREAM_WINDOW_BYTES } });
  session.once("connect", () => session.setLocalWindowSize(CONNECTION_WINDOW_BYTES));
  return session;
}
