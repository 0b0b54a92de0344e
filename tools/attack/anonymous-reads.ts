/** Reads without credentials: only health, version and what upstream's public roles grant may return data. */
import type { Attack } from "./attack.ts";

const SECOND_MS = 1_000;

/** Everything else must be 401 or 403, whether it exists or not. */
const PUBLIC = ["/healthz", "/livez", "/readyz", "/version"];
const PROTECTED = [
  "/",
  "/api",
  "/apis",
  "/openapi/v2",
  "/openapi/v3",
  "/metrics",
  "/debug/k8ts/causes",
  "/debug/api_priority_and_fairness/dump_requests",
  "/api/v1/secrets",
  "/api/v1/namespaces/kube-system/secrets",
  "/api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt",
  "/api/v1/nodes",
  "/api/v1/pods?watch=true",
  "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  "/api/v1//secrets",
  "/api/v1/%2e%2e/v1/secrets",
  "/healthz/../api/v1/secrets",
  "/version/%2e%2e/api/v1/secrets",
  "//api/v1/secrets",
];

export const anonymousReads: Attack = {
  name: "anonymous-reads",
  tries: "reads objects, documents and metrics without credentials, also by malformed paths; expected: 401, 403 or 404",
  timeoutMs: 60 * SECOND_MS,
  async run(target) {
    const breaches: string[] = [];
    for (const path of PROTECTED) {
      const { code } = await target.request({ path });
      if (![400, 401, 403, 404].includes(code)) breaches.push(`GET ${path} returned ${code}`);
    }
    for (const path of PUBLIC) {
      const { code } = await target.request({ path });
      if (code !== 200) breaches.push(`GET ${path}, which is public, returned ${code}`);
    }
    return { attempts: PROTECTED.length + PUBLIC.length, breaches };
  },
};
