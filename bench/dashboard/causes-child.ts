/**
 * Two API servers in one process, each on a memory store and behind TLS: one records the cause of every write, one of none. In one process,
 * since two would differ by more than a record costs: in what V8 has compiled, and when.
 */
import { all as resources } from "../../src/api/all.ts";
import { ADMINISTRATOR } from "../../src/api/identities.ts";
import { schemas } from "../../src/api/schemas.ts";
import { startApiServer } from "../../src/apiserver/api-server.ts";
import { DEFAULT_API_SERVER_CONFIG } from "../../src/apiserver/framework/api-server-config.ts";
import { startHttpApi } from "../../src/apiserver/http/http-api.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { readClientAuthorities, readIdentity } from "../../src/components/api-server/identity.ts";
import { DEFAULT_IDENTITY_CONFIG } from "../../src/config/identity-config.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { realRandom } from "../../src/host/real-random.ts";
import { openMemoryStore } from "../../src/store/memory/memory-store.ts";
import { sharedPki } from "../../src/testing/fixtures/certificates.ts";
import { createAccount } from "../apiserver/objects.ts";
import type { StartedServer } from "../apiserver/server-child.ts";
import { serve } from "../serve.ts";

/** Above the load, so that no request is rejected. */
const IN_FLIGHT_MAX = 10_000;

export interface CauseServers {
  readonly recording: StartedServer;
  readonly silent: StartedServer;
}

const tasks = {
  start: async (_input: null): Promise<CauseServers> => ({ recording: await startServer(true), silent: await startServer(false) }),

  async cpuMs(_input: null): Promise<number> {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
};

async function startServer(recordsCauses: boolean): Promise<StartedServer> {
  const pki = await sharedPki();
  const clientAuthorities = await readClientAuthorities(DEFAULT_IDENTITY_CONFIG, pki);
  const context = { pki, clientAuthorities, serverAuthority: pki.authority, log: silentLogger };
  const core = await startApiServer({
    ...{ store: openMemoryStore({ clock: realClock }), schemas, clock: realClock, random: realRandom(), log: silentLogger },
    resources: recordsCauses ? resources : resources.map((resource) => ({ ...resource, recordsCauses: false })),
    loadDescriptions: () => Promise.resolve({ ofType: () => undefined, ofField: () => "" }),
    identity: await readIdentity(DEFAULT_IDENTITY_CONFIG, context),
    authenticator: {
      authenticate: () => ({ user: ADMINISTRATOR, by: "benchmark" }),
      reviewToken: () => Promise.resolve({ authenticated: false, error: "" }),
    },
    config: { ...DEFAULT_API_SERVER_CONFIG, maxRequestsInFlight: IN_FLIGHT_MAX, maxMutatingRequestsInFlight: IN_FLIGHT_MAX },
  });
  const { certificate, key } = pki.pair("apiserver");
  const http = await startHttpApi({ exchange: core.exchange, host: "127.0.0.1", port: 0, tls: { certificate, key }, log: silentLogger });
  await createAccount(core.transport({ user: ADMINISTRATOR, userAgent: "bench" }));
  return { port: http.port, credentials: {} };
}

export type CauseTasks = typeof tasks;
serve(tasks);
