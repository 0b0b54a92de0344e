/**
 * Who asks a kubelet for something: by a client certificate, else by a bearer token that the API is asked about, else nobody in particular
 * if that is let in. Whoever shows something that is not good is not taken for nobody.
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
  /** Who signs the certificates of clients: PEM. Absent: none are asked for. */
  readonly clientAuthority?: string;
  /** Asked by TokenReview whose a token is. Absent: tokens are not looked at. */
  readonly tokenReviewer?: Client;
  /** Lets in whoever shows nothing, as system:anonymous. Default: no. */
  readonly anonymous?: boolean;
}

/** By which name the authority is known to the HTTP server. */
export const CLIENT_AUTHORITY = "clients";

/** How long it is believed whose a token is, or that it is nobody's. Upstream's default of authentication.webhook.cacheTTL. */
export const TOKEN_TTL_MS = 120_000;

const AUTHENTICATED = "system:authenticated";
const ANONYMOUS: KubeletUser = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/** Undefined: nobody who is let in. Rejects if the API cannot say. */
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
