/**
 * The contract of "may they?": every request asks here, and so do access reviews, so that both give one answer. One folder per way of
 * deciding in authorization/ (Node, RBAC, …), which know nothing of each other; authorization/chain.ts asks them in order.
 * Everything is decided from memory, at once.
 */
import type { SubjectRulesReviewStatus } from "../../api/generated/authorization.k8s.io/v1.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Objects } from "./objects.ts";
import type { User } from "./request.ts";

export interface AccessAttributes {
  readonly user: User;
  /** Of a resource request also "list", "watch", …; of another path the lower-case HTTP method. */
  readonly verb: string;
  /** Absent: a path that is no resource. */
  readonly resource?: AccessedResource;
  /** "" if it is a resource. */
  readonly path: string;
}

export interface AccessedResource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly subresource: string;
  /** "" for all namespaces and for what is in none. */
  readonly namespace: string;
  /** "" for a collection. */
  readonly name: string;
  /** By which a list, a watch or the deletion of a collection is narrowed, as requests carry it; absent: not at all. */
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

/** Neither allowed nor denied: no opinion, and the next is asked. Nobody with an opinion: it is refused. */
export interface AccessDecision {
  readonly allowed: boolean;
  /** It is refused whatever others say. */
  readonly denied?: boolean;
  /** As upstream says it, for reviews and refusals; absent or "": none. */
  readonly reason?: string;
  /** What could not be looked up on the way, for reviews. */
  readonly evaluationError?: string;
}

export const NO_OPINION: AccessDecision = { allowed: false };

/** One way of deciding. */
export interface AuthorizationModule {
  /** As --authorization-mode names it: "RBAC". */
  readonly name: string;
  authorize(attributes: AccessAttributes): AccessDecision;
  /** Everything that it lets somebody do in a namespace, as far as it can be listed. Absent: it cannot, and is left out. */
  rulesFor?(user: User, namespace: string): SubjectRulesReviewStatus;
  /** Resolves when it knows what is there; asked before, it has no opinion. */
  start(): Promise<void>;
}

export interface AuthorizationContext {
  readonly objects: Objects;
  readonly clock: Clock;
  readonly log: Logger;
}

export type AuthorizationModuleFactory = (context: AuthorizationContext) => AuthorizationModule;

/** All of them together: what requests and reviews ask. */
export interface Authorizer {
  authorize(attributes: AccessAttributes): AccessDecision;
  rulesFor(user: User, namespace: string): SubjectRulesReviewStatus;
}

/** Members may do everything, before any authorizer is called. */
export const MASTERS = "system:masters";
