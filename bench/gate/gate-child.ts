/**
 * Two API servers in one process, each on a memory store and behind TLS: one with the usual authentication (service account tokens),
 * authorization (RBAC with many bindings) and all admission plugins, one where every request is the same superuser and admission is empty.
 * In one process, since two would differ by more than the gate costs: in what V8 has compiled, and when.
 */
import { all as resources } from "../../src/api/all.ts";
import { ADMINISTRATOR } from "../../src/api/identities.ts";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import type { Transport } from "../../src/api/machinery/transport.ts";
import { schemas } from "../../src/api/schemas.ts";
import { all as plugins } from "../../src/apiserver/admission/all.ts";
import { startApiServer, type ApiServerOptions } from "../../src/apiserver/api-server.ts";
import { DEFAULT_ADMISSION_CONFIG } from "../../src/apiserver/framework/admission-config.ts";
import { DEFAULT_API_SERVER_CONFIG } from "../../src/apiserver/framework/api-server-config.ts";
import { startHttpApi } from "../../src/apiserver/http/http-api.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { realRandom } from "../../src/host/real-random.ts";
import { DEFAULT_IDENTITY_CONFIG } from "../../src/config/identity-config.ts";
import { readClientAuthorities, readIdentity } from "../../src/components/api-server/identity.ts";
import { openMemoryStore } from "../../src/store/memory/memory-store.ts";
import { sharedPki } from "../../src/testing/fixtures/certificates.ts";
import { createAccount } from "../apiserver/objects.ts";
import type { StartedServer } from "../apiserver/server-child.ts";
import { serve } from "../serve.ts";

const NAMESPACE = "default";
const LOADER = "loader";

const PODS = { group: "", version: "v1", plural: "pods", namespace: NAMESPACE };

/** Above the load, so that no request is rejected. */
const IN_FLIGHT_MAX = 10_000;

let servers: { readonly withGate: Server; readonly without: Server } | undefined;

interface Server {
  readonly port: number;
  readonly transport: Transport;
}

export interface GateServers {
  readonly withGate: StartedServer;
  readonly without: StartedServer;
}

const tasks = {
  async start({ bindings }: { readonly bindings: number }): Promise<GateServers> {
    const [withGate, without] = [await startServer(gated()), await startServer(ungated())];
    servers = { withGate, without };
    // Both servers receive the same requests, with the token that one of them ignores.
    const credentials = { token: await bind(withGate.transport, bindings) };
    return { withGate: { port: withGate.port, credentials }, without: { port: without.port, credentials } };
  },

  /** Copies the Pods to the server without a gate as admission has modified them, so that both work on objects of the same size. */
  async copyPods(_input: null): Promise<void> {
    if (servers === undefined) throw new Error("Cannot copy Pods: the servers are not started");
    const answer = await servers.withGate.transport.request({ verb: "list", ...PODS });
    if (answer.is !== "list") throw new Error("Cannot list the Pods: the response is not a list");
    for (const { metadata, ...rest } of answer.items) {
      const { name, labels = {} } = metadata;
      await servers.without.transport.request({ verb: "create", ...PODS, object: { ...rest, metadata: { name, labels } } });
    }
  },

  async cpuMs(_input: null): Promise<number> {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
};

async function startServer(options: GateOptions): Promise<Server> {
  const pki = await sharedPki();
  const clientAuthorities = await readClientAuthorities(DEFAULT_IDENTITY_CONFIG, pki);
  const context = { pki, clientAuthorities, serverAuthority: pki.authority, log: silentLogger };
  const core = await startApiServer({
    store: openMemoryStore({ clock: realClock }),
    resources,
    schemas,
    clock: realClock,
    random: realRandom(),
    log: silentLogger,
    loadDescriptions: () => Promise.resolve({ ofType: () => undefined, ofField: () => "" }),
    identity: await readIdentity(DEFAULT_IDENTITY_CONFIG, context),
    ...options,
  });
  const { certificate, key } = pki.pair("apiserver");
  const http = await startHttpApi({ exchange: core.exchange, host: "127.0.0.1", port: 0, tls: { certificate, key }, log: silentLogger });
  const transport = core.transport({ user: ADMINISTRATOR, userAgent: "bench" });
  await createAccount(transport);
  return { port: http.port, transport };
}

type GateOptions = Pick<ApiServerOptions, "config" | "authenticator">;

function gated(): GateOptions {
  return { config: { ...DEFAULT_API_SERVER_CONFIG, maxRequestsInFlight: IN_FLIGHT_MAX, maxMutatingRequestsInFlight: IN_FLIGHT_MAX } };
}

function ungated(): GateOptions {
  const user = { name: "superuser", groups: ["system:masters"] };
  return {
    authenticator: {
      authenticate: () => ({ user }),
      reviewToken: () => Promise.resolve({ authenticated: false, error: "" }),
    },
    config: {
      ...gated().config,
      authorizationModes: ["AlwaysAllow"],
      admission: { ...DEFAULT_ADMISSION_CONFIG, disabledPlugins: Object.keys(plugins) },
    },
  };
}

/** Creates `count` role bindings, one of them for the service account whose token is returned. */
async function bind(transport: Transport, count: number): Promise<string> {
  const create = (group: string, plural: string, object: JsonObject, subresource = "", name = "") =>
    transport.request({ verb: "create", group, version: "v1", plural, namespace: NAMESPACE, name, subresource, object });
  const metadata = (name: string) => ({ name, namespace: NAMESPACE });
  await create("", "serviceaccounts", { apiVersion: "v1", kind: "ServiceAccount", metadata: metadata(LOADER) });
  const binding = (name: string, subject: JsonObject): JsonObject => ({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: metadata(name),
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [subject],
  });
  for (let index = 1; index < count; index++) {
    const subject = { kind: "User", apiGroup: "rbac.authorization.k8s.io", name: `user-${index}` };
    await create("rbac.authorization.k8s.io", "rolebindings", binding(`binding-${index}`, subject));
  }
  const loader = { kind: "ServiceAccount", name: LOADER, namespace: NAMESPACE };
  await create("rbac.authorization.k8s.io", "rolebindings", binding(LOADER, loader));
  const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", metadata: {}, spec: { audiences: [] } };
  const answer = await create("", "serviceaccounts", request, "token", LOADER);
  if (answer.is !== "value") throw new Error("Cannot get a token: the response has none");
  return (answer.value as { readonly status: { readonly token: string } }).status.token;
}

export type GateTasks = typeof tasks;
serve(tasks);
