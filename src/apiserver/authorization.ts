/** The seam of "may they?": every request asks here, and so do access reviews, so that both give one answer. */
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
}

/** Paths that need nobody's permission: how one learns whether the server lives, and which version it has. */
const PUBLIC_PATHS = ["/healthz", "/livez", "/readyz", "/version"];

/** Until there are roles: members of system:masters may do everything, others may see health and version. */
export const mastersOnly: Authorizer = {
  authorize({ user, resource, path }) {
    if (user.groups.includes("system:masters")) return { allowed: true };
    const isPublic = resource === undefined && PUBLIC_PATHS.some((known) => path === known || path.startsWith(`${known}/`));
    return isPublic ? { allowed: true } : { allowed: false };
  },
};
