/** A watch over a WebSocket: one message per event, text for JSON and binary otherwise, as upstream. Messages of the client are ignored. */
import type { WebSocketConnection, WebSocketOffer } from "../../host/http/contract.ts";
import type { Sink, StreamedAnswer } from "../framework/exchange.ts";

/** Browsers cannot set headers on a WebSocket, so they send their token as a subprotocol. It must not be sent back. */
const BEARER_PROTOCOL = "base64url.bearer.authorization.k8s.io.";

export function protocolsOf({ protocols }: WebSocketOffer): readonly string[] {
  return protocols.filter((protocol) => !protocol.startsWith(BEARER_PROTOCOL));
}

export function streamToWebSocket(answer: StreamedAnswer, connection: WebSocketConnection): void {
  const contentType = String(answer.headers["content-type"] ?? "");
  // Listening is also required to detect the client's close frame.
  connection.onMessage(() => {});
  answer.stream(sinkOf(connection, { binary: !/^application\/json\b/.test(contentType) }));
}

function sinkOf(connection: WebSocketConnection, framing: { readonly binary: boolean }): Sink {
  return {
    // Buffered twice: as plain text and encrypted.
    write: ({ bytes }) => 2 * connection.send(bytes, framing),
    end: () => connection.close(),
    abort: () => connection.abort(),
    onClosed: (listener) => connection.onClosed(listener),
    onDrained: (listener) => connection.onDrained(listener),
  };
}
