/**
 * The contract of "who?": from what a client shows to a user. There are two kinds of ways to show it: something about the request
 * itself (a client certificate, the headers of a trusted proxy), and a bearer token, which reviews (TokenReview) ask about, too.
 * One file or folder per way in authentication/, which know nothing of each other; authentication/chain.ts asks them in order.
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { ExchangeRequest } from "./exchange.ts";
import type { Identity } from "./identity.ts";
import type { KindName, Objects } from "./objects.ts";
import type { User } from "./request.ts";
import type { ObjectName } from "./storage/object-key.ts";

/** What can be known at once is not waited for. */
export type Soon<T> = T | Promise<T>;

/** It is for this authenticator, and it is not good. Shown to nobody but in reviews and the log: the client is told "Unauthorized". */
export class AuthenticationError extends Error {
  override readonly name = "AuthenticationError";
}

export interface RequestAuthenticator {
  /** For logs: "client certificate". */
  readonly name: string;
  /** undefined: nothing that this one is for. Throws or rejects with an AuthenticationError. Without `system:authenticated`: the chain adds it. */
  authenticate(request: ExchangeRequest): Soon<User | undefined>;
}

export interface TokenAuthenticator {
  readonly name: string;
  /** `audiences`: for whom the token must be meant. undefined: no token that this one is for. Throws or rejects with an AuthenticationError. */
  authenticateToken(token: string, audiences: readonly string[]): Soon<AuthenticatedToken | undefined>;
}

export interface AuthenticatedToken {
  readonly user: User;
  /** Those of the asked audiences for which it is meant; absent: it is not meant for anybody in particular. */
  readonly audiences?: readonly string[];
  /** Sentences for the `Warning` header. */
  readonly warnings?: readonly string[];
}

/** What authenticators are made of. `identity` is what was set, `objects` what is there. */
export interface AuthenticationContext {
  readonly identity: Identity;
  readonly objects: Objects;
  readonly clock: Clock;
  readonly log: Logger;
  /** Puts labels on an object on the server's own behalf. Absent: nothing can be written. */
  readonly label?: (kind: KindName, name: ObjectName, labels: Readonly<Record<string, string>>) => Promise<void>;
}

/** undefined: what was set does not ask for it. */
export type RequestAuthenticatorFactory = (context: AuthenticationContext) => RequestAuthenticator | undefined;
export type TokenAuthenticatorFactory = (context: AuthenticationContext) => TokenAuthenticator | undefined;

/** All of them together: what requests and reviews ask. */
export interface Authenticator {
  /** The user, or what nobody in particular is; throws or rejects with a StatusError (401). */
  authenticate(request: ExchangeRequest): Soon<Authenticated>;
  reviewToken(token: string, audiences: readonly string[]): Promise<TokenReviewAnswer>;
}

export interface Authenticated {
  readonly user: User;
  readonly warnings?: readonly string[];
}

export type TokenReviewAnswer =
  | { readonly authenticated: true; readonly user: User; readonly audiences: readonly string[] }
  /** `error` as upstream says it in the review's status; "" if nobody knows the token. */
  | { readonly authenticated: false; readonly error: string };

export const AUTHENTICATED_GROUP = "system:authenticated";
export const UNAUTHENTICATED_GROUP = "system:unauthenticated";

export const ANONYMOUS: User = { name: "system:anonymous", groups: [UNAUTHENTICATED_GROUP] };
