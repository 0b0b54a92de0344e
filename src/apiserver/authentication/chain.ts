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
import { shownTokens } from "./shown-tokens.ts";

/** What upstream says of a token that nobody knows, and, before the reasons, of one that somebody knows and that is not good. */
const INVALID_TOKEN = "invalid bearer token";

/** One of those that are asked. What is known of a token is more than what is known of a user, so it is the form of both. */
type Step = () => Soon<AuthenticatedToken | undefined>;

export class AuthenticationChain implements Authenticator {
  readonly #requests: readonly RequestAuthenticator[];
  readonly #tokens: readonly TokenAuthenticator[];
  readonly #audiences: readonly string[];
  readonly #anonymous: { readonly admitted: boolean; readonly paths: readonly string[] | undefined };
  readonly #log: Logger;
  /** The same object for the same user, so that what was decided for it is found again. */
  readonly #authenticated = new WeakMap<User, User>();

  constructor(context: AuthenticationContext) {
    const { identity, log } = context;
    this.#requests = requestAuthenticators.flatMap((make) => make(context) ?? []);
    this.#tokens = tokenAuthenticators.flatMap((make) => make(context) ?? []);
    this.#audiences = identity.serviceAccounts?.audiences ?? [];
    this.#anonymous = { admitted: identity.anonymous, paths: identity.anonymousPaths };
    this.#log = log;
  }

  authenticate(request: ExchangeRequest): Soon<Authenticated> {
    const { tokens, problems: shownWrong, warnings } = shownTokens(request);
    const problems = [...shownWrong];
    const steps = [...this.#requestSteps(request), ...tokens.flatMap((token) => this.#tokenSteps(token, this.#audiences))];
    return firstOf<Authenticated>(steps, problems, (found) => {
      if (found !== undefined) return { user: this.#known(found.user), warnings: found.warnings ?? [] };
      if (tokens.length === 0 && problems.length === 0 && this.#admitsAnonymous(request)) return { user: ANONYMOUS, warnings };
      this.#log.debug("Could not find out who asks", { problems: problems.length === 0 ? [INVALID_TOKEN] : problems });
      throw new StatusError("Unauthorized", "Unauthorized");
    });
  }

  async reviewToken(token: string, audiences: readonly string[]): Promise<TokenReviewAnswer> {
    const asked = audiences.length === 0 ? this.#audiences : audiences;
    const problems: string[] = [];
    return firstOf<TokenReviewAnswer>(this.#tokenSteps(token, asked), problems, (found) => {
      if (found !== undefined) return { authenticated: true, user: this.#known(found.user), audiences: found.audiences ?? [] };
      const told = [...new Set([INVALID_TOKEN, ...problems])];
      return { authenticated: false, error: told.length === 1 ? INVALID_TOKEN : `[${told.join(", ")}]` };
    });
  }

  #requestSteps(request: ExchangeRequest): Step[] {
    return this.#requests.map((one) => () => {
      const user = one.authenticate(request);
      if (user instanceof Promise) return user.then((later) => (later === undefined ? undefined : { user: later }));
      return user === undefined ? undefined : { user };
    });
  }

  #tokenSteps(token: string, asked: readonly string[]): Step[] {
    return this.#tokens.map((one) => () => {
      const found = one.authenticateToken(token, asked);
      if (found instanceof Promise) return found.then((later) => this.#meantFor(later, asked));
      return this.#meantFor(found, asked);
    });
  }

  /** A token that is for nobody in particular is for this API; whoever asks for others is told that nobody knows it. */
  #meantFor(found: AuthenticatedToken | undefined, asked: readonly string[]): AuthenticatedToken | undefined {
    if (found === undefined || found.audiences !== undefined || asked.length === 0) return found;
    const audiences = asked === this.#audiences ? asked : asked.filter((audience) => this.#audiences.includes(audience));
    return audiences.length === 0 ? undefined : { ...found, audiences };
  }

  #admitsAnonymous({ path }: ExchangeRequest): boolean {
    const { admitted, paths } = this.#anonymous;
    return admitted && (paths === undefined || paths.includes(path));
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

const [UNAUTHENTICATED_GROUP = ""] = ANONYMOUS.groups;

/** Whoever has shown who they are is in one more group, unless what showed it has said that it is nobody. */
export function withAuthenticatedGroup(user: User): User {
  const { name, groups } = user;
  if (name === ANONYMOUS.name || groups.includes(AUTHENTICATED_GROUP) || groups.includes(UNAUTHENTICATED_GROUP)) return user;
  return { ...user, groups: [...groups, AUTHENTICATED_GROUP] };
}

/** Asks until one finds something; waits only for those that make one wait. */
function firstOf<Answer>(
  steps: readonly Step[],
  problems: string[],
  decide: (found: AuthenticatedToken | undefined) => Answer,
): Soon<Answer> {
  for (const [index, step] of steps.entries()) {
    let found: Soon<AuthenticatedToken | undefined>;
    try {
      found = step();
    } catch (error) {
      note(error, problems);
      continue;
    }
    if (found instanceof Promise) {
      const goOn = () => firstOf(steps.slice(index + 1), problems, decide);
      return found.then(
        (later) => (later === undefined ? goOn() : decide(later)),
        (error: unknown) => {
          note(error, problems);
          return goOn();
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
