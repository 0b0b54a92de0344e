/**
 * The contract of authentication: from credentials to a user. There are two kinds of credentials: properties of the request itself (a
 * client certificate, the headers of a trusted proxy), and a bearer token, which TokenReviews also check. One file or folder per
 * authenticator in authentication/, independent of each other; authentication/chain.ts calls them in order.
 */
import type { EvaluationTurns } from "../../cel/program/evaluation-turns.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { ExchangeRequest } from "./exchange.ts";
import type { Identity } from "./identity.ts";
import type { KindName, Objects } from "./objects.ts";
import type { User } from "./request.ts";
import type { ObjectName } from "./storage/object-key.ts";

/** Synchronous if the result is known without waiting. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * The credentials are for this authenticator, and invalid. The message appears only in reviews and the log: the client gets "Unauthorized".
 */
export class AuthenticationError extends Error {
  override readonly name = "AuthenticationError";
}

export interface RequestAuthenticator {
  /** For logs: "client certificate". */
  readonly name: string;
  /**
   * undefined: the request has no credentials for this authenticator. Throws or rejects with an AuthenticationError. Without
   * `system:authenticated`: the chain adds it.
   */
  authenticate(request: ExchangeRequest): MaybePromise<User | undefined>;
}

export interface TokenAuthenticator {
  readonly name: string;
  /** `audiences`: the accepted audiences. undefined: not a token for this authenticator. Throws or rejects with an AuthenticationError. */
  authenticateToken(token: string, audiences: readonly string[]): MaybePromise<AuthenticatedToken | undefined>;
}

export interface AuthenticatedToken {
  readonly user: User;
  /** The requested audiences for which the token is valid; absent: the token is not bound to an audience. */
  readonly audiences?: readonly string[];
  /** Messages for the `Warning` header. */
  readonly warnings?: readonly string[];
}

/** Dependencies of authenticators. `identity`: the configuration; `objects`: the stored objects. */
export interface AuthenticationContext {
  readonly identity: Identity;
  readonly objects: Objects;
  /** Completes expressions that take long, without holding the event loop. */
  readonly evaluations: EvaluationTurns;
  readonly clock: Clock;
  readonly log: Logger;
  /** Sets labels of an object on the server's own behalf. Absent: read-only. */
  readonly label?: (kind: KindName, name: ObjectName, labels: Readonly<Record<string, string>>) => Promise<void>;
}

/** undefined: not configured. */
export type RequestAuthenticatorFactory = (context: AuthenticationContext) => RequestAuthenticator | undefined;
export type TokenAuthenticatorFactory = (context: AuthenticationContext) => TokenAuthenticator | undefined;

/** All authenticators as one, for requests and reviews. */
export interface Authenticator {
  /** The user, or system:anonymous; throws or rejects with a StatusError (401). */
  authenticate(request: ExchangeRequest): MaybePromise<Authenticated>;
  reviewToken(token: string, audiences: readonly string[]): Promise<TokenReviewAnswer>;
}

export interface Authenticated {
  readonly user: User;
  /** Name of the authenticator that found the user; absent: unknown. */
  readonly by?: string;
  readonly warnings?: readonly string[];
}

export type TokenReviewAnswer =
  | { readonly authenticated: true; readonly user: User; readonly audiences: readonly string[] }
  /** `error`: upstream's text for the review's status; "" if no authenticator knows the token. */
  | { readonly authenticated: false; readonly error: string };

export const AUTHENTICATED_GROUP = "system:authenticated";
export const UNAUTHENTICATED_GROUP = "system:unauthenticated";

export const ANONYMOUS: User = { name: "system:anonymous", groups: [UNAUTHENTICATED_GROUP] };
