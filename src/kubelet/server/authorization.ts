/** Authorization of requests to the kubelet's server: AlwaysAllow, or by SubjectAccessReview. */
import { subjectAccessReviews } from "../../api/authorization.k8s.io/v1/subject-access-review.ts";
import type { SubjectAccessReviewSpec } from "../../api/generated/authorization.k8s.io/v1.ts";
import type { Clock } from "../../base/clock.ts";
import type { Client } from "../../client/client.ts";
import type { KubeletUser } from "./kubelet-user.ts";
import { KeptAnswers } from "./cached-decisions.ts";
import type { RequestAttributes } from "./request-attributes.ts";

export type KubeletAuthorization =
  | { readonly mode: "AlwaysAllow" }
  /** Webhook: decided by the API server. */
  | { readonly mode: "Webhook"; readonly accessReviewer: Client };

/** Lifetime of cached decisions. Upstream's defaults of authorization.webhook.cacheAuthorizedTTL and cacheUnauthorizedTTL. */
export const ALLOWED_TTL_MS = 300_000;
export const REFUSED_TTL_MS = 30_000;

export type Authorized =
  | { readonly is: "allowed" }
  | { readonly is: "refused"; readonly message: string }
  /** The API server could not decide. */
  | { readonly is: "unknown"; readonly message: string; readonly cause: unknown };

/** `nodeName` "": of all nodes. */
export type Authorize = (user: KubeletUser, attributes: RequestAttributes, nodeName: string) => Promise<Authorized>;

export function authorizer(authorization: KubeletAuthorization, clock: Clock): Authorize {
  if (authorization.mode === "AlwaysAllow") return () => Promise.resolve({ is: "allowed" });
  const { accessReviewer } = authorization;
  const known = new KeptAnswers<boolean>(clock, (allowed) => (allowed ? ALLOWED_TTL_MS : REFUSED_TTL_MS));
  return async (user, { verb, subresources }, nodeName) => {
    for (const subresource of subresources) {
      const spec = specOf(user, { verb, subresource, name: nodeName });
      try {
        if (await known.get(JSON.stringify(spec), () => review(accessReviewer, spec))) return { is: "allowed" };
      } catch (cause) {
        const message = `Authorization error (user=${user.name}, verb=${verb}, resource=nodes, subresource=${subresource})`;
        return { is: "unknown", message, cause };
      }
    }
    const message = `Forbidden (user=${user.name}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(" ")}])\n`;
    return { is: "refused", message };
  };
}

interface Asked {
  readonly verb: string;
  readonly subresource: string;
  readonly name: string;
}

function specOf({ name, uid, groups, extra }: KubeletUser, asked: Asked): SubjectAccessReviewSpec {
  return {
    resourceAttributes: { ...asked, version: "v1", resource: "nodes" },
    user: name,
    groups,
    ...(uid === undefined ? {} : { uid }),
    ...(extra === undefined ? {} : { extra }),
  };
}

async function review(client: Client, spec: SubjectAccessReviewSpec): Promise<boolean> {
  const asked = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", metadata: {}, spec } as const;
  const { status } = await client.create(subjectAccessReviews, asked);
  return status?.allowed === true;
}
