/**
 * Runs the authenticators one after the other. The first that finds a user decides; an invalid credential does not end the chain, since
 * another authenticator may know it. If none accepts and a credential was presented, the request is rejected with 401. Requests without
 * credentials are `system:anonymous`.
 */
import { StatusError } from "../../api/machinery/status-error.ts";
import type { Logger } from "../../base/logger.ts";
import {
  ANONYMOUS,
  AUTHENTICATED_GROUP,
  AuthenticationError,
  type Authenticated,
  type AuthenticatedToken,
  type AuthenticationContext,
  type Authenticator,
  type RequestAuthenticator,
  type MaybePromise,
  type TokenAuthenticator,
  type TokenReviewAnswer,
  UNAUTHENTICATED_GROUP,
} from "../framework/authentication.ts";
import type { ExchangeRequest, Peer } from "../framework/exchange.ts";
import type { User } from "../framework/request.ts";
import { requestAuthenticators, tokenAuthenticators } from "./all.ts";
import { bearerTokensOf, type BearerTokens } from "./bearer-tokens.ts";
import { joinedErrors } from "../../base/joined-errors.ts";

/** Upstream's error for a token that no authenticator knows and, before the reasons, for one that is known but invalid. */
const INVALID_TOKEN = "invalid bearer token";

/** The credentials of a request, and what authentication finds. */
interface Attempt {
  /** Absent: only tokens are checked. */
  readonly request?: ExchangeRequest;
  readonly tokens: readonly string[];
  /** Audiences of which a token must have one. */
  readonly audiences: readonly string[];
  readonly problems: string[];
  /** Name of the authenticator that found the user. */
  by: string;
}

export class AuthenticationChain implements Authenticator {
  readonly #requests: readonly RequestAuthenticator[];
  readonly #tokens: readonly TokenAuthenticator[];
  readonly #audiences: readonly string[];
  readonly #anonymous: { readonly admitted: boolean; readonly paths: readonly string[] | undefined };
  readonly #log: Logger;
  /** The same object for the same user, so that authorization results can be cached. */
  readonly #authenticated = new WeakMap<User, User>();

  readonly #lastShown = new WeakMap<Peer, { readonly header: string; readonly shown: BearerTokens }>();

  constructor(context: AuthenticationContext) {
    const { identity, log } = context;
    this.#requests = requestAuthenticators.flatMap((make) => make(context) ?? []);
    this.#tokens = tokenAuthenticators.flatMap((make) => make(context) ?? []);
    this.#audiences = identity.serviceAccounts?.audiences ?? [];
    this.#anonymous = { admitted: identity.anonymous, paths: identity.anonymousPaths };
    this.#log = log;
  }

