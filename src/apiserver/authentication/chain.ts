/**
 * All ways to show who one is, asked one after the other. The first that finds a user decides; one that finds something bad does not,
 * since another may know it; if in the end nobody knew, and something was shown, the client is told that it is not authorized (401).
 * Who shows nothing is `system:anonymous`.
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
  type Soon,
  type TokenAuthenticator,
  type TokenReviewAnswer,
} from "../authentication.ts";
import type { ExchangeRequest } from "../exchange.ts";
import type { User } from "../request.ts";
import { requestAuthenticators, tokenAuthenticators } from "./all.ts";

/** What upstream's review says of a token that was known and is not good, before the reason. */
const INVALID_TOKEN = "invalid bearer token";

export class AuthenticationChain implements Authenticator {
  readonly #requests: readonly RequestAuthenticator[];
  readonly #tokens: readonly TokenAuthenticator[];
  readonly #audiences: readonly string[];
  readonly #admitsAnonymous: boolean;
  readonly #log: Logger;
  /** The same object for the same user, so that what was decided for it is found again. */
  readonly #authenticated = new WeakMap<User, User>();

  constructor(context: AuthenticationContext) {
    const { identity, log } = context;
    this.#requests = requestAuthenticators.flatMap((make) => make(context) ?? []);
    this.#tokens = tokenAuthenticators.flatMap((make) => make(context) ?? []);
    this.#audiences = identity.serviceAccounts?.audiences ?? [];
    this.#admitsAnonymous = identity.anonymous;
    this.#log = log;
  }

  authenticate(request: ExchangeRequest): Soon<Authenticated> {
    const problems: string[] = [];
    const token = bearerTokenOf(request);
    const steps = [
      ...this.#requests.map((one) => () => one.authenticate(request)),
      ...(token === undefined ? [] : this.#tokens.map((one) => () => one.authenticateToken(token, this.#audiences))),
    ];
    return firstOf<User | AuthenticatedToken, Authenticated>(steps, problems, (found) => {
      if (found !== undefined) return "user" in found ? { ...found, user: this.#known(found.user) } : { user: this.#known(found) };
      if (token === undefined && problems.length === 0 && this.#admitsAnonymous) return { user: ANONYMOUS };
      if (problems.length > 0) this.#log.debug("Could not find out who asks", { problems });
      throw new StatusError("Unauthorized", "Unauthorized");
    });
  }

  async reviewToken(token: string, audiences: readonly string[]): Promise<TokenReviewAnswer> {
    const asked = audiences.length === 0 ? this.#audiences : audiences;
    const problems: string[] = [];
    const steps = this.#tokens.map((one) => () => one.authenticateToken(token, asked));
    return firstOf<AuthenticatedToken, TokenReviewAnswer>(steps, problems, (found) => {
      if (found !== undefined) return reviewOf(found, this.#known(found.user), audiences);
      return { authenticated: false, error: problems.length === 0 ? INVALID_TOKEN : `[${[INVALID_TOKEN, ...problems].join(", ")}]` };
    });
  }

  #known(user: User): User {
    let known = this.#authenticated.get(user);
    if (known === undefined) {
      known = withAuthenticatedGroup(user);
      this.#authenticated.set(user, known);
    }
    return known;
  }
}

/** Whoever has shown who they are is in one more group. */
export function withAuthenticatedGroup(user: User): User {
  const { name, groups } = user;
  if (name === ANONYMOUS.name || groups.includes(AUTHENTICATED_GROUP)) return user;
  return { ...user, groups: [...groups, AUTHENTICATED_GROUP] };
}

function reviewOf({ audiences: meantFor }: AuthenticatedToken, user: User, asked: readonly string[]): TokenReviewAnswer {
  return { authenticated: true, user, audiences: meantFor ?? asked };
}

/** Asks until one finds something; waits only for those that make one wait. */
function firstOf<Found, Answer>(
  steps: readonly (() => Soon<Found | undefined>)[],
  problems: string[],
  decide: (found: Found | undefined) => Answer,
): Soon<Answer> {
  for (const [index, step] of steps.entries()) {
    let found: Soon<Found | undefined>;
    try {
      found = step();
    } catch (error) {
      note(error, problems);
      continue;
    }
    if (found instanceof Promise) {
      return found.then(
        (later) => (later === undefined ? firstOf(steps.slice(index + 1), problems, decide) : decide(later)),
        (error: unknown) => {
          note(error, problems);
          return firstOf(steps.slice(index + 1), problems, decide);
        },
      );
    }
    if (found !== undefined) return decide(found);
  }
  return decide(undefined);
}

function note(error: unknown, problems: string[]): void {
  if (!(error instanceof AuthenticationError)) throw error;
  problems.push(error.message);
}

/** As upstream reads it: the scheme in any case, then one word. Anything else in the header shows nothing. */
function bearerTokenOf(request: ExchangeRequest): string | undefined {
  const [scheme = "", token = "", ...more] = (request.header("authorization") ?? "").trim().split(" ");
  return scheme.toLowerCase() === "bearer" && token !== "" && more.length === 0 ? token : undefined;
}
