/**
 * An API server on a memory store that records the cause of every write, or of none, by a switch. Not two servers: in what V8 has compiled,
 * and in where their objects are in memory, they would differ by more than a record costs. Requests are values of the REST layer, so that
 * authentication, encoding and everything else of a write are there, and sockets and TLS are not.
 */
import { all as resources } from "../../src/api/all.ts";
import { ADMINISTRATOR } from "../../src/api/identities.ts";
import { schemas } from "../../src/api/schemas.ts";
import { startApiServer } from "../../src/apiserver/api-server.ts";
import { DEFAULT_API_SERVER_CONFIG } from "../../src/apiserver/framework/api-server-config.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { readClientAuthorities, readIdentity } from "../../src/components/api-server/identity.ts";
import { DEFAULT_IDENTITY_CONFIG } from "../../src/config/identity-config.ts";
import type { ClusterConnection, ConnectionRequest } from "../../src/dashboard/data/connection.ts";
import { exchangeConnection } from "../../src/dashboard/data/exchange-connection.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { realRandom } from "../../src/host/real-random.ts";
import { openMemoryStore } from "../../src/store/memory/memory-store.ts";
import { sharedPki } from "../../src/testing/fixtures/certificates.ts";
import { configMapManifest, createAccount, podManifest, podStatus } from "../apiserver/objects.ts";
import { serve } from "../serve.ts";

export type WriteName = "post-configmap" | "patch-pod" | "put-pod-status" | "post-pod";

/** As many clients write at the same time. */
const CONCURRENT = 16;

/** Above the load, so that no request is rejected. */
const IN_FLIGHT_MAX = 10_000;

const PODS = "/api/v1/namespaces/default/pods";
const JSON_TYPE = "application/json";

interface Compared {
  readonly write: WriteName;
  /** Per batch. */
  readonly writes: number;
  readonly pairs: number;
}

/** Microseconds of processor time per write, one per pair. */
interface Costs {
  readonly recording: number[];
  readonly silent: number[];
}

/** The kinds of the server: whether causes of their writes are recorded changes between batches. */
const kinds: object[] = [];
let server: ClusterConnection;
let number = 0;

const tasks = {
  async start(_input: null): Promise<void> {
    await startServer();
  },

  async compare({ write, writes, pairs }: Compared): Promise<Costs> {
    const costs: Costs = { recording: [], silent: [] };
    for (let pair = 0; pair < pairs; pair++) {
      const order = pair % 2 === 0 ? (["recording", "silent"] as const) : (["silent", "recording"] as const);
      for (const side of order) {
        switchRecording(side === "recording");
        costs[side].push(await costOf(write, writes));
      }
    }
    return costs;
  },
};

function switchRecording(isOn: boolean): void {
  // Not deleted: V8 would access all members of such an object more slowly.
  for (const kind of kinds) Reflect.set(kind, "recordsCauses", isOn ? undefined : false);
}

/** With the collection of its own garbage: what a record makes V8 copy is paid by the batch that has made it. */
async function costOf(write: WriteName, writes: number): Promise<number> {
  const requests = Array.from({ length: writes }, (_, index) => requestOf(write, index % CONCURRENT));
  collectYoung();
  const before = process.cpuUsage();
  for (let sent = 0; sent < writes; sent += CONCURRENT)
    await Promise.all(requests.slice(sent, sent + CONCURRENT).map((request) => send(request)));
  collectYoung();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / writes;
}

function collectYoung(): void {
  globalThis.gc?.({ type: "minor" });
}

async function send(request: ConnectionRequest): Promise<void> {
  const { code } = await server.send(request);
  if (code >= 300) throw new Error(`The server returned ${code} for ${request.method} ${request.path}`);
}

function requestOf(write: WriteName, index: number): ConnectionRequest {
  number += 1;
  const target = `${PODS}/target-${index}`;
  switch (write) {
    case "post-configmap":
      return post("/api/v1/namespaces/default/configmaps", configMapManifest(`c-${number}`));
    case "post-pod":
      return post(PODS, podManifest(`p-${number}`));
    case "patch-pod": {
      const body = JSON.stringify({ metadata: { labels: { round: `r${number}` } } });
      return { method: "PATCH", path: target, contentType: "application/strategic-merge-patch+json", body };
    }
    case "put-pod-status": {
      const body = JSON.stringify({ ...podManifest(`target-${index}`, "node-1"), status: podStatus(number) });
      return { method: "PUT", path: `${target}/status`, contentType: JSON_TYPE, body };
    }
  }
}

function post(path: string, object: object): ConnectionRequest {
  return { method: "POST", path, contentType: JSON_TYPE, body: JSON.stringify(object) };
}

async function startServer(): Promise<void> {
  const pki = await sharedPki();
  const clientAuthorities = await readClientAuthorities(DEFAULT_IDENTITY_CONFIG, pki);
  const context = { pki, clientAuthorities, serverAuthority: pki.authority, log: silentLogger };
  const core = await startApiServer({
    ...{ store: openMemoryStore({ clock: realClock }), schemas, clock: realClock, random: realRandom(), log: silentLogger },
    resources: resources.map((resource) => {
      if (resource.recordsCauses === false) return resource;
      const kind = { ...resource };
      kinds.push(kind);
      return kind;
    }),
    loadDescriptions: () => Promise.resolve({ ofType: () => undefined, ofField: () => "" }),
    identity: await readIdentity(DEFAULT_IDENTITY_CONFIG, context),
    authenticator: {
      authenticate: () => ({ user: ADMINISTRATOR, by: "benchmark" }),
      reviewToken: () => Promise.resolve({ authenticated: false, error: "" }),
    },
    config: { ...DEFAULT_API_SERVER_CONFIG, maxRequestsInFlight: IN_FLIGHT_MAX, maxMutatingRequestsInFlight: IN_FLIGHT_MAX },
  });
  server = exchangeConnection({ exchange: core.exchange, headers: { "user-agent": "bench" } });
  await createAccount(core.transport({ user: ADMINISTRATOR, userAgent: "bench" }));
  for (let index = 0; index < CONCURRENT; index++) await send(post(PODS, podManifest(`target-${index}`, "node-1")));
}

export type CauseTasks = typeof tasks;
serve(tasks);
