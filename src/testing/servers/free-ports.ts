/**
 * Loopback ports for servers that are restarted at the same address. Not from the ephemeral range: such a port may be in use by another
 * test by the time its server is started or restarted.
 */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ephemeral range, and below the node ports of Services and the host ports that tests of Pods use. */
const FROM = 15_000;
const TO = 28_000;

/** Returns `count` different ports on which nothing listens. */
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
