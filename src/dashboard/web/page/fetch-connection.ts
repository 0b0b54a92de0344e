/**
 * Connects pages to the API server that served them, with `fetch` and WebSockets. The token is a bearer token of the user or of a session;
 * it is sent in a header, or as a subprotocol of a WebSocket, and never by the browser on its own.
 */
import { encodeBase64Url } from "../../../api/machinery/codec/base64-url.ts";
import type { ClusterConnection, ConnectionResponse } from "../../data/connection.ts";

export function fetchConnection(token: () => string | undefined): ClusterConnection {
  return {
    async send({ method = "GET", path, accept = "application/json", contentType, body, signal }) {
      const shown = token();
      const response = await fetch(path, {
        method,
        headers: {
          accept,
          ...(contentType === undefined ? {} : { "content-type": contentType }),
          ...(shown === undefined ? {} : { authorization: `Bearer ${shown}` }),
        },
        credentials: "omit",
        cache: "no-store",
        redirect: "error",
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      });
      return responseOf(response, signal);
    },
    open(path, protocols, listener) {
      const shown = token();
      const url = new URL(path, location.href);
      url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
      const bearer =
        shown === undefined ? [] : [`base64url.bearer.authorization.k8s.io.${encodeBase64Url(new TextEncoder().encode(shown))}`];
      const socket = new WebSocket(url, [...protocols, ...bearer]);
      socket.binaryType = "arraybuffer";
      socket.addEventListener("open", () => listener.opened());
      socket.addEventListener("message", ({ data }) => {
        if (data instanceof ArrayBuffer) listener.message(new Uint8Array(data));
      });
      socket.addEventListener("close", ({ reason, code }) => listener.closed(reason || (code === 1000 ? "" : "The connection was closed")));
      return { send: (bytes) => socket.send(new Uint8Array(bytes)), close: () => socket.close() };
    },
  };
}

function responseOf(response: Response, signal: AbortSignal | undefined): ConnectionResponse {
  return {
    code: response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    bytes: async () => new Uint8Array(await response.arrayBuffer()),
    pieces: () => piecesOf(response, signal),
  };
}

async function* piecesOf(response: Response, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } catch (error) {
    if (signal?.aborted !== true) throw error;
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
