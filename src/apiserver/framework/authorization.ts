/**
 * The contract of authorization, used by every request and by access reviews, so that both get the same answer. One folder per authorizer
 * in authorization/ (Node, RBAC, …), independent of each other; authorization/chain.ts calls them in order. Every decision is made from
 * memory, synchronously.
 */
import type { SubjectRulesReviewStatus } from "../../api/generated/authorization.k8s.io/v1.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { Objects } from "./objects.ts";
import type { User } from "./request.ts";

export interface AccessAttributes {
  readonly user: User;
  /** For resources also "list", "watch", …; for non-resource paths the lower-case HTTP method. */
  readonly verb: string;
  /** Absent: a non-resource path. */
  readonly resource?: AccessedResource;
  /** "" if it is a resource. */
  readonly path: string;
}

export interface AccessedResource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly subresource: string;
  /** "" for all namespaces and for cluster-scoped resources. */
  readonly namespace: string;
  /** "" for a collection. */
  readonly name: string;
  /** Selectors of a list, watch or deletecollection, as the request has them; absent: none. */
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

/** Neither allowed nor denied: no opinion, and the next authorizer is called. Without any opinion the request is denied. */
export interface AccessDecision {
  readonly allowed: boolean;
  /** Denied, whatever other authorizers decide. */
  readonly denied?: boolean;
  /** Name of the authorizer that decided, or MASTERS; for the explain API. */
  readonly authorizer?: string;
  /** Upstream's text, for reviews and Forbidden errors; absent or "": none. */
  readonly reason?: string;
  /** Lookups that failed during the decision, for reviews. */
  readonly evaluationError?: string;
}

export const NO_OPINION: AccessDecision = { allowed: false };

/** One authorizer. */
export interface AuthorizationModule {
  /** The name in --authorization-mode: "RBAC". */
  readonly name: string;
  authorize(attributes: AccessAttributes): AccessDecision;
  /**
   * The rules that apply to a user in a namespace, as far as they can be listed. Absent: this authorizer cannot list rules, and is left
   * out.
   */
  rulesFor?(user: User, namespace: string): SubjectRulesReviewStatus;
  /** Resolves when its objects are loaded; before, it has no opinion. */
  start(): Promise<void>;
}

export interface AuthorizationContext {
  readonly objects: Objects;
  readonly clock: Clock;
  readonly log: Logger;
}

export type AuthorizationModuleFactory = (context: AuthorizationContext) => AuthorizationModule;

/** All authorizers as one, for requests and reviews. */
export interface Authorizer {
  authorize(attributes: AccessAttributes): AccessDecision;
  rulesFor(user: User, namespace: string): SubjectRulesReviewStatus;
}

/** Members may do everything, before any authorizer is called. */
export const MASTERS = "system:masters";
