/** The thread of a flood (load.ts): sends requests until stopped, and then reports how many received which code. */
import { parentPort, workerData } from "node:worker_threads";
import { sender, type Flood } from "./load.ts";

/** Pause between two requests of a connection: a rejected body costs its connection, and this is not an attack by handshakes. */
const PAUSE_MS = 20;

const { target, token, connections, sent } = workerData as Flood;
const codes = new Map<number, number>();
let isStopped = false;
parentPort?.once("message", () => (isStopped = true));

await Promise.all(
  Array.from({ length: connections }, async () => {
    const { send, close } = sender({ ...target, tokenOf: () => token });
    while (!isStopped) {
      const code = await send({ ...sent, as: "mallory" });
      codes.set(code, (codes.get(code) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    close();
  }),
);
parentPort?.postMessage(codes);
