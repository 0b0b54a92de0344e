/**
 * Ports of the loopback for servers that are started again at the same place. Not those that the system hands out to whoever asks for any:
 * such a one may be another test's by the time its server is started, or started again.
 */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below what systems hand out, and below the node ports of Services and the ports that tests of Pods take of the node. */
const FROM = 15_000;
const TO = 28_000;

/** So many different ones, on which nobody listens now. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FROM, TO);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
