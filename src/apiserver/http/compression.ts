/**
 * Which answers are compressed. As upstream: if the client lists gzip, and the body is over a threshold. Beyond that not for loopback
 * clients, to whom bytes cost less than compressing them, and only for GET, where the large answers are.
 */
import type { ExchangeRequest, WholeAnswer } from "../framework/exchange.ts";

/** Upstream's. A smaller body gains less than it costs. */
export const GZIP_BYTES_MIN = 128 * 1024 + 1;

export function isToBeCompressed(
  request: Pick<ExchangeRequest, "method" | "header" | "peer">,
  { code, headers, body }: WholeAnswer,
): boolean {
  return (
    request.method === "GET" &&
    !request.peer.isLoopback &&
    code === 200 &&
    headers["content-encoding"] === undefined &&
    isLarge(body) &&
    acceptsGzip(request.header("accept-encoding") ?? "")
  );
}

function isLarge(body: readonly Uint8Array[]): boolean {
  let sizeBytes = 0;
  for (const piece of body) {
    sizeBytes += piece.length;
    if (sizeBytes >= GZIP_BYTES_MIN) return true;
  }
  return false;
}

/** Upstream looks for the bare word: "gzip;q=0.5" and "*" are not it. */
function acceptsGzip(acceptEncoding: string): boolean {
  return acceptEncoding !== "" && acceptEncoding.split(",").some((word) => word.trim() === "gzip");
}

/** With what caches must know: the answer depends on the header. */
export function withVary(headers: WholeAnswer["headers"]): WholeAnswer["headers"] {
  const given = headers["vary"] ?? [];
  return { ...headers, vary: [...(typeof given === "string" ? [given] : given), "Accept-Encoding"] };
}
