/** The load of network/ingress, in its own process: HTTP/1.1 spoken directly on sockets, since Node's own client would be slower than nginx. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { serve } from "../serve.ts";

export interface LoadResult {
  readonly perSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
}

const REQUEST = "GET /path?query=1 HTTP/1.1\r\nHost: web.example\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n";

const tasks = {
  async load({
    port,
    connections,
    durationMs,
  }: {
    readonly port: number;
    readonly connections: number;
    readonly durationMs: number;
  }): Promise<LoadResult> {
    const sockets = Array.from({ length: connections }, () => connect(port, "127.0.0.1").setNoDelay(true));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    const startedMs = performance.now();
    const tookMs: number[] = [];
    await Promise.all(sockets.map((socket) => requestUntil(socket, startedMs + durationMs, tookMs)));
    const perSecond = (tookMs.length * 1_000) / (performance.now() - startedMs);
    for (const socket of sockets) socket.destroy();
    const sorted = tookMs.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
    return { perSecond, medianMs: at(0.5), p99Ms: at(0.99) };
  },
};

/** One request after the other. An answer that is not 200 rejects. */
function requestUntil(socket: Socket, endMs: number, tookMs: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let beganMs = performance.now();
    let received = "";
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("The connection was closed")));
    socket.on("data", (piece) => {
      received += piece.toString("latin1");
      if (!isComplete(received)) return;
      if (!received.startsWith("HTTP/1.1 200 ")) return reject(new Error(`The answer is ${received.slice(0, 100)}`));
      const nowMs = performance.now();
      tookMs.push(nowMs - beganMs);
      received = "";
      beganMs = nowMs;
      if (nowMs >= endMs) return resolve();
      socket.write(REQUEST);
    });
    socket.write(REQUEST);
  });
}

function isComplete(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return false;
  const length = /content-length: (\d+)/i.exec(text)?.[1];
  return length !== undefined && text.length >= end + 4 + Number(length);
}

export type LoadTasks = typeof tasks;

serve(tasks);
