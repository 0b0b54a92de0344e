/** The documents of a server with all built-in kinds on a memory store, as a client receives them. */
import { all as resources } from "../../src/api/all.ts";
import { parseDescriptions } from "../../src/api/descriptions.ts";
import { descriptionData } from "../../src/api/generated/descriptions.ts";
import { schemas } from "../../src/api/schemas.ts";
import { startApiServer } from "../../src/apiserver/api-server.ts";
import type { Exchange } from "../../src/apiserver/framework/exchange.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { realRandom } from "../../src/host/real-random.ts";
import { openMemoryStore } from "../../src/store/memory/memory-store.ts";

/** Undefined: the document does not exist. */
export type ReadDocument = (path: string) => Promise<unknown>;

export async function withOurDocuments<T>(use: (read: ReadDocument) => Promise<T>): Promise<T> {
  const clock = realClock;
  const store = openMemoryStore({ clock });
  const server = await startApiServer({
    store,
    resources,
    schemas,
    clock,
    random: realRandom(),
    log: silentLogger,
    identity: { anonymous: false, bootstrapTokens: false, openIdIssuers: [] },
    authenticator: {
      authenticate: () => ({ user: { name: "comparison", groups: ["system:masters"] } }),
      reviewToken: () => Promise.resolve({ authenticated: false, error: "" }),
    },
    loadDescriptions: async () => parseDescriptions(descriptionData),
  });
  try {
    return await use((path) => readJson(server.exchange, path));
  } finally {
    await server.close();
    await store.close();
  }
}

async function readJson(exchange: Exchange, path: string): Promise<unknown> {
  const answer = await exchange({
    method: "GET",
    path,
    query: "",
    header: () => undefined,
    headerValues: () => [],
    headerNames: () => [],
    body: () => Promise.resolve(new Uint8Array()),
    signal: new AbortController().signal,
    cancel: () => {},
    peer: { address: "127.0.0.1", isLoopback: true },
  });
  if (!("body" in answer)) throw new Error(`Cannot read ${path}: the server responds with a stream`);
  if (answer.code === 404) return undefined;
  if (answer.code !== 200) throw new Error(`Cannot read ${path}: the server returned ${answer.code}`);
  return JSON.parse(Buffer.concat(answer.body).toString());
}