  authenticate(request: ExchangeRequest): MaybePromise<Authenticated> {
    const { tokens, problems, warnings } = this.#shownBy(request);
    const attempt: Attempt = { request, tokens, audiences: this.#audiences, problems: [...problems], by: "" };
    const found = this.#runChain(attempt, 0);
    if (found instanceof Promise) return found.then((later) => this.#decide(attempt, later, warnings));
    return this.#decide(attempt, found, warnings);
  }

  /** A connection presents the same token repeatedly: a string comparison avoids parsing and looking it up again. */
  #shownBy(request: ExchangeRequest): BearerTokens {
    const header = request.header("authorization");
    if (header === undefined || request.header("sec-websocket-protocol") !== undefined) return bearerTokensOf(request);
    const last = this.#lastShown.get(request.peer);
    if (last?.header === header) return last.shown;
    const shown = bearerTokensOf(request);
    this.#lastShown.set(request.peer, { header, shown });
    return shown;
  }

  async reviewToken(token: string, audiences: readonly string[]): Promise<TokenReviewAnswer> {
    const attempt: Attempt = { tokens: [token], audiences: audiences.length === 0 ? this.#audiences : audiences, problems: [], by: "" };
    const found = await this.#runChain(attempt, 0);
    if (found !== undefined) return { authenticated: true, user: this.#internedUser(found.user), audiences: found.audiences ?? [] };
    return { authenticated: false, error: joinedErrors([INVALID_TOKEN, ...attempt.problems]) };
  }

  /** Runs the authenticators from this index on until one finds something; awaits only those that are asynchronous. */
  #runChain(attempt: Attempt, from: number): MaybePromise<AuthenticatedToken | undefined> {
    const requests = attempt.request === undefined ? 0 : this.#requests.length;
    const count = requests + attempt.tokens.length * this.#tokens.length;
    for (let index = from; index < count; index++) {
      try {
        const found = index < requests ? this.#authenticateRequest(attempt, index) : this.#authenticateToken(attempt, index - requests);
        if (found instanceof Promise) return this.#continueChain(found, attempt, index + 1);
        if (found !== undefined) return this.#found(found, attempt, index);
      } catch (error) {
        note(error, attempt);
      }
    }
    return undefined;
  }

  #found(found: AuthenticatedToken, attempt: Attempt, index: number): AuthenticatedToken {
    const requests = attempt.request === undefined ? 0 : this.#requests.length;
    attempt.by = (index < requests ? this.#requests[index] : this.#tokens[(index - requests) % this.#tokens.length])?.name ?? "";
    return found;
  }

  async #continueChain(
    waited: Promise<AuthenticatedToken | undefined>,
    attempt: Attempt,
    next: number,
  ): Promise<AuthenticatedToken | undefined> {
    try {
      const found = await waited;
      if (found !== undefined) return this.#found(found, attempt, next - 1);
    } catch (error) {
      note(error, attempt);
    }
    return this.#runChain(attempt, next);
  }

  #authenticateRequest({ request }: Attempt, index: number): MaybePromise<AuthenticatedToken | undefined> {
    const user = this.#requests[index]?.authenticate(request as ExchangeRequest);
    if (user instanceof Promise) return user.then((later) => (later === undefined ? undefined : { user: later }));
    return user === undefined ? undefined : { user };
  }

  /** All authenticators for the first token, then all for the next. */
  #authenticateToken({ tokens, audiences }: Attempt, index: number): MaybePromise<AuthenticatedToken | undefined> {
    const count = this.#tokens.length;
    const found = this.#tokens[index % count]?.authenticateToken(tokens[Math.floor(index / count)] as string, audiences);
    if (found instanceof Promise) return found.then((later) => this.#meantFor(later, audiences));
    return this.#meantFor(found, audiences);
  }

  #decide(attempt: Attempt, found: AuthenticatedToken | undefined, warnings: readonly string[]): Authenticated {
    const { request, tokens, problems, by } = attempt;
    if (found !== undefined) return { user: this.#internedUser(found.user), by, warnings: found.warnings ?? [] };
    const hasNoCredentials = tokens.length === 0 && problems.length === 0;
    if (hasNoCredentials && request !== undefined && this.#admitsAnonymous(request))
      return { user: ANONYMOUS, by: "no credential", warnings };
    this.#log.debug("Authentication failed unexpectedly", { problems: problems.length === 0 ? [INVALID_TOKEN] : problems });
    throw new StatusError("Unauthorized", "Unauthorized");
  }

  /** A token without audiences is for this API; a review for other audiences reports it as unknown. */
  #meantFor(found: AuthenticatedToken | undefined, asked: readonly string[]): AuthenticatedToken | undefined {
    if (found === undefined || found.audiences !== undefined || asked.length === 0) return found;
    const audiences = asked === this.#audiences ? asked : asked.filter((audience) => this.#audiences.includes(audience));
    return audiences.length === 0 ? undefined : { ...found, audiences };
  }

  #admitsAnonymous({ path }: ExchangeRequest): boolean {
    const { admitted, paths } = this.#anonymous;
    return admitted && (paths === undefined || paths.includes(path));
  }

  #internedUser(user: User): User {
    let known = this.#authenticated.get(user);
    if (known === undefined) {
      known = withAuthenticatedGroup(user);
      this.#authenticated.set(user, known);
    }
    return known;
  }
}

/** Adds system:authenticated, unless the authenticator returned the anonymous user. */
export function withAuthenticatedGroup(user: User): User {
  const { name, groups } = user;
  if (name === ANONYMOUS.name || groups.includes(AUTHENTICATED_GROUP) || groups.includes(UNAUTHENTICATED_GROUP)) return user;
  return { ...user, groups: [...groups, AUTHENTICATED_GROUP] };
}

function note(error: unknown, { problems }: Attempt): void {
  if (!(error instanceof AuthenticationError)) throw error;
  problems.push(error.message);
}
