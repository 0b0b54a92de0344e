/**
 * Decides which responses are compressed. As upstream: if the client lists gzip, and the body exceeds a threshold. In addition only for
 * GET, which has the large responses, and not for loopback clients, for whom compression costs more than it saves.
 */
import type { ExchangeRequest, WholeAnswer } from "../framework/exchange.ts";

/** Upstream's. Compressing a smaller body costs more than it saves. */
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

/** Upstream looks for the bare token: "gzip;q=0.5" and "*" do not match. */
function acceptsGzip(acceptEncoding: string): boolean {
  return acceptEncoding !== "" && acceptEncoding.split(",").some((word) => word.trim() === "gzip");
}

/** Adds Vary for caches. */
export function withVary(headers: WholeAnswer["headers"]): WholeAnswer["headers"] {
  const given = headers["vary"] ?? [];
  return { ...headers, vary: [...(typeof given === "string" ? [given] : given), "Accept-Encoding"] };
}
