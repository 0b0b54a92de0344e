/** An aggregated API server without sockets, the objects that register it, and what it was asked. */
import type { RemoteCall, RemoteConnector } from "../../framework/apis/aggregation.ts";
import type { ExchangeAnswer } from "../../framework/exchange.ts";
import type { StartedServer } from "../../testing/server.ts";

export const GROUP = "wardle.example.com";
export const API_SERVICE = `v1.${GROUP}`;
const PATH = `/apis/${GROUP}/v1`;

export interface RemoteStub {
  readonly connector: RemoteConnector;
  readonly calls: RemoteCall[];
  /** Undefined: the usual answers. */
  answer: ((call: RemoteCall) => ExchangeAnswer | Promise<ExchangeAnswer> | undefined) | undefined;
}

export function json(value: unknown, code = 200, headers: Readonly<Record<string, string>> = {}): ExchangeAnswer {
  return { code, headers: { "content-type": "application/json", ...headers }, body: [new TextEncoder().encode(JSON.stringify(value))] };
}

/** Serves discovery in the plain form and a Flunder. */
export function remoteStub(): RemoteStub {
  const stub: RemoteStub = {
    calls: [],
    answer: undefined,
    connector: {
      send: async (call) => {
        stub.calls.push(call);
        return (await stub.answer?.(call)) ?? usualAnswer(call);
      },
    },
  };
  return stub;
}

function usualAnswer({ target }: RemoteCall): ExchangeAnswer {
  const [path] = target.split("?", 1);
  if (path === PATH) return json(RESOURCES);
  if (path?.startsWith(`${PATH}/`) === true) return json({ apiVersion: `${GROUP}/v1`, kind: "Flunder", metadata: { name: "a" } });
  return json({ kind: "Status", apiVersion: "v1", status: "Failure", reason: "NotFound", code: 404 }, 404);
}

const RESOURCES = {
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion: `${GROUP}/v1`,
  resources: [
    { name: "flunders", singularName: "flunder", namespaced: true, kind: "Flunder", verbs: ["get", "list", "delete"], shortNames: ["fl"] },
    { name: "flunders/status", singularName: "", namespaced: true, kind: "Flunder", verbs: ["get"] },
  ],
};

export const SERVICE = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "api", namespace: "default" },
  spec: { ports: [{ name: "https", port: 443, targetPort: 8443 }] },
};

export const SLICE = {
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name: "api-1", namespace: "default", labels: { "kubernetes.io/service-name": "api" } },
  addressType: "IPv4",
  endpoints: [{ addresses: ["192.0.2.7"], conditions: { ready: true } }],
  ports: [{ name: "https", port: 8443, protocol: "TCP" }],
};

export function apiService(spec: object = {}): object {
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: API_SERVICE },
    spec: {
      ...{ group: GROUP, version: "v1", groupPriorityMinimum: 2_000, versionPriority: 200, insecureSkipTLSVerify: true },
      service: { namespace: "default", name: "api" },
      ...spec,
    },
  };
}

export const API_SERVICES_PATH = "/apis/apiregistration.k8s.io/v1/apiservices";

/** Registers it with its Service. */
export async function register({ call, clock }: StartedServer): Promise<void> {
  await call("POST", "/api/v1/namespaces/default/services", SERVICE);
  await call("POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", SLICE);
  await call("POST", API_SERVICES_PATH, apiService() as never);
  await clock.advance(1_000);
}

/** "True Passed: all checks passed". */
export async function availability({ call }: Pick<StartedServer, "call">, name = API_SERVICE): Promise<string> {
  const { body } = await call("GET", `${API_SERVICES_PATH}/${name}`);
  const { status = "", reason = "", message = "" } = body.status?.conditions?.[0] ?? {};
  return `${status} ${reason}: ${message}`;
}
