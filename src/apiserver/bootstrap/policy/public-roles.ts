/** Roles of all users: discovery, health, version, and self-reviews. And roles for monitoring. */
import {
  AUTHENTICATION,
  AUTHORIZATION,
  CORE,
  DELEGATE_ACCESS,
  AUTHENTICATED,
  UNAUTHENTICATED,
  EXTENSIONS,
  grant,
  group,
  may,
  READ,
  SERVICE_ACCOUNTS,
  type Grant,
} from "./grants.ts";

const HEALTH = ["/livez", "/readyz", "/healthz"];
const VERSION = ["/version", "/version/"];

export const publicRoles: readonly Grant[] = [
  grant("system:public-info-viewer", [may("get").at(...HEALTH, ...VERSION)], { to: [AUTHENTICATED, UNAUTHENTICATED] }),
  grant("system:discovery", [may("get").at(...HEALTH, ...VERSION, "/openapi", "/openapi/*", "/api", "/api/*", "/apis", "/apis/*")], {
    to: [AUTHENTICATED],
  }),
  grant(
    "system:basic-user",
    [
      may("create").of(AUTHORIZATION, "selfsubjectaccessreviews", "selfsubjectrulesreviews"),
      may("create").of(AUTHENTICATION, "selfsubjectreviews"),
    ],
    { to: [AUTHENTICATED] },
  ),
  // Discovery for external verifiers of service account tokens; the tokens themselves name the issuer anyway.
  grant(
    "system:service-account-issuer-discovery",
    [may("get").at("/.well-known/openid-configuration", "/.well-known/openid-configuration/", "/openid/v1/jwks", "/openid/v1/jwks/")],
    { to: [SERVICE_ACCOUNTS] },
  ),
  grant(
    "system:monitoring",
    [
      may("get").at("/metrics", "/metrics/slis", ...HEALTH, ...HEALTH.map((path) => `${path}/*`), "/flagz", "/statusz"),
      may("get").of(CORE, "nodes/metrics"),
    ],
    { to: [group("system:monitoring")] },
  ),
  grant("system:auth-delegator", DELEGATE_ACCESS),
  grant("system:heapster", [may(...READ).of(CORE, "events", "pods", "nodes", "namespaces"), may(...READ).of(EXTENSIONS, "deployments")]),
];
