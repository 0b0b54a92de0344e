/** The seam of "may they?": every request asks here, and so do access reviews, so that both give one answer. */
import type { SubjectRulesReviewStatus } from "../api/generated/authorization.k8s.io/v1.ts";
import type { User } from "./request.ts";

export interface AccessAttributes {
  readonly user: User;
  /** Of a resource request also "list", "watch", …; of another path the lower-case HTTP method. */
  readonly verb: string;
  /** Absent: a path that is no resource. */
  readonly resource?: {
    readonly group: string;
    readonly version: string;
    readonly plural: string;
    readonly subresource: string;
    readonly namespace: string;
    readonly name: string;
  };
  readonly path: string;
}

export interface AccessDecision {
  readonly allowed: boolean;
  /** Nobody said yes, and somebody said no. */
  readonly denied?: boolean;
  readonly reason?: string;
}

export interface Authorizer {
  authorize(attributes: AccessAttributes): AccessDecision;
  /** Everything that somebody may do in a namespace, as far as it can be listed. */
  rulesFor(user: User, namespace: string): SubjectRulesReviewStatus;
}

/** Paths that need nobody's permission: how one learns whether the server lives, and which version it has. */
const PUBLIC_PATHS = ["/healthz", "/livez", "/readyz", "/version"];

/** The namespace that everybody may read. */
const PUBLIC_NAMESPACE = "kube-public";
const READING = ["get", "list", "watch"];

/** Until there are roles: members of system:masters may do everything, others may see health, the version and what is public. */
export const mastersOnly: Authorizer = {
  authorize({ user, verb, resource, path }) {
    if (isMaster(user)) return { allowed: true };
    const isPublic =
      resource === undefined
        ? PUBLIC_PATHS.some((known) => path === known || path.startsWith(`${known}/`))
        : resource.namespace === PUBLIC_NAMESPACE && resource.plural === "configmaps" && READING.includes(verb);
    return { allowed: isPublic };
  },

  rulesFor(user, namespace) {
    const paths = { verbs: ["get"], nonResourceURLs: PUBLIC_PATHS.flatMap((path) => [path, `${path}/*`]) };
    const reading = { verbs: READING, apiGroups: [""], resources: ["configmaps"] };
    const everything = { verbs: ["*"], apiGroups: ["*"], resources: ["*"] };
    return {
      resourceRules: isMaster(user) ? [everything] : namespace === PUBLIC_NAMESPACE ? [reading] : [],
      nonResourceRules: [isMaster(user) ? { verbs: ["*"], nonResourceURLs: ["*"] } : paths],
      incomplete: false,
    };
  },
};

function isMaster({ groups }: User): boolean {
  return groups.includes("system:masters");
}
