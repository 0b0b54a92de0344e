/**
 * API servers in one process, on memory stores, that differ in their admission policies only; and a webhook server with the same
 * certificate for both kinds of calls: by the API server's transport, and by a bare HTTPS request.
 */
import { once } from "node:events";
import { Agent, createServer, request } from "node:https";
import type { AddressInfo } from "node:net";
import { all as resources } from "../../src/api/all.ts";
import { ADMINISTRATOR } from "../../src/api/identities.ts";
import type { JsonObject } from "../../src/api/machinery/object.ts";
import type { Transport } from "../../src/api/machinery/transport.ts";
import { schemas } from "../../src/api/schemas.ts";
import { startApiServer } from "../../src/apiserver/api-server.ts";
import { networkWebhookTransport } from "../../src/apiserver/http/webhook-transport.ts";
import { silentLogger } from "../../src/base/logger.ts";
import { realClock } from "../../src/host/real-clock.ts";
import { realRandom } from "../../src/host/real-random.ts";
import { openMemoryStore } from "../../src/store/memory/memory-store.ts";
import { sharedPki } from "../../src/testing/fixtures/certificates.ts";
import { serve } from "../serve.ts";

const POLICIES = { group: "admissionregistration.k8s.io", version: "v1" };
const MAPS = { group: "", version: "v1", plural: "configmaps", namespace: "default" };

/** "none", 50 policies for another resource, or 10 for this one. */
export type PolicyKind = "none" | "other" | "matching";
const COUNTS: Readonly<Record<PolicyKind, number>> = { none: 0, other: 50, matching: 10 };

const servers = new Map<PolicyKind, Transport>();
let created = 0;
let hook: { readonly port: number; readonly authorities: string } | undefined;
const agent = new Agent({ keepAlive: true });
const transport = networkWebhookTransport({ clock: realClock, credentials: () => Promise.resolve({}) });

const tasks = {
  async start(kind: PolicyKind): Promise<void> {
    const server = await startApiServer({
      store: openMemoryStore({ clock: realClock }),
      resources,
      schemas,
      clock: realClock,
      random: realRandom(),
      log: silentLogger,
      identity: { anonymous: true, bootstrapTokens: false, openIdIssuers: [] },
      loadDescriptions: () => Promise.resolve({ ofType: () => undefined, ofField: () => "" }),
      webhookTransport: transport,
    });
    const client = server.transport({ user: ADMINISTRATOR, userAgent: "bench/1.0" });
    for (let index = 0; index < COUNTS[kind]; index++) await addPolicy(client, `p${index}`, kind === "other" ? "secrets" : "configmaps");
    servers.set(kind, client);
  },

  /** Microseconds per create. */
  async creates({ kind, count }: { readonly kind: PolicyKind; readonly count: number }): Promise<number> {
    const client = servers.get(kind) as Transport;
    const startMs = performance.now();
    for (let index = 0; index < count; index++) {
      const object = { metadata: { name: `m${created++}`, labels: { app: "web" } }, data: { a: "1", b: "2" } };
      await client.request({ verb: "create", ...MAPS, object });
    }
    return ((performance.now() - startMs) * 1_000) / count;
  },

  /** A server that answers every review with the same bytes. */
  async startHook(_input: null): Promise<void> {
    const pki = await sharedPki();
    const { certificate, key } = pki.pair("apiserver");
    const server = createServer({ cert: certificate, key }, (asked, answer) => {
      asked.resume().once("end", () => answer.setHeader("content-type", "application/json").end(ANSWER));
    }).listen(0, "127.0.0.1");
    server.unref();
    await once(server, "listening");
    hook = { port: (server.address() as AddressInfo).port, authorities: pki.authority };
  },

  /** Microseconds per call of the webhook. */
  async calls({ isBare, count }: { readonly isBare: boolean; readonly count: number }): Promise<number> {
    const startMs = performance.now();
    for (let index = 0; index < count; index++) await (isBare ? bareCall() : hookCall());
    return ((performance.now() - startMs) * 1_000) / count;
  },
};

export type AdmissionTasks = typeof tasks;

serve(tasks);

const BODY = JSON.stringify({ kind: "AdmissionReview", request: { object: { data: "x".repeat(2_000) } } });
const ANSWER = JSON.stringify({ kind: "AdmissionReview", response: { allowed: true } });

async function addPolicy(client: Transport, name: string, resource: string): Promise<void> {
  const rule = { apiGroups: [""], apiVersions: ["v1"], resources: [resource], operations: ["CREATE", "UPDATE"] };
  const validations = [{ expression: "!has(object.data) || object.data.all(key, size(key) < 100)" }];
  const policy: JsonObject = { metadata: { name }, spec: { matchConstraints: { resourceRules: [rule] }, validations } };
  await client.request({ verb: "create", ...POLICIES, plural: "validatingadmissionpolicies", object: policy });
  const binding = { metadata: { name }, spec: { policyName: name, validationActions: ["Deny"] } };
  await client.request({ verb: "create", ...POLICIES, plural: "validatingadmissionpolicybindings", object: binding });
}

async function hookCall(): Promise<void> {
  const { port, authorities } = hook as NonNullable<typeof hook>;
  await transport.post({
    ...{ target: `127.0.0.1:${port}`, scheme: "https", host: "127.0.0.1", port, serverName: "127.0.0.1", path: "/", body: BODY },
    authorities,
    answerBytesMax: 1_000_000,
    signal: new AbortController().signal,
  });
}

function bareCall(): Promise<void> {
  const { port, authorities } = hook as NonNullable<typeof hook>;
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(BODY) };
    const sent = request({ agent, host: "127.0.0.1", port, ca: authorities, method: "POST", path: "/", headers }, (answer) => {
      answer.resume().once("end", () => resolve());
    });
    sent.once("error", reject).end(BODY);
  });
}
