/** The thread of a flood (load.ts): sends requests until it is told to stop, and then reports how many got which code. */
import { parentPort, workerData } from "node:worker_threads";
import { sender, type Flood } from "./load.ts";

/** Between two requests of a connection: a body that is rejected costs its connection, and handshakes alone are not what is tried here. */
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
