/**
 * Authentication of clients of the kubelet's server: by client certificate, else by bearer token (TokenReview), else anonymous if enabled.
 * A request with invalid credentials is rejected, never treated as anonymous.
 */
import { tokenReviews } from "../../api/authentication.k8s.io/v1/token-review.ts";
import type { Clock } from "../../base/clock.ts";
import { sha256Hex } from "../../base/crypto/hash.ts";
import type { Client } from "../../client/client.ts";
import type { HttpRequest } from "../../host/http/contract.ts";
import type { KubeletUser } from "./kubelet-user.ts";
import { userOfCertificate } from "./client-certificate.ts";
import { KeptAnswers } from "./cached-decisions.ts";

export interface KubeletAuthentication {
  /** Client CA, PEM. Absent: client certificates are not requested. */
  readonly clientAuthority?: string;
  /** Authenticates tokens by TokenReview. Absent: tokens are ignored. */
  readonly tokenReviewer?: Client;
  /** Treats requests without credentials as system:anonymous. Default: false. */
  readonly anonymous?: boolean;
}

/** Name of the CA in the HTTP server. */
export const CLIENT_AUTHORITY = "clients";

/** Lifetime of cached token reviews, authenticated or not. Upstream's default of authentication.webhook.cacheTTL. */
export const TOKEN_TTL_MS = 120_000;

const AUTHENTICATED = "system:authenticated";
const ANONYMOUS: KubeletUser = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/** Undefined: not authenticated. Rejects if the API server cannot decide. */
export type Authenticate = (request: HttpRequest) => Promise<KubeletUser | undefined>;

export function authenticator({ tokenReviewer, anonymous = false }: KubeletAuthentication, clock: Clock): Authenticate {
  const known = new KeptAnswers<KubeletUser | undefined>(clock, () => TOKEN_TTL_MS);
  return async (request) => {
    const { certificate } = request.peer;
    if (certificate?.authorities.includes(CLIENT_AUTHORITY) === true) {
      const user = userOfCertificate(certificate, clock.now());
      if (user !== undefined) return authenticated(user);
    }
    const token = tokenReviewer === undefined ? undefined : bearerToken(request.header("authorization"));
    if (tokenReviewer !== undefined && token !== undefined) {
      const user = await known.get(sha256Hex(new TextEncoder().encode(token)), () => review(tokenReviewer, token));
      if (user !== undefined) return authenticated(user);
    }
    const hasShownNothing = certificate === undefined && token === undefined;
    return anonymous && hasShownNothing ? ANONYMOUS : undefined;
  };
}

async function review(client: Client, token: string): Promise<KubeletUser | undefined> {
  const asked = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", metadata: {}, spec: { token } } as const;
  const { status } = await client.create(tokenReviews, asked);
  if (status?.authenticated !== true) return undefined;
  const { username: name = "", uid, groups = [], extra } = status.user ?? {};
  return { name, groups, ...(uid === undefined ? {} : { uid }), ...(extra === undefined ? {} : { extra }) };
}

function authenticated(user: KubeletUser): KubeletUser {
  return user.groups.includes(AUTHENTICATED) ? user : { ...user, groups: [...user.groups, AUTHENTICATED] };
}

/** The scheme in any case, one space, the token. */
function bearerToken(header: string | undefined): string | undefined {
  const [scheme = "", token = ""] = (header ?? "").trim().split(" ");
  return scheme.toLowerCase() === "bearer" && token !== "" ? token : undefined;
}
